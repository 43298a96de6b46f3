package collectors

import (
	"context"
	"fmt"
	"time"
)

// Phase is a fixed beat: Start, Start + Every, Start + 2 Every and so on. Where Start carries the monotonic
// clock (it comes from time.Now), a step of the wall clock does not move the beat. Every must be positive.
type Phase struct {
	Start time.Time
	Every time.Duration
}

// After is the first beat later than now: beats that went by unused are gone, and the phase stays.
func (p Phase) After(now time.Time) time.Time {
	if now.Before(p.Start) {
		return p.Start
	}
	return p.Start.Add((now.Sub(p.Start)/p.Every + 1) * p.Every)
}

// Poll calls poll at once and then on a fixed beat until ctx ends, and returns nil then. A call that takes
// longer than every skips the beats it missed, so that a slow device is never asked twice in a row to catch up.
// The error is a negative or zero interval.
func Poll(ctx context.Context, every time.Duration, poll func(context.Context)) error {
	if every <= 0 {
		return fmt.Errorf("poll every %s: the interval must be longer than zero", every)
	}
	beat := Phase{Start: time.Now(), Every: every}
	for ctx.Err() == nil {
		due := beat.After(time.Now())
		PulseOf(ctx).Work()
		poll(ctx)
		PulseOf(ctx).Rest()
		if now := time.Now(); now.After(due) {
			due = beat.After(now)
		}
		Wait(ctx, time.Until(due))
	}
	return nil
}

// Wait returns after d, or when ctx ends. It is true when d has passed. Whoever waits rests.
func Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	if p := PulseOf(ctx); p.Rest() {
		defer p.Work()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

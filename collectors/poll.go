package collectors

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
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
func Wait(ctx context.Context, d time.Duration) bool { return new(Timer).Wait(ctx, d) }

// Timer is for one goroutine that waits again and again: a site has thousands, and a new timer for each poll of each would be a
// seventh of their garbage.
type Timer struct{ *time.Timer }

// Set lets C fire after d.
func (t *Timer) Set(d time.Duration) {
	if t.Timer == nil {
		t.Timer = time.NewTimer(d)
	} else {
		t.Reset(d)
	}
}

// Wait is the function Wait.
func (t *Timer) Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	if p := PulseOf(ctx); p.Rest() {
		defer p.Work()
	}
	t.Set(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// Pulse is the sign of life of a part: of a line, a session, a worker. A part rests while it waits for something that may never
// come, and works otherwise; one that has been at one piece of work for longer than any takes hangs. A device that is away lets its
// part work and rest as ever. A nil Pulse is of a part that nobody watches.
type Pulse struct {
	name  string
	all   *Pulses
	since atomic.Int64 // of the work, since the first part; 0: it rests
	limit atomic.Int64 // of this piece of work
}

// Pulses are those of all parts.
type Pulses struct {
	mu    sync.Mutex
	began time.Time
	parts []*Pulse
}

// Part is the pulse of a new part, which rests.
func (a *Pulses) Part(name string) *Pulse {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.parts) == 0 {
		a.began = time.Now()
	}
	p := &Pulse{name: name, all: a}
	a.parts = append(a.parts, p)
	return p
}

// Hung names the part that has hung for longest, with how long it has been at its piece of work; nil: none does. usual is what no
// piece of work takes, unless it said so at its beginning.
func (a *Pulses) Hung(usual time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Since(a.began)
	var worst *Pulse
	var longest time.Duration
	for _, p := range a.parts {
		since := time.Duration(p.since.Load())
		if at := now - since; since > 0 && at > max(usual, time.Duration(p.limit.Load())) && at > longest {
			worst, longest = p, at
		}
	}
	if worst == nil {
		return nil
	}
	return fmt.Errorf("%s hangs: it has been at one piece of work for %s", worst.name, longest.Round(time.Second))
}

// Work says that the part begins a piece of work, or goes on to the next one.
func (p *Pulse) Work() { p.WorkFor(0) }

// WorkFor is Work for a piece that may take so long.
func (p *Pulse) WorkFor(limit time.Duration) {
	if p == nil {
		return
	}
	p.limit.Store(int64(limit))
	p.since.Store(max(1, int64(time.Since(p.all.began))))
	fault(p.name)
}

// Rest says that the part waits for something that may never come. It is true when it had worked.
func (p *Pulse) Rest() bool { return p != nil && p.since.Swap(0) != 0 }

type pulseKey struct{}

// WithPulse gives a part its pulse.
func WithPulse(ctx context.Context, p *Pulse) context.Context {
	return context.WithValue(ctx, pulseKey{}, p)
}

// PulseOf is the pulse of whoever works under ctx.
func PulseOf(ctx context.Context) *Pulse {
	p, _ := ctx.Value(pulseKey{}).(*Pulse)
	return p
}

// WithPart gives a part of a part a pulse of its own, where the whole has one.
func WithPart(ctx context.Context, name string) context.Context {
	whole := PulseOf(ctx)
	if whole == nil {
		return ctx
	}
	return WithPulse(ctx, whole.all.Part(name))
}

package line

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/collectors"
)

// How often a line that does not open is tried: a serial port every second, since that costs nothing and an adapter
// may be put back at any moment; a socket less and less often.
const (
	portRetryPause   = time.Second
	redialFirstPause = 250 * time.Millisecond
	redialMaxPause   = 5 * time.Second
)

// minDialTimeout is the least time that a socket gets to open.
const minDialTimeout = 3 * time.Second

// redialPauses spaces the attempts to open a line that does not open.
type redialPauses struct {
	firstPause, maxPause time.Duration // pauses

	pause time.Duration
	next  time.Time
	err   error // why the last attempt failed; nil: it did not
}

func (r *redialPauses) stillPausing() error {
	if r.err == nil || !time.Now().Before(r.next) {
		return nil
	}
	return r.err
}

func (r *redialPauses) dialFailed(err error) error {
	r.pause = min(max(2*r.pause, r.firstPause), r.maxPause)
	r.next = time.Now().Add(r.pause)
	r.err = fmt.Errorf("%w: %w", ErrDown, err)
	return r.err
}

func (r *redialPauses) opened() { r.pause, r.next, r.err = 0, time.Time{}, nil }

// lost spaces the first attempt after an open line went away; whoever asks it need not wait for that.
func (r *redialPauses) lost() { r.next = time.Now().Add(r.firstPause) }

// connect opens the line unless it is open, or unless it failed to open a moment ago.
func (l *Line) connect(ctx context.Context, timeout time.Duration) error {
	if l.stream != nil {
		return nil
	}
	if err := l.redial.stillPausing(); err != nil {
		return err
	}
	dialing, cancel := context.WithTimeout(ctx, max(timeout, minDialTimeout))
	defer cancel()
	stream, err := l.dial(dialing)
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	if err != nil {
		return l.redial.dialFailed(err)
	}
	l.stream, l.unanswered, l.lost = stream, 0, false
	l.redial.opened()
	l.stats.opened.Add(1)
	l.transport.reconnected()
	if !collectors.Wait(ctx, l.endpoint.connectPause) {
		l.lost = true // whoever asks next gets the pause anew
		return errors.Join(ctx.Err(), l.close())
	}
	return nil
}

// Await waits by a timer of the caller's until the given time. Meanwhile a line that was lost or does not open is tried again and again. When
// one that did not open does so, Await returns at once, and is true.
func (l *Line) Await(ctx context.Context, timer *collectors.Timer, until time.Time) (opened bool) {
	for ctx.Err() == nil {
		retry, down := l.down(ctx)
		if !down || !retry.Before(until) {
			timer.Wait(ctx, time.Until(until))
			return false
		}
		if timer.Wait(ctx, time.Until(retry)) && l.reopen(ctx) {
			return true
		}
	}
	return false
}

// down says whether the line was lost or could not be opened, and when to try it next.
func (l *Line) down(ctx context.Context) (retry time.Time, down bool) {
	if l.acquire(ctx) != nil {
		return time.Time{}, false
	}
	defer l.release()
	return l.redial.next, l.stream == nil && (l.lost || l.redial.err != nil)
}

// reopen tries a line that is down, and is true when it did not open before and does now.
func (l *Line) reopen(ctx context.Context) bool {
	if l.acquire(ctx) != nil {
		return false
	}
	defer l.release()
	refused := l.redial.err != nil
	return l.connect(ctx, 0) == nil && refused
}

package main

import (
	"math"
	"time"
)

// tally of the requests to one unit, or to a whole line, within a window: their number, and the time between them.
type tally struct {
	Count  int
	Missed int           // beats of the expected interval without a request
	Mean   time.Duration // of the intervals; the first one began before the window
	SD     time.Duration
	Most   time.Duration

	last    time.Time
	n       float64 // intervals
	squares float64 // of their differences from the mean, in square seconds
	mean    float64 // seconds
}

// hear takes note of a request. every is the interval that was asked for; 0: none.
func (t *tally) hear(at time.Time, every time.Duration) {
	t.Count++
	if !t.last.IsZero() {
		t.interval(at.Sub(t.last))
		t.Missed += beatsBetween(at.Sub(t.last), every)
	}
	t.last = at
}

// interval keeps mean and spread as it goes (Welford's recurrence), since a window may have millions of them.
func (t *tally) interval(d time.Duration) {
	t.n++
	x := d.Seconds()
	before := t.mean
	t.mean += (x - before) / t.n
	t.squares += (x - before) * (x - t.mean)
	t.Mean = time.Duration(t.mean * float64(time.Second))
	t.SD = time.Duration(math.Sqrt(t.squares/t.n) * float64(time.Second))
	t.Most = max(t.Most, d)
}

// beatsBetween counts the beats between two requests.
func beatsBetween(between, every time.Duration) int {
	if every <= 0 {
		return 0
	}
	return max(0, int((between+every/2)/every)-1)
}

// open begins a window; the interval that is going on belongs to it.
func (t *tally) open() { *t = tally{last: t.last} }

// closed is the tally at the end of a window: what should have come by now and has not is missed.
func (t *tally) closed(now time.Time, every time.Duration) tally {
	done := *t
	done.Missed += beatsBetween(now.Sub(t.last), every)
	return done
}

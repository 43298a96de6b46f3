package main

import (
	"testing"
	"time"
)

func TestTally(t *testing.T) {
	start := time.Unix(1000, 0)
	var units tally
	units.hear(start, time.Second)
	units.open()
	for _, ms := range []int{1000, 2100, 2900, 6000} {
		units.hear(start.Add(time.Duration(ms)*time.Millisecond), time.Second)
	}
	got := units.closed(start.Add(6100*time.Millisecond), time.Second)
	// Intervals of 1000, 1100, 800 and 3100 ms: mean 1500, and squares of 500, 400, 700, 1600.
	if got.Count != 4 || got.Missed != 2 {
		t.Errorf("%d requests and %d missed, want 4 and 2", got.Count, got.Missed)
	}
	if got.Mean != 1500*time.Millisecond || got.Most != 3100*time.Millisecond {
		t.Errorf("mean %s, most %s; want 1.5s and 3.1s", got.Mean, got.Most)
	}
	if want := 930 * time.Millisecond; (got.SD - want).Abs() > time.Millisecond {
		t.Errorf("sd %s, want %s", got.SD, want)
	}
}

func TestMissedBeats(t *testing.T) {
	for _, c := range []struct {
		between, every time.Duration
		want           int
	}{
		{time.Second, time.Second, 0}, {1400 * time.Millisecond, time.Second, 0}, {1600 * time.Millisecond, time.Second, 1},
		{10 * time.Millisecond, time.Second, 0}, {5 * time.Second, time.Second, 4}, {time.Hour, 0, 0},
	} {
		if got := beatsBetween(c.between, c.every); got != c.want {
			t.Errorf("%s apart at every %s: %d missed, want %d", c.between, c.every, got, c.want)
		}
	}
}

func TestAUnitThatHasStoppedMissesBeats(t *testing.T) {
	start := time.Unix(1000, 0)
	var units tally
	units.hear(start, time.Second)
	if got := units.closed(start.Add(10*time.Second), time.Second); got.Missed != 9 {
		t.Errorf("%d beats missed, want 9", got.Missed)
	}
}

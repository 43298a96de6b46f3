package agent

import (
	"testing"
	"time"
)

// How long a program has run is no matter of the wall clock, which may have been set since.
func TestTheTimeThatAProgramRunsIsNoStepOfTheClock(t *testing.T) {
	d := &Desk{Began: time.Now()}
	for _, step := range []time.Duration{0, 26 * 365 * 24 * time.Hour, -time.Hour} {
		now := stepped(d.Began.Add(90*time.Minute), step)
		if ran := now.Round(0).Sub(d.began(now)); ran != 90*time.Minute {
			t.Errorf("the clock was set by %s: runs for %s, want 1h30m", step, ran)
		}
	}
	if at := (&Desk{}).began(time.Now()); !at.IsZero() {
		t.Errorf("a command without a daemon runs since %s", at)
	}
}

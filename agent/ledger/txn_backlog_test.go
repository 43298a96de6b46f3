package ledger

import (
	"math"
	"testing"
	"time"

	"gauger/collectors"
)

// A tank whose first readings of all are what a device or a broker has kept: nine hours in a moment, by the device's own clock, with two loads
// in them, and the box's clock may not have been heard yet. Both are tickets.
func TestABacklogThatComesFirstIsWatched(t *testing.T) {
	for what, ticks := range map[string]time.Duration{"at once": 0, "after a minute": time.Minute, "after ten hours": 10 * time.Hour} {
		w := newWrong(t, nil)
		w.must(w.SetBoot(upFor("b1", time.Hour)))
		w.uptimeAtStart = time.Hour
		w.pass(ticks)
		b, began := 250.0, w.at.Round(0).Add(-9*time.Hour)
		for m := range 9 * 60 {
			b += 0.3
			if m >= 180 && m < 200 || m >= 360 && m < 380 {
				b -= 8
			}
			w.at = w.at.Add(time.Millisecond)
			r := collectors.Reading{Point: "plc/level", Value: b / 1.68, Unit: "in", Quality: collectors.Good, At: began.Add(time.Duration(m) * time.Minute)}
			w.mu.Lock()
			err := w.Ledger.emit(w.now(), "plc", []collectors.Reading{r})
			w.mu.Unlock()
			w.must(err)
		}
		w.pass(2 * time.Minute)
		all, err := w.Tickets()
		w.must(err)
		if len(all) != 2 {
			t.Errorf("%s: %d tickets, want 2; events %v", what, len(all), w.bodies(Events))
			continue
		}
		for k, l := range all {
			if from := began.Add(time.Duration(180*(k+1)) * time.Minute); l.Start.Sub(from).Abs() > 2*time.Minute || math.Abs(l.Load.RemovedBbl-160) > 5 {
				t.Errorf("%s: %s from %s, %.1f bbl; want 160 from %s", what, l.Number, l.Start, l.Load.RemovedBbl, from)
			}
		}
	}
}

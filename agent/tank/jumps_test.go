package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// shown plays a tank whose sensor shows its level, off by what the time tells, and expects so many loads.
func shown(t *testing.T, name string, every float64, off func(s float64) float64, truck tanktest.Move, loads int) {
	t.Helper()
	r := newRig(t, tanktest.Well{Level0: 138, Inflow: 20, Moves: []tanktest.Move{truck}})
	r.every = every
	r.sensor = func(i int, s, v float64) (float64, bool) { return tanktest.Radar(i, s, v+off(s)), true }
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != loads {
		t.Errorf("%s: want %d loads: %+v %+v %+v", name, loads, r.loads, r.events, r.verdicts)
	}
}

// An echo behind a filter comes down by 37 in and goes back to where it was, a part of the way unseen while it is not believed, and then
// away to somewhere else before anything is decided: nothing left. Where a truck came meanwhile the level is not where it was.
func TestAnEchoThatGoesBackAndOn(t *testing.T) {
	at := 4 * tanktest.Hour
	hung := func(s float64) float64 {
		return -decayed(s, at, 0, 37, 45) + decayed(s, at+1500, 0, 37, 45) + decayed(s, at+3800, 0, 26, 60)
	}
	shown(t, "an echo", 10, hung, tanktest.Move{Rate: 1}, 0)
	shown(t, "a truck meanwhile", 10, hung, tanktest.Move{From: at + 1800, Bbl: 80, Rate: 6}, 1)
}

// A technician feeds the input of a transmitter with a quarter of its range after the other, and with its own reading for seconds in
// between. What he began with was no oil: where the level is back where it was before him, nothing left.
func TestACurrentLoopIsTested(t *testing.T) {
	at := 4 * tanktest.Hour
	quarters := []float64{240, 180, 120, 60, 0, 0, 60, 120, 180, 240}
	loop := func(s float64) float64 {
		k, in := math.Floor((s-at)/150), math.Mod(s-at, 150)
		if s < at || int(k) >= len(quarters) || in < 6 {
			return 0
		}
		return quarters[int(k)] - 138
	}
	shown(t, "a loop", 5, loop, tanktest.Move{Rate: 1}, 0)
}

// A well makes nothing, so that a good sensor of few digits stands for two minutes at rest: where all of a fall is between two readings, the
// sensor was spanned anew, and no truck took it while the value stood. Where a value stands for longer than it does at rest, one may have.
func TestAFallWhileTheValueStands(t *testing.T) {
	for stood, want := range map[float64]float64{120: 15.7, 400: 0} {
		ts := &tankState{}
		ts.interval = interval{usual: 10, mean: 10, held: 90, heldDev: 80, changes: 30}
		for s := 0.0; s < 900; s += 10 {
			v := float32(211.9)
			if s >= 600 {
				v = 196.3
			} else if s >= 600-stood {
				v = 212
			}
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: v, n: 1})
		}
		d := draw{start: 440, end: 700}
		d.opening.level, d.closing.level = 212, 196.3
		if got := leaps(ts, &Tank{Table: testTable(t), Loads: DefaultLoads()}, d); math.Abs(got-want) > 0.01 {
			t.Errorf("stood for %.0f s: %.2f in at once, want %.2f", stood, got, want)
		}
	}
}

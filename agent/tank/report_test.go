package tank

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// hide takes the readings of a time away.
func hide(from, to float64) seen {
	return func(_ int, t, v float64) (float64, bool) { return v, t < from || t >= to }
}

func TestGapInsideALoad(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = hide(aLoad.From+500, aLoad.From+1200)
	r.run(0, 6*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	r.only("gap")
	if got := r.loads[0].Gap.Minutes(); got < 11 || got > 13 {
		t.Errorf("gap %.1f min, want 12", got)
	}
	if len(r.loads[0].Review) > 0 {
		t.Errorf("review %q for a gap that no gauge depends on", r.loads[0].Review)
	}
}

func TestGapOverAWholeLoadIsALoadForAPerson(t *testing.T) {
	r := newRig(t, aWell)
	from, to := aLoad.From-1800, aLoad.End()+1800
	r.sensor = hide(from, to)
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want 1", len(r.loads))
	}
	l, want := r.loads[0], labelOf(aWell, aLoad, aLoad)
	if math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 1 || l.Start.Before(r.at(from)) || l.End.After(r.at(to)) {
		t.Errorf("%.2f bbl from %v to %v, want %.2f within the gap", l.GaugeBbl, l.Start, l.End, (want.open-want.close)*tanktest.PerInch)
	}
	u := l.Unseen
	if u == nil {
		t.Fatal("it does not say that it fell unseen")
	}
	if failed := tanktest.Failed(map[string]bool{
		"the load begins before": u.From.After(l.Start), "the load ends after": u.To.Before(l.End),
		"begins too early": u.From.Before(r.at(from - 60)), "ends too late": u.To.After(r.at(to + 60)),
		"too short": u.To.Sub(u.From) < 50*time.Minute,
	}); failed != "" {
		t.Errorf("%s: it fell unseen within %v, hidden from %v to %v", failed, u, r.at(from), r.at(to))
	}
	if !said(l, "data gap") || l.Confidence >= 0.75 {
		t.Errorf("review %q, confidence %v", l.Review, l.Confidence)
	}
	r.only("gap")
}

func TestFallOverAGapOfADayIsNoTicket(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = hide(3*tanktest.Hour, 29*tanktest.Hour)
	r.run(0, 32*tanktest.Hour)
	r.matches(0, 0)
	r.only("gap", "unexplained-loss")
}

func TestRespanIsNoLoad(t *testing.T) {
	for _, by := range []float64{-25, 25} {
		r := newRig(t, tanktest.Well{Level0: 120, Inflow: 60})
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= 5*tanktest.Hour {
				v += by
			}
			return v, true
		}
		r.run(0, 9*tanktest.Hour)
		r.matches(0, 0)
		r.only("step")
		if d := r.events[0].Start.Sub(r.at(5 * tanktest.Hour)).Seconds(); d < 0 || d > 20 {
			t.Errorf("step of %v in told %+.0f s off", by, d)
		}
	}
}

// A load that waits for its confirmation is not lost when the sensor is re-spanned.
func TestRespanAfterALoadKeepsTheLoad(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= aLoad.End()+1200 {
			v += 20
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	r.only("step")
}

// A level that stands exactly where it was is told after the hours that are set, however quiet the sensor, however often it is read and
// whatever its noise showed last: its own noise moved it at every reading. One whose digits are as wide as its noise stands for a day in a
// tank that the well left, and nothing is told.
func TestALevelThatFreezesIsToldInTime(t *testing.T) {
	const frozen, seeds = 30 * tanktest.Hour, 4
	for _, c := range []struct{ every, noise, digit, still float64 }{
		{60, 0.02, 0, 0}, {60, 0.005, 0, 0}, {10, 0.01, 0.002, 0}, {2, 0.02, 0.001, 0},
		{60, 0.003, 0.01, 1}, {60, 0.0002, 0.005, 1}, {10, 0.004, 0.01, 1}, {60, 0.001, 0.03, 1},
	} {
		for seed := range uint64(seeds) {
			r, rnd, last := newRig(t, tanktest.Well{Level0: 100}), rand.New(rand.NewPCG(seed, 2)), 0.0
			r.every, r.site.tanks[0].Every = c.every, time.Duration(c.every)*time.Second
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				if s < frozen || c.still > 0 {
					last = 100 + 20.0/86400*math.Min(s, frozen) + c.noise*rnd.NormFloat64()
				}
				if c.digit > 0 {
					last = math.Round(last/c.digit) * c.digit
				}
				return last, true
			}
			r.run(12*tanktest.Hour, frozen+7*tanktest.Hour)
			if c.still > 0 {
				r.only()
				continue
			}
			r.only("stuck")
			if len(r.events) > 0 && math.Abs(r.events[0].End.Sub(r.at(frozen)).Hours()-6) > 0.1 {
				t.Errorf("%+v: told as %+v, want it 6 h after %v", c, r.events[0], r.at(frozen))
			}
		}
	}
}

func TestFrozenSensor(t *testing.T) {
	freeze := func(w tanktest.Well, from, to float64) seen {
		at := tanktest.Radar(0, from, w.Level(from))
		return func(_ int, s, v float64) (float64, bool) {
			if s >= from && s < to {
				v = at
			}
			return v, true
		}
	}
	idle := tanktest.Well{Level0: 100, Inflow: 240}
	r := newRig(t, idle)
	r.sensor = freeze(idle, 4*tanktest.Hour, 9*tanktest.Hour)
	r.run(0, 12*tanktest.Hour)
	r.matches(0, 0)
	r.only("stuck")
	e := r.events[0]
	if math.Abs(e.Start.Sub(r.at(4*tanktest.Hour)).Seconds()) > 60 || math.Abs(e.End.Sub(r.at(9*tanktest.Hour)).Seconds()) > 120 {
		t.Errorf("stuck from %v to %v, want %v to %v", e.Start, e.End, r.at(4*tanktest.Hour), r.at(9*tanktest.Hour))
	}
	for name, span := range map[string][2]float64{
		"the whole load": {aLoad.From - 2400, aLoad.End() + 3000},
		"its end":        {aLoad.From + 900, aLoad.End() + 5400},
		"its start":      {aLoad.From - 4000, aLoad.From + 900},
	} {
		r := newRig(t, aWell)
		r.sensor = freeze(aWell, span[0], span[1])
		r.run(0, 10*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("frozen over %s: %d loads, want 1", name, len(r.loads))
		}
		want := labelOf(aWell, aLoad, aLoad)
		if l := r.loads[0]; math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 1.5 || l.Confidence >= 0.75 && name == "the whole load" {
			t.Errorf("frozen over %s: %.2f bbl, confidence %v; want %.2f", name, l.GaugeBbl, l.Confidence, (want.open-want.close)*tanktest.PerInch)
		}
		r.only("stuck")
	}
}

func TestValuesThatAreNoLevel(t *testing.T) {
	r := newRig(t, aWell)
	bad := []float64{9999, -999, 32767, -32768, 65535, 9999.9, math.NaN(), math.Inf(1), math.Inf(-1), 248, -1.5}
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if k := int(s/10) % 60; s > aLoad.From-1200 && s < aLoad.End()+1200 && k < len(bad) {
			return bad[k], true
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.08, 30, labelOf(aWell, aLoad, aLoad))
	r.only("bad-value")
	if note := r.events[0].Note; !strings.Contains(note, "the last -1.50 in, below the bottom") {
		t.Errorf("note %q", note)
	}
	r = newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > tanktest.Hour {
			v = 251.2
		}
		return v, true
	}
	r.run(0, 3*tanktest.Hour)
	r.only("bad-value")
	if note := r.events[0].Note; !strings.Contains(note, "the last 251.20 in, above the tank's 240 in") {
		t.Errorf("note %q", note)
	}
}

func TestFalseEchoesChangeNothing(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if k := math.Mod(s, 700); k < 80 { // eleven minutes apart, up to 80 s long
			return []float64{0, 240, v - 40, v + 15}[int(s/700)%4], true
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.15, 40, labelOf(aWell, aLoad, aLoad))
	if got := r.rules(); len(got) > 1 || got["spike-rate"] > 1 {
		t.Errorf("events %v", got)
	}
}

// The link dies some minutes after the truck has left; only the clock goes on.
func TestLoadComesOutByTheClockAlone(t *testing.T) {
	r := newRig(t, aWell)
	r.ticks = true
	r.sensor = hide(aLoad.End()+120, 99*tanktest.Hour)
	r.run(0, 6*tanktest.Hour)
	r.matches(0.08, 25, labelOf(aWell, aLoad, aLoad))
	if wait := r.told[0] - aLoad.End(); wait > 50*60 {
		t.Errorf("came out %.0f min after the end, want at most 50", wait/60)
	}
}

// The link dies in the middle: nothing can be said until it is back, or for a day.
func TestLoadThatIsCutOffWaitsForItsEnd(t *testing.T) {
	r := newRig(t, aWell)
	r.ticks = true
	r.sensor = hide(aLoad.From+900, 12*tanktest.Hour)
	r.run(0, 12*tanktest.Hour)
	r.matches(0, 0)
	r.run(12*tanktest.Hour, 15*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-171) > 8 || !said(r.loads[0], "data gap") {
		t.Fatalf("%+v", r.loads)
	}
	lost := newRig(t, aWell)
	lost.ticks = true
	lost.sensor = hide(aLoad.From+900, 99*tanktest.Hour)
	lost.run(0, 30*tanktest.Hour)
	if len(lost.loads) != 1 || !said(lost.loads[0], "readings stopped") {
		t.Fatalf("after a day of silence: %+v", lost.loads)
	}
}

func TestAClockThatIsFirstSetIsToldInWords(t *testing.T) {
	r := newRig(t, aWell)
	r.clock = func(s float64) float64 {
		if s < aLoad.From+600 {
			return -1.77e9
		}
		return 0
	}
	r.run(0, 7*tanktest.Hour)
	r.only("clock-step")
	if l := r.loads; len(l) != 1 || len(l[0].Remarks) != 1 || !strings.HasPrefix(l[0].Remarks[0], "the clock was not set before") {
		t.Errorf("loads %+v", l)
	}
	if note := r.events[0].Note; !strings.HasSuffix(note, "which had not been set, was set") {
		t.Errorf("note %q", note)
	}
}

func TestClockStepInsideALoad(t *testing.T) {
	for _, step := range []float64{3300, -2400, 86400} {
		r := newRig(t, aWell)
		at := aLoad.From + 600
		r.clock = func(s float64) float64 {
			if s < at {
				return -step // wrong until it is set right
			}
			return 0
		}
		r.run(0, 7*tanktest.Hour)
		r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
		r.only("clock-step")
		if l := r.loads[0]; len(l.Remarks) != 1 || !strings.Contains(l.Remarks[0], "clock stepped") || len(l.Review) > 0 {
			t.Errorf("step of %v s: remarks %q, review %q; want a remark on the clock alone", step, l.Remarks, l.Review)
		}
	}
}

// A message that comes twice or late is not a level of now.
func TestLateAndRepeatedReadings(t *testing.T) {
	r := newRig(t, aWell)
	r.side = func(r *rig, s float64) {
		if s < 600 || int(s/10)%7 != 0 {
			return
		}
		old := s - 300
		r.clock = func(float64) float64 { return old - s }
		r.feed(s-3, Input{Kind: Level, Value: tanktest.Radar(0, old, aWell.Level(old)), Good: true})
		r.clock = nil
	}
	r.run(0, 6*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	r.only()
}

func TestNotesStayShort(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].ID = strings.Repeat("x", 60)
	r.sensor = hide(aLoad.From-600, aLoad.End()+600)
	r.run(0, 7*tanktest.Hour)
	r.rules()
}

// After a silence anything could have happened, so one echo of 80 s, or one alone, must not
// pass for a load.
func TestFalseEchoAfterASilence(t *testing.T) {
	for _, c := range []struct{ quiet, long float64 }{{150, 10}, {400, 10}, {1500, 10}, {150, 80}, {400, 80}, {1500, 80}} {
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60})
		from, to := 5*tanktest.Hour, 5*tanktest.Hour+c.quiet
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= to && s < to+c.long {
				v -= 22
			}
			return v, s < from || s >= to
		}
		r.run(0, 8*tanktest.Hour)
		r.matches(0, 0)
		if got := r.rules(); got["step"] > 0 || len(got) > 1 {
			t.Errorf("an echo of %v s after %v s: events %v", c.long, c.quiet, got)
		}
	}
}

// What was read since the state was last stored is lost with the power: that the box started again is said, not that the sensor was silent.
func TestAGapOverARestartSaysSo(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 100})
	r.run(0, 5*tanktest.Hour+900)
	r.kill(5*tanktest.Hour + 910)
	r.run(5*tanktest.Hour+930, 6*tanktest.Hour)
	if len(r.events) != 1 || !strings.Contains(r.events[0].Note, "the box started again: no reading is kept for ") {
		t.Errorf("%+v", r.events)
	}
}

// A time of less than a minute is told in seconds: "0 min before it" tells nothing.
func TestSpansAreTold(t *testing.T) {
	for s, want := range map[float64]string{8: "8 s", 59: "59 s", 60: "1 min", 1500: "25 min", 5400: "1.5 h"} {
		if got := spanText(s); got != want {
			t.Errorf("%v s: %q, want %q", s, got, want)
		}
	}
}

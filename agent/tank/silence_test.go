package tank

import (
	"math"
	"testing"
	"time"
)

// exceptions lets a reading through when it has moved by a deadband, or after a heartbeat.
func exceptions(deadband, heartbeat float64) seen {
	var last, at float64
	return func(_ int, s, v float64) (float64, bool) {
		if at > 0 && math.Abs(v-last) < deadband && s-at < heartbeat {
			return v, false
		}
		last, at = v, s
		return v, true
	}
}

// A device that reports only changes is silent from one truck to the next: that is no fall.
func TestSilenceBetweenTwoTrucksIsNoFall(t *testing.T) {
	a := move{4 * hour, 165, 6}
	b := move{a.end() + 1080, 170, 6}
	w := well{level0: 236, inflow: 30, moves: []move{a, b}}
	for _, heartbeat := range []float64{900, 1800, 3600} {
		r := newRig(t, w)
		r.sensor = exceptions(0.5, heartbeat)
		r.run(0, 11*hour)
		r.matches(0.8, 90, w.label(a, a), w.label(b, b))
		r.only()
	}
}

// The readings come back two minutes after a load began: its opening is the level before.
func TestGapThatHidesTheStart(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = hide(aLoad.from-1900, aLoad.from+100)
	r.run(0, 7*hour)
	r.only("gap")
	want := aWell.label(aLoad, aLoad)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-want.open) > 0.7 {
		t.Errorf("%+v, want an opening of %.2f in", r.loads, want.open)
	}
}

// Nobody saw the opening of a load that was under way at the first reading.
func TestLoadUnderWayAtTheFirstReadingIsForAPerson(t *testing.T) {
	r := newRig(t, aWell)
	r.run(aLoad.from+600, 8*hour)
	if len(r.loads) != 1 || !said(r.loads[0], "before the first reading") {
		t.Errorf("%+v", r.loads)
	}
}

// Two trucks came while the box was away, the first and the last minutes were seen.
func TestTwoTrucksOverOneGapAreForAPerson(t *testing.T) {
	a := move{4 * hour, 180, 6}
	b := move{a.end() + 3600, 170, 6}
	r := newRig(t, well{level0: 236, moves: []move{a, b}})
	r.sensor = hide(a.from+600, b.from+600)
	r.run(0, 9*hour)
	if len(r.loads) != 1 || !said(r.loads[0], "maybe two loads") {
		t.Errorf("%+v", r.loads)
	}
}

// Oil moved to another tank while the link to both was down is no load.
func TestTransferInAGap(t *testing.T) {
	out := move{4 * hour, 100, 3}
	r := newRig(t, well{level0: 150, inflow: 60, moves: []move{out}}, well{level0: 40, moves: []move{{out.from + 10, -100, 3}}})
	r.sensor = hide(out.from-900, out.end()+900)
	r.run(0, 8*hour)
	r.matches(0, 0)
	if got := r.rules(); got["transfer"] != 1 || got["gap"] != 2 || len(got) != 2 {
		t.Errorf("events %v", got)
	}
}

// The transmitter is re-spanned a minute before the pump starts.
func TestRespanRightBeforeALoad(t *testing.T) {
	r := newRig(t, aWell)
	at := aLoad.from - 60
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= at {
			v += 12
		}
		return v, true
	}
	r.run(0, 7*hour)
	r.only("step")
	want := aWell.label(aLoad, aLoad)
	want.open, want.close = want.open+12, want.close+12
	r.matches(0.3, 30, want)
}

// A clock that gains and is set back each hour is told of once.
func TestClockThatIsSetEachHour(t *testing.T) {
	r := newRig(t, aWell)
	r.clock = func(s float64) float64 { return math.Mod(s, hour) / 30 }
	r.run(0, 20*hour)
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
	r.only("clock-step")
}

// Oil that is lost faster than drift and slower than any load is told of too.
func TestLossJustBelowALoadsRateIsTold(t *testing.T) {
	for _, rate := range []float64{0.2, 0.3, 0.35, 0.4} {
		r := newRig(t, well{level0: 180, inflow: 20, moves: []move{{5 * hour, 60, rate}}})
		r.run(0, 20*hour)
		r.matches(0, 0)
		if n := r.rules()["unexplained-loss"]; n < 1 || n > 2 {
			t.Errorf("%v bbl/min: %d events of the loss: %+v", rate, n, r.events)
		}
	}
}

// A load that a poll each half an hour saw is a load, and no slow loss besides.
func TestLoadOfASparsePollIsNoLoss(t *testing.T) {
	r := newRig(t, aWell)
	r.every, r.site.tanks[0].Every = 1800, 30*time.Minute
	r.run(900, 30*hour)
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
	r.only()
}

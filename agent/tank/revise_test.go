package tank

import (
	"math"
	"strings"
	"testing"
	"time"
)

// corrected checks that there is one correction, of the first load, whose note has a text.
func (r *rig) corrected(text string) {
	r.t.Helper()
	if len(r.loads) == 0 || len(r.corrections) != 1 {
		r.t.Fatalf("%d loads and the corrections %+v, want one", len(r.loads), r.corrections)
	}
	c := r.corrections[0]
	if c.Tank != r.loads[0].Tank || !c.Began.Equal(r.loads[0].Began) || !strings.Contains(c.Note, text) {
		r.t.Errorf("correction %+v of the load from %v, want %q", c, r.loads[0].Began, text)
	}
}

func TestOilThatComesBackAfterTheTicketCorrectsIt(t *testing.T) {
	w := well{level0: 180, inflow: 60, moves: []move{aLoad, {aLoad.end() + 3*hour, -0.8 * aLoad.bbl, 4}}}
	r := newRig(t, w)
	r.run(0, aLoad.end()+2*hour)
	r.kill(aLoad.end() + 2*hour) // what was reported is remembered over a restart
	r.run(aLoad.end()+2*hour+30, 12*hour)
	r.corrected("came back within")
	if len(r.loads) != 1 {
		t.Errorf("%d loads, want 1", len(r.loads))
	}
}

func TestOrdinaryDaysCorrectNothing(t *testing.T) {
	next := move{aLoad.from + 20*hour, 170, 6}
	for name, w := range map[string]well{
		"much production":       {level0: 180, inflow: 500, moves: []move{aLoad, next}},
		"half of it comes back": {level0: 180, inflow: 60, moves: []move{aLoad, {aLoad.end() + 3*hour, -0.45 * aLoad.bbl, 4}}},
	} {
		r := newRig(t, w)
		r.run(0, 30*hour)
		if len(r.corrections) > 0 {
			t.Errorf("%s: %+v", name, r.corrections)
		}
	}
	fed := newRig(t, well{level0: 180, inflow: 60, moves: []move{aLoad, {aLoad.end() + 3*hour, -0.8 * aLoad.bbl, 4}}},
		well{level0: 200, inflow: 20, moves: []move{{aLoad.end() + 3*hour, 0.8 * aLoad.bbl, 4}}})
	fed.run(0, 14*hour)
	if len(fed.corrections) > 0 {
		t.Errorf("oil that another tank gave: %+v", fed.corrections)
	}
}

func TestASensorThatStoodStillAtTheEndCorrectsTheTicket(t *testing.T) {
	w := well{level0: 180, inflow: 60, moves: []move{aLoad}}
	r := newRig(t, w)
	stop := aLoad.end() - 240 // it freezes before the truck is full
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= stop && s < stop+8*hour {
			return math.Round(w.level(stop)*100) / 100, true
		}
		return v, true
	}
	r.run(0, 20*hour)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want 1: %+v", len(r.loads), r.events)
	}
	r.corrected("the sensor stood still")
}

func TestAClockThatIsSetAfterTheTicketMovesItsTimes(t *testing.T) {
	for _, step := range []float64{3300, -2400, 40} {
		r := newRig(t, aWell)
		at := aLoad.end() + 2*hour
		r.clock = func(s float64) float64 {
			if s < at {
				return -step
			}
			return 0
		}
		r.run(0, 10*hour)
		if math.Abs(step) < 60 {
			if len(r.corrections) > 0 {
				t.Errorf("a step of %v s: %+v", step, r.corrections)
			}
			continue
		}
		if len(r.corrections) != 2 || r.corrections[0].Settled || !r.corrections[1].Settled {
			t.Fatalf("a step of %v s: %+v, want one at once and one when the clock has held", step, r.corrections)
		}
		for _, c := range r.corrections {
			if c.Start.Sub(r.at(aLoad.from)).Abs() > 30*time.Second || c.End.Sub(r.at(aLoad.end())).Abs() > 30*time.Second || !c.Began.Equal(r.loads[0].Began) {
				t.Errorf("a step of %v s: %+v, want %v to %v", step, c, r.at(aLoad.from), r.at(aLoad.end()))
			}
		}
	}
}

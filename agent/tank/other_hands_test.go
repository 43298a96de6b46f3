package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A gateway that was cut off for an hour hands on what it kept within some minutes, stamped as it is sent. A truck that loaded meanwhile is a fall
// faster than any pump then: a ticket for a person, and not what somebody did to the sensor.
func TestALoadThatAGatewayHandsOnIsNoStep(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 105, Inflow: 40})
	from, to := 39000.0, 42600.0
	fell := []float64{0, 0, 2.5, 10.5, 16, 22.5, 33.5, 35} // inches, of a truck's half hour
	r.sensor = func(i int, at, v float64) (float64, bool) {
		if at >= to {
			v -= fell[min(int((at-to)/30), len(fell)-1)]
		}
		return math.Round(2*v) / 2, at < from || at >= to
	}
	r.every = 30
	r.run(0, to+3*3600)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, verdicts %v", len(r.loads), r.verdicts)
	}
	asksFor(t, r.loads[0], "right behind a silence")
}

// Another tank's probe is lifted out and let in again while a truck loads here. What that one shows to rise, back to where it was before it fell, is
// not this one's oil, and its load is not lost in it.
func TestALoadIsNotMovedIntoATankWhoseProbeIsLetInAgain(t *testing.T) {
	load := tanktest.Move{From: 40000, Bbl: 95, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 190, Inflow: 20, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 93})
	out, in := load.From-420, load.From+700
	r.sensor = func(i int, at, v float64) (float64, bool) {
		switch {
		case i == 0 || at < out || at >= in+600:
		case at < out+600:
			v -= (v - 1) * (at - out) / 600
		case at < in:
			v = 1
		default:
			v = 1 + (v-1)*(at-in)/600
		}
		return v, true
	}
	r.run(0, load.End()+4*3600)
	n := 0
	for _, l := range r.loads {
		if l.Tank == "TK-1" {
			n++
			if !strings.Contains(strings.Join(l.Review, ", "), "a transfer is not excluded") {
				t.Errorf("it asks for %q", l.Review)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d loads of TK-1, verdicts %v", n, r.verdicts)
	}
}

// Another tank's hatch is opened before a load here, and shut as the load begins: what its pressure comes back by is no oil of this load, nor asks.
func TestAnotherTanksHatchTakesNothingOffALoad(t *testing.T) {
	load := tanktest.Move{From: 40000, Bbl: 120, Rate: 3}
	r := newRig(t, tanktest.Well{Level0: 130, Moves: []tanktest.Move{load}}, tanktest.Well{Level0: 93})
	r.site.tanks[1].Sensor, r.every = "hydrostatic", 60
	r.sensor = func(i int, at, v float64) (float64, bool) {
		if i == 1 && at >= load.From-900 && at < load.From+400 {
			v -= 12
		}
		return tanktest.Radar(i, at, v), true
	}
	r.run(0, load.End()+4*3600)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-120) > 1 || len(r.loads[0].Review) > 0 {
		t.Errorf("%+v, verdicts %v, want a load of 120 bbl that asks nothing", r.loads, r.verdicts)
	}
}

package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A tank with a wide vent has its air back within a minute: what a pressure sensor shows a few minutes
// behind a load has no dip in it any more.
func TestAVacuumsDipEndsAsSoonAsItsVentLetsIt(t *testing.T) {
	for _, fade := range []float64{25, 60, 150} {
		w := aWell
		w.Inflow = 20
		r := newRig(t, w)
		r.every, r.site.tanks[0].Sensor = 10, "hydrostatic"
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if s > aLoad.From {
				v -= 2.5 * math.Exp(-math.Max(0, s-aLoad.End())/fade) * math.Min(1, (s-aLoad.From)/60)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 8*tanktest.Hour)
		if want := w.Level(aLoad.End()); len(r.loads) != 1 || math.Abs(r.loads[0].Close-want) > 0.15 {
			t.Errorf("a fade of %.0f s: closings %.2f in, want one of %.2f", fade, closings(r), want)
		}
	}
}

// A vacuum's dip fades from the pump's stop on. What a separator dumps into a group's tank when the equaliser has long done its work is oil, and
// behind its closing.
func TestADumpBehindAnEqualisersWorkIsNoDip(t *testing.T) {
	const at, stop, dump = 4 * tanktest.Hour, 4*tanktest.Hour + 1500, 4*tanktest.Hour + 2160
	level := func(side float64) func(s float64) float64 {
		return func(s float64) float64 {
			v := 200.0
			for from := 600.0; from < s; from += 2400 {
				if from < at-600 || from > dump+1200 {
					v += 0.4 * math.Min(1, (s-from)/30)
				}
			}
			if s > dump {
				v += 1 * math.Min(1, (s-dump)/30)
			}
			v -= 40 * math.Max(0, math.Min(1, (s-at)/(stop-at)))
			return v - side*2*math.Exp(-math.Max(0, s-stop)/100)*math.Max(0, math.Min(1, (s-at)/300))
		}
	}
	r := newRig(t, make([]tanktest.Well, 2)...)
	r.every = 20
	for i := range r.site.tanks {
		o := &r.site.tanks[i]
		o.Group, o.Sensor, o.Loads.GroupSettle = "A", "hydrostatic", time.Minute
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		return tanktest.Radar(i, s, level([]float64{1, -1}[i])(s)), true
	}
	r.run(0, 9*tanktest.Hour)
	want := level(0)(dump - 30)
	if len(r.loads) != 2 {
		t.Fatalf("%+v %+v, want a load of each", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		if math.Abs(l.Close-want) > 0.3 {
			t.Errorf("%s: closing %.2f in, want %.2f", l.Tank, l.Close, want)
		}
	}
}

func closings(r *rig) (in []float64) {
	for _, l := range r.loads {
		in = append(in, l.Close)
	}
	return in
}

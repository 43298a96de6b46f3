package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank/tanktest"
)

// The equaliser is shut, or lies above the oil: the next truck draws from another tank, and what it takes is no part of what the first did.
func TestTheNextTruckOnAnotherTankBehindAShutEqualiser(t *testing.T) {
	const at, next = 4 * tanktest.Hour, 4*tanktest.Hour + 1500
	shut := func(float64) bool { return false }
	r := grouped(t, levelled([]float64{150, 150, 150}, shut, 0, haul{0, at, at + 600, 0.07}, haul{1, next, next + 600, 0.05})...)
	sum := 0.0
	for _, l := range r.loads {
		sum += l.GaugeBbl
		if want := map[string]float64{"TK-1": 108, "TK-2": 120}[l.Tank]; math.Abs(l.Close-want) > 0.3 || len(l.Review) > 0 {
			t.Errorf("%s closes at %.2f in, %q, want %v", l.Tank, l.Close, l.Review, want)
		}
	}
	if want := 72 * tanktest.PerInch; len(r.loads) != 2 || math.Abs(sum-want) > 1 {
		t.Errorf("%+v %+v, want two loads of %.1f bbl", r.loads, r.verdicts, want)
	}
}

// What a tank gave to a load through a narrow pipe, or by a valve that was soon shut, is less than a load and in a ticket all the same.
func TestASmallShareOfAGroupsLoad(t *testing.T) {
	const at = 4 * tanktest.Hour
	for _, inches := range []float64{4, 10} {
		fell := func(inches float64) func(s float64) float64 {
			return knots([2]float64{0, 150}, [2]float64{at, 150}, [2]float64{at + 600, 150 - inches}, [2]float64{9 * tanktest.Hour, 150 - inches})
		}
		r := grouped(t, fell(60), fell(inches))
		sum := 0.0
		for _, l := range r.loads {
			sum += l.GaugeBbl
		}
		if want := (60 + inches) * tanktest.PerInch; len(r.loads) != 2 || math.Abs(sum-want) > 1 {
			t.Errorf("%v in of a neighbour: %.1f bbl in %+v %+v, want %.1f", inches, sum, r.loads, r.verdicts, want)
		}
	}
}

// A tank has one ticket for what it gave to a load, though its neighbour's comes later and somebody took a sample from it meanwhile.
func TestATankHasOneTicketForALoad(t *testing.T) {
	const at, sample = 4 * tanktest.Hour, 5*tanktest.Hour + 1200
	r := newRig(t, make([]tanktest.Well, 2)...)
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Loads.GroupSettle = "A", []time.Duration{2 * time.Hour, 45 * time.Minute}[i]
	}
	fell := func(extra float64) func(s float64) float64 {
		return knots([2]float64{0, 150}, [2]float64{at, 150}, [2]float64{at + 900, 120}, [2]float64{sample, 120}, [2]float64{sample + 60, 120 - extra}, [2]float64{9 * tanktest.Hour, 120 - extra})
	}
	courses := []func(float64) float64{fell(0), fell(1.2)}
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, courses[i](s)), true }
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 2 {
		t.Errorf("%+v %+v, want one load of each tank", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		if math.Abs(l.GaugeBbl-30*tanktest.PerInch) > 1 {
			t.Errorf("%s: %.1f bbl, want %.1f", l.Tank, l.GaugeBbl, 30*tanktest.PerInch)
		}
	}
}

// The third of a chain begins to fall when the truck has left the first: it gave to that load all the same, with its times.
func TestTheLastOfAChainFollowsTheOneBeforeIt(t *testing.T) {
	const at = 4 * tanktest.Hour
	r := grouped(t,
		knots([2]float64{0, 150}, [2]float64{at, 150}, [2]float64{at + 600, 100}, [2]float64{at + 2700, 128}, [2]float64{9 * tanktest.Hour, 128}),
		knots([2]float64{0, 150}, [2]float64{at, 150}, [2]float64{at + 300, 150}, [2]float64{at + 1700, 128}, [2]float64{9 * tanktest.Hour, 128}),
		knots([2]float64{0, 150}, [2]float64{at + 1500, 150}, [2]float64{at + 3600, 128}, [2]float64{9 * tanktest.Hour, 128}))
	for _, l := range r.loads {
		if l.Start.After(r.at(at+120)) || l.Tank == "TK-3" && (math.Abs(l.GaugeBbl-22*tanktest.PerInch) > 1 || len(l.Review) > 0) {
			t.Errorf("%s from %v, %.1f bbl, %q, want the truck's times", l.Tank, l.Start, l.GaugeBbl, l.Review)
		}
	}
	if len(r.loads) != 3 {
		t.Errorf("%+v %+v, want a load of each", r.loads, r.verdicts)
	}
}

// Tanks that an equaliser joins, though the configuration does not say so, gave a load of which none gave enough for a ticket: somebody is told, once.
func TestALoadOfTanksThatNoGroupJoinsIsTold(t *testing.T) {
	const at = 4 * tanktest.Hour
	for together, want := range map[bool]int{true: 1, false: 0} {
		r := newRig(t, make([]tanktest.Well, 4)...)
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			from := at + 30*float64(i)
			if !together {
				from += float64(i) * 1500
			}
			return tanktest.Radar(i, s, 150-8*math.Min(1, math.Max(0, s-from)/600)), true
		}
		r.run(0, 9*tanktest.Hour)
		told := 0
		for _, e := range r.events {
			if e.Rule == eventrules.UnexplainedLoss {
				told++
			}
		}
		if told != want || len(r.loads) > 0 {
			t.Errorf("together %v: %+v %+v, want %d events that tell it", together, r.events, r.loads, want)
		}
	}
}

// What a tank gives while its mates still give to the same load is the end of its own draw: it opens nowhere else than where it was read, and not where
// they all come even.
func TestTheEndOfADrawOpensNoOther(t *testing.T) {
	const at = 4 * tanktest.Hour
	open := func(float64) bool { return true }
	courses := levelled([]float64{150, 150, 150}, open, 0.0012, haul{0, at, at + 2400, 0.04})
	r := newRig(t, make([]tanktest.Well, len(courses))...)
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "A"
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, courses[i](s)), true }
	r.run(0, at+2400+1.5*tanktest.Hour)
	ts := r.st.tanks[0]
	if len(r.loads) != len(courses) || len(ts.reports.loads) != 1 {
		t.Fatalf("%+v", r.loads)
	}
	end := ts.reports.loads[0].end
	low := courses[0](end)
	d := draw{start: end + 30, end: end + 60, opening: gauge{level: low}, closing: gauge{level: low - 1}}
	(siteTanks{r.site, &r.st}).opensTogether(0, ts, &d)
	if d.uneven || d.opening.level != low {
		t.Errorf("it opens at %.2f in, and was read at %.2f", d.opening.level, low)
	}
}

package tank

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// grouped are tanks that an open equaliser joins, each with its level.
func grouped(t *testing.T, levels ...func(s float64) float64) *rig {
	r := newRig(t, make([]tanktest.Well, len(levels))...)
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "A"
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, levels[i](s)), true }
	r.run(0, 8*tanktest.Hour)
	return r
}

// A load that three tanks share is one by what they gave together; a drain that they share is none.
func TestAGroupsTanksShareALoad(t *testing.T) {
	const at = 4 * tanktest.Hour
	for inches, want := range map[float64]int{13: 3, 4: 0} {
		level := knots([2]float64{0, 199}, [2]float64{at, 200}, [2]float64{at + 900, 200 - inches}, [2]float64{9 * tanktest.Hour, 201 - inches})
		if r := grouped(t, level, level, level); len(r.loads) != want {
			t.Errorf("%v in of each: %d loads %+v, want %d", inches, len(r.loads), r.verdicts, want)
		}
	}
}

// A narrow equaliser takes longer than a load waits: what the other tank gave is known by then all the same.
func TestANarrowEqualiserSharesALoad(t *testing.T) {
	const at = 4 * tanktest.Hour
	course := func(to func(after float64) float64) func(s float64) float64 {
		return func(s float64) float64 {
			if s < at {
				return 200
			}
			return to(s - at)
		}
	}
	fell := func(after float64) float64 { return 26 * math.Min(1, after/900) }
	drawn := course(func(after float64) float64 { return 200 - fell(after)*(1+math.Exp(-after/4000))/2 })
	other := course(func(after float64) float64 { return 200 - fell(after)*(1-math.Exp(-after/4000))/2 })
	if r := grouped(t, drawn, other); len(r.loads) != 2 {
		t.Errorf("%d loads %+v, want one of each", len(r.loads), r.verdicts)
	}
}

// A driver pauses while the equaliser gives back to the tank that he draws from: one load, from where both stood.
func TestAPauseWhileTheEqualiserWorks(t *testing.T) {
	const at = 4 * tanktest.Hour
	drawn := knots([2]float64{0, 142}, [2]float64{at, 142}, [2]float64{at + 480, 118.5}, [2]float64{at + 840, 123.3}, [2]float64{at + 2100, 79},
		[2]float64{at + 2700, 84}, [2]float64{at + 4000, 85.2}, [2]float64{9 * tanktest.Hour, 85.2})
	other := knots([2]float64{0, 142}, [2]float64{at, 142}, [2]float64{at + 480, 132.4}, [2]float64{at + 840, 126}, [2]float64{at + 2100, 93.5},
		[2]float64{at + 2700, 86.5}, [2]float64{at + 4000, 85.2}, [2]float64{9 * tanktest.Hour, 85.2})
	r := grouped(t, drawn, other)
	if len(r.loads) != 2 {
		t.Fatalf("%+v %+v, want a load of each tank", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		if math.Abs(l.Open-142) > 0.3 || math.Abs(l.Close-85.2) > 1 {
			t.Errorf("%s from %.2f to %.2f in, want 142 to 85.2", l.Tank, l.Open, l.Close)
		}
	}
}

// The next truck comes before an equaliser has done its work: what the first took ends where the tanks would meet, and not where a curve
// through the one level points.
func TestTheNextTruckBeforeTheTanksAreEven(t *testing.T) {
	const at, next = 4 * tanktest.Hour, 4*tanktest.Hour + 3720
	drawn := knots([2]float64{0, 173}, [2]float64{at, 173}, [2]float64{at + 2400, 122}, [2]float64{next, 140}, [2]float64{next + 1500, 79}, [2]float64{next + 5000, 112}, [2]float64{9 * tanktest.Hour, 112})
	other := knots([2]float64{0, 173}, [2]float64{at, 173}, [2]float64{at + 2400, 150}, [2]float64{next, 145}, [2]float64{next + 1500, 123}, [2]float64{next + 5000, 112}, [2]float64{9 * tanktest.Hour, 112})
	r := grouped(t, drawn, other)
	if len(r.loads) == 0 || r.loads[0].Tank != "TK-1" || math.Abs(r.loads[0].Close-142.5) > 3 {
		t.Errorf("%+v %+v, want a first load of TK-1 to between 140 and 145 in", r.loads, r.verdicts)
	}
}

// A third tank follows through the equaliser so slowly that no draw is found in it: it has its ticket all the same.
func TestAGroupsTankThatFollowsSlowly(t *testing.T) {
	const at = 4 * tanktest.Hour
	fell := func(inches, long float64) func(s float64) float64 {
		return knots([2]float64{0, 200}, [2]float64{at, 200}, [2]float64{at + long, 200 - inches}, [2]float64{9 * tanktest.Hour, 200 - inches})
	}
	r := grouped(t, fell(20, 900), fell(20, 900), fell(7, 1500))
	if len(r.loads) != 3 {
		t.Fatalf("%+v %+v, want three loads", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		if want := map[string]float64{"TK-3": 7}[l.Tank] + map[bool]float64{true: 20}[l.Tank != "TK-3"]; math.Abs(l.GaugeBbl-want*tanktest.PerInch) > 0.5 || len(l.Review) > 0 {
			t.Errorf("%s: %.2f in to %.2f, %q, want %v in less", l.Tank, l.Open, l.Close, l.Review, want)
		}
	}
}

// The equaliser is opened as soon as the pump stops: the tank that was drawn from alone gave all of the load, and what its neighbour fills
// it with again is none.
func TestATankThatTheEqualiserFillsAgainWasDrawnFrom(t *testing.T) {
	const at = 4 * tanktest.Hour
	drawn := knots([2]float64{0, 200}, [2]float64{at, 200}, [2]float64{at + 600, 166}, [2]float64{at + 2400, 182.5}, [2]float64{9 * tanktest.Hour, 182.5})
	other := knots([2]float64{0, 200}, [2]float64{at, 200}, [2]float64{at + 600, 200}, [2]float64{at + 2400, 183.5}, [2]float64{9 * tanktest.Hour, 183.5})
	r := grouped(t, drawn, other)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-166) > 0.3 || len(r.loads[0].Review) > 0 {
		t.Errorf("%+v %+v, want one load, of TK-1 to 166 in", r.loads, r.verdicts)
	}
}

// A hauler shuts the equaliser for the load, and opens it half an hour later: the loaded tank gave all of it, and the evening-out behind it
// is no draw of the others.
func TestAnEqualiserThatIsShutForTheLoad(t *testing.T) {
	const at, open = 4 * tanktest.Hour, 4*tanktest.Hour + 3500
	shared := func(own float64) func(s float64) float64 {
		return func(s float64) float64 {
			was := 200 - own*math.Min(1, math.Max(0, s-at)/1700)
			return was + (200-100./3-200+own)*(1-math.Exp(-math.Max(0, s-open)/600))
		}
	}
	r := grouped(t, shared(100), shared(0), shared(0))
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-100) > 0.3 || len(r.loads[0].Review) > 0 {
		t.Errorf("%+v, want one load, of TK-1 to 100 in", r.loads)
	}
	r.only()
}

// A full group whose well begins to make as soon as there is room: what it makes is no part of the closing, and counts from the start.
func TestAGroupThatIsFilledAgainAtOnce(t *testing.T) {
	const at, rise = 4 * tanktest.Hour, 0.1 / 60 // in/s, of each
	level := func(s float64) float64 {
		s = math.Max(0, s-at)
		return math.Min(150, 150-30*math.Min(1, s/1800)+rise*s)
	}
	r := grouped(t, level, level, level)
	if len(r.loads) != 3 {
		t.Fatalf("%+v %+v, want a load of each", r.loads, r.verdicts)
	}
	for _, l := range r.loads {
		if math.Abs(l.Close-123) > 0.2 || math.Abs(l.RemovedBbl-30*tanktest.PerInch) > 1 {
			t.Errorf("%s to %.2f in, %.1f bbl removed, want 123 in and %.1f bbl", l.Tank, l.Close, l.RemovedBbl, 30*tanktest.PerInch)
		}
	}
}

// A tank of the group that nobody reads, or whose value stands still, gave its share too: the others' tickets say that it is missing, and
// about how much.
func TestTheShareOfATankThatNobodyReads(t *testing.T) {
	const at = 4 * tanktest.Hour
	for _, stuck := range []bool{false, true} {
		r := newRig(t, make([]tanktest.Well, 3)...)
		for i := range r.site.tanks {
			r.site.tanks[i].Group = "A"
		}
		level := knots([2]float64{0, 198}, [2]float64{at, 200}, [2]float64{at + 1500, 166}, [2]float64{9 * tanktest.Hour, 168})
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			if i == 2 && s > at-tanktest.Hour && s < at+4*tanktest.Hour {
				return 199.5, stuck
			}
			return tanktest.Radar(i, s, level(s)), true
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("stuck %v: %+v %+v, want two loads", stuck, r.loads, r.verdicts)
		}
		for _, l := range r.loads {
			asksFor(t, l, "tank TK-3 of its group was not read meanwhile: its share, about 57 bbl")
		}
	}
}

// Tanks that report only changes, through a poor radio and with an outage now and then, make loads of numbers: none is the middle of nothing.
func TestAGroupsLoadIsNumbersHoweverFewReadings(t *testing.T) {
	loads := 0
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 7))
		at, n := 3*tanktest.Hour+600*rng.Float64(), 2+int(seed%4)
		r := newRig(t, make([]tanktest.Well, n)...)
		last, dead := make([]float64, n), make([]float64, n)
		for i := range r.site.tanks {
			r.site.tanks[i].Group, r.site.tanks[i].Every, dead[i] = "A", 0, at+5000*(2*rng.Float64()-1)
		}
		r.every = 15
		band, long := 0.3+0.7*rng.Float64(), 300+2000*rng.Float64()
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			after := math.Max(0, s-at)
			all, own := 30/float64(n)*math.Min(1, after/900), 0.0
			if i == 0 { // which the truck draws from, and the others follow
				own = 30 * math.Min(1, after/900) * math.Exp(-after/long)
			}
			v := 90 + 0.4*s/3600 - all - own
			if math.Abs(v-last[i]) < band && s > 0 || rng.Float64() < 0.2 || s > dead[i] && s < dead[i]+1500 {
				return 0, false
			}
			last[i] = v
			return v, true
		}
		r.ticks = true
		r.run(0, 9*tanktest.Hour)
		for _, l := range r.loads {
			if _, err := json.Marshal(l); err != nil {
				t.Errorf("seed %d: %s: %v", seed, l.Tank, err)
			}
		}
		loads += len(r.loads)
	}
	if loads < 24 {
		t.Errorf("%d loads of 24 groups", loads)
	}
}

// haul is a truck that draws from one tank of a group, inches a second.
type haul struct {
	tank           int
	from, to, rate float64
}

// levelled are the courses of a group's tanks from some levels: a pipe that is open at times lets through so much of what each lies off their
// mean, inches a second.
func levelled(from []float64, open func(s float64) bool, pipe float64, hauls ...haul) (courses []func(s float64) float64) {
	const step, long = 10.0, 9 * 3600
	course := make([][]float64, len(from))
	v := append([]float64(nil), from...)
	for s := 0.0; s <= long; s += step {
		mean := 0.0
		for i := range v {
			course[i] = append(course[i], v[i])
			mean += v[i] / float64(len(v))
		}
		for i := range v {
			if open(s) {
				v[i] += step * pipe * (mean - v[i])
			}
		}
		for _, h := range hauls {
			if s >= h.from && s < h.to {
				v[h.tank] -= step * h.rate
			}
		}
	}
	for i := range course {
		courses = append(courses, func(s float64) float64 { return course[i][min(int(s/step), len(course[i])-1)] })
	}
	return courses
}

// The next truck draws from one tank while another's closing is yet to be read: how far that lies apart is what it was before, and each of three
// has its share.
func TestTheNextTruckBeforeAThirdTanksClosing(t *testing.T) {
	const at, next = 4 * tanktest.Hour, 4*tanktest.Hour + 2200
	open := func(s float64) bool { return s < next-120 || s > next+5000 }
	for _, pipe := range []float64{1. / 150, 1. / 300} {
		r := grouped(t, levelled([]float64{180, 180, 180}, open, pipe, haul{0, at, at + 700, 0.07}, haul{0, next, next + 1100, 0.07})...)
		if len(r.loads) != 4 {
			t.Errorf("%d loads %+v, want a load of each, and the next", len(r.loads), r.verdicts)
		}
		for _, l := range r.loads {
			if l.Start.Before(r.at(next-600)) && math.Abs(l.GaugeBbl-49./3*tanktest.PerInch) > 1 {
				t.Errorf("%s: %.2f to %.2f in, want a third of 49 in less", l.Tank, l.Open, l.Close)
			}
		}
	}
}

// Two tanks come nearer than wells make them, as through a turbulent pipe, of which a quarter of an hour was seen: an equaliser does that, though
// no curve that fades does.
func TestAnEqualiserThatNoCurveFits(t *testing.T) {
	var b []sample
	for k, v := range []float32{-67.9, -69, -69.3, -65, -61, -57.7, -53.5, -49.5, -46, -43, -41, -39, -36, -33, -30.8} {
		b = append(b, sample{t: float64(60 * k), v: v, n: 1})
	}
	r := resting{sigma: 0.3, inflow: production{usual: 1e-3, variance: 1e-3, known: true}}
	if e := r.evening(b, 5e-3); e.first > -30 {
		t.Errorf("%+v, want some -37 in", e)
	}
	if e := r.evening(b, 0.1); e.first != 0 {
		t.Errorf("%+v, want none where a well makes as much", e)
	}
}

// The next truck comes while the tanks still fill the one that the last left low: what they lost to it before is no part of the load, and where the
// equaliser stays open, what they lose to it later is told.
func TestATruckWhileTheTanksAreMadeEven(t *testing.T) {
	const at = 4 * tanktest.Hour
	for _, shut := range []bool{true, false} {
		open := func(s float64) bool { return s > at && (!shut || s < at+1500) }
		truck := haul{0, at + 1500, at + 2700, 0.07}
		c := levelled([]float64{200, 200, 100}, open, 1./2400, truck)
		r := grouped(t, c...)
		sum := 0.0
		for _, l := range r.loads {
			sum += l.RemovedBbl
			if l.Tank == "TK-1" && math.Abs(l.Open-c[0](truck.from)) > 1 {
				t.Errorf("shut %v: opens at %.2f in, want %.2f", shut, l.Open, c[0](truck.from))
			}
			if !shut {
				asksFor(t, l, "tank TK-3 of its group stood lower and took in")
			}
		}
		if want := (truck.to - truck.from) * truck.rate * tanktest.PerInch; len(r.loads) == 0 || math.Abs(sum-want) > 0.03*want {
			t.Errorf("shut %v: %.1f bbl removed in %+v %+v, want %.1f", shut, sum, r.loads, r.verdicts, want)
		}
	}
}

// chained are the levels of tanks that stand at 150 in and that pipes join one behind the other, of which trucks draw 60 in from the first within
// 25 min, each from a time on; pipe is the inches a second that an inch of difference moves, as its root.
func chained(tanks int, pipe float64, trucks ...float64) []func(s float64) float64 {
	const step = 10.0
	at := make([][]float64, 1, int(9*tanktest.Hour/step)+1)
	for range tanks {
		at[0] = append(at[0], 150)
	}
	for s := 0.0; s < 9*tanktest.Hour; s += step {
		v := append([]float64(nil), at[len(at)-1]...)
		for _, from := range trucks {
			if s >= from && s < from+1500 {
				v[0] -= 60 * step / 1500
			}
		}
		for k := 1; k < tanks; k++ {
			d := v[k] - v[k-1]
			ran := math.Copysign(math.Min(pipe*step*math.Sqrt(math.Abs(d)), math.Abs(d)/4), d)
			v[k], v[k-1] = v[k]-ran, v[k-1]+ran
		}
		at = append(at, v)
	}
	out := make([]func(s float64) float64, tanks)
	for k := range out {
		out[k] = func(s float64) float64 {
			i := min(max(0, int(s/step)), len(at)-2)
			return at[i][k] + (at[i+1][k]-at[i][k])*math.Max(0, s-float64(i)*step)/step
		}
	}
	return out
}

// What each truck took from a chain of tanks is in the tickets once, one of each tank, however late the last of them follows, and however
// uneven the next truck finds them.
func TestAChainGivesWhatItsTrucksTook(t *testing.T) {
	const at = 2.5 * tanktest.Hour
	for name, c := range map[string]struct {
		tanks  int
		pipe   float64
		trucks []float64
	}{
		"the last follows late": {4, 0.0012, []float64{at}},
		"six, a narrow pipe":    {6, 0.0012, []float64{at}},
		"two trucks":            {4, 0.0015, []float64{at, at + 4800}},
		"two trucks, narrow":    {5, 0.001, []float64{at, at + 4800}},
	} {
		r := grouped(t, chained(c.tanks, c.pipe, c.trucks...)...)
		for _, from := range c.trucks {
			n, sum := 0, 0.0
			for _, l := range r.loads {
				if s := l.Start.Sub(tanktest.Start).Seconds(); s > from-600 && s < from+1500 {
					n, sum = n+1, sum+l.GaugeBbl
				}
			}
			if want := 60 * tanktest.PerInch; n != c.tanks || math.Abs(sum-want) > 0.02*want {
				t.Errorf("%s: %d tickets of %.1f bbl together for a truck of %.1f", name, n, sum, want)
			}
		}
	}
}

package tank

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A transmitter without power shows zero, of good quality, with the noise of its wire. That is a
// gap, and no step; a load in it is ticketed for a person.
func TestZeroIsNoLevel(t *testing.T) {
	for name, c := range map[string]struct {
		from, to float64
		events   []string
	}{
		"while nothing happens": {8 * tanktest.Hour, 9 * tanktest.Hour, []string{"gap"}},
		"inside a load":         {aLoad.From + 300, aLoad.From + 1200, []string{"gap"}},
		"over its end":          {aLoad.From + 900, aLoad.End() + 1800, []string{"gap"}},
		"over all of it":        {aLoad.From - 1200, aLoad.End() + 1500, []string{"gap"}},
		"for eight hours":       {aLoad.From - 1200, aLoad.From + 8*tanktest.Hour, []string{"gap"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, aWell)
			rnd := rand.New(rand.NewPCG(5, 5))
			r.sensor = func(_ int, s, v float64) (float64, bool) {
				if s >= c.from && s < c.to {
					v = math.Max(0, 0.05*rnd.NormFloat64())
				}
				return v, true
			}
			r.run(0, 15*tanktest.Hour)
			r.only(c.events...)
			if len(r.loads) != 1 {
				t.Fatalf("%d loads, want 1", len(r.loads))
			}
			want := labelOf(aWell, aLoad, aLoad)
			if l := r.loads[0]; math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 3 {
				t.Errorf("%.1f bbl, want %.1f", l.GaugeBbl, (want.open-want.close)*tanktest.PerInch)
			}
			for _, e := range r.events {
				if !strings.Contains(e.Note, "it showed 0.") {
					t.Errorf("%q does not say what was shown", e.Note)
				}
			}
		})
	}
}

// A float that hangs before the truck is done and comes free later: one load, to the level at
// which it came free, for a person.
func TestFloatThatHangsBeforeTheEnd(t *testing.T) {
	half := func(v float64) float64 { return math.Round(2*v) / 2 }
	for name, c := range map[string]struct {
		long  float64
		grain func(float64) float64
	}{
		"radar for 7 min":    {420, nil},
		"radar for 18 min":   {1080, nil},
		"radar for 40 min":   {2400, nil},
		"chain for 21 min":   {1260, half},
		"chain for 40 min":   {2400, half},
		"radar for two hour": {7200, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, aWell)
			from := aLoad.End() - 300
			hung := math.NaN()
			r.sensor = func(_ int, s, v float64) (float64, bool) {
				if c.grain != nil {
					v = c.grain(v)
				}
				if s >= from && s < from+c.long {
					if math.IsNaN(hung) {
						hung = v
					}
					v = hung
				}
				return v, true
			}
			r.run(0, 9*tanktest.Hour)
			r.only("stuck")
			if len(r.loads) != 1 {
				t.Fatalf("%d loads, want 1: %+v", len(r.loads), r.loads)
			}
			l, want := r.loads[0], labelOf(aWell, aLoad, aLoad)
			if math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 2 || math.Abs(l.End.Sub(r.at(want.end)).Seconds()) > 90 {
				t.Errorf("%.1f bbl until %v, want %.1f until %v", l.GaugeBbl, l.End, (want.open-want.close)*tanktest.PerInch, r.at(want.end))
			}
		})
	}
}

// Somebody spans the transmitter while a truck loads: one load, of what left before and after.
func TestRespanDuringALoad(t *testing.T) {
	for _, by := range []float64{-18, 20} {
		r := newRig(t, aWell)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= aLoad.From+900 {
				v += by
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		r.only("step")
		if len(r.loads) != 1 {
			t.Fatalf("%d loads, want 1", len(r.loads))
		}
		want := labelOf(aWell, aLoad, aLoad)
		l := r.loads[0]
		if math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 3 || math.Abs(l.Close-want.close-by) > 0.1 || !said(l, "re-spanned") {
			t.Errorf("by %v: %.1f bbl to %.2f in, review %q; want %.1f to %.2f", by, l.GaugeBbl, l.Close, l.Review, (want.open-want.close)*tanktest.PerInch, want.close+by)
		}
	}
}

// A false echo of four minutes in the middle of a load is believed after it neither as a
// re-span nor as an end.
func TestLongEchoInsideALoad(t *testing.T) {
	for _, at := range []float64{0, 300, 1200} {
		r := newRig(t, aWell)
		from := aLoad.From + at
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= from && s < from+240 {
				v = tanktest.Radar(1, s, 60)
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		if at == 0 {
			if len(r.loads) != 1 {
				t.Errorf("an echo at the start: %d loads, want 1", len(r.loads))
			}
			continue
		}
		r.matches(0.1, 40, labelOf(aWell, aLoad, aLoad))
		r.only()
	}
}

// A chain of half inches stands for hours in a tank that hardly fills: its next step says that it works, and what comes in from
// another tank then is known.
func TestAStepAfterHoursIsNoStuckSensor(t *testing.T) {
	out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 100, Rate: 5}
	r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 41.2, Moves: []tanktest.Move{{From: out.From, Bbl: -100, Rate: 5}}})
	rnd := rand.New(rand.NewPCG(7, 7))
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if i == 1 && s < 4*tanktest.Hour {
			v += 0.05 + 0.2*rnd.NormFloat64() // between two reeds, until the wind drops
		}
		return math.Round(2*v) / 2, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0, 0)
	r.only("transfer")
}

// A box may start on an echo: where the readings behind the very first one agree, and none of them could have come from it so soon,
// nothing left the tank.
func TestTheFirstReadingOfAllMayBeAnEcho(t *testing.T) {
	for _, off := range []float64{20, -20} {
		r := newRig(t, aWell)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			switch s {
			case 0:
				v += off
			case 160:
				v = 0
			}
			return v, true
		}
		r.run(0, 7*tanktest.Hour)
		r.matches(0.1, 40, labelOf(aWell, aLoad, aLoad))
		if len(r.events) > 0 {
			t.Errorf("%+.0f in: events %+v", off, r.events)
		}
	}
}

// A sensor whose zero is off shows a level below the bottom at the end of a load, which is one all the same and asks; a current loop that
// breaks, or fails to 3.6 mA, shows none.
func TestALoadThatGoesOnBelowTheBottomIsNotLost(t *testing.T) {
	w := tanktest.Well{Level0: 104, Moves: []tanktest.Move{aLoad}}
	for _, broken := range []float64{0, -6, -60} {
		r := newRig(t, w)
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if broken < 0 && int(s/10)%7 == 0 {
				v = broken
			}
			return v, true
		}
		r.run(0, aLoad.End()+2*tanktest.Hour)
		r.matches(0.3, 60, labelOf(w, aLoad, aLoad))
		asksFor(t, r.loads[0], "outside the strapping table")
	}
}

// One poll of a few minutes' that is a false echo is in the way of no load, wherever in it the echo comes and however high it is.
func TestOnePollThatIsAnEchoLosesNoLoad(t *testing.T) {
	for _, every := range []float64{120, 180, 300} {
		for after := 0.0; after < every; after += 75 {
			load := tanktest.Move{From: 6*tanktest.Hour + after, Bbl: 79, Rate: 5.4}
			w := tanktest.Well{Level0: 80, Inflow: 30, Moves: []tanktest.Move{load}}
			for at := load.From - 2*every; at < load.End()+2*every; at += every {
				for _, off := range []float64{-45, -30, -15, 15, 30, 45, 60} {
					r := newRig(t, w)
					r.every = every
					r.site.tanks[0].Every = time.Duration(every) * time.Second
					r.sensor = func(_ int, s, v float64) (float64, bool) {
						if s >= at && s < at+every {
							v += off
						}
						return v, true
					}
					r.run(0, load.End()+2*tanktest.Hour)
					want := labelOf(w, load, load)
					if len(r.loads) != 1 {
						t.Errorf("polled each %v s, %v s after a poll, an echo of %+v in %.0f s after its start: %d loads, verdicts %+v", every, after, off, at-load.From, len(r.loads), r.verdicts)
					} else if l := r.loads[0]; math.Abs(l.GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 2.5 && len(l.Review) == 0 {
						t.Errorf("polled each %v s, %v s after a poll, an echo of %+v in %.0f s after its start: %.1f bbl, want %.1f", every, after, off, at-load.From, l.GaugeBbl, (want.open-want.close)*tanktest.PerInch)
					}
				}
			}
		}
	}
}

// A false echo of two or three seldom polls is no new span of the sensor, wherever about the start of a load it comes: the load begins at the level
// from before it, and no earlier ticket is called wrong.
func TestAFewSeldomPollsOfAnEchoAreNoSpan(t *testing.T) {
	for _, every := range []float64{120, 300} {
		for _, echo := range []float64{6, 125, 180, 205, 245} { // in; the tank holds 165
			if every == 300 && (echo == 125 || echo == 180) {
				continue // within what a pump draws from one poll to the next
			}
			for k := -4.0; k < 8; k++ {
				polls := 2 + math.Mod(k+4, 2)
				before := tanktest.Move{From: 2 * tanktest.Hour, Bbl: 60, Rate: 6}
				load := tanktest.Move{From: 6*tanktest.Hour + 45, Bbl: 150, Rate: 6}
				w := tanktest.Well{Level0: 191, Inflow: 120, Moves: []tanktest.Move{before, load}}
				at := 6*tanktest.Hour + (math.Floor(k/2)-0.5)*every
				r := newRig(t, w)
				r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
				r.sensor = func(_ int, s, v float64) (float64, bool) {
					if s >= at && s < at+polls*every {
						v = tanktest.Radar(0, s, echo)
					}
					return v, true
				}
				r.run(0, load.End()+2*tanktest.Hour)
				if len(r.loads) != 2 || len(r.corrections) > 0 || math.Abs(r.loads[1].GaugeBbl-tanktest.PerInch*(w.Level(load.From)-w.Level(load.End()))) > 1.5 {
					t.Errorf("%v polls of %v s show %v in from %v s on: %+v, corrections %+v", polls, every, echo, at-load.From, r.loads, r.corrections)
				}
			}
		}
	}
}

// So are polls of an echo above a tank at rest, which no load ends, and none of a transfer's arrival.
func TestAFewSeldomPollsOfAnEchoAreNoLoad(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 120})
	r.every = 300
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s >= 5*tanktest.Hour && s < 5*tanktest.Hour+600 {
			v += 40
		}
		return v, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0, 0)
	r.only()
}

// Oil that another pump brings comes as fast, and each of its readings is one.
func TestAFillThatIsPolledSeldomIsSeen(t *testing.T) {
	out := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 150, Rate: 8}
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: out.From, Bbl: -out.Bbl, Rate: out.Rate}}})
	r.every = 300
	r.run(0, 8*tanktest.Hour)
	r.only("transfer")
	if n := changesIn(between(r.st.tanks[1].levels.recent, out.From-60, out.End()+360)); n < 4 {
		t.Errorf("%d of 4 readings of the fill are kept", n)
	}
}

// Behind a silence over the end of a load every third reading is an echo, as with a hatch open: the others agree, and the closing is theirs.
// Some readings under the hatch that lie higher are no oil that came back.
func TestEchoesAmongReadingsThatAgreeBehindASilence(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 290, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	r.every = 30
	end := aLoad.End()
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch k := math.Floor((s - end) / 30); {
		case k < -30 || k > 16:
		case k < 0:
			return v, false
		case k > 14:
			v += 6
		case math.Mod(k, 3) == 2:
			v = 225
		}
		return v, true
	}
	r.run(0, end+3*tanktest.Hour)
	r.matches(0.3, 60, labelOf(w, aLoad, aLoad))
	if len(r.loads[0].Review) > 0 {
		t.Errorf("it asks: %q", r.loads[0].Review)
	}
}

// A truck comes in a silence, or none. What a sensor that dies or wakes up shows next to it, for a reading or two, or a gateway had kept, is
// no level: what left is what lies between the levels before it and behind it.
func TestWhatASensorShowsNextToASilenceIsNoLevel(t *testing.T) {
	from, to := 5*tanktest.Hour, 8*tanktest.Hour
	for _, every := range []float64{10, 60, 300} {
		for _, bbl := range []float64{0, 60, 150} {
			truck := tanktest.Move{From: from + 2400, Bbl: bbl, Rate: 5}
			for _, level := range []float64{121, 190} {
				for junk, show := range map[string]func(last, v float64) float64{
					"zero": func(_, _ float64) float64 { return 0 }, "full scale": func(_, _ float64) float64 { return 240 },
					"anywhere": func(_, _ float64) float64 { return 70 }, "last": func(last, _ float64) float64 { return last },
					"no number": func(_, _ float64) float64 { return math.NaN() }, "a step down": func(_, v float64) float64 { return v - 50 },
				} {
					for where := range 6 {
						before, behind := where%3, where/3*(2-where%3) // readings: none, one or two before; none or as many behind that are left of two
						if every == 300 && junk != "zero" {
							before, behind = min(before, 1), 0 // which a pump and a well may do in the time between two readings
						}
						r, last := newRig(t, tanktest.Well{Level0: level, Inflow: 60, Moves: []tanktest.Move{truck}}), 0.0
						r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
						r.sensor = func(_ int, s, v float64) (float64, bool) {
							switch n := int((s - from) / every); {
							case n < 0:
								last = v
							case s < to:
								return show(last, v), n < before
							case int((s-to)/every) < behind:
								return show(last, v), true
							}
							return v, true
						}
						r.run(0, to+2*tanktest.Hour)
						left := bbl - 60*bbl/5/1440
						if bbl == 0 && len(r.loads) > 0 || bbl > 0 && (len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-left) > 3 || len(r.loads[0].Review) == 0) {
							t.Errorf("each %v s, %v bbl from %v in, %s %d times before, %d behind: %+v %+v", every, bbl, level, junk, before, behind, r.loads, r.events)
						}
					}
				}
			}
		}
	}
}

// A pump that is faster than max_rate, polled each minute: each step of its fall is further than believed, and all of them are one load, that asks; one that a wave makes look
// like a step at its beginning may be counted out.
func TestAPumpFasterThanMaxRate(t *testing.T) {
	load := tanktest.Move{From: 5 * tanktest.Hour, Bbl: 180, Rate: 7.4}
	for _, most := range []float64{4, 5, 6} {
		for seed := range uint64(4) {
			r := newRig(t, tanktest.Well{Level0: 170, Inflow: 50, Moves: []tanktest.Move{load}})
			r.every, r.site.tanks[0].Loads.MaxRate = 60, most
			g := rand.New(rand.NewPCG(7, seed))
			r.sensor = func(_ int, at, v float64) (float64, bool) {
				if at > load.From && at < load.End()+60 {
					v += 0.6 * g.NormFloat64() // waves
				}
				return tanktest.Radar(0, at, v), true
			}
			r.run(0, 8*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-180) > 6 {
				t.Errorf("max_rate %g, seed %d: %+v, %+v", most, seed, r.loads, r.events)
				continue
			}
			asksFor(t, r.loads[0], "faster than max_rate")
		}
	}
}

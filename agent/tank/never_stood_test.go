package tank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// restless is a level with so much noise and of such digits, the same at each time.
func restless(at, level, sigma, digit float64) float64 {
	r := rand.New(rand.NewPCG(11, uint64(int64(at*10))))
	return math.Round((level+sigma*r.NormFloat64())/digit) / math.Round(1/digit)
}

// A well that fills its tank evenly until the truck draws, and from its end on, filled it meanwhile too. That a noisy sensor which reports by exception
// happens to be quiet for two minutes before the load, and that a radio's last value is older than the others, says nothing of it.
func TestATankThatIsFilledEvenlyNeverStood(t *testing.T) {
	for _, k := range []int{5, 6, 7, 29} {
		load := tanktest.Move{From: 8*tanktest.Hour + 47*float64(k), Bbl: 175, Rate: 4.5}
		w := tanktest.Well{Level0: 120, Inflow: 120, Moves: []tanktest.Move{load}}
		radio, value := rand.New(rand.NewPCG(3, uint64(k))), 0.0
		for name, sensor := range map[string]seen{
			"by exception": excepted(0.1, 1800, func(s float64) float64 { return restless(s, w.Level(s), 0.15, 0.1) }),
			"held by a radio": func(_ int, s, _ float64) (float64, bool) {
				if math.Mod(s, 180) < 30 && (s == 0 || radio.Float64() > 0.03) {
					value = restless(s, w.Level(s), 0.1, 0.1)
				}
				return value, true
			},
		} {
			r := newRig(t, w)
			r.every, r.sensor = 30, sensor
			r.run(0, load.End()+2*tanktest.Hour)
			r.inflowIs(fmt.Sprint(name, k), 120/86400.*(load.End()-load.From), 1.2, 9)
		}
	}
}

// What a separator dumps each 25 minutes, told of by exception, folds by many a period at which the levels are seldom read. A pump whose rest would draw oil out of
// the tank has no clock.
func TestDumpsByExceptionHaveNoClockThatDrawsOilOut(t *testing.T) {
	for _, x := range []struct{ every, dump, later float64 }{{1711, 1.9, 700}, {1711, 2.2, 700}} {
		load := tanktest.Move{From: 9*tanktest.Hour + 500 + x.later, Bbl: 190, Rate: 5.8}
		w, came := tanktest.Well{Level0: 110, Moves: []tanktest.Move{load}}, 0.0
		for from := 300.0; from < 13*tanktest.Hour; from += x.every {
			w.Moves = append(w.Moves, tanktest.Move{From: from, Bbl: -x.dump, Rate: 2.5})
			if from > load.From && from < load.End() {
				came += x.dump
			}
		}
		r := newRig(t, w)
		r.sensor = excepted(0.5, 3600, func(s float64) float64 { return restless(s, w.Level(s), 0.06, 0.01) })
		r.run(0, load.End()+3*tanktest.Hour)
		r.inflowIs(fmt.Sprint(x), came, 1.7, 5)
	}
}

// A truck that stops for five minutes makes no slug of a well that brings one each six hours, where its sensor is so noisy that the level seems to sink
// while the pump stands: no slug is as fast as the pump.
func TestANoisyStopOfThePumpIsNoSlug(t *testing.T) {
	for k := range 4 {
		first := tanktest.Move{From: 13*tanktest.Hour + 20*float64(k), Bbl: 76, Rate: 4}
		rest := tanktest.Move{From: first.End() + 290, Bbl: 104, Rate: 4}
		w := tanktest.Well{Level0: 130, Moves: []tanktest.Move{first, rest}}
		for at := 1.2 * tanktest.Hour; at < 24*tanktest.Hour; at += 5.3 * tanktest.Hour {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -15, Rate: 1})
		}
		for at := 0.2 * tanktest.Hour; at < first.From-tanktest.Hour; at += 5.3 * tanktest.Hour {
			w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: 10, Rate: 4})
		}
		r := newRig(t, w)
		r.every = 30
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			sinks := 0.0
			if s > first.End() {
				sinks = 1.2 * math.Exp(-(s-first.End())/150)
			}
			if s > rest.From {
				sinks = 0
			}
			return restless(s, w.Level(s)+sinks, 0.3, 0.1), true
		}
		r.run(0, rest.End()+2*tanktest.Hour)
		if n := len(r.loads); n == 0 || math.Abs(r.loads[n-1].InflowBbl) > 1 {
			t.Errorf("%d: want no inflow: %+v", k, r.loads)
		}
	}
}

// A well that dumps into its tank each twenty minutes, and rests for hours, comes in no lumps that a reading each two minutes could show.
func TestDumpsBetweenTwoReadingsAreNoSlugs(t *testing.T) {
	for _, seed := range []uint64{1, 6, 30, 32, 36} {
		random, w, came := rand.New(rand.NewPCG(seed, 1)), tanktest.Well{Level0: 110}, 0.0
		from, to := 20*tanktest.Hour, 20*tanktest.Hour
		for k := range 5 { // a tank that runs out by itself does so ever slower
			w.Moves = append(w.Moves, tanktest.Move{From: to, Bbl: 30, Rate: 2.3 - 0.2*float64(k)})
			to = w.Moves[k].End()
		}
		for at := 100.0; at < 24*tanktest.Hour; at += random.ExpFloat64()*3*tanktest.Hour + 600 {
			for until := at + random.ExpFloat64()*5*tanktest.Hour + 900; at < until; at += 1100 {
				w.Moves = append(w.Moves, tanktest.Move{From: at, Bbl: -2.1, Rate: 3})
				if at > from && at < to {
					came += 2.1
				}
			}
		}
		r := newRig(t, w)
		r.every = 120
		r.sensor = func(_ int, s, _ float64) (float64, bool) { return restless(s, w.Level(s), 0.015, 0.01), true }
		r.run(0, to+2*tanktest.Hour)
		r.inflowIs(fmt.Sprint(seed), came, 8, 12)
	}
}

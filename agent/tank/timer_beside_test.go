package tank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// turnedAt fills the second of two tanks, or the first, by a timer until a time, and the other since; it returns the barrels that came into the first over a load.
func turnedAt(w []tanktest.Well, load tanktest.Move, first, on, off, rate, at float64, before int) (bbl float64) {
	for from := first; from < 12*tanktest.Hour; from += (on + off) * 60 {
		for k, span := range [2][2]float64{{from, math.Min(at, from+on*60)}, {math.Max(at, from), from + on*60}} {
			if long := span[1] - span[0]; long > 0 {
				j := (before + k) % 2
				w[j].Moves = append(w[j].Moves, tanktest.Move{From: span[0], Bbl: -rate * long / 60, Rate: rate})
				if j == 0 {
					bbl += rate / 60 * math.Max(0, math.Min(load.End(), span[1])-math.Max(load.From, span[0]))
				}
			}
		}
	}
	return bbl
}

// A full tank runs over into the next one, and takes its well's oil again as soon as a truck has made room: the clock of the well's pump is seen in the
// tank that took the overflow, and what that takes in no more comes here. One that is turned away amid a load shows where its oil went.
func TestATimersClockIsSeenInTheTanksBeside(t *testing.T) {
	load := tanktest.Move{From: 8 * tanktest.Hour, Bbl: 170, Rate: 4.5}
	for name, x := range map[string]struct {
		first, at float64
		before    int
	}{
		"runs over, on at first":   {first: 300, at: load.From, before: 1},
		"runs over, on at last":    {first: 1500, at: load.From, before: 1},
		"runs over, on all along":  {first: -300, at: load.From, before: 1},
		"is turned away amid it":   {first: -600, at: load.From + 900, before: 0},
		"is turned to it amid it":  {first: -600, at: load.From + 900, before: 1},
		"is turned away for it":    {first: -600, at: load.From - 300, before: 0},
		"goes on in it as it went": {first: 1500, at: 12 * tanktest.Hour, before: 0},
	} {
		w := []tanktest.Well{{Level0: 150, Moves: []tanktest.Move{load}}, {Level0: 60}}
		came := turnedAt(w, load, x.first, 40, 20, 0.4, x.at, x.before)
		r := newRig(t, w...)
		r.every = 30
		r.run(0, load.End()+1.5*tanktest.Hour)
		r.inflowIs(name, came, 1, 2)
	}
}

// Where a level is full of noise, and a gateway repeats each reading, the clock is that of the hours, and no chance of a few of them.
func TestATimersClockFoldsOutOfNoise(t *testing.T) {
	load := tanktest.Move{From: 8.5 * tanktest.Hour, Bbl: 170, Rate: 2.5}
	for seed := range uint64(4) {
		w := tanktest.Well{Level0: 100, Moves: []tanktest.Move{load}}
		came := inLumps(&w, load, 100, 80, 40, 0.13)
		r := newRig(t, w)
		r.every = 60
		random, shown, until := rand.New(rand.NewPCG(seed, 3)), 0.0, -1.0
		r.sensor = func(_ int, at, v float64) (float64, bool) {
			if at >= until {
				shown, until = math.Round((v+0.3*random.NormFloat64())*10)/10, at+120
			}
			return shown, true
		}
		r.run(0, load.End()+1.5*tanktest.Hour)
		r.inflowIs(fmt.Sprint(seed), came, 1.5, 4)
	}
}

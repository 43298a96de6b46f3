package tank

import (
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// Whatever faults come together - kills, silences, false echoes, error codes, steps of the
// clock, a poll that changes - each load comes out exactly once, with its barrels.
func TestFaultsTogether(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 1))
		between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
		w := tanktest.Well{Level0: between(175, 190), Inflow: between(10, 50)}
		for d := range 2 {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(d)*24*tanktest.Hour + between(4, 16)*tanktest.Hour, Bbl: between(60, 150), Rate: between(3, 9)})
		}
		r := newRig(t, w)
		r.ticks = seed%2 == 0
		r.every = []float64{5, 10, 20, 30}[rng.IntN(4)]
		silence := map[int]bool{}
		for range 12 {
			for k, from := 0, rng.IntN(48*60); k < 6; k++ {
				silence[from+k] = true
			}
		}
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			switch h := rand.New(rand.NewPCG(seed, uint64(s))).IntN(1000); {
			case silence[int(s/60)]:
				return 0, false
			case h < 3:
				return []float64{9999, math.NaN(), 0}[h], true
			case h < 6:
				return math.Max(0, v-between(20, 60)), true
			}
			return v, true
		}
		stepAt, step := between(0, 40*tanktest.Hour), between(-4000, 4000)
		r.clock = func(s float64) float64 {
			if s < stepAt {
				return -step
			}
			return 0
		}
		s := 0.0
		for s < 48*tanktest.Hour {
			next := s + between(600, 30000)
			r.run(s, math.Min(next, 48*tanktest.Hour))
			s = next + r.every
			r.kill(s)
		}
		r.soaked(seed, w)
	}
}

// soaked checks that each move is one load of its barrels.
func (r *rig) soaked(seed uint64, w tanktest.Well) {
	r.t.Helper()
	if len(r.loads) != len(w.Moves) {
		r.t.Errorf("seed %d: %d loads, want %d: %+v", seed, len(r.loads), len(w.Moves), r.loads)
		return
	}
	for i, m := range w.Moves {
		l, want := r.loads[i], labelOf(w, m, m)
		gauge := (want.open - want.close) * tanktest.PerInch
		if off := math.Abs(l.GaugeBbl - gauge); off > math.Max(1, 0.01*gauge) && len(l.Review) == 0 || off > 8 {
			r.t.Errorf("seed %d, load %d: %.2f bbl, want %.2f, review %q", seed, i, l.GaugeBbl, gauge, l.Review)
		}
	}
}

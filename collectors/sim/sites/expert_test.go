package sites

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestExpertReadsAPlateau gives the pencil a rising line with noise and a false echo on it.
func TestExpertReadsAPlateau(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ideal := func(s int) float64 { return 100 + float64(s)/3600 }
	var rows []reading
	for s := 0; s < 2*hour; s += 10 {
		x := ideal(s) + 0.1*r.NormFloat64()
		if s > 2*hour-200 && s < 2*hour-90 {
			x += 9
		}
		rows = append(rows, reading{second: s, value: x})
	}
	got := expertMark(rows, &gauge{noise: 0.1, resolution: 0.01}, ideal, 2*hour, -1, 0)
	if off := got.level - ideal(2*hour); math.Abs(off) > 0.1 || got.sigma > 0.1 || got.sigma < 0.005 {
		t.Errorf("%.3f in off, says %.3f", off, got.sigma)
	}
}

// TestExpertClaimsNoMoreThanIsThere: the tolerance holds the expert's own error, and sparse or noisy recordings widen it.
func TestExpertClaimsNoMoreThanIsThere(t *testing.T) {
	forEach(t, func(t *testing.T, s *Site) {
		for _, m := range s.Movements {
			if off := math.Abs(m.Expert - m.Gauge); !math.IsNaN(m.Expert) && off > m.Tol {
				t.Errorf("%s: %.2f bbl off with a tolerance of %.2f", m.Kind, off, m.Tol)
			}
		}
	})
	tol := func(poll int) float64 {
		sum := 0.0
		for number := range uint64(6) {
			p := newPlan("sparse", 1, number)
			p.ordinary("radar")
			p.recorder.poll, p.recorder.jitter = poll, 0
			sum += p.build().Movements[0].Tol
		}
		return sum
	}
	if dense, sparse := tol(5), tol(600); sparse < 1.5*dense {
		t.Errorf("polled every 5 s %.2f bbl, every ten minutes %.2f", dense, sparse)
	}
}

// TestGustsCountForFewer asks that readings which are alike do not sharpen the pencil as others do.
func TestGustsCountForFewer(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	white, gusts := make([]float64, 90), make([]float64, 90)
	sums := [2]float64{}
	x := 0.0
	for i := range white {
		white[i] = r.NormFloat64()
		x = 0.9*x + math.Sqrt(0.19)*r.NormFloat64()
		gusts[i] = x
		sums[0] += white[i] * white[i]
		sums[1] += gusts[i] * gusts[i]
	}
	if a, b := alike(white, sums[0]), alike(gusts, sums[1]); a > 3 || b < 2*a {
		t.Errorf("white %.1f, gusts %.1f", a, b)
	}
}

package tank

import (
	"math"
	"testing"
)

// recorded are samples of a level every ten seconds between two times, with a little even noise.
func recorded(from, to float64, level func(t float64) float64) (b []sample) {
	for t := from; t <= to; t += 10 {
		noise := 0.03 * math.Sin(t*t)
		b = append(b, sample{t: t, v: float32(level(t) + noise), n: 1})
	}
	return b
}

// After the knee the level creeps for three minutes, lies flat, and is lifted by two dumps: the closing is the plateau.
func TestTheClosingIsThePlateauAndNotTheKnee(t *testing.T) {
	level := func(s float64) float64 {
		creep := 0.8 * math.Max(0, 1-s/200)
		return 60 + creep + 0.4*math.Floor(math.Max(0, s-100)/500)
	}
	r := resting{sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(20, 1600, level)}
	if g := r.near(0); math.Abs(g.level-60) > 0.05 {
		t.Errorf("closing %.3f in, the plateau is 60", g.level)
	}
}

// A false echo of a minute and a half stands right before the pump starts.
func TestTheOpeningIsNotAnEcho(t *testing.T) {
	level := func(s float64) float64 {
		if s > -90 {
			return 181.4
		}
		return 180
	}
	r := resting{before: true, sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(-1800, -20, level), head: line{0, 180, -3. / 60}}
	if g := r.near(0); math.Abs(g.level-180) > 0.05 {
		t.Errorf("opening %.3f in, want 180", g.level)
	}
	r.head.v = 181.4 // the line goes through it: it was a dump
	if g := r.near(0); math.Abs(g.level-181.4) > 0.05 {
		t.Errorf("opening %.3f in behind a dump, want 181.4", g.level)
	}
}

// A dump that ends before the pump starts counts; one reading that stands out does not.
func TestTheOpeningIsTheNearestPieceAtRest(t *testing.T) {
	r := resting{before: true, sigma: 0.03, perBbl: 1 / 1.67, samples: recorded(-1800, -20, func(s float64) float64 {
		if s > -300 {
			return 180.5
		}
		return 180
	})}
	r.samples[len(r.samples)-4].v += 2
	if g := r.near(0); math.Abs(g.level-180.5) > 0.05 {
		t.Errorf("opening %.3f in, want 180.5", g.level)
	}
}

// A fall between two levels of an echo is no fall.
func TestEchoesAreLeftOutBeforeFallsAreSought(t *testing.T) {
	b := recorded(0, 1000, func(s float64) float64 {
		if s >= 400 && s <= 480 {
			return 102
		}
		return 100
	})
	r := &readings{}
	for _, s := range r.withoutEchoes(b) {
		if s.v > 101 {
			t.Errorf("the echo's %.2f in at %.0f s stayed", s.v, s.t)
		}
	}
}

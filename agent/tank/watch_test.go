package tank

import (
	"math"
	"math/rand/v2"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A coarse sensor on a wide tank makes barrels of its noise: before that is known it looks as a draw that never ends, and its noise was
// never learned, nor what the well makes. Foam on such a tank is no load, and its noise is known, from the start and where it grows.
func TestNoiseThatLooksAsADraw(t *testing.T) {
	const perInch = 5.4
	wide, err := NewTable([][2]float64{{0, 0}, {192, 192 * perInch}})
	if err != nil {
		t.Fatal(err)
	}
	for _, rough := range []float64{0, 3 * tanktest.Hour} { // when the noise begins
		r := newRig(t, tanktest.Well{})
		r.every = 15
		r.site.tanks[0].Table, r.site.tanks[0].Height, r.site.tanks[0].Sensor = wide, 192, "ultrasonic"
		lot := rand.New(rand.NewPCG(7, uint64(rough)))
		at := 7 * tanktest.Hour
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			v := 41 + 0.35*s/tanktest.Hour + 13*(1-decayed(s, at, 1, 0, 90)) - 13*(1-decayed(s, at+3000, 1, 0, 150))
			if s >= rough {
				v += 0.45 * lot.NormFloat64()
			}
			return math.Round(10*v) / 10, true
		}
		r.run(0, at)
		if sigma := r.st.tanks[0].noise.sigma; sigma < 0.3 || sigma > 0.6 {
			t.Errorf("rough since %.0f s: noise of %.2f in is taken for %.2f", rough, 0.45, sigma)
		}
		r.run(at, 11*tanktest.Hour)
		if len(r.loads) > 0 {
			t.Errorf("rough since %.0f s: %+v", rough, r.loads)
		}
	}
}

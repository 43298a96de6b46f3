package tank

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

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

// A tank so wide that a slow pump-out lowers it by less within minutes than noise may: its sharp edges and its rate make it a load.
func TestASlowPumpOutOfAWideTank(t *testing.T) {
	const wide = 11 // times as wide as the rig's
	m := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 450.0 / wide, Rate: 1.5 / wide}
	w := tanktest.Well{Level0: 74, Inflow: 620.0 / wide, Moves: []tanktest.Move{m}}
	r := newRig(t, w)
	table, err := NewTable([][2]float64{{0, 0}, {240, 240 * wide * tanktest.PerInch}})
	if err != nil {
		t.Fatal(err)
	}
	r.every, r.site.tanks[0].Table, r.site.tanks[0].Every = 20, table, 20*time.Second
	r.site.tanks[0].Loads.TruckMax = 0
	r.run(0, 11*tanktest.Hour)
	if r.only(); len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-450) > 9 || math.Abs(r.loads[0].End.Sub(r.at(m.End())).Seconds()) > 180 {
		t.Errorf("%+v %+v", r.loads, r.verdicts)
	}
}

// A drain until the readings stop, and a load that nobody saw, are one fall that is as slow as the drain, wherever the readings come again: it asks.
func TestASlowFallOverASilenceAsks(t *testing.T) {
	for _, long := range []float64{6000, 7800} {
		w := tanktest.Well{Level0: 110, Inflow: 600}
		for k := range 3 {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(4+6*k) * tanktest.Hour, Bbl: 150, Rate: 5})
		}
		drain := tanktest.Move{From: 22 * tanktest.Hour, Bbl: 22, Rate: 1.3}
		w.Moves = append(w.Moves, drain, tanktest.Move{From: drain.From + 3000, Bbl: 170, Rate: 6})
		r := newRig(t, w)
		r.every, r.site.tanks[0].Every = 30, 30*time.Second
		r.sensor = hide(drain.From+800, drain.From+long)
		r.run(0, 27*tanktest.Hour)
		if len(r.loads) != 4 {
			t.Fatalf("%g s: %+v", long, r.loads)
		}
		asksFor(t, r.loads[3], "slower than its loads")
	}
}

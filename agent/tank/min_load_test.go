package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// What is less than min_load by its gauges is a load only with what flowed in, by the ticket's own figure: where the next tank took that in it asks.
func TestLessThanALoadWhoseWellFilledTheNextTankAsks(t *testing.T) {
	const rate = 0.5 // bbl a minute
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 23, Rate: 1.5}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	end, last := load.End(), 9*tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 130, Moves: []tanktest.Move{fill(0, load.From), fill(end, last), load}}, tanktest.Well{Level0: 60, Moves: []tanktest.Move{fill(load.From, end)}})
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-23) > 1 {
		t.Fatalf("%+v, want one of 23 bbl", r.loads)
	}
	if said := strings.Join(r.loads[0].Review, "; "); !strings.Contains(said, "less than min_load: it is a load only with the 0.0 bbl") {
		t.Errorf("review %q", said)
	}
}

// Where nobody knows what flowed in by more than a tenth of a truck, nobody knows what it took, however sure its gauges are.
func TestAnInflowThatIsAnybodysGuessAsks(t *testing.T) {
	r := newRig(t, aWell)
	s, d := siteTanks{r.site, &State{tanks: []*tankState{{}}}}, draw{start: 36000, end: 37800, samples: 100, parts: 1}
	for off, asks := range map[float64]bool{15: false, 17: true} {
		l := Load{Open: 160, Close: 70, GaugeBbl: 150, ErrorBbl: 0.4, InflowBbl: 20, InflowErrorBbl: off, RemovedBbl: 170, Rate: 5}
		conf, why := s.confidence(0, d, l)
		sure := l
		sure.InflowErrorBbl = 0
		most, _ := s.confidence(0, d, sure)
		if said := strings.Contains(strings.Join(why, "; "), "flowed in meanwhile, give or take"); said != asks || conf < most != asks {
			t.Errorf("give or take %g bbl: confidence %.2f of %.2f, %q", off, conf, most, why)
		}
	}
}

package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/stats"
)

// wet gives a rig's first tank an interface of a height that water, and only water, takes down.
func (r *rig) wet(height func(s float64) float64) {
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) { r.feed(s, Input{Kind: Interface, Value: height(s), Good: true}) }
}

// Water is drawn off right before the truck connects: the water is no part of the load.
func TestWaterBeforeALoadIsNotItsPart(t *testing.T) {
	water := move{4 * hour, 35, 3}
	load := move{water.end() + 300, 160, 6}
	w := well{level0: 180, inflow: 60, moves: []move{water, load}}
	r := newRig(t, w)
	r.wet(func(s float64) float64 { return 40 - stats.Clamp((s-water.from)*water.rate/60, 0, water.bbl)/testPer })
	r.run(0, 7*hour)
	r.matches(0.1, 30, w.label(load, load))
	r.only("water-draw")
}

// The interface float falls off while a truck loads: that is no water.
func TestInterfaceThatFailsMakesNoWater(t *testing.T) {
	for _, high := range []float64{30, 100} {
		r := newRig(t, aWell)
		r.wet(func(s float64) float64 {
			if s > aLoad.from+600 {
				return 0
			}
			return high
		})
		r.run(0, 7*hour)
		r.matches(0.06, 20, aWell.label(aLoad, aLoad))
		r.only()
	}
}

// Thirteen minutes are longer than a pause is expected to be; what fits in one truck is one.
func TestLatePauseIsOneTruckByVolume(t *testing.T) {
	for _, c := range []struct {
		bbl   float64
		loads int
	}{{70, 1}, {150, 2}} {
		a := move{4 * hour, 110, 6}
		b := move{a.end() + 13.5*60, c.bbl, 6}
		r := newRig(t, well{level0: 230, inflow: 60, moves: []move{a, b}})
		r.run(0, 7*hour)
		if len(r.loads) != c.loads {
			t.Errorf("110 and %v bbl: %d loads, want %d", c.bbl, len(r.loads), c.loads)
		}
	}
}

// Oil is moved to a tank that a truck loads from meanwhile.
func TestTransferIntoATankThatIsHauled(t *testing.T) {
	out := move{4 * hour, 110, 2.5}
	load := move{out.from + 600, 170, 6}
	r := newRig(t, well{level0: 200, moves: []move{out}}, well{level0: 150, moves: []move{{out.from + 10, -110, 2.5}, load}})
	r.run(0, 7*hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-2" {
		t.Errorf("%+v", r.loads)
	}
	r.only("transfer")
}

// Two loads at once, and a tank that fills beside a load, are no transfer.
func TestLoadBesideAFillIsALoad(t *testing.T) {
	fill := move{aLoad.from - hour, -60, 1}
	r := newRig(t, aWell, well{level0: 60, moves: []move{fill}})
	r.run(0, 7*hour)
	r.matches(0.06, 20, aWell.label(aLoad, aLoad))
	r.only()
}

// An equaliser that is opened an hour after a load evens the tanks out: nothing was sold.
func TestEqualiserOpenedAfterALoadSellsNothing(t *testing.T) {
	open := aLoad.end() + hour
	r := newRig(t, aWell, well{level0: 180})
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "west"
	}
	r.sensor = func(i int, s, v float64) (float64, bool) {
		if s < open {
			return v, true
		}
		a, b := r.wells[0].level(s), r.wells[1].level(s)
		by := (b - a) / 2 * (1 - math.Exp(-(s-open)/900))
		return v + []float64{by, -by}[i], true
	}
	r.run(0, 9*hour)
	if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" {
		t.Errorf("%+v", r.loads)
	}
	r.only("transfer")
}

// What comes back slowly is still coming back when the confirmation is over.
func TestSlowReturnIsRecirculation(t *testing.T) {
	out := move{4 * hour, 86, 5}
	r := newRig(t, well{level0: 150, inflow: 60, moves: []move{out, {out.end() + 300, -86, 1.2}}})
	r.run(0, 8*hour)
	r.matches(0, 0)
	r.only("recirc")
}

// A leaking valve between two tanks is no loss.
func TestOilThatRunsOverSlowlyIsATransfer(t *testing.T) {
	crawl := move{3 * hour, 130, 0.2}
	r := newRig(t, well{level0: 180, moves: []move{crawl}}, well{level0: 40, moves: []move{{crawl.from, -130, 0.2}}})
	r.run(0, 24*hour)
	r.matches(0, 0)
	r.only("transfer")
}

// An equaliser of 0.6 bbl/min an inch is opened between tanks far apart: faster at first than
// any level is believed to move. Nothing was sold, in a group or not.
func TestWideEqualiserSellsNothing(t *testing.T) {
	for _, group := range []string{"west", ""} {
		r := newRig(t, aWell, well{level0: 185})
		levels := [2][]float64{}
		a, b := aWell.level0, 185.0
		for s := range int(9 * hour) {
			levels[0], levels[1] = append(levels[0], a), append(levels[1], b)
			out, q := 0.0, 0.0
			if float64(s) >= aLoad.from && float64(s) < aLoad.end() {
				out = aLoad.rate / 60
			}
			if float64(s) >= aLoad.end()+1.5*hour {
				q = (b - a) * 0.6 / 60
			}
			a, b = a+(q-out)/testPer, b-q/testPer
		}
		for i := range r.site.tanks {
			r.site.tanks[i].Group = group
		}
		r.sensor = func(i int, s, _ float64) (float64, bool) { return noisy(i, s, levels[i][int(s)]), true }
		r.run(0, 9*hour)
		if len(r.loads) != 1 || r.loads[0].Tank != "TK-1" {
			t.Errorf("group %q: %+v", group, r.loads)
		}
	}
}

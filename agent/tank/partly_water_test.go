package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The float of an interface stops some inches above the bottom. Water that is drawn takes it there with the level, and then the level alone: half of the
// fall was seen to be water, and the rest may be. Where the interface stays, a truck takes oil.
func TestAnInterfaceAtItsStopAsksWhatWasDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		interfaceAt, stop float64
		asks              bool
	}{"a draw of water": {12, 6.5, true}, "a load of oil": {6.5, 6.5, false}, "little water": {7.5, 6.5, false}} {
		out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 30, Rate: 2}
		w := tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out}}
		r := newRig(t, w)
		r.site.tanks[0].Interface = true
		for s := 0.0; s < 7*tanktest.Hour; s += 10 {
			gone := min(max(0, s-out.From)*out.Rate/60, out.Bbl) / tanktest.PerInch
			r.feed(s, Input{Kind: Interface, Value: max(c.stop, c.interfaceAt-gone), Good: true})
			r.feed(s, Input{Value: tanktest.Radar(0, s, w.Level(s)), Good: true})
		}
		if len(r.loads) != 1 || (len(r.loads[0].Review) > 0) != c.asks {
			t.Errorf("%s: %+v, events %+v", name, r.loads, r.events)
		}
	}
}

// Some inches of water that leave amid a truck's load are a small part of its fall, and more than makes its ticket wrong. An interface that strays by as
// much before it says nothing.
func TestWaterDrawnAmidALoadAsks(t *testing.T) {
	load := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 120, Rate: 4.5}
	water := tanktest.Move{From: load.From + 600, Bbl: 8, Rate: 1.3}
	for name, c := range map[string]struct {
		moves   []tanktest.Move
		strays  float64 // in
		because string
	}{
		"water":             {[]tanktest.Move{load, water}, 0.05, "interface fell by 4."},
		"none":              {[]tanktest.Move{load}, 0.05, ""},
		"one that strays":   {[]tanktest.Move{load, water}, 3, ""},
		"strays, and stays": {[]tanktest.Move{load}, 1.5, ""},
	} {
		w := tanktest.Well{Level0: 180, Inflow: 60, Moves: c.moves}
		r := newRig(t, w)
		r.site.tanks[0].Interface = true
		r.side = func(r *rig, s float64) {
			v := 50 + c.strays*math.Sin(s/300)
			if len(c.moves) > 1 {
				v -= min(max(0, s-water.From)*water.Rate/60, water.Bbl) / tanktest.PerInch
			}
			r.feed(s, Input{Kind: Interface, Value: v, Good: true})
		}
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		t.Run(name, func(t *testing.T) { asksFor(t, r.loads[0], c.because) })
	}
}

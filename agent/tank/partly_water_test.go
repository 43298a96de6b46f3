package tank

import (
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

package tank

import (
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// The nodes that a fall is looked for by lie half a minute apart. That is no silence of readings that come each second: a reader would
// be told that nothing was seen of half of a short load. A sample of this detector is a mean of some seconds.
func TestTheGridOfTheSearchIsNoSilence(t *testing.T) {
	short := tanktest.Move{From: aLoad.From, Bbl: 36, Rate: 12}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 50, Moves: []tanktest.Move{short}})
	r.every = 1
	r.run(0, short.End()+3600)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads", len(r.loads))
	}
	if gap := r.loads[0].Gap; gap > 10*time.Second {
		t.Errorf("readings came each second, and the longest silence is %s", gap)
	}
}

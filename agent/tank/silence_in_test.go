package tank

import (
	"strings"
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

// A gateway that reports by exception, and a value an hour at least, is silent amid a load for longer than ever before: its ticket says so, as of a sensor
// that is polled.
func TestASilenceOfAGatewayThatReportsChangesIsTold(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 160, Rate: 4.5}
	w := tanktest.Well{Level0: 160, Inflow: 100, Moves: []tanktest.Move{load}}
	for silence, told := range map[float64]bool{3600: true, 0: false} {
		r := newRig(t, w)
		r.site.tanks[0].Every = time.Hour
		sensor := excepted(0.25, 3600, w.Level)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if from := load.From + 900; s > from && s < from+silence {
				return 0, false
			}
			return sensor(i, s, v)
		}
		r.run(0, load.End()+4*tanktest.Hour)
		if len(r.loads) != 1 || strings.Contains(strings.Join(r.loads[0].Remarks, "; "), "data gap") != told {
			t.Errorf("silent for %.0f s: %+v", silence, r.loads)
		}
	}
}

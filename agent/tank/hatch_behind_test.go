package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// A driver opens the hatch before a load and behind it, to gauge, and a pressure sensor feels the gas go for minutes each time: the closing is
// what the level comes back to, nothing is to be asked, and no draw is told of that.
func TestAHatchThatIsOpenForMinutesBehindTheLoad(t *testing.T) {
	for _, every := range []float64{10, 60} {
		for _, off := range []float64{90, 150, 240} { // s
			t.Run(fmt.Sprintf("each %g s, %g s behind", every, off), func(t *testing.T) {
				const by, dip = 1.8, 0.6 // in
				load := tanktest.Move{From: 10*tanktest.Hour - 7, Bbl: 150, Rate: 4.5}
				r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{load}})
				r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = every, time.Duration(every)*time.Second, "hydrostatic"
				opened := []float64{4 * tanktest.Hour, load.From - 660, load.End() + off}
				r.sensor = func(i int, s, v float64) (float64, bool) {
					for k, from := range opened {
						if s >= from && s < from+130+20*float64(k) {
							v -= by
						}
					}
					if s > load.From {
						v -= dip * math.Exp(-math.Max(0, s-load.End())/150)
					}
					return v + 2*tanktest.Radar(i, s, 0), true
				}
				r.run(0, 14*tanktest.Hour)
				if len(r.loads) != 1 {
					t.Fatalf("%+v", r.loads)
				}
				l := r.loads[0]
				if off := math.Abs(l.GaugeBbl - load.Bbl); off > wrongBbl(load.Bbl) {
					t.Errorf("%.1f bbl with an error of %.1f, want %g", l.GaugeBbl, l.ErrorBbl, load.Bbl)
				}
				asksFor(t, l, "")
				for _, e := range r.events {
					t.Errorf("told: %s", e.Note)
				}
			})
		}
	}
}

// What is topped off behind a load, and what a separator dumps minutes later, are no hatch.
func TestATopOffAndADumpAreNoHatch(t *testing.T) {
	b := []sample{{t: 0, v: 50}, {t: 10, v: 50}, {t: 20, v: 49.9}, {t: 30, v: 49.7}, {t: 40, v: 49.5}, {t: 50, v: 49.3}, {t: 60, v: 49.2}, {t: 70, v: 49.2}, {t: 400, v: 49.2}, {t: 430, v: 49.9}, {t: 440, v: 50}}
	if got := withoutHatches(b, 0.4); len(got) != len(b) {
		t.Errorf("%d of %d samples are left", len(got), len(b))
	}
}

package tank

import (
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A truck came in an outage, and what the well made of the rest of it carries the closing to the bottom: the level behind the outage was read, and neither was the
// tank cleaned out nor the sensor lifted.
func TestAClosingThatNobodyReadIsNoCleanedTank(t *testing.T) {
	load := tanktest.Move{From: 33 * tanktest.Hour, Bbl: 50 * tanktest.PerInch, Rate: 6}
	r := newRig(t, tanktest.Well{Level0: 30, Inflow: 18 * tanktest.PerInch, Moves: []tanktest.Move{load}})
	r.every = 60
	r.sensor = func(_ int, s, v float64) (float64, bool) { return v, s < 20*tanktest.Hour || s > 37*tanktest.Hour }
	r.run(0, 40*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Close >= loadLine {
		t.Fatalf("want one load, and its closing carried down: %+v", r.loads)
	}
	if why := strings.Join(r.loads[0].Review, ", "); why == "" || strings.Contains(why, "where no pump draws") {
		t.Errorf("asks for %q", why)
	}
}

package tank

import (
	"testing"

	"gauger/agent/tank/tanktest"
)

// In no time nothing flowed in anywhere: a figure that is none would take a question off a ticket.
func TestNothingIsFedElsewhereInNoTime(t *testing.T) {
	const at = 2 * tanktest.Hour
	r := newRig(t, tanktest.Well{Level0: 100}, tanktest.Well{Level0: 120, Inflow: 200})
	r.run(0, at+600)
	if bbl, err, _ := (siteTanks{r.site, &r.st}).fedElsewhere(0, at, at); bbl != 0 || err != 0 {
		t.Errorf("%g bbl, give or take %g", bbl, err)
	}
}

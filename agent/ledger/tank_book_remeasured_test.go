package ledger

import (
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tankbook"
)

// remeasuredDay is the whole production day in which a tank at rest began to be measured otherwise, and the program was killed after that.
func remeasuredDay(t *testing.T, change func(*Site)) (r BookRow) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		still := func(time.Duration) float64 { return 120 }
		pass(6 * time.Hour)
		b.play(8*time.Hour, still)
		b.reconfigured(change)
		b.play(time.Hour, still)
		b.again()
		b.play(18*time.Hour, still)
		rows, err := b.BookDays(BookPeriod{From: "2000-01-01", To: "2000-01-01"})
		b.must(err)
		if len(rows) != 1 {
			t.Fatalf("%d days, want 1", len(rows))
		}
		r = rows[0]
	})
	return r
}

// A table or an offset that is put right makes other barrels of the same level: they are in OTHER by name, and nothing was produced.
func TestTheBookNamesWhatAChangedConfigurationMakesOfTheStock(t *testing.T) {
	for _, c := range []struct {
		name, why string
		change    func(*Site)
	}{
		{"another table", "because table geometry, 402.87 bbl", func(s *Site) { s.Tanks[0].Table = tank.Cylinder(150, 240) }},
		{"another offset", "because offset 0.00 to -6.00 in", func(s *Site) { s.Tanks[0].Offset = -6 }},
	} {
		r := remeasuredDay(t, c.change)
		off, what := *r.Opening-*r.Closing, ""
		for _, p := range r.OtherParts {
			what += p.What
		}
		if math.Abs(off) < 5 || math.Abs(*r.Production) > 0.3 || math.Abs(r.PartBbl(tankbook.PartRemeasured)-off) > 0.3 || math.Abs(r.Other-off) > 0.3 {
			t.Errorf("%s: opening %.2f, produced %.2f, other %.2f (%.2f by another measure), closing %.2f", c.name, *r.Opening, *r.Production, r.Other, r.PartBbl(tankbook.PartRemeasured), *r.Closing)
		}
		if !strings.Contains(what, c.why) || !strings.Contains(what, "120.0") {
			t.Errorf("%s: the sentence is %q", c.name, what)
		}
	}
}

// A sensor that is put in the place of another while nothing is read shows another level: the day says what was seen on either side.
func TestTheBookNamesWhatWasUnseenOverAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		pass(6 * time.Hour)
		b.play(8*time.Hour, func(time.Duration) float64 { return 120 })
		pass(25 * time.Minute)
		b.play(20*time.Minute, func(time.Duration) float64 { return 131 })
		b.again()
		b.play(19*time.Hour, func(time.Duration) float64 { return 131 })
		rows, err := b.BookDays(BookPeriod{From: "2000-01-01", To: "2000-01-01"})
		b.must(err)
		if len(rows) != 1 || len(rows[0].OtherParts) != 1 {
			t.Fatalf("rows %+v, want one with one part", rows)
		}
		r := rows[0]
		if got, want := r.PartBbl(tankbook.PartUnseen), *r.Opening-*r.Closing; math.Abs(got-want) > 0.3 || math.Abs(*r.Production) > 0.3 {
			t.Errorf("%.2f bbl unseen, want %.2f; produced %.2f", got, want, *r.Production)
		}
		if what := r.OtherParts[0].What; !strings.Contains(what, "no readings to believe from 01-01 13:59 to 01-01 14:2") || !strings.Contains(what, "120.00 in before and 131.00 in after it, 18.4") {
			t.Errorf("the sentence is %q", what)
		}
	})
}

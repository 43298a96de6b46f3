package tankbook

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// remeasure puts another table and another offset of a lease's tank in force, as the ledger does: the oil stays where it is.
func (l *leased) remeasure(t *testing.T, times, up float64) {
	t.Helper()
	rows := tanktest.Rows()
	rows[1][1] *= times
	table, err := tank.NewTable(rows)
	if err != nil {
		t.Fatal(err)
	}
	one := *l.site.Tank(0)
	one.Table = table
	if l.site, err = tank.NewSite([]tank.Tank{one}); err != nil {
		t.Fatal(err)
	}
	by := tank.Conversion{Ratio: 1, Add: up}
	l.st, l.raised = l.st.Converted(0, by, tank.Unchanged), up
	l.book = l.book.SetupChanged(0, Remeasured{Table: table, By: by, Why: "offset 0.00 to 5.00 in"})
}

// named is what of a day's other barrels has the name of a kind, and its sentences.
func (d Day) named(kind string) (bbl float64, what string) {
	for _, p := range d.OtherParts {
		if p.Kind == kind {
			bbl, what = bbl+p.Bbl, what+p.What+"\n"
		}
	}
	return bbl, what
}

// TestBookNamesWhatAnotherMeasureMakesOfTheSameOil: another table and offset make other barrels of the same level. They are no
// production, and of nothing that was there the book says that it came.
func TestBookNamesWhatAnotherMeasureMakesOfTheSameOil(t *testing.T) {
	for _, c := range []struct {
		name      string
		times, up float64
		at        float64 // s after the gauge-off
		metered   bool
	}{
		{"another table", 1.1, 0, day / 2, false}, {"another offset", 1, 5, day / 2, false}, {"an offset less", 1, -5, day / 2, true}, {"both", 0.9, 5, day / 2, false},
		{"just before the gauge-off", 1.1, 0, day - 120, false}, {"just after it", 1, 5, 120, false}, {"just after it, with a meter", 1.1, 0, 120, true},
	} {
		l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 60, metered: c.metered}.open(t, 2)
		var was, is float64
		l.restart = func(l *leased, s float64) {
			if s == math.Floor((1.0*day+c.at)/60)*60 {
				was = l.now.stock
				l.remeasure(t, c.times, c.up)
				is = (was/tanktest.PerInch + c.up) * tanktest.PerInch * c.times
			}
		}
		l.play(4)
		if len(l.days) != 3 || len(l.losses) > 0 {
			t.Fatalf("%s: %d days, losses %v", c.name, len(l.days), l.losses)
		}
		sum, said := 0.0, ""
		for _, d := range l.days {
			d.adds(t)
			bbl, what := d.named(PartRemeasured)
			sum, said = sum+bbl, said+what
			if d.Opening == nil {
				continue
			}
			made := l.truth[d.To.Unix()].produced - l.truth[d.From.Unix()].produced
			if math.Abs(*d.Production-made) > 3.5 || math.Abs(d.Other-bbl) > 0.5 {
				t.Errorf("%s, %s: produced %.2f, in truth %.2f; other %.2f, of which %.2f by another measure", c.name, d.From, *d.Production, made, d.Other, bbl)
			}
		}
		if math.Abs(sum-(was-is)) > 1 || strings.Count(said, "\n") != 1 || !strings.Contains(said, "because offset 0.00 to 5.00 in") {
			t.Errorf("%s: %.2f bbl by another measure, in truth %.2f; %q", c.name, sum, was-is, said)
		}
	}
}

// TestBookCountsARunAfterAnotherMeasureOnce: a truck that comes within the hour is a run, and nothing else beside.
func TestBookCountsARunAfterAnotherMeasureOnce(t *testing.T) {
	l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 20}.open(t, 2)
	l.restart = func(l *leased, s float64) {
		switch s {
		case 1.5 * day:
			l.remeasure(t, 1, 5)
		case 1.5*day + 1200:
			l.truck = 150
		}
	}
	l.play(3)
	d := l.days[1]
	d.adds(t)
	if bbl, _ := d.named(PartRemeasured); math.Abs(d.Runs-150) > 3 || math.Abs(d.Other-bbl) > 0.5 || math.Abs(*d.Production-24) > 4 {
		t.Errorf("runs %.1f, other %.1f (%.1f by another measure), produced %.1f; want 150, no more than that, and 24", d.Runs, d.Other, bbl, *d.Production)
	}
}

// TestBookStoresNoMoreOfItsPartsThanItMust: a hundred changes of a day are a few sentences, and the sum is as it was; the bytes
// bring all of it back.
func TestBookStoresNoMoreOfItsPartsThanItMust(t *testing.T) {
	l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 60}.open(t, 2)
	n := 0
	l.restart = func(l *leased, s float64) {
		if s >= 1.2*day && math.Mod(s, 600) == 0 && n < 100 {
			n++
			l.remeasure(t, 1, float64(n%2)*5)
			raw, err := l.book.MarshalBinary()
			if err != nil || len(raw) > 12<<10 {
				t.Fatalf("%d bytes, %v", len(raw), err)
			}
			l.book = Book{}
			if err := l.book.UnmarshalBinary(raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.play(3)
	d := l.days[1]
	d.adds(t)
	bbl, what := d.named(PartRemeasured)
	if len(d.OtherParts) > partsMost || n != 100 || math.Abs(bbl-d.Other) > 0.5 || !strings.Contains(what, "times from") {
		t.Errorf("%d changes made %d parts of %.2f bbl, other %.2f: %s", n, len(d.OtherParts), bbl, d.Other, what)
	}
}

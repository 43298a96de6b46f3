package tankbook

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// TestBookTellsTheTruth compares the figures of a metered and an estimated book with what truly
// happened between the gauge-offs.
func TestBookTellsTheTruth(t *testing.T) {
	for _, metered := range []bool{false, true} {
		l := lease{inflow: 150, dumps: 0.7, loads: true, leak: 1, noise: 0.05, every: 20, metered: metered}.open(t, 3).play(8)
		within, days, off := 0, 0, 5.0 // a dump or some during a run go uncounted
		if metered {
			off = 2.5
		}
		for _, d := range l.days {
			d.adds(t)
			a, b := l.truth[d.From.Unix()], l.truth[d.To.Unix()]
			if d.Opening == nil || d.Closing == nil || a == (owed{}) || b == (owed{}) {
				continue
			}
			days++
			lost := b.leaked - a.leaked
			if math.Abs(*d.Residual+lost) <= d.Error {
				within++
			}
			if math.Abs(*d.Residual+lost) > 2*d.Error || math.Abs(d.Runs-(b.hauled-a.hauled)) > off || math.Abs(*d.Production-(b.produced-a.produced)) > off+1 {
				t.Errorf("metered %t, %s: residual %.2f give or take %.2f, runs %.1f, production %.1f; in truth %.2f, %.1f, %.1f",
					metered, d.From.Format(time.DateOnly), *d.Residual, d.Error, d.Runs, *d.Production, -lost, b.hauled-a.hauled, b.produced-a.produced)
			}
			if math.Abs(*d.Closing-b.stock) > 1 {
				t.Errorf("metered %t, %s: closing stock %.2f, in truth %.2f", metered, d.From.Format(time.DateOnly), *d.Closing, b.stock)
			}
		}
		if days < 6 || within < days*3/4 {
			t.Errorf("metered %t: the residual of %d days was within its error on %d", metered, days, within)
		}
	}
}

// TestBookGoesOnFromItsBytes stores and reads detector and book at every hour: not a figure may differ.
func TestBookGoesOnFromItsBytes(t *testing.T) {
	plain := lease{inflow: 60, dumps: 0.7, loads: true, leak: 1, noise: 0.05, every: 60, metered: true}
	want := plain.open(t, 5).play(4)
	got := plain.open(t, 5)
	got.restart = func(l *leased, s float64) {
		if math.Mod(s, 3600) != 0 {
			return
		}
		raw, err := l.book.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 8<<10 {
			t.Fatalf("the book of one tank takes %d bytes", len(raw))
		}
		l.book = Book{}
		if err := l.book.UnmarshalBinary(raw); err != nil {
			t.Fatal(err)
		}
		for k := range len(raw) {
			if k%97 == 0 && new(Book).UnmarshalBinary(raw[:k]) == nil {
				t.Fatalf("a book that was cut at byte %d was read", k)
			}
		}
	}
	got.play(4)
	if len(got.days) != len(want.days) || len(want.days) < 3 {
		t.Fatalf("%d days with restarts, %d without", len(got.days), len(want.days))
	}
	for i := range want.days {
		if a, b := *num(got.days[i].Residual), *num(want.days[i].Residual); a != b {
			t.Errorf("%s: residual %v with restarts, %v without", want.days[i].From, a, b)
		}
	}
}

// num is p, or a number far off where there is none.
func num(p *float64) *float64 {
	if p == nil {
		return new(-1e9)
	}
	return p
}

// TestBookSaysWhatItDoesNotKnow: a silence over the gauge-off leaves two days without a stock.
func TestBookSaysWhatItDoesNotKnow(t *testing.T) {
	l := lease{inflow: 20, dumps: 0.7, noise: 0.05, every: 60, gap: [2]float64{1.9, 2.1}}.open(t, 1).play(4)
	if len(l.days) != 3 || l.days[1].Closing != nil || l.days[2].Opening != nil {
		t.Fatalf("want three days, the second without a closing and the third without an opening stock: %v", l.days)
	}
	for _, d := range l.days[1:] {
		if d.Residual != nil || d.Production != nil || !strings.Contains(strings.Join(d.Remarks, "\n"), "incomplete") {
			t.Errorf("%s: want no residual and a remark: %v", d.From, d)
		}
	}
	if got := strings.Join(l.days[2].Remarks, "\n"); !strings.Contains(got, "no readings 03-11 04:3") {
		t.Errorf("the silence is not said: %q", got)
	}
	if len(l.losses) > 0 {
		t.Errorf("a silence is no loss: %s", l.losses[0].Note)
	}
}

// TestBookRunAcrossTheGaugeOff: the run is whole on the day of its closing, and both days close.
func TestBookRunAcrossTheGaugeOff(t *testing.T) {
	l := lease{inflow: 100, loads: true, noise: 0.05, every: 10, metered: true}
	x := l.open(t, 1)
	x.begin = x.begin.Add(-15 * time.Minute) // the truck comes every twelve hours of the lease
	x.play(4)
	across := 0
	for _, d := range x.days {
		d.adds(t)
		if d.Residual == nil {
			continue
		}
		if math.Abs(*d.Residual) > 0.6 {
			t.Errorf("%s: residual %.2f give or take %.2f, runs %v", d.From, *d.Residual, d.Error, d.RunList)
		}
		for _, r := range d.RunList {
			if r.Start.Before(d.From) && r.End.After(d.From) {
				across++
			}
		}
	}
	if across == 0 {
		t.Fatal("no run lay across a gauge-off: the test tests nothing")
	}
}

// TestBookDayAcrossDaylightSaving: the day of the change has 23 hours in spring and 25 in fall.
func TestBookDayAcrossDaylightSaving(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	r := Rules{Zone: zone, GaugeOff: 7 * time.Hour}
	for _, c := range []struct {
		at   string
		from string
		long time.Duration
	}{
		{"2026-03-08T06:59:59-05:00", "2026-03-07T07:00:00-06:00", 23 * time.Hour},
		{"2026-03-08T07:00:00-05:00", "2026-03-08T07:00:00-05:00", 24 * time.Hour},
		{"2026-11-01T06:59:59-06:00", "2026-10-31T07:00:00-05:00", 25 * time.Hour},
		{"2026-11-01T07:00:00-06:00", "2026-11-01T07:00:00-06:00", 24 * time.Hour},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		from, to := r.gaugeOff(at)
		if from.Format(time.RFC3339) != c.from || to.Sub(from) != c.long {
			t.Errorf("%s: day from %s for %s, want %s for %s", c.at, from.Format(time.RFC3339), to.Sub(from), c.from, c.long)
		}
	}
}

// TestMeterFollowsItsTotaliser over a rollover, a reset, a slip back and readings that are none.
func TestMeterFollowsItsTotaliser(t *testing.T) {
	for _, c := range []struct {
		name   string
		counts []float64
		want   float64
	}{
		{"goes on", []float64{100, 110, 125}, 25},
		{"over a hundred thousand", []float64{99990, 99998, 4, 10}, 20},
		{"reset", []float64{52340, 52350, 3, 8, 12}, 22},
		{"one that is none", []float64{100, 1e9, 110, 120}, 20},
		{"slips back", []float64{100, 110, 109.99, 120}, 20},
		{"another meter", []float64{100, 110, 88000, 88005, 88010, 88020}, 20},
		{"zero for a moment", []float64{5000, 5010, 0, 5020}, 20},
	} {
		var m meter
		for k, v := range c.counts {
			m.add(float64(k)*120, v)
		}
		if math.Abs(m.sum-c.want) > 0.02 {
			t.Errorf("%s: %v counts %.2f, want %.2f", c.name, c.counts, m.sum, c.want)
		}
	}
}

// TestBookOfATankThatIsMeasuredAnew: another offset takes twenty inches off the level, and nothing out of the tank.
func TestBookOfATankThatIsMeasuredAnew(t *testing.T) {
	l := lease{inflow: 20, dumps: 0.7, noise: 0.05, every: 60}.open(t, 2)
	l.restart = func(l *leased, s float64) {
		if s == 1.5*day {
			l.remeasure(t, 1, -20)
		}
	}
	l.play(4)
	if len(l.losses) > 0 {
		t.Errorf("an offset is no loss: %s", l.losses[0].Note)
	}
	if len(l.days) != 3 || !strings.Contains(strings.Join(l.days[1].Remarks, "\n"), "measured was changed") {
		t.Fatalf("the day does not say that the tank was measured anew: %+v", l.days)
	}
	moved := l.book.Arranged([]int{-1, 0})
	if len(moved.pages) != 2 || moved.pages[0] != nil || moved.pages[1] == nil {
		t.Error("the book did not move with its tank")
	}
}

func TestAnotherMeterCountsFromItsFirstReading(t *testing.T) {
	site, err := tank.NewSite([]tank.Tank{{ID: "TK-1", Height: 240, Table: tank.Cylinder(144, 240)}})
	if err != nil {
		t.Fatal(err)
	}
	var b Book
	for k, total := range []float64{1000, 1005, 1009} {
		b = b.Metered(site, 0, tanktest.Start.Add(time.Duration(k)*time.Hour), total)
	}
	b = b.MeterChanged(0)
	raw, err := b.MarshalBinary()
	if err != nil || b.UnmarshalBinary(raw) != nil {
		t.Fatal(err)
	}
	for k, total := range []float64{1100, 1101} {
		b = b.Metered(site, 0, tanktest.Start.Add(time.Duration(4+k)*time.Hour), total)
	}
	if got := b.pages[0].meter.sum; got != 10 {
		t.Errorf("counted %g bbl, want the 9 of the one meter and the 1 of the other", got)
	}
	if (Book{}).MeterChanged(0).pages != nil {
		t.Error("a book that was not begun has a page")
	}
}

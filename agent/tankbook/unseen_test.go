package tankbook

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// TestBookNamesWhatASensorChangedOverAGap: a sensor is put in the place of another while nothing is read, and shows more or less than
// that. It is no production, and the day says what was seen before and after.
func TestBookNamesWhatASensorChangedOverAGap(t *testing.T) {
	for _, c := range []struct {
		name     string
		up, long float64 // in, h
		at       float64 // h after the gauge-off
		metered  bool
	}{
		{"20 in more over an hour", 20, 1, 5, false}, {"20 in more over twenty minutes", 20, 1. / 3, 5, false}, {"8 in less over an hour", -8, 1, 5, false},
		{"20 in more over six hours", 20, 6, 5, false}, {"8 in less over six hours", -8, 6, 5, false},
		{"20 in more beside a meter", 20, 2, 5, true}, {"8 in less beside a meter", -8, 2, 5, true},
		{"20 in more over the gauge-off", 20, 0.4, 23.8, false}, {"8 in less over the gauge-off", -8, 0.4, 23.8, true},
	} {
		from := 1 + c.at/24
		l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 60, metered: c.metered, gap: [2]float64{from, from + c.long/24}}.open(t, 4)
		l.during = func(l *leased) { l.raised = c.up }
		l.play(4)
		near := 2 + c.long/2 // what a separator dumps in some hours is an estimate
		sum, said := 0.0, ""
		for _, d := range l.days {
			d.adds(t)
			bbl, what := d.named(PartUnseen)
			sum, said = sum+bbl, said+what
			if d.Opening == nil || d.Closing == nil {
				continue
			}
			made := l.truth[d.To.Unix()].produced - l.truth[d.From.Unix()].produced
			if math.Abs(*d.Production-made) > near || math.Abs(d.Other-bbl) > 0.5 {
				t.Errorf("%s, %s: produced %.2f, in truth %.2f; other %.2f, of which %.2f over the gap: %v", c.name, d.From, *d.Production, made, d.Other, bbl, d.OtherParts)
			}
		}
		if math.Abs(sum+c.up*1.6786) > near || !strings.Contains(said, " in before and ") || !strings.Contains(said, "from 03-1") {
			t.Errorf("%s: %.2f bbl over the gap, in truth %.2f; %q", c.name, sum, -c.up*1.6786, said)
		}
	}
}

// TestBookNamesNothingThatProductionExplains: over a silence a well makes what it made, twice that or nothing; a truck that came
// meanwhile is a run.
func TestBookNamesNothingThatProductionExplains(t *testing.T) {
	for _, long := range []float64{0.3, 2, 9} {
		for _, inflow := range []float64{0, 24, 60} {
			l := lease{inflow: inflow, dumps: 0.7, noise: 0.05, drift: 0.3, every: 60, gap: [2]float64{1.3, 1.3 + long/24}}.open(t, 5).play(3)
			if bbl, what := l.days[1].named(PartUnseen); what != "" {
				t.Errorf("%.1f h, %.0f bbl a day: %.2f bbl over the gap: %s", long, inflow, bbl, what)
			}
		}
		l := lease{inflow: 24, dumps: 0.7, noise: 0.05, every: 60, gap: [2]float64{1.3, 1.3 + long/24}}.open(t, 5)
		l.during = func(l *leased) { l.truck = 150 }
		l.play(3.5)
		d := l.days[1]
		d.adds(t)
		if bbl, what := d.named(PartUnseen); what != "" || math.Abs(d.Runs-150) > 8 || math.Abs(d.Other) > 0.5 {
			t.Errorf("%.1f h: runs %.1f, other %.1f, %.2f bbl over the gap: %s", long, d.Runs, d.Other, bbl, what)
		}
	}
}

// TestBookTakesATransferAcrossAGapForOne: the tank that was filled got what the other gave, though nothing of it was read for a while.
// Where nobody saw it rise the other's draw is a run, and the rise has a name.
func TestBookTakesATransferAcrossAGapForOne(t *testing.T) {
	for _, c := range []struct{ from, long, unseen float64 }{{0.1, 0.2, 0}, {0.05, 0.2, 0}, {-0.1, 0.5, -60}} { // h after it began, and h
		site := plain(t, tank.Tank{}, tank.Tank{})
		moves, begin := pumped(60, 10*3600, 1), day+(10+c.from)*3600
		days, losses := bookOf(t, site, 4.2, dumping(24, 0.7, moves), func(s float64) float64 {
			if s > begin && s < begin+c.long*3600 {
				return math.NaN()
			}
			return (20 + moves(s)) / tanktest.PerInch
		})
		got, named := 0.0, 0.0
		for _, d := range days["TK-2"] {
			d.adds(t)
			bbl, _ := d.named(PartUnseen)
			got, named = got+d.TransfersIn, named+bbl
			if d.Production != nil && math.Abs(*d.Production) > 2 {
				t.Errorf("%.1f h: produced %.1f", c.from, *d.Production)
			}
		}
		if math.Abs(named-c.unseen) > 2 || math.Abs(got-named-60) > 2 || len(losses) != 0 || len(days["TK-2"]) < 4 {
			t.Errorf("%.1f h: %.1f bbl came in, %.1f unseen; %d days, losses %v", c.from, got, named, len(days["TK-2"]), losses)
		}
	}
}

// TestBookSaysWhatDidNotComeOverAGap: a truck that came in a silence while the well went on filling the tank leaves a level that is higher,
// but not by what the well makes.
func TestBookSaysWhatDidNotComeOverAGap(t *testing.T) {
	for _, hauled := range []float64{0, 60} {
		l := lease{inflow: 240, noise: 0.05, every: 60, loads: true, gap: [2]float64{1.55, 1.55 + 8./24}}.open(t, 5)
		l.during = func(l *leased) { l.truck = hauled }
		l.play(3)
		said := ""
		for _, d := range l.days {
			d.adds(t)
			said += strings.Join(d.Remarks, "\n")
		}
		if told := strings.Contains(said, "look for a load"); told != (hauled > 0) {
			t.Errorf("%.0f bbl hauled: %s", hauled, said)
		}
	}
}

// TestBookTakesAValueThatHungForAGap: a truck loads while the sensor repeats one value, or the value hangs when its load has begun. What the
// level has lost when it moves again is that run and nothing else.
func TestBookTakesAValueThatHungForAGap(t *testing.T) {
	for _, c := range []struct{ after, long float64 }{{0.75, 2}, {-0.25, 2}, {-0.2, 3}, {0.3, 1.5}} { // h from the hang to the load, and h
		load := 1 + 5./24
		l := lease{inflow: 60, noise: 0.03, every: 30, vary: 0.02, hung: [2]float64{load - c.after/24, load + (c.long-c.after)/24}}.open(t, 6)
		l.play(load)
		l.truck = 150
		l.goOn(load, 4)
		runs := 0.0
		for _, d := range l.days {
			d.adds(t)
			runs += d.Runs
			if d.Opening == nil || d.Closing == nil {
				continue
			}
			if made := l.truth[d.To.Unix()].produced - l.truth[d.From.Unix()].produced; math.Abs(*d.Production-made) > 4 || math.Abs(d.Other) > 0.5 {
				t.Errorf("%+v, %s: produced %.1f, in truth %.1f, other %.1f: %v %q", c, d.From, *d.Production, made, d.Other, d.OtherParts, d.Remarks)
			}
		}
		if math.Abs(runs-150) > 4 || len(l.days) < 3 {
			t.Errorf("%+v: runs %.1f bbl, %d days", c, runs, len(l.days))
		}
	}
}

// TestBookSaysWhatAHungValueHid: while the value hung a whole load went, and the well made it good. The days say that nobody knows their
// stock, and that a load may have gone, and what was made until after them is known by the stocks before and behind.
func TestBookSaysWhatAHungValueHid(t *testing.T) {
	l := lease{inflow: 70, noise: 0.03, every: 60, hung: [2]float64{1.7, 3.4}}.open(t, 6)
	l.now.stock = 60
	l.play(2.2)
	l.truck = 100
	l.goOn(2.2, 5.1)
	said := ""
	for k, d := range l.days {
		d.adds(t)
		said += strings.Join(d.Remarks, "\n")
		if known := d.Production != nil; known == (k < 4) || known && math.Abs(*d.Production-70) > 4 {
			t.Errorf("%s: produced %v, residual %v: %q", d.From, d.Production, d.Residual, d.Remarks)
		}
	}
	if len(l.days) != 5 || !strings.Contains(said, "look for a load that nobody saw") || !strings.Contains(said, "stands still since") || strings.Contains(said, "nothing was read") {
		t.Error(said)
	}
}

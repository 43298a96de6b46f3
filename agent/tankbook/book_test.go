package tankbook

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// plain is a site of tanks of 20 ft, read by a radar.
func plain(t *testing.T, tanks ...tank.Tank) tank.Site {
	t.Helper()
	table, err := tank.NewTable(tanktest.Rows())
	if err != nil {
		t.Fatal(err)
	}
	for i := range tanks {
		tanks[i].ID, tanks[i].Sensor, tanks[i].Height, tanks[i].Table = fmt.Sprintf("TK-%d", i+1), "radar", 240, table
		tanks[i].Every = 10 * time.Second
	}
	site, err := tank.NewSite(tanks)
	if err != nil {
		t.Fatal(err)
	}
	return site
}

// booked plays wells for some days and returns the closed days of each tank.
func booked(t *testing.T, days float64, events *[]tank.Event, wells ...tanktest.Well) map[string][]Day {
	t.Helper()
	return bookedAt(t, plain(t, make([]tank.Tank, len(wells))...), days, events, wells...)
}

// bookedAt does it at a site of such tanks.
func bookedAt(t *testing.T, site tank.Site, days float64, events *[]tank.Event, wells ...tanktest.Well) map[string][]Day {
	t.Helper()
	rules := Rules{Zone: time.UTC, GaugeOff: 7 * time.Hour, LossLimit: 0.8}
	var st tank.State
	var b Book
	out := map[string][]Day{}
	for s := 0.0; s < days*day; s += 30 {
		for i, w := range wells {
			at := tanktest.Start.Add(time.Duration(s * 1e9))
			in := tank.Input{Kind: tank.Level, Tank: i, Value: tanktest.Radar(i, s, w.Level(s)), Good: true, At: at, Mono: at.Sub(tanktest.Start)}
			var o []tank.Outcome
			var said []Outcome
			st, o = site.Next(st, in)
			b, said = b.Next(site, rules, st, in, o)
			for _, s := range said {
				out[s.Day.Tank] = append(out[s.Day.Tank], *s.Day)
				if s.Loss != nil {
					*events = append(*events, *s.Loss)
				}
			}
		}
	}
	return out
}

// TestBookBooksAMovementWhereItBelongs: a transfer leaves one tank and comes into the other, a drain is no loss, and
// nothing of it is production.
func TestBookBooksAMovementWhereItBelongs(t *testing.T) {
	var losses []tank.Event
	days := booked(t, 3.2, &losses,
		tanktest.Well{Level0: 150, Inflow: 0, Moves: []tanktest.Move{{From: 30 * 3600, Bbl: 60, Rate: 3}, {From: 50 * 3600, Bbl: 9, Rate: 3}}},
		tanktest.Well{Level0: 60, Inflow: 0, Moves: []tanktest.Move{{From: 30 * 3600, Bbl: -60, Rate: 3}}})
	if len(losses) != 0 {
		t.Errorf("a loss was told of: %s", losses[0].Note)
	}
	given, got := days["TK-1"], days["TK-2"]
	if len(given) != 4 || len(got) != 4 {
		t.Fatalf("%d and %d days, want 4 each", len(given), len(got))
	}
	for i := 1; i < 4; i++ {
		given[i].adds(t)
		got[i].adds(t)
		if math.Abs(*given[i].Production) > 0.5 || math.Abs(*got[i].Production) > 0.5 {
			t.Errorf("day %d: production %.2f and %.2f of tanks into which nothing came", i, *given[i].Production, *got[i].Production)
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"given", given[2].TransfersOut, 60}, {"received", got[2].TransfersIn, 60}, {"drained", given[3].Other, 9},
		{"given on another day", given[1].TransfersOut + given[3].TransfersOut, 0},
		{"residual of the giver", *given[2].Residual, 0}, {"residual of the drained", *given[3].Residual, 0},
	} {
		if math.Abs(c.got-c.want) > 0.8 {
			t.Errorf("%s: %.2f bbl, want %.0f", c.name, c.got, c.want)
		}
	}
}

// A small draw is told of with what flowed in meanwhile, and so does the book: a steady well lacks nothing on that day.
func TestASmallDrawIsNoLoss(t *testing.T) {
	var losses []tank.Event
	moves := []tanktest.Move{{From: 6.2 * day, Bbl: 12, Rate: 1}}
	for d := 1.0; d < 8; d += 1.5 {
		moves = append(moves, tanktest.Move{From: d * day, Bbl: 150, Rate: 6})
	}
	days := booked(t, 8.2, &losses, tanktest.Well{Level0: 80, Inflow: 100, Moves: moves})["TK-1"]
	if len(losses) != 0 {
		t.Errorf("a loss was told of: %s", losses[0].Note)
	}
	other := 0.0
	for _, d := range days[1:] {
		d.adds(t)
		other += d.Other
	}
	if math.Abs(other-12) > 0.6 {
		t.Errorf("%.1f bbl left beside the runs, want 12", other)
	}
}

// dumping is the level (in) of a tank that gets bbl at a time and loses what takes away.
func dumping(perDay, each float64, takes func(t float64) float64) func(t float64) float64 {
	return func(t float64) float64 {
		return (100 + math.Floor(perDay*t/day/each)*each - takes(t)) / tanktest.PerInch
	}
}

// pumped are the barrels that were pumped out by a time, at 3 bbl a minute from an hour of some days on.
func pumped(bbl, begins float64, days ...float64) func(t float64) float64 {
	return func(t float64) float64 {
		sum := 0.0
		for _, d := range days {
			sum += stats.Clamp((t-d*day-begins)/20, 0, bbl)
		}
		return sum
	}
}

// bookOf plays levels, one tank each, and returns the closed days by tank and the losses that were told of.
func bookOf(t *testing.T, site tank.Site, days float64, levels ...func(float64) float64) (map[string][]Day, []tank.Event) {
	t.Helper()
	rules := Rules{Zone: time.UTC, GaugeOff: 7 * time.Hour, LossLimit: 0.8}
	var st tank.State
	var b Book
	var losses []tank.Event
	out := map[string][]Day{}
	for s := 0.0; s < days*day; s += 60 {
		for i, level := range levels {
			at := tanktest.Start.Add(time.Duration(s) * time.Second)
			in := tank.Input{Kind: tank.Level, Tank: i, Value: tanktest.Radar(i, s, level(s)), Good: true, At: at, Mono: at.Sub(tanktest.Start)}
			var o []tank.Outcome
			var said []Outcome
			st, o = site.Next(st, in)
			b, said = b.Next(site, rules, st, in, o)
			for _, x := range said {
				out[x.Day.Tank] = append(out[x.Day.Tank], *x.Day)
				if x.Loss != nil {
					losses = append(losses, *x.Loss)
				}
			}
		}
	}
	return out, losses
}

// TestBookKeepsADrawAmongManyDumps: what a pipeline pump takes stays in the book however often the separator dumps
// that day.
func TestBookKeepsADrawAmongManyDumps(t *testing.T) {
	days, losses := bookOf(t, plain(t, tank.Tank{Lact: true}), 4.2, dumping(120, 0.7, pumped(120, 9*3600, 0, 1, 2, 3)))
	for _, d := range days["TK-1"][1:] {
		d.adds(t)
		if math.Abs(d.Other-118) > 4 || math.Abs(*d.Production-118) > 6 { // by gauge: 3.3 bbl flow in meanwhile
			t.Errorf("%s: %.1f bbl left and %.1f were produced, in truth 120 each", d.From.Format(time.DateOnly), d.Other, *d.Production)
		}
	}
	if len(losses) != 0 || len(days["TK-1"]) < 4 {
		t.Errorf("%d days, losses %v", len(days["TK-1"]), losses)
	}
}

// TestBookTakesATransferForNoLoss: what flowed into the giver meanwhile is an estimate, and no oil that the receiver
// has lost.
func TestBookTakesATransferForNoLoss(t *testing.T) {
	moves := pumped(50, 15*3600, 1, 2, 3, 4)
	days, losses := bookOf(t, plain(t, tank.Tank{}, tank.Tank{}), 5.2, dumping(60, 3, moves), func(s float64) float64 { return (20 + moves(s)) / tanktest.PerInch })
	if len(losses) != 0 {
		t.Errorf("a loss was told of: %s", losses[0].Note)
	}
	moved := 0
	for _, d := range days["TK-2"] {
		if d.TransfersIn == 0 || d.Residual == nil {
			continue
		}
		moved++
		if d.adds(t); math.Abs(*d.Residual) > d.Error {
			t.Errorf("%s: %.1f bbl came in, residual %.2f give or take %.2f; in truth nothing was lost", d.From.Format(time.DateOnly), d.TransfersIn, *d.Residual, d.Error)
		}
	}
	if moved < 4 {
		t.Errorf("%d days with a transfer, want 4", moved)
	}
}

// TestBookHasWhatFlowedInDuringAMetersPumpOut: a pump-out of two hours, also one across the gauge-off, takes along what was produced then, and the book
// says that a meter took it.
func TestBookHasWhatFlowedInDuringAMetersPumpOut(t *testing.T) {
	const inflow = 900.0
	pump := func(s float64) float64 { // two of each eight hours, four times as fast as the well
		sum := 0.0
		for b := 6 * 3600.0; b < s; b += 8 * 3600 {
			sum += stats.Clamp(s-b, 0, 2*3600) * 4 * inflow / day
		}
		return sum
	}
	days, losses := bookOf(t, plain(t, tank.Tank{Lact: true}), 4.2, func(s float64) float64 { return (150 + inflow*s/day - pump(s)) / tanktest.PerInch })
	for _, d := range days["TK-1"][1:] {
		d.adds(t)
		if math.Abs(d.Other-inflow) > 0.015*inflow || math.Abs(*d.Production-inflow) > 0.015*inflow || !d.Lact {
			t.Errorf("%s: %.1f bbl left and %.1f were produced, in truth %.0f each", d.From.Format(time.DateOnly), d.Other, *d.Production, inflow)
		}
	}
	if len(losses) != 0 || len(days["TK-1"]) < 4 {
		t.Errorf("%d days, losses %v", len(days["TK-1"]), losses)
	}
}

// TestBookBooksASmallMoveWhereItBelongs: what left a tank in a small draw and came into another at the same time, to the barrel, is
// nobody's production. A drain is none of that while another tank gets something else, or what its separator dumps.
func TestBookBooksASmallMoveWhereItBelongs(t *testing.T) {
	moves := pumped(15, 15*3600, 1, 2, 3)
	for _, c := range []struct {
		name  string
		gets  func(s float64) float64
		moved float64
	}{
		{"moved", func(s float64) float64 { return 40 + moves(s) }, 45},
		{"another amount came", func(s float64) float64 { return 40 + 2*moves(s) }, 0},
		{"it came at another time", func(s float64) float64 { return 40 + moves(s-1800) }, 0},
		{"a separator dumps", func(s float64) float64 { return 40 + math.Floor(24*s/day)*7 }, 0},
	} {
		days, _ := bookOf(t, plain(t, tank.Tank{}, tank.Tank{}), 4.2, func(s float64) float64 { return (200 - moves(s)) / tanktest.PerInch },
			func(s float64) float64 { return c.gets(s) / tanktest.PerInch })
		out, other, in, made := 0.0, 0.0, 0.0, 0.0
		for _, d := range days["TK-1"] {
			out, other = out+d.TransfersOut, other+d.Other
			d.adds(t)
		}
		for _, d := range days["TK-2"] {
			in += d.TransfersIn
			if d.adds(t); d.Production != nil {
				made += *d.Production
			}
		}
		if math.Abs(out-c.moved) > 1 || math.Abs(in-c.moved) > 1 || math.Abs(out+other-45) > 1 || c.moved > 0 && math.Abs(made) > 1 {
			t.Errorf("%s: out %.1f, in %.1f, other %.1f, produced there %.1f; want %.0f moved of 45", c.name, out, in, other, made, c.moved)
		}
	}
}

package tankbook

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// made are the barrels that a tank's closed days have as produced, and as other.
func made(days []Day) (bbl, other float64) {
	for _, d := range days {
		if d.Production != nil {
			bbl += *d.Production
		}
		if d.Opening != nil {
			other += d.Other
		}
	}
	return bbl, other
}

func remarked(days []Day, text string) bool {
	for _, d := range days {
		if strings.Contains(strings.Join(d.Remarks, "\n"), text) {
			return true
		}
	}
	return false
}

// TestOilThatCameBackIsNoProduction: what went out of a tank and came back into it was there before, be it a small draw or a truckload.
func TestOilThatCameBackIsNoProduction(t *testing.T) {
	for _, c := range []struct {
		out, pause, rate, inflow float64 // bbl, s, bbl/min, bbl a day
		runs, other              float64
		says                     string
	}{
		{20, 0, 2.5, 0, 0, 0, "was rolled"}, {20, 0, 2.5, 60, 0, 0, "was rolled"}, {20, 300, 4, 0, 0, 0, "was rolled"},
		{150, 3600, 5, 0, 150, -150, "came back"}, {150, 3600, 5, 40, 150, -150, "came back"},
	} {
		out := tanktest.Move{From: 34 * tanktest.Hour, Bbl: c.out, Rate: c.rate}
		back := tanktest.Move{From: out.End() + c.pause, Bbl: -c.out, Rate: c.rate}
		days := books(t, 3.2, tanktest.Well{Level0: 150, Inflow: c.inflow, Moves: []tanktest.Move{out, back}})["TK-1"][1:]
		got, other := made(days)
		runs, due := 0.0, c.inflow*float64(len(days))
		for _, d := range days {
			runs += d.Runs
		}
		if near := 2.5 + c.inflow/20; math.Abs(got-due) > near || math.Abs(runs-c.runs) > near || math.Abs(other-c.other) > near || !remarked(days, c.says) {
			t.Errorf("%+v: produced %.1f of %.1f, runs %.1f, other %.1f", c, got, due, runs, other)
		}
	}
}

// TestOilThatCameBackUnseenIsBookedOnce: where nothing was read while oil came back, the change over that gap and the return are the same
// oil, be it a load's or what was rolled.
func TestOilThatCameBackUnseenIsBookedOnce(t *testing.T) {
	for _, c := range []struct{ bbl, pause, silent, rate, every, runs float64 }{ // bbl, s, s, bbl/min, s
		{150, 3600, 700, 15, 60, 150}, {150, 3600, 900, 10, 60, 150}, {150, 3600, 900, 5, 60, 150}, {150, 3600, 1100, 2000, 60, 150},
		{150, 600, 1100, 40, 300, 150}, {20, 60, 700, 4, 60, 0}, {20, 300, 1100, 40, 30, 0},
	} {
		out := tanktest.Move{From: 34 * tanktest.Hour, Bbl: c.bbl, Rate: 5}
		back := tanktest.Move{From: out.End() + c.pause, Bbl: -c.bbl, Rate: c.rate}
		well := tanktest.Well{Level0: 150, Moves: []tanktest.Move{out, back}}
		site := plain(t, tank.Tank{})
		rules := Rules{Zone: time.UTC, GaugeOff: 7 * time.Hour, LossLimit: 0.8}
		var st tank.State
		var b Book
		var days []Day
		for s := 0.0; s < 3.2*day; s += c.every {
			if s > back.From && s < back.From+c.silent {
				continue
			}
			at := tanktest.Start.Add(time.Duration(s) * time.Second)
			in := tank.Input{Kind: tank.Level, Value: tanktest.Radar(0, s, well.Level(s)), Good: true, At: at, Mono: at.Sub(tanktest.Start)}
			var o []tank.Outcome
			var said []Outcome
			st, o = site.Next(st, in)
			b, said = b.Next(site, rules, st, in, o)
			for _, x := range said {
				if days = append(days, *x.Day); x.Loss != nil {
					t.Errorf("%+v: a loss was told of: %s", c, x.Loss.Note)
				}
			}
		}
		got, other := made(days[1:])
		if math.Abs(got) > 1 || math.Abs(other+c.runs) > 1 || !remarked(days, "came back") && !remarked(days, "was rolled") || math.Abs(*days[2].Residual) > 1 {
			t.Errorf("%+v: produced %.1f, other %.1f, of which named %v", c, got, other, days[2].OtherParts)
		}
	}
}

// TestAStepUpAtRestIsNoProduction: a level that is higher from one reading to the next was moved by hands; what a pump brings in, or a sensor
// shows late that had stood still, came.
func TestAStepUpAtRestIsNoProduction(t *testing.T) {
	for _, c := range []struct{ up, inflow float64 }{{3.5, 0}, {5, 0}, {10, 0}, {5, 60}, {10, 60}} {
		l := lease{inflow: c.inflow, noise: 0.05, every: 30}.open(t, 3)
		l.restart = func(l *leased, s float64) {
			if s == 1.4*day {
				l.raised = c.up
			}
		}
		l.play(4)
		got, other := made(l.days[1:])
		due := c.inflow * float64(len(l.days)-1)
		if moved := c.up * tanktest.PerInch; math.Abs(got-due) > 1.5 || math.Abs(other+moved) > 1 || !remarked(l.days, "at once") {
			t.Errorf("%+v: produced %.1f of %.1f, other %.1f for %.1f", c, got, due, other, -moved)
		}
		for _, d := range l.days {
			d.adds(t)
		}
	}
	came := tanktest.Move{From: 34 * tanktest.Hour, Bbl: -20, Rate: 4}
	hung := func(s float64) float64 { // for half an hour, while 10 bbl come
		if s > 34*tanktest.Hour && s < 34.5*tanktest.Hour {
			s = 34 * tanktest.Hour
		}
		return 30 + s*480/day/tanktest.PerInch
	}
	if got, other := made(books(t, 3.2, tanktest.Well{Level0: 100, Moves: []tanktest.Move{came}})["TK-1"]); math.Abs(got-20) > 1 || math.Abs(other) > 0.5 {
		t.Errorf("20 bbl at 4 a minute: produced %.1f, other %.1f", got, other)
	}
	days, _ := bookOf(t, plain(t, tank.Tank{}), 1.5+0.3, hung)
	if _, other := made(days["TK-1"]); math.Abs(other) > 0.5 {
		t.Errorf("a sensor that hung: other %.1f", other)
	}
}

// TestALactTankInBalanceHasNoProduction: a well that fills a tank as fast as a meter sells it leaves no trace in its level, nor does a
// loss. What the meter takes in batches shows.
func TestALactTankInBalanceHasNoProduction(t *testing.T) {
	for _, c := range []struct {
		name  string
		level func(s float64) float64
		made  float64 // bbl a day; below 0: nobody knows
	}{
		{"in balance", func(float64) float64 { return 120 }, -1},
		{"the meter takes a little more", func(s float64) float64 { return 120 - 5*s/day/tanktest.PerInch }, -1},
		{"a batch a day", func(s float64) float64 { return 60 + (60*s/day-pumped(60, 10*3600, 0, 1, 2, 3)(s))/tanktest.PerInch }, 60},
	} {
		days, losses := bookOf(t, plain(t, tank.Tank{Lact: true}), 3.4, c.level)
		if len(losses) > 0 || len(days["TK-1"]) < 3 {
			t.Errorf("%s: %d days, losses %v", c.name, len(days["TK-1"]), losses)
		}
		for _, d := range days["TK-1"][1:] {
			if known := d.Production != nil; known != (c.made >= 0) || known && math.Abs(*d.Production-c.made) > 3 || !known && (d.Residual != nil || d.Sees != nil || !remarked([]Day{d}, "is not known")) {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
	}
}

// TestTheEndsOfManyRestsAreNoFall: a pump goes on and off, and what it brings seems at rest for a moment now and then. The few stocks of such
// a rest are its begin and its end at once, and say nothing of a fall.
func TestTheEndsOfManyRestsAreNoFall(t *testing.T) {
	for _, c := range []struct{ on, turn, rate, every float64 }{{480, 1680, 0.6, 60}, {900, 1800, 0.45, 60}, {900, 1800, 0.6, 30}, {480, 1680, 0.3, 10}} { // s on of s, bbl/min, s
		var f daySums
		var r restFinder
		noise := rand.New(rand.NewPCG(7, 7))
		for s := 0.0; s < day; s += c.every {
			made := c.rate / 60 * (c.on*math.Floor(s/c.turn) + math.Min(math.Mod(s, c.turn), c.on))
			r.add(&f, stockAt{t: s, net: made + 0.08*noise.NormFloat64()}, 0.08, false)
		}
		if f.fell > 2 {
			t.Errorf("%+v: %.1f bbl fell in %.0f rests", c, f.fell, f.rests)
		}
	}
}

// TestOilThatSomebodyUnloadedIsNoProduction: a truckload comes in while the well makes a little. What a plunger brings again and again, a
// slug or a separator's dump, what a tank gets from another, and what foam lifts is not that.
func TestOilThatSomebodyUnloadedIsNoProduction(t *testing.T) {
	for _, c := range []struct {
		name   string
		inflow float64                 // bbl a day
		comes  func(s float64) float64 // bbl by then
		other  float64
	}{
		{"unloaded", 60, pumped(100, 9*3600, 1), -100},
		{"unloaded into an idle tank", 0, pumped(100, 9*3600, 1), -100},
		{"a plunger, or a slug, twice a day", 5, func(s float64) float64 { return pumped(52, 2*3600, 0, 1, 2, 3)(s) + pumped(52, 14*3600, 0, 1, 2, 3)(s) }, 0},
		{"what comes once a day", 5, pumped(55, 9*3600, 0, 1, 2, 3), 0},
		{"a small one", 60, pumped(30, 9*3600, 1), 0},
		{"a big well, turned to it", 20, func(s float64) float64 { return 1.2 * stats.Clamp(s-1.4*day, 0, 3600*3) / 60 }, 0},
	} {
		days, losses := bookOf(t, plain(t, tank.Tank{}), 3.2, func(s float64) float64 { return (60 + c.inflow*s/day + c.comes(s)) / tanktest.PerInch })
		told := 0
		for _, e := range losses {
			if e.Rule == "oil-unloaded" {
				told++
			}
		}
		for k, d := range days["TK-1"] {
			d.adds(t)
			want := 0.0
			if k == 2 {
				want = c.other
			}
			if math.Abs(d.Other-want) > 2 || k == 2 && c.other != 0 && math.Abs(*d.Production-c.inflow) > 2 {
				t.Errorf("%s, %s: produced %.1f, other %.1f: %q", c.name, d.From, *d.Production, d.Other, d.Remarks)
			}
		}
		if told != int(-c.other/100) {
			t.Errorf("%s: told %d times: %+v", c.name, told, losses)
		}
	}
}

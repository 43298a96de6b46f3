package tankbook

import (
	"math"
	"testing"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// books plays wells for some days and wants no loss; it returns the closed days of each tank.
func books(t *testing.T, days float64, wells ...tanktest.Well) map[string][]Day {
	t.Helper()
	var losses []tank.Event
	all := booked(t, days, &losses, wells...)
	for _, e := range losses {
		t.Errorf("a loss was told of: %s", e.Note)
	}
	for _, ds := range all {
		for _, d := range ds {
			d.adds(t)
		}
	}
	return all
}

// TestBookSharesATransferAmongTheTanksThatRose: two tanks are filled one after the other.
func TestBookSharesATransferAmongTheTanksThatRose(t *testing.T) {
	for _, at := range []float64{30, 48.4, 48.34, 48.7} { // at the gauge-off, which is at 49, too
		out := tanktest.Move{From: at * tanktest.Hour, Bbl: 120, Rate: 3}
		days := books(t, 3.2,
			tanktest.Well{Level0: 180, Moves: []tanktest.Move{out}},
			tanktest.Well{Level0: 50, Moves: []tanktest.Move{{From: out.From, Bbl: -50, Rate: 3}}},
			tanktest.Well{Level0: 50, Moves: []tanktest.Move{{From: out.From + 1000, Bbl: -70, Rate: 3}}})
		for tank, want := range map[string]float64{"TK-2": 50, "TK-3": 70} {
			got := 0.0
			for _, d := range days[tank][1:] {
				got += d.TransfersIn
				if math.Abs(*d.Residual) > 1.5 {
					t.Errorf("%.2f h, %s: %.1f bbl came in and %.1f are left over", at, tank, d.TransfersIn, *d.Residual)
				}
			}
			if math.Abs(got-want) > 1.5 {
				t.Errorf("%.2f h, %s: %.1f bbl came in, want %.0f", at, tank, got, want)
			}
		}
	}
}

// TestBookOfATankThatIsLoadedWhileItIsFilled: what came in meanwhile left with the truck.
func TestBookOfATankThatIsLoadedWhileItIsFilled(t *testing.T) {
	out := tanktest.Move{From: 30 * tanktest.Hour, Bbl: 110, Rate: 2.5}
	books(t, 3.2,
		tanktest.Well{Level0: 180, Inflow: 40, Moves: []tanktest.Move{out}},
		tanktest.Well{Level0: 140, Moves: []tanktest.Move{{From: out.From, Bbl: -110, Rate: 2.5}, {From: out.From + 600, Bbl: 150, Rate: 6}}})
}

// TestBookOfASlowTransfer: a valve that leaks from one tank into the other, over the gauge-off.
func TestBookOfASlowTransfer(t *testing.T) {
	crawl := tanktest.Move{From: 19 * tanktest.Hour, Bbl: 130, Rate: 0.2}
	days := books(t, 3.2, tanktest.Well{Level0: 180, Moves: []tanktest.Move{crawl}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: crawl.From, Bbl: -130, Rate: 0.2}}})
	given, got := 0.0, 0.0
	for k, d := range days["TK-1"] {
		given, got = given+d.TransfersOut, got+days["TK-2"][k].TransfersIn
	}
	if math.Abs(given-130) > 6 || math.Abs(got-given) > 0.1 {
		t.Errorf("%.1f bbl were given and %.1f received, want 130", given, got)
	}
}

// TestBookOfALongSlowTransfer: what seeps into a tank for a whole day is booked there to the last barrel, however many pieces it comes in.
func TestBookOfALongSlowTransfer(t *testing.T) {
	crawl := tanktest.Move{From: 32 * tanktest.Hour, Bbl: 252, Rate: 0.2}
	days := books(t, 3.2, tanktest.Well{Level0: 220, Moves: []tanktest.Move{crawl}}, tanktest.Well{Level0: 20, Moves: []tanktest.Move{{From: crawl.From, Bbl: -252, Rate: 0.2}}})
	for k, d := range days["TK-1"] {
		if got := days["TK-2"][k]; math.Abs(got.TransfersIn-d.TransfersOut) > 0.1 || got.Production != nil && math.Abs(*got.Production) > 1 {
			t.Errorf("%s: %.1f bbl were given and %.1f received, and %+v", d.From, d.TransfersOut, got.TransfersIn, got)
		}
	}
}

// TestBookOfFoamIsNoLoss: the level is lifted by 6 inches within minutes and comes down in five hours, also over the gauge-off.
func TestBookOfFoamIsNoLoss(t *testing.T) {
	for _, from := range []float64{30, 47} {
		l := lease{inflow: 120, dumps: 0.7, noise: 0.05, every: 20}.open(t, 4)
		l.restart = func(l *leased, s float64) {
			switch at := s - from*tanktest.Hour; {
			case at >= 0 && at < 300:
				l.now.stock += 6 * tanktest.PerInch / 300 * l.every
			case at >= 300 && at < 300+5*tanktest.Hour:
				l.now.stock -= 6 * tanktest.PerInch / (5 * tanktest.Hour) * l.every
			}
		}
		l.play(4)
		for _, e := range l.losses {
			t.Errorf("foam at %.0f h: %s", from, e.Note)
		}
	}
}

// TestBookOfDrainsBesideDumps: what a pumper drains slowly is neither production nor a loss at rest.
func TestBookOfDrainsBesideDumps(t *testing.T) {
	l := lease{inflow: 60, dumps: 0.7, noise: 0.05, every: 10}.open(t, 4)
	l.restart = func(l *leased, s float64) {
		for _, from := range []float64{28, 34, 40} {
			if s >= from*tanktest.Hour && s < from*tanktest.Hour+1200 { // 20 bbl at 1 bbl/min
				l.now.stock -= l.every / 60
			}
		}
	}
	l.play(3)
	for _, e := range l.losses {
		t.Error(e.Note)
	}
	a, b := l.truth[l.days[1].From.Unix()], l.truth[l.days[1].To.Unix()]
	if d := l.days[1]; math.Abs(d.Other-60) > 5 || math.Abs(*d.Residual) > 0.6 || math.Abs(*d.Production-(b.produced-a.produced)) > 5 {
		t.Errorf("%.1f bbl drained, production %.1f, residual %.2f; in truth 60, %.1f, 0", d.Other, *d.Production, *d.Residual, b.produced-a.produced)
	}
}

// TestALossIsToldOnce: by the detector or by the book, whoever sees it first, and not again before twice as much is gone.
func TestALossIsToldOnce(t *testing.T) {
	for _, c := range []lease{
		{leak: 5}, {leak: 20}, {leak: 24}, {leak: 28}, {leak: 36}, {leak: 60}, {leak: 60, inflow: 20, dumps: 0.7}, {leak: 60, inflow: 20}, {leak: 26, inflow: 10, dumps: 0.7},
	} {
		c.noise, c.every, c.from, c.drift = 0.05, 60, 1.3, 0.2
		l := c.open(t, 6).play(4.6)
		if n := len(l.losses); n != 1 && (n != 2 || l.losses[1].Bbl < 2*l.losses[0].Bbl) {
			t.Errorf("a leak of %.0f bbl a day, inflow %.0f: told %d times", c.leak, c.inflow, len(l.losses))
			for _, e := range l.losses {
				t.Log(e.Start, e.End, e.Note)
			}
		}
	}
}

// TestALeakThatGoesOnIsToldAgain: whenever twice as much is gone as was told, or it goes twice as fast, with all that is gone since it began;
// not each day, and a restart forgets none of it. One that has ended and begins anew is another.
func TestALeakThatGoesOnIsToldAgain(t *testing.T) {
	l := lease{noise: 0.02, every: 120, leak: 5}.open(t, 6)
	l.restart = func(l *leased, s float64) {
		if math.Mod(s, day) < l.every {
			raw, err := l.book.MarshalBinary()
			if err == nil {
				l.book = Book{}
				err = l.book.UnmarshalBinary(raw)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	l.goOn(0, 6)
	l.leak = 13.4
	l.goOn(6, 13)
	if n := len(l.losses); n < 4 || n > 7 {
		t.Errorf("told %d times, want it at 5, 10, 20 and so on barrels, and when it grew", n)
	}
	told, faster := 0.0, 0
	for _, e := range l.losses {
		gone := l.truth[e.End.Unix()].leaked
		if math.Abs(e.Bbl-gone) > 1+0.1*gone || e.Start.After(l.begin) {
			t.Errorf("%s: %.1f bbl are gone since %s", e.Note, gone, l.begin)
		}
		if told > 0 && e.Bbl < 2*told {
			faster++
		}
		told = e.Bbl
	}
	if faster > 1 || told < 60 {
		t.Errorf("told %d times of less than twice as much, %.1f bbl the last time", faster, told)
	}
	l.leak = 0
	l.goOn(13, 17)
	l.losses, l.leak = nil, 5
	l.goOn(17, 19)
	if len(l.losses) == 0 || l.losses[0].Bbl > 12 {
		t.Errorf("began anew: %+v", l.losses)
	}
}

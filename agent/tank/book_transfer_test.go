package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/codec"
)

// books plays wells for some days and wants no loss; it returns the closed days of each tank.
func books(t *testing.T, days float64, wells ...well) (map[string][]BookDay, *rig) {
	t.Helper()
	r := newRig(t, wells...)
	r.every = 30
	var losses []Event
	all := booked(r, days, &losses)
	for _, e := range losses {
		t.Errorf("a loss was told of: %s", e.Note)
	}
	for _, ds := range all {
		for _, d := range ds {
			d.adds(t)
		}
	}
	return all, r
}

// TestBookSharesATransferAmongTheTanksThatRose: two tanks are filled one after the other.
func TestBookSharesATransferAmongTheTanksThatRose(t *testing.T) {
	for _, at := range []float64{30, 48.4, 48.34, 48.7} { // at the gauge-off, which is at 49, too
		out := move{at * hour, 120, 3}
		days, _ := books(t, 3.2,
			well{level0: 180, moves: []move{out}},
			well{level0: 50, moves: []move{{out.from, -50, 3}}},
			well{level0: 50, moves: []move{{out.from + 1000, -70, 3}}})
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
	out := move{30 * hour, 110, 2.5}
	books(t, 3.2,
		well{level0: 180, inflow: 40, moves: []move{out}},
		well{level0: 140, moves: []move{{out.from, -110, 2.5}, {out.from + 600, 150, 6}}})
}

// TestBookOfASlowTransfer: a valve that leaks from one tank into the other, over the gauge-off.
func TestBookOfASlowTransfer(t *testing.T) {
	crawl := move{19 * hour, 130, 0.2}
	days, _ := books(t, 3.2, well{level0: 180, moves: []move{crawl}}, well{level0: 40, moves: []move{{crawl.from, -130, 0.2}}})
	given, got := 0.0, 0.0
	for k, d := range days["TK-1"] {
		given, got = given+d.TransfersOut, got+days["TK-2"][k].TransfersIn
	}
	if math.Abs(given-130) > 6 || math.Abs(got-given) > 0.1 {
		t.Errorf("%.1f bbl were given and %.1f received, want 130", given, got)
	}
}

// TestSlowMovementsHaveTheirVerdicts: who asks why there is no ticket is told, once, of the whole.
func TestSlowMovementsHaveTheirVerdicts(t *testing.T) {
	crawl := move{3 * hour, 130, 0.2}
	r := newRig(t, well{level0: 180, moves: []move{crawl}}, well{level0: 40, moves: []move{{crawl.from, -130, 0.2}}})
	r.run(0, 24*hour)
	r.only("transfer")
	last := r.verdicts[len(r.verdicts)-1]
	for _, v := range r.verdicts {
		if v.Tank != "TK-1" || v.What != Transferred || !v.Start.Equal(last.Start) {
			t.Errorf("%+v", v)
		}
	}
	if math.Abs(last.Bbl-130) > 6 || r.events[0].To != "TK-2" {
		t.Errorf("the last verdict tells of %.1f bbl, want 130; the event of %+v", last.Bbl, r.events[0])
	}
	r = newRig(t, well{level0: 150, moves: []move{{3 * hour, 50, 0.07}}})
	r.run(0, 16*hour)
	r.only("unexplained-loss")
	if len(r.verdicts) != 1 || r.verdicts[0].What != TooSlow || !r.verdicts[0].Start.Equal(r.events[0].Start) {
		t.Errorf("%+v", r.verdicts)
	}
}

// TestBookOfFoamIsNoLoss: the level is lifted by 6 inches within minutes and comes down in five hours, also over the gauge-off.
func TestBookOfFoamIsNoLoss(t *testing.T) {
	for _, from := range []float64{30, 47} {
		l := lease{inflow: 120, dumps: 0.7, noise: 0.05, every: 20}.open(t, 4)
		l.restart = func(l *leased, s float64) {
			switch at := s - from*hour; {
			case at >= 0 && at < 300:
				l.now.stock += 6 * testPer / 300 * l.every
			case at >= 300 && at < 300+5*hour:
				l.now.stock -= 6 * testPer / (5 * hour) * l.every
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
			if s >= from*hour && s < from*hour+1200 { // 20 bbl at 1 bbl/min
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

// TestALossIsToldOnce: by the detector or by the book, whoever sees it first, and not again while it goes on.
func TestALossIsToldOnce(t *testing.T) {
	for _, c := range []lease{
		{leak: 5}, {leak: 20}, {leak: 24}, {leak: 28}, {leak: 36}, {leak: 60}, {leak: 60, inflow: 20, dumps: 0.7}, {leak: 60, inflow: 20}, {leak: 26, inflow: 10, dumps: 0.7},
	} {
		c.noise, c.every, c.from, c.drift = 0.05, 60, 1.3, 0.2
		l := c.open(t, 6).play(4.6)
		if len(l.losses) != 1 {
			t.Errorf("a leak of %.0f bbl a day, inflow %.0f: told %d times", c.leak, c.inflow, len(l.losses))
			for _, e := range l.losses {
				t.Log(e.Start, e.End, e.Note)
			}
		}
	}
}

// TestTheBookOfTheFormatBeforeIsRead.
func TestTheBookOfTheFormatBeforeIsRead(t *testing.T) {
	b := lease{inflow: 60, dumps: 0.7, noise: 0.05, every: 60}.open(t, 5).play(1.5).book
	a := archive{codec.Write(1)}
	a.book(&b)
	var n Book
	stored, err := a.Bytes()
	if err == nil {
		err = n.UnmarshalBinary(stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p := n.pages[0]; p.now.received() != 0 || p.last != b.pages[0].last || len(p.now.remarks) != len(b.pages[0].now.remarks) {
		t.Errorf("%+v", p)
	}
}

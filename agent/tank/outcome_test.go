package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// judged checks that the only verdict is this, with its volume and what its reason has to say.
func (r *rig) judged(what string, bbl float64, says string) {
	r.t.Helper()
	if len(r.loads) > 0 || len(r.verdicts) != 1 {
		r.t.Fatalf("%d loads and the verdicts %+v, want one verdict %s", len(r.loads), r.verdicts, what)
	}
	v := r.verdicts[0]
	if failed := tanktest.Failed(map[string]bool{
		"what":  v.What != what,
		"bbl":   math.Abs(v.Bbl-bbl) > 1,
		"why":   !strings.Contains(v.Why, says),
		"tank":  v.Tank != "TK-1",
		"times": !v.Start.Before(v.End),
	}); failed != "" {
		r.t.Errorf("%s: verdict %+v, want %s of %.1f bbl that says %q", failed, v, what, bbl, says)
	}
}

func TestAFallThatIsNoLoadHasAVerdict(t *testing.T) {
	at := func(bbl, rate float64) tanktest.Move {
		return tanktest.Move{From: 4 * tanktest.Hour, Bbl: bbl, Rate: rate}
	}
	back := tanktest.Move{From: at(60, 6).End() + 600, Bbl: -58, Rate: 6}
	for _, c := range []struct {
		what, says string
		bbl        float64
		wells      []tanktest.Well
		change     func(*rig)
	}{
		{TooSmall, "of the 25 that min_load wants", 12, []tanktest.Well{{Level0: 180, Moves: []tanktest.Move{at(12, 4)}}}, nil},
		{Metered, "a meter makes the tickets", 120, []tanktest.Well{{Level0: 180, Moves: []tanktest.Move{at(120, 6)}}}, func(r *rig) { r.site.tanks[0].Lact = true }},
		{Transferred, "most of all TK-2", 100, []tanktest.Well{{Level0: 180, Moves: []tanktest.Move{at(100, 5)}}, {Level0: 40, Moves: []tanktest.Move{at(-100, 5)}}}, nil},
		{Recirculated, "in came back", 60, []tanktest.Well{{Level0: 180, Moves: []tanktest.Move{at(60, 6), back}}}, nil},
		{TooLongUnseen, "no reading came for 26", 120, []tanktest.Well{{Level0: 180, Moves: []tanktest.Move{at(120, 6)}}}, func(r *rig) { r.sensor = hide(3*tanktest.Hour, 29*tanktest.Hour) }},
	} {
		r := newRig(t, c.wells...)
		if c.change != nil {
			c.change(r)
		}
		to := 7 * tanktest.Hour
		if c.what == TooLongUnseen {
			to = 32 * tanktest.Hour
		}
		r.run(0, to)
		r.judged(c.what, c.bbl, c.says)
	}
}

// A truckload that comes back within the time that a treater takes was rolled. One whose place is filled later may have been sold, and a
// neighbour's oil or an unloading truck's came: a person is asked, however much came and however fast.
func TestATruckloadThatIsReplacedLaterIsATicketThatAsks(t *testing.T) {
	for _, c := range []struct {
		pause float64
		loads int
	}{{30, 0}, {900, 0}, {1800, 1}} {
		back := tanktest.Move{From: aLoad.End() + c.pause, Bbl: -aLoad.Bbl, Rate: aLoad.Rate}
		r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad, back}})
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != c.loads {
			t.Fatalf("back after %v s: %+v", c.pause, r.loads)
		}
		if c.loads == 0 {
			r.only("recirc")
		} else if why := strings.Join(r.loads[0].Review, "; "); !strings.Contains(why, "came back, from") {
			t.Errorf("back after %v s, the ticket says: %s", c.pause, why)
		}
	}
}

// A rolling pump takes as slowly as the well makes a seventh of it: what it gives back is more than the level fell.
func TestASlowRollOfAFillingTank(t *testing.T) {
	roll := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 40, Rate: 2}
	back := tanktest.Move{From: roll.End() + 60, Bbl: -roll.Bbl, Rate: roll.Rate}
	r := newRig(t, tanktest.Well{Level0: 100, Inflow: 400, Moves: []tanktest.Move{roll, back}})
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) > 0 {
		t.Fatalf("%+v", r.loads)
	}
	r.only("recirc")
}

// Oil that is rolled while the next tank is hauled is no load of either: the truck's fall begins or ends in the middle of its return, or is far
// more. What a neighbour gives, as fast and as long as this one rises, is no return.
func TestARollWhileTheNextTankIsHauled(t *testing.T) {
	roll := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 60, Rate: 2.5}
	back := tanktest.Move{From: roll.End() + 480, Bbl: -roll.Bbl, Rate: roll.Rate}
	for _, c := range []struct {
		every  float64
		next   tanktest.Move
		rolled bool
	}{
		{60, tanktest.Move{From: roll.From + 600, Bbl: 175, Rate: 7}, true},
		{60, tanktest.Move{From: roll.From + 2700, Bbl: 175, Rate: 7}, true},
		{60, tanktest.Move{From: roll.From + 1500, Bbl: 175, Rate: 7}, true},
		{300, tanktest.Move{From: roll.From + 600, Bbl: 175, Rate: 7}, true},
		{60, tanktest.Move{From: back.From, Bbl: 60, Rate: 2.5}, false},
		{300, tanktest.Move{From: back.From, Bbl: 60, Rate: 2.5}, false},
		{60, tanktest.Move{From: back.From, Bbl: 56, Rate: 2.4}, false},
	} {
		r := newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{roll, back}}, tanktest.Well{Level0: 180, Moves: []tanktest.Move{c.next}})
		r.every = c.every
		r.run(0, 8*tanktest.Hour)
		if want := map[bool]string{true: "TK-2", false: "TK-1"}[c.rolled]; len(r.loads) != 1 || r.loads[0].Tank != want || (r.rules()["recirc"] == 1) != c.rolled {
			t.Errorf("%+v: want one load of %s: %+v %+v", c, want, r.loads, r.events)
		}
	}
}

func TestAWaterDrawHasAVerdict(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 40, Rate: 4}}})
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) {
		r.feed(s, Input{Kind: Interface, Value: 40 - (180 - r.wells[0].Level(s)), Good: true})
	}
	r.run(0, 7*tanktest.Hour)
	r.judged(WaterDrawn, 40, "interface")
}

// A draw that is not decided yet is told of, with the end of its confirmation; so is a level
// that only just fell.
func TestADrawThatWaitsIsKnown(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From+600)
	w := r.site.Waiting(r.st, 0)
	if len(w) != 1 || w[0].What != Undecided || !strings.Contains(w[0].Why, "was not seen to stop") {
		t.Fatalf("in the middle of a load: %+v", w)
	}
	r.run(aLoad.From+600, aLoad.End()+900)
	w = r.site.Waiting(r.st, 0)
	until := r.at(aLoad.End() + 45*60)
	if len(w) != 1 || w[0].Until.Sub(until).Abs() > 30*time.Second || math.Abs(w[0].Bbl-aLoad.Bbl) > 1 {
		t.Fatalf("after its end: %+v, want %.1f bbl until %v", w, aLoad.Bbl, until)
	}
	r.run(aLoad.End()+900, aLoad.End()+tanktest.Hour)
	if w := r.site.Waiting(r.st, 0); len(w) != 0 || len(r.loads) != 1 {
		t.Errorf("after its ticket: %+v, %d loads", w, len(r.loads))
	}
	if r.site.Waiting(r.st, 7) != nil || r.site.Levels(r.st, -1, tanktest.Start, tanktest.Start) != nil {
		t.Error("something is known of a tank that is not there")
	}
}

func TestTheStateTellsTheLevelOfADay(t *testing.T) {
	w := tanktest.Well{Level0: 60, Inflow: 100}
	r := newRig(t, w)
	r.run(0, 30*tanktest.Hour)
	all := r.site.Levels(r.st, 0, tanktest.Start, r.at(30*tanktest.Hour))
	if len(all) < 100 || len(all) > recentMost+historyMost {
		t.Fatalf("%d levels of a day and six hours", len(all))
	}
	before := time.Time{}
	for _, m := range all {
		s := m.At.Sub(tanktest.Start).Seconds()
		if math.Abs(m.In-w.Level(s)) > 0.25 {
			t.Fatalf("level at %.0f s is %.2f in, want %.2f", s, m.In, w.Level(s))
		}
		if !m.At.After(before) {
			t.Fatalf("levels out of order at %v", m.At)
		}
		before = m.At
	}
	if first := all[0].At; first.After(r.at(10 * tanktest.Hour)) {
		t.Errorf("the oldest level is of %v, want one of the day before", first)
	}
	hour10 := r.site.Levels(r.st, 0, r.at(25*tanktest.Hour), r.at(26*tanktest.Hour))
	if len(hour10) < 50 || hour10[0].At.Before(r.at(25*tanktest.Hour)) {
		t.Errorf("%d levels of one hour from %v", len(hour10), hour10[0].At)
	}
}

// TestSlowMovementsHaveTheirVerdicts: who asks why there is no ticket is told, once, of the whole.
func TestSlowMovementsHaveTheirVerdicts(t *testing.T) {
	crawl := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 130, Rate: 0.2}
	r := newRig(t, tanktest.Well{Level0: 180, Moves: []tanktest.Move{crawl}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: crawl.From, Bbl: -130, Rate: 0.2}}})
	r.run(0, 24*tanktest.Hour)
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
	r = newRig(t, tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 3 * tanktest.Hour, Bbl: 50, Rate: 0.07}}})
	r.run(0, 16*tanktest.Hour)
	r.only("unexplained-loss")
	if len(r.verdicts) != 1 || r.verdicts[0].What != TooSlow || !r.verdicts[0].Start.Equal(r.events[0].Start) {
		t.Errorf("%+v", r.verdicts)
	}
}

// A value that stands still behind a load is given some hours to move, which is said, and then is the closing of a load for a person.
func TestAValueThatStandsBehindALoadIsWaitedFor(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if s > aLoad.End() {
			v = aWell.Level(aLoad.End())
		}
		return v, true
	}
	r.run(0, aLoad.End()+2*tanktest.Hour)
	w := r.site.Waiting(r.st, 0)
	if len(w) != 1 || !strings.Contains(w[0].Why, "the value stands still since") || math.Abs(w[0].Until.Sub(r.at(aLoad.End())).Hours()-4) > 0.1 || len(r.loads) > 0 {
		t.Fatalf("waiting %+v, loads %+v", w, r.loads)
	}
	r.run(aLoad.End()+2*tanktest.Hour, aLoad.End()+5*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-aWell.Level(aLoad.End())) > 0.2 {
		t.Fatalf("loads %+v", r.loads)
	}
	asksFor(t, r.loads[0], "value stood still at its closing for 4")
}

// TestALossThatNobodySawIsWhatTheReadingsShow: over a day without a reading to believe nobody knows what the well made: the loss is what
// the level fell by from the reading before to the one after, and no level of it lies outside of the tank.
func TestALossThatNobodySawIsWhatTheReadingsShow(t *testing.T) {
	well := tanktest.Well{Level0: 120, Inflow: 100, Moves: []tanktest.Move{{From: 28 * tanktest.Hour, Bbl: 250, Rate: 6}}}
	from, to := 26*tanktest.Hour, 52*tanktest.Hour
	r := newRig(t, well)
	r.sensor = hide(from, to)
	r.run(0, 58*tanktest.Hour)
	fell, told := (well.Level(from)-well.Level(to))*tanktest.PerInch, 0
	for _, e := range r.events {
		if e.Rule != "unexplained-loss" {
			continue
		}
		if told++; math.Abs(e.Bbl-fell) > 1 {
			t.Errorf("%.1f bbl, and the level fell by %.1f: %s", e.Bbl, fell, e.Note)
		}
	}
	if told != 1 || len(r.loads) != 0 {
		t.Errorf("%d losses, loads %v: %+v, %+v", told, r.loads, r.events, r.verdicts)
	}
}

// Where loads of before show what a truck takes, a stop between two parts as large as each other, or as that, asks; within ten minutes not
// where one took both.
func TestAStopBetweenTwoTrucksPartsAsks(t *testing.T) {
	for _, c := range []struct {
		usual, first, pause, second float64
		asks                        bool
	}{{80, 78, 480, 79, true}, {80, 120, 480, 66, true}, {160, 78, 630, 79, true}, {160, 78, 570, 79, false}, {160, 120, 630, 60, false}} {
		var moves []tanktest.Move
		at := 4 * tanktest.Hour
		for range 3 {
			moves = append(moves, tanktest.Move{From: at, Bbl: c.usual, Rate: 6}, tanktest.Move{From: at + 2*tanktest.Hour, Bbl: -c.usual, Rate: 2})
			at += 6 * tanktest.Hour
		}
		last := tanktest.Move{From: at, Bbl: c.first, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 200, Moves: append(moves, last, tanktest.Move{From: last.End() + c.pause, Bbl: c.second, Rate: 6})})
		r.run(0, at+3*tanktest.Hour)
		if len(r.loads) != 4 {
			t.Fatalf("%+v: %d loads", c, len(r.loads))
		}
		if l := r.loads[3]; said(l, "one truck or two") != c.asks || remarked(l, "one truck or two") == c.asks {
			t.Errorf("%+v: %q, %q", c, l.Remarks, l.Review)
		}
	}
}

// A well that stops and goes beside what comes back neither takes from it nor adds to it: what is back as fast as it left is rolled.
func TestWhatComesBackBesideAWellThatStopsAndGoesIsRolled(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 30, Rate: 2.5}
	well := func(from, hours float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: -25 * hours, Rate: 25. / 60}
	}
	back := tanktest.Move{From: out.End() + 600, Bbl: -29.5, Rate: 2.5}
	for name, wells := range map[string][]tanktest.Move{
		"stops for it":        {well(0, 3.9), out, back},
		"comes once it began": {out, well(out.End(), 2), back},
	} {
		r := newRig(t, tanktest.Well{Level0: 100, Moves: wells})
		r.run(0, 8*tanktest.Hour)
		if len(r.loads) != 0 {
			t.Errorf("a well that %s: %+v", name, r.loads)
			continue
		}
		r.only("recirc")
	}
}

// What leaves at half a barrel a minute for hours is told as a load, since min_rate lets it be one, and asks: but not where min_rate is
// lower since a site's trucks are as slow, nor where its loads before were.
func TestASlowFallForHoursAsks(t *testing.T) {
	const slow = "slower than trucks and pipelines do"
	for _, c := range []struct {
		least, rate float64
		asks        []string
	}{{0.5, 0.7, []string{slow, slow, slow, ""}}, {0.5, 1.2, []string{""}}, {0.15, 0.7, []string{""}}} {
		w := tanktest.Well{Level0: 220}
		for k := range c.asks {
			w.Moves = append(w.Moves, tanktest.Move{From: (2 + 6*float64(k)) * tanktest.Hour, Bbl: 80, Rate: c.rate})
		}
		r := newRig(t, w)
		r.site.tanks[0].Loads.MinRate = c.least
		r.run(0, (2+6*float64(len(c.asks)))*tanktest.Hour)
		if len(r.loads) != len(c.asks) {
			t.Fatalf("%v: %+v", c, r.loads)
		}
		for k, l := range r.loads {
			asksFor(t, l, c.asks[k])
		}
	}
}

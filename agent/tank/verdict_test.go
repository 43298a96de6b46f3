package tank

import (
	"math"
	"strings"
	"testing"
	"time"
)

// judged checks that the only verdict is this, with its volume and what its reason has to say.
func (r *rig) judged(what string, bbl float64, says string) {
	r.t.Helper()
	if len(r.loads) > 0 || len(r.verdicts) != 1 {
		r.t.Fatalf("%d loads and the verdicts %+v, want one verdict %s", len(r.loads), r.verdicts, what)
	}
	v := r.verdicts[0]
	if v.What != what || math.Abs(v.Bbl-bbl) > 1 || !strings.Contains(v.Why, says) || v.Tank != "TK-1" || !v.Start.Before(v.End) {
		r.t.Errorf("verdict %+v, want %s of %.1f bbl that says %q", v, what, bbl, says)
	}
}

func TestAFallThatIsNoLoadHasAVerdict(t *testing.T) {
	at := func(bbl, rate float64) move { return move{4 * hour, bbl, rate} }
	back := move{at(60, 6).end() + 600, -58, 6}
	for _, c := range []struct {
		what, says string
		bbl        float64
		wells      []well
		change     func(*rig)
	}{
		{TooSmall, "of the 25 that min_load wants", 12, []well{{level0: 180, moves: []move{at(12, 4)}}}, nil},
		{Metered, "a meter makes the tickets", 120, []well{{level0: 180, moves: []move{at(120, 6)}}}, func(r *rig) { r.site.tanks[0].Lact = true }},
		{Transferred, "most of all TK-2", 100, []well{{level0: 180, moves: []move{at(100, 5)}}, {level0: 40, moves: []move{at(-100, 5)}}}, nil},
		{Recirculated, "in came back", 60, []well{{level0: 180, moves: []move{at(60, 6), back}}}, nil},
		{TooLongUnseen, "no reading came for 26", 120, []well{{level0: 180, moves: []move{at(120, 6)}}}, func(r *rig) { r.sensor = hide(3*hour, 29*hour) }},
	} {
		r := newRig(t, c.wells...)
		if c.change != nil {
			c.change(r)
		}
		to := 7 * hour
		if c.what == TooLongUnseen {
			to = 32 * hour
		}
		r.run(0, to)
		r.judged(c.what, c.bbl, c.says)
	}
}

func TestAWaterDrawHasAVerdict(t *testing.T) {
	r := newRig(t, well{level0: 180, moves: []move{{4 * hour, 40, 4}}})
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) {
		r.feed(s, Input{Kind: Interface, Value: 40 - (180 - r.wells[0].level(s)), Good: true})
	}
	r.run(0, 7*hour)
	r.judged(WaterDrawn, 40, "interface")
}

// A draw that is not decided yet is told of, with the end of its confirmation; so is a level
// that only just fell.
func TestADrawThatWaitsIsKnown(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.from+600)
	w := r.site.Waiting(r.st, 0)
	if len(w) != 1 || w[0].What != Undecided || !strings.Contains(w[0].Why, "was not seen to stop") {
		t.Fatalf("in the middle of a load: %+v", w)
	}
	r.run(aLoad.from+600, aLoad.end()+900)
	w = r.site.Waiting(r.st, 0)
	until := r.at(aLoad.end() + 45*60)
	if len(w) != 1 || w[0].Until.Sub(until).Abs() > 30*time.Second || math.Abs(w[0].Bbl-aLoad.bbl) > 1 {
		t.Fatalf("after its end: %+v, want %.1f bbl until %v", w, aLoad.bbl, until)
	}
	r.run(aLoad.end()+900, aLoad.end()+hour)
	if w := r.site.Waiting(r.st, 0); len(w) != 0 || len(r.loads) != 1 {
		t.Errorf("after its ticket: %+v, %d loads", w, len(r.loads))
	}
	if r.site.Waiting(r.st, 7) != nil || r.site.Levels(r.st, -1, testStart, testStart) != nil {
		t.Error("something is known of a tank that is not there")
	}
}

func TestTheStateTellsTheLevelOfADay(t *testing.T) {
	w := well{level0: 60, inflow: 100}
	r := newRig(t, w)
	r.run(0, 30*hour)
	all := r.site.Levels(r.st, 0, testStart, r.at(30*hour))
	if len(all) < 100 || len(all) > bufferMost+histMost {
		t.Fatalf("%d levels of a day and six hours", len(all))
	}
	before := time.Time{}
	for _, m := range all {
		s := m.At.Sub(testStart).Seconds()
		if math.Abs(m.In-w.level(s)) > 0.25 {
			t.Fatalf("level at %.0f s is %.2f in, want %.2f", s, m.In, w.level(s))
		}
		if !m.At.After(before) {
			t.Fatalf("levels out of order at %v", m.At)
		}
		before = m.At
	}
	if first := all[0].At; first.After(r.at(10 * hour)) {
		t.Errorf("the oldest level is of %v, want one of the day before", first)
	}
	hour10 := r.site.Levels(r.st, 0, r.at(25*hour), r.at(26*hour))
	if len(hour10) < 50 || hour10[0].At.Before(r.at(25*hour)) {
		t.Errorf("%d levels of one hour from %v", len(hour10), hour10[0].At)
	}
}

package tank

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

var (
	aLoad = tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 6} // 30 min
	aWell = tanktest.Well{Level0: 180, Inflow: 120, Moves: []tanktest.Move{aLoad}}
)

func TestCleanLoad(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, 6*tanktest.Hour)
	r.matches(0.05, 20, labelOf(aWell, aLoad, aLoad))
	r.only()
	l := r.loads[0]
	if failed := tanktest.Failed(map[string]bool{
		"tank":       l.Tank != "TK-1",
		"parts":      l.Parts != 1,
		"review":     len(l.Review) > 0,
		"confidence": l.Confidence != 0.99,
		"table":      l.Table != "strap",
		"gap":        l.Gap > 30*time.Second,
	}); failed != "" {
		t.Errorf("%s: %+v", failed, l)
	}
	if failed := tanktest.Failed(map[string]bool{
		"removed":          math.Abs(l.RemovedBbl-180) > 0.5,
		"rate":             math.Abs(l.Rate-6) > 0.1,
		"sigma":            math.Abs(l.Sigma-0.05) > 0.02,
		"error too large":  l.ErrorBbl > 0.5,
		"error too small":  l.ErrorBbl < 0.1,
		"samples too few":  l.Samples < 175,
		"samples too many": l.Samples > 185,
	}); failed != "" {
		t.Errorf("%s: removed %.2f, rate %.2f, sigma %.3f, error %.2f, %d samples", failed, l.RemovedBbl, l.Rate, l.Sigma, l.ErrorBbl, l.Samples)
	}
	if d := l.Began.Sub(l.Start); d < -2*time.Minute || d > 2*time.Minute {
		t.Errorf("began %v, started %v", l.Began, l.Start)
	}
	if wait := r.told[0] - aLoad.End(); wait < 45*60 || wait > 50*60 {
		t.Errorf("came out %.1f min after the end, want 45 to 50", wait/60)
	}
}

// A drain or a thief some minutes before a load takes oil that the truck does not: a short time before it as slowly as a valve, a
// longer one at any rate.
func TestWhatIsBledBeforeALoadIsNotTheTrucks(t *testing.T) {
	for _, bleed := range []tanktest.Move{{From: aLoad.From - 500, Bbl: 4, Rate: 0.9}, {From: aLoad.From - 700, Bbl: 5, Rate: 4}} {
		w := aWell
		w.Moves = []tanktest.Move{bleed, aLoad}
		r := newRig(t, w)
		r.run(0, 6*tanktest.Hour)
		r.matches(0.1, 30, labelOf(w, aLoad, aLoad))
	}
}

// Foam that stands on the oil from the end on, and collapses ten minutes later, slower than a pump, leaves a closing that
// is carried back to the end: what flowed in meanwhile was not taken.
func TestFoamIsNoPartOfALoad(t *testing.T) {
	w := aWell
	w.Inflow = 300
	r := newRig(t, w)
	r.sensor = func(i int, s, v float64) (float64, bool) {
		foam := 3 * stats.Clamp((s-aLoad.End()+60)/60, 0, 1) * math.Exp(-math.Max(0, s-aLoad.End()-600)/90)
		return tanktest.Radar(i, s, v+foam), true
	}
	r.run(0, 6*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Close-w.Level(aLoad.End())) > 0.25 {
		t.Errorf("%+v, want one that closes at %.2f in", r.loads, w.Level(aLoad.End()))
	}
}

// A driver looks into the truck, and takes three barrels more at a third of the rate: that is the load's end, however small.
func TestATopOffMinutesLaterIsThePumpsWork(t *testing.T) {
	for _, more := range []tanktest.Move{{Bbl: 2.8, Rate: 2.5}, {Bbl: 4, Rate: 2.2}, {Bbl: 2.5, Rate: 6}} {
		more.From = aLoad.End() + 420
		w := aWell
		w.Moves = []tanktest.Move{aLoad, more}
		r := newRig(t, w)
		r.run(0, 6*tanktest.Hour)
		r.matches(0.1, 30, labelOf(w, aLoad, more))
	}
}

// A slow pump fades, and its driver tops off: read each two minutes, no step of that is a fall by itself, and all of it is the load's.
func TestASlowEndThatIsReadSeldomBelongsToItsLoad(t *testing.T) {
	m := []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 140, Rate: 1.6}, {From: 19650, Bbl: 9, Rate: 0.55}, {From: 20900, Bbl: 7, Rate: 0.75}}
	r := newRig(t, tanktest.Well{Level0: 170, Inflow: 60, Moves: m})
	r.every, r.sensor = 121, func(_ int, _, v float64) (float64, bool) { return math.Round(4*v) / 4, true }
	r.run(0, 9*tanktest.Hour)
	r.matches(0.3, 90, labelOf(r.wells[0], m[0], m[2]))
}

func TestPausesAreOneLoad(t *testing.T) {
	parts := []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 70, Rate: 6}, {From: 0, Bbl: 60, Rate: 6}, {From: 0, Bbl: 50, Rate: 5}}
	parts[1].From = parts[0].End() + 500
	parts[2].From = parts[1].End() + 650
	w := tanktest.Well{Level0: 190, Inflow: 100, Moves: parts}
	r := newRig(t, w)
	r.run(0, 7*tanktest.Hour)
	r.matches(0.08, 25, labelOf(w, parts[0], parts[2]))
	if r.loads[0].Parts != 3 {
		t.Errorf("%d parts, want 3", r.loads[0].Parts)
	}
}

// A truck whose driver stops again and again, each time for less than pause_merge, is one, also where he drew little between two
// stops, or a wave sank in one of them.
func TestLittleBetweenTwoPausesPartsNoTruck(t *testing.T) {
	for name, c := range map[string][3]tanktest.Move{
		"the pump's, before the last": {{Bbl: 89, Rate: 6.5}, {From: 560, Bbl: 2.7, Rate: 6}, {From: 430, Bbl: 25, Rate: 6.5}},
		"the pump's, at first":        {{Bbl: 9.5, Rate: 5.5}, {From: 440, Bbl: 2.7, Rate: 6}, {From: 500, Bbl: 110, Rate: 6.5}},
		"a wave":                      {{Bbl: 120, Rate: 6}, {From: 310, Bbl: 2.2, Rate: 1.6}, {From: 310, Bbl: 35, Rate: 6}},
	} {
		at := 4 * tanktest.Hour
		for k := range c {
			c[k].From += at
			at = c[k].End()
		}
		w := tanktest.Well{Level0: 180, Moves: c[:]}
		r := newRig(t, w)
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Errorf("%s: %d loads", name, len(r.loads))
			continue
		}
		r.matches(0.1, 30, labelOf(w, c[0], c[2]))
	}
}

func TestBackToBackTrucksAreTwo(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 170, Rate: 6}
	b := tanktest.Move{From: a.End() + 25*60, Bbl: 175, Rate: 7}
	w := tanktest.Well{Level0: 235, Inflow: 0, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.run(0, 8*tanktest.Hour)
	r.matches(0.08, 20, labelOf(w, a, a), labelOf(w, b, b))
	if late := r.told[0] - a.End(); late > 50*60 {
		t.Errorf("the first came out %.0f min after its end, held up by the second", late/60)
	}
}

// Eight minutes apart the two could be one with a pause; 360 barrels are no truck.
func TestTightTrucksAreTwoByVolume(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 180, Rate: 6}
	b := tanktest.Move{From: a.End() + 8*60, Bbl: 180, Rate: 6}
	w := tanktest.Well{Level0: 236, Inflow: 0, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.run(0, 8*tanktest.Hour)
	r.matches(0.08, 20, labelOf(w, a, a), labelOf(w, b, b))
}

// A float stands on one value in a tank that no well feeds: after a load as before it, and nobody waits for it to move.
func TestAFloatThatStandsAfterALoad(t *testing.T) {
	w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v := w.Level(s)
		if s < 3*tanktest.Hour { // it was seen to move
			v += 0.5 * math.Sin(s/500)
		}
		return math.Round(v*16) / 16, true
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.1, 20, labelOf(w, aLoad, aLoad))
	if late := r.told[0] - aLoad.End(); late > 50*60 {
		t.Errorf("the ticket came %.0f min after the end", late/60)
	}
}

// What one truck holds may have gone into two: the count is said to be doubtful where the pump stood long enough for another to
// come, and where the volume is more than most hold. It asks where both parts are as large, whatever loads came before, and another had the time to take
// the first one's place.
func TestOneTruckOrTwo(t *testing.T) {
	for _, c := range []struct {
		first, pause, second, rate float64
		says                       string
		asks                       bool
	}{
		{first: 120, pause: 480, second: 60, rate: 6, says: "stopped for 8 min after 120 bbl: one truck or two"}, {first: 100, pause: 120, second: 90, rate: 6},
		{first: 20, pause: 480, second: 160, rate: 6}, {first: 235, rate: 6, says: "one truck or two"}, {first: 190, rate: 6},
		{first: 100, pause: 640, second: 90, rate: 6, says: "stopped for 11 min after 100 bbl: one truck or two", asks: true}, {first: 100, pause: 560, second: 90, rate: 6, says: "stopped for 9 min after 100 bbl: one truck or two"},
		{first: 27, pause: 690, second: 27, rate: 2.5, says: "stopped for 12 min after 27 bbl: one truck or two", asks: true},
	} {
		w := tanktest.Well{Level0: 200, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: c.first, Rate: c.rate}}}
		if c.second > 0 {
			w.Moves = append(w.Moves, tanktest.Move{From: w.Moves[0].End() + c.pause, Bbl: c.second, Rate: c.rate})
		}
		r := newRig(t, w)
		r.run(0, 7*tanktest.Hour)
		r.matches(0.08, 20, labelOf(w, w.Moves[0], w.Moves[len(w.Moves)-1]))
		if l := r.loads[0]; c.asks {
			asksFor(t, l, c.says)
		} else if remarked(l, "one truck or two") != (c.says != "") || !remarked(l, c.says) && c.says != "" || len(l.Review) > 0 {
			t.Errorf("%+v: %q, %q", c, l.Remarks, l.Review)
		} else if sure := l.Confidence > 0.9; sure != (c.says == "") {
			t.Errorf("%+v: confidence %.2f", c, l.Confidence)
		}
	}
}

// More than a truck holds, with a stop long enough to change hoses, is for a person to tell, however little more it is.
func TestMoreThanATruckHoldsWithAStopAsks(t *testing.T) {
	for _, c := range []struct {
		first, pause, second float64
		asks                 bool
	}{{125, 200, 113, true}, {135, 140, 90, true}, {125, 60, 113, false}, {100, 200, 100, false}} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: c.first, Rate: 6}
		b := tanktest.Move{From: a.End() + c.pause, Bbl: c.second, Rate: 6}
		r := newRig(t, tanktest.Well{Level0: 200, Moves: []tanktest.Move{a, b}})
		r.run(0, 7*tanktest.Hour)
		r.matches(0.08, 20, labelOf(r.wells[0], a, b))
		want := fmt.Sprintf("after %.0f bbl, and %.0f in all, where a truck holds 215: maybe 2 loads", c.first, c.first+c.second)
		if review := strings.Join(r.loads[0].Review, "; "); strings.HasSuffix(review, want) != c.asks || !c.asks && review != "" {
			t.Errorf("%+v: review %q, want %q %+v", c, review, want, r.loads[0])
		}
	}
}

func TestPipelineRunIsOneWhateverItsVolume(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 150, Rate: 1.3}
	b := tanktest.Move{From: a.End() + 9*60, Bbl: 130, Rate: 1.3}
	w := tanktest.Well{Level0: 220, Inflow: 20, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.run(0, 10*tanktest.Hour)
	r.matches(0.05, 60, labelOf(w, a, b))
}

func TestSmallDrawsAndSalesByMeterMakeNoTicket(t *testing.T) {
	w := tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{{From: 3 * tanktest.Hour, Bbl: 12, Rate: 2}, {From: 8 * tanktest.Hour, Bbl: 9, Rate: 1}}}
	r := newRig(t, w)
	r.run(0, 30*tanktest.Hour)
	r.matches(0, 0)
	r.only("small-draws")

	lact := newRig(t, aWell)
	lact.site.tanks[0].Lact = true
	lact.run(0, 6*tanktest.Hour)
	lact.matches(0, 0)
	lact.only()
}

func TestWhatComesBackOfSmallDrawsIsSaid(t *testing.T) {
	out, drain := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 10, Rate: 2}, tanktest.Move{From: 12 * tanktest.Hour, Bbl: 6, Rate: 1}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 20, Moves: []tanktest.Move{out, {From: out.End() + 600, Bbl: -10, Rate: 2}, drain}})
	r.run(0, 30*tanktest.Hour)
	r.matches(0, 0)
	r.only("small-draws")
	var together, back float64
	note := r.events[0].Note
	if _, err := fmt.Sscanf(note[strings.Index(note, ": ")+2:], "2 draws below 25 bbl, %f bbl together; %f bbl of them came back", &together, &back); err != nil {
		t.Fatalf("note %q: %v", note, err)
	}
	if math.Abs(together-16) > 1 || math.Abs(back-10) > 0.7 {
		t.Errorf("note %q, want 16 bbl and 10 that came back", note)
	}
}

func TestOilThatComesBackIsNoLoad(t *testing.T) {
	for _, slower := range []float64{1, 0.46} { // the slow one is nearly back when it would be confirmed
		out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 60, Rate: 3 * slower}
		r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out, {From: out.End() + 600, Bbl: -58, Rate: 3 * slower}}})
		r.run(0, 8*tanktest.Hour)
		r.matches(0, 0)
		r.only("recirc")
	}
}

// A gateway that has forgotten what it heard last tells of a level of the morning, at once or after a silence. No pump was seen to
// bring that oil back, and the load is one.
func TestALevelThatIsToldAgainUndoesNoLoad(t *testing.T) {
	w := tanktest.Well{Level0: 180, Moves: []tanktest.Move{aLoad}}
	for _, silent := range []float64{0, 700} {
		for _, long := range []float64{300, 660, 1500, 4000} {
			r := newRig(t, w)
			r.every = 30
			from := aLoad.End() + 20*60
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				v := math.Round(w.Level(s)*8) / 8 // a float and its tape
				if s > from+silent && s < from+silent+long {
					v = w.Level(aLoad.From) - 1
				}
				return v, s < from || s > from+silent
			}
			r.run(0, 8*tanktest.Hour)
			if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-aLoad.Bbl) > 1 {
				t.Errorf("silent %.0f s, told for %.0f s: %+v, %+v", silent, long, r.loads, r.verdicts)
			}
		}
	}
}

func TestOilThatWentToTheOtherTankIsNoLoad(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 100, Rate: 3}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out}}, tanktest.Well{Level0: 40, Moves: []tanktest.Move{{From: out.From + 10, Bbl: -100, Rate: 3}}})
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)
	r.only("transfer")
	if note := r.events[0].Note; r.events[0].Tank != "TK-1" || !strings.Contains(note, "TK-2") {
		t.Errorf("%q does not name both tanks", note)
	}
}

func TestWaterIsNoLoad(t *testing.T) {
	out := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 40, Rate: 2}
	w := tanktest.Well{Level0: 150, Inflow: 60, Moves: []tanktest.Move{out}, Interface: 35}
	r := newRig(t, w)
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) {
		v := w.Interface - stats.Clamp((s-out.From)*out.Rate/60, 0, out.Bbl)/tanktest.PerInch
		r.feed(s, Input{Kind: Interface, Value: v, Good: true})
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0, 0)
	r.only("water-draw")
}

func TestSlowLossIsTold(t *testing.T) {
	leak := tanktest.Move{From: 3 * tanktest.Hour, Bbl: 50, Rate: 0.07}
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 10, Moves: []tanktest.Move{leak}})
	r.run(0, 22*tanktest.Hour)
	r.matches(0, 0)
	got := r.rules()
	if got["unexplained-loss"] < 1 || len(got) != 1 {
		t.Errorf("events %v, want unexplained-loss alone", got)
	}
	if first := r.events[0].Start; math.Abs(first.Sub(r.at(leak.From)).Hours()) > 2 {
		t.Errorf("the loss began %v, want about %v", first, r.at(leak.From))
	}
	if v := r.verdicts; len(v) == 0 || v[0].What != TooSlow || v[0].Unseen != nil || !strings.Contains(r.events[0].Note, " that flowed in") {
		t.Errorf("readings came while it fell: %+v, %q", v, r.events[0].Note)
	}
}

func TestMinuteLoadsByASparsePoll(t *testing.T) {
	for _, every := range []float64{60, 300} {
		r := newRig(t, aWell)
		r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
		r.run(0, 7*tanktest.Hour)
		r.matches(0.15, 40, labelOf(aWell, aLoad, aLoad))
	}
}

func TestOutsideTheTableIsALoadForAPerson(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 0, Moves: []tanktest.Move{aLoad}}
	r := newRig(t, w)
	low := w.Level(6*tanktest.Hour) + 10
	tab, err := NewTable([][2]float64{{low, low * tanktest.PerInch}, {240, 240 * tanktest.PerInch}})
	if err != nil {
		t.Fatal(err)
	}
	r.site.tanks[0].Table = tab
	r.run(0, 6*tanktest.Hour)
	r.matches(0.05, 20, labelOf(w, aLoad, aLoad))
	if !said(r.loads[0], "outside the strapping table") || r.loads[0].Confidence >= 0.75 {
		t.Errorf("review %q, confidence %v", r.loads[0].Review, r.loads[0].Confidence)
	}
}

func said(l Load, what string) bool {
	for _, s := range l.Review {
		if strings.Contains(s, what) {
			return true
		}
	}
	return false
}

// The pumper drains some water half an hour before the truck: when that is to be judged, the
// level is falling again, and it must not hold the load back.
func TestSmallDrawBeforeTheTruckHoldsNothingBack(t *testing.T) {
	small := tanktest.Move{From: aLoad.From - 2100, Bbl: 6, Rate: 0.7}
	w := tanktest.Well{Level0: 180, Inflow: 120, Moves: []tanktest.Move{small, aLoad}}
	r := newRig(t, w)
	r.run(0, 8*tanktest.Hour)
	r.matches(0.06, 20, labelOf(w, aLoad, aLoad))
	if wait := r.told[0] - aLoad.End(); wait > 50*60 {
		t.Errorf("came out %.0f min after the end, want at most 50", wait/60)
	}
}

// A gateway that reports where the line bends tells of a load in a few readings, and then nothing for hours: the second reading behind
// it decides.
func TestSeldomReadingsDecideALoad(t *testing.T) {
	told := map[float64]bool{0: true, 7200: true, aLoad.From: true, aLoad.From + 900: true, aLoad.End() - 10: true, aLoad.End() + 7200: true, aLoad.End() + 14400: true}
	r := newRig(t, aWell)
	r.ticks = true
	r.sensor = func(_ int, s, v float64) (float64, bool) { return v, told[s] }
	r.run(0, aLoad.End()+15000)
	r.matches(2, 60, labelOf(aWell, aLoad, aLoad))
}

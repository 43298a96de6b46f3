package tank

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/stats"
)

var (
	aLoad = move{from: 4 * hour, bbl: 180, rate: 6} // 30 min
	aWell = well{level0: 180, inflow: 120, moves: []move{aLoad}}
)

func TestCleanLoad(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, 6*hour)
	r.matches(0.05, 20, aWell.label(aLoad, aLoad))
	r.only()
	l := r.loads[0]
	if l.Tank != "TK-1" || l.Parts != 1 || len(l.Review) > 0 || l.Confidence != 0.99 || l.Table != "strap" || l.Gap > 30*time.Second {
		t.Errorf("%+v", l)
	}
	if math.Abs(l.RemovedBbl-180) > 0.5 || math.Abs(l.Rate-6) > 0.1 || math.Abs(l.Sigma-0.05) > 0.02 || l.ErrorBbl > 0.5 || l.ErrorBbl < 0.1 || l.Samples < 175 || l.Samples > 185 {
		t.Errorf("removed %.2f, rate %.2f, sigma %.3f, error %.2f, %d samples", l.RemovedBbl, l.Rate, l.Sigma, l.ErrorBbl, l.Samples)
	}
	if d := l.Began.Sub(l.Start); d < -2*time.Minute || d > 2*time.Minute {
		t.Errorf("began %v, started %v", l.Began, l.Start)
	}
	if wait := r.told[0] - aLoad.end(); wait < 45*60 || wait > 50*60 {
		t.Errorf("came out %.1f min after the end, want 45 to 50", wait/60)
	}
}

func TestPausesAreOneLoad(t *testing.T) {
	parts := []move{{4 * hour, 70, 6}, {0, 60, 6}, {0, 50, 5}}
	parts[1].from = parts[0].end() + 500
	parts[2].from = parts[1].end() + 650
	w := well{level0: 190, inflow: 100, moves: parts}
	r := newRig(t, w)
	r.run(0, 7*hour)
	r.matches(0.08, 25, w.label(parts[0], parts[2]))
	if r.loads[0].Parts != 3 {
		t.Errorf("%d parts, want 3", r.loads[0].Parts)
	}
}

func TestBackToBackTrucksAreTwo(t *testing.T) {
	a := move{4 * hour, 170, 6}
	b := move{a.end() + 25*60, 175, 7}
	w := well{level0: 235, inflow: 0, moves: []move{a, b}}
	r := newRig(t, w)
	r.run(0, 8*hour)
	r.matches(0.08, 20, w.label(a, a), w.label(b, b))
	if late := r.told[0] - a.end(); late > 50*60 {
		t.Errorf("the first came out %.0f min after its end, held up by the second", late/60)
	}
}

// Eight minutes apart the two could be one with a pause; 360 barrels are no truck.
func TestTightTrucksAreTwoByVolume(t *testing.T) {
	a := move{4 * hour, 180, 6}
	b := move{a.end() + 8*60, 180, 6}
	w := well{level0: 236, inflow: 0, moves: []move{a, b}}
	r := newRig(t, w)
	r.run(0, 8*hour)
	r.matches(0.08, 20, w.label(a, a), w.label(b, b))
}

func TestPipelineRunIsOneWhateverItsVolume(t *testing.T) {
	a := move{4 * hour, 150, 1.3}
	b := move{a.end() + 9*60, 130, 1.3}
	w := well{level0: 220, inflow: 20, moves: []move{a, b}}
	r := newRig(t, w)
	r.run(0, 10*hour)
	r.matches(0.05, 60, w.label(a, b))
}

func TestSmallDrawsAndSalesByMeterMakeNoTicket(t *testing.T) {
	w := well{level0: 150, inflow: 60, moves: []move{{3 * hour, 12, 2}, {8 * hour, 9, 1}}}
	r := newRig(t, w)
	r.run(0, 30*hour)
	r.matches(0, 0)
	r.only("small-draws")

	lact := newRig(t, aWell)
	lact.site.tanks[0].Lact = true
	lact.run(0, 6*hour)
	lact.matches(0, 0)
	lact.only()
}

func TestWhatComesBackOfSmallDrawsIsSaid(t *testing.T) {
	out, drain := move{3 * hour, 10, 2}, move{12 * hour, 6, 1}
	r := newRig(t, well{level0: 150, inflow: 20, moves: []move{out, {out.end() + 600, -10, 2}, drain}})
	r.run(0, 30*hour)
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
	out := move{4 * hour, 60, 3}
	r := newRig(t, well{level0: 150, inflow: 60, moves: []move{out, {out.end() + 600, -58, 3}}})
	r.run(0, 8*hour)
	r.matches(0, 0)
	r.only("recirc")
}

func TestOilThatWentToTheOtherTankIsNoLoad(t *testing.T) {
	out := move{4 * hour, 100, 3}
	r := newRig(t, well{level0: 150, inflow: 60, moves: []move{out}}, well{level0: 40, moves: []move{{out.from + 10, -100, 3}}})
	r.run(0, 7*hour)
	r.matches(0, 0)
	r.only("transfer")
	if note := r.events[0].Note; r.events[0].Tank != "TK-1" || !strings.Contains(note, "TK-2") {
		t.Errorf("%q does not name both tanks", note)
	}
}

func TestWaterIsNoLoad(t *testing.T) {
	out := move{4 * hour, 40, 2}
	w := well{level0: 150, inflow: 60, moves: []move{out}, water: 35}
	r := newRig(t, w)
	r.site.tanks[0].Interface = true
	r.side = func(r *rig, s float64) {
		v := w.water - stats.Clamp((s-out.from)*out.rate/60, 0, out.bbl)/testPer
		r.feed(s, Input{Kind: Interface, Value: v, Good: true})
	}
	r.run(0, 7*hour)
	r.matches(0, 0)
	r.only("water-draw")
}

func TestSlowLossIsTold(t *testing.T) {
	leak := move{3 * hour, 50, 0.07}
	r := newRig(t, well{level0: 150, inflow: 10, moves: []move{leak}})
	r.run(0, 22*hour)
	r.matches(0, 0)
	got := r.rules()
	if got["unexplained-loss"] < 1 || len(got) != 1 {
		t.Errorf("events %v, want unexplained-loss alone", got)
	}
	if first := r.events[0].Start; math.Abs(first.Sub(r.at(leak.from)).Hours()) > 2 {
		t.Errorf("the loss began %v, want about %v", first, r.at(leak.from))
	}
}

func TestMinuteLoadsByASparsePoll(t *testing.T) {
	for _, every := range []float64{60, 300} {
		r := newRig(t, aWell)
		r.every, r.site.tanks[0].Every = every, time.Duration(every)*time.Second
		r.run(0, 7*hour)
		r.matches(0.15, 40, aWell.label(aLoad, aLoad))
	}
}

func TestOutsideTheTableIsALoadForAPerson(t *testing.T) {
	w := well{level0: 180, inflow: 0, moves: []move{aLoad}}
	r := newRig(t, w)
	low := w.level(6*hour) + 10
	tab, err := NewTable([][2]float64{{low, low * testPer}, {240, 240 * testPer}})
	if err != nil {
		t.Fatal(err)
	}
	r.site.tanks[0].Table = tab
	r.run(0, 6*hour)
	r.matches(0.05, 20, w.label(aLoad, aLoad))
	if !said(r.loads[0], "outside table") || r.loads[0].Confidence >= 0.75 {
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
	small := move{from: aLoad.from - 2100, bbl: 6, rate: 0.7}
	w := well{level0: 180, inflow: 120, moves: []move{small, aLoad}}
	r := newRig(t, w)
	r.run(0, 8*hour)
	r.matches(0.06, 20, w.label(aLoad, aLoad))
	if wait := r.told[0] - aLoad.end(); wait > 50*60 {
		t.Errorf("came out %.0f min after the end, want at most 50", wait/60)
	}
}

package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// wired gives a rig's first tank a contact that shows open(s) each ten seconds; NaN is silence.
func (r *rig) wired(open func(s float64) float64) {
	r.site.tanks[0].Valve = true
	r.side = func(r *rig, s float64) {
		if x := open(s); !math.IsNaN(x) {
			r.feed(s, Input{Kind: Valve, Value: x, Good: true})
		}
	}
}

// flag is 1 while a time lies in one of the spans.
func flag(s float64, spans ...[2]float64) float64 {
	for _, p := range spans {
		if s >= p[0] && s < p[1] {
			return 1
		}
	}
	return 0
}

// A contact that tells nothing, or nonsense, neither loses nor splits a load: the level judges.
func TestContactsThatFail(t *testing.T) {
	first := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 100, Rate: 6}
	last := tanktest.Move{From: first.End() + 480, Bbl: 60, Rate: 6} // a pause of eight minutes
	w := tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{first, last}}
	whole := [2]float64{first.From - 40, last.End() + 40}
	for name, open := range map[string]func(float64) float64{
		"stuck open":      func(float64) float64 { return 1 },
		"stuck shut":      func(float64) float64 { return 0 },
		"inverted":        func(s float64) float64 { return 1 - flag(s, whole) },
		"dead":            func(float64) float64 { return math.NaN() },
		"chatters":        func(s float64) float64 { return flag(s, whole) * math.Mod(math.Floor(s/20), 2) },
		"chatters always": func(s float64) float64 { return math.Mod(math.Floor(s/10), 2) },
		"flickers":        func(s float64) float64 { return flag(math.Mod(s, 1700), [2]float64{0, 20}) },
		"dies open": func(s float64) float64 {
			if s > first.From+300 {
				return math.NaN()
			}
			return flag(s, whole)
		},
		"late": func(s float64) float64 { return flag(s, [2]float64{first.From + 400, last.End() + 40}) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, w)
			r.wired(open)
			r.run(0, 7*tanktest.Hour)
			r.matches(0.1, 60, labelOf(w, first, last))
			r.only()
		})
	}
}

// The valve stays open over a pause that is longer than any other would be taken for one.
func TestOpenValveJoinsALongPause(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 90, Rate: 6}
	b := tanktest.Move{From: a.End() + 1500, Bbl: 80, Rate: 6}
	w := tanktest.Well{Level0: 180, Inflow: 0, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.wired(func(s float64) float64 { return flag(s, [2]float64{a.From - 30, b.End() + 30}) })
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || r.loads[0].Parts != 2 || len(r.loads[0].Remarks) > 0 {
		t.Fatalf("%+v", r.loads)
	}
}

// One opening over two full trucks is a valve that nobody shut, not one load.
func TestOpenValveDoesNotJoinTwoTrucks(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 170, Rate: 6}
	b := tanktest.Move{From: a.End() + 1500, Bbl: 175, Rate: 6}
	w := tanktest.Well{Level0: 235, Inflow: 0, Moves: []tanktest.Move{a, b}}
	r := newRig(t, w)
	r.wired(func(s float64) float64 { return flag(s, [2]float64{a.From - 30, b.End() + 30}) })
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 2 || math.Abs(r.loads[0].GaugeBbl-170) > 1 || math.Abs(r.loads[1].GaugeBbl-175) > 1 {
		t.Fatalf("%+v", r.loads)
	}
}

// A ticket says when the contact had nothing to say about it.
func TestSilentContactIsRemarked(t *testing.T) {
	r := newRig(t, aWell)
	r.wired(func(float64) float64 { return 0 })
	r.run(0, 7*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	if l := r.loads[0]; len(l.Remarks) != 1 || len(l.Review) > 0 {
		t.Errorf("remarks %q, review %q", l.Remarks, l.Review)
	}
}

// A contact that was open over the loads before and stays shut while oil leaves says that it left another way: that asks. Where it followed again it
// does not, nor where it never did.
func TestAValveThatStaysShutAsks(t *testing.T) {
	var moves []tanktest.Move
	for _, at := range []float64{4, 8, 12} {
		moves = append(moves, tanktest.Move{From: at * tanktest.Hour, Bbl: 60, Rate: 4.5})
	}
	w := tanktest.Well{Level0: 200, Inflow: 60, Moves: moves}
	shown := func(k int) [2]float64 { return [2]float64{moves[k].From - 40, moves[k].End() + 40} }
	for name, c := range map[string]struct {
		open [][2]float64
		asks []bool
	}{
		"follows":        {[][2]float64{shown(0), shown(1), shown(2)}, []bool{false, false, false}},
		"never":          {nil, []bool{false, false, false}},
		"not the second": {[][2]float64{shown(0), shown(2)}, []bool{false, true, false}},
		"stuck open":     {[][2]float64{{shown(0)[0], 1e6}}, []bool{false, false, false}},
	} {
		r := newRig(t, w)
		r.wired(func(s float64) float64 { return flag(s, c.open...) })
		r.run(0, 15*tanktest.Hour)
		for k, l := range r.loads {
			if asks := len(l.Review) > 0; asks != c.asks[k] {
				t.Errorf("%s: load %d asks %q", name, k, l.Review)
			}
		}
		if len(r.loads) != 3 {
			t.Errorf("%s: %+v", name, r.loads)
		}
	}
}

// Of two loads that a gateway tells each five minutes, the second begins behind the first: what rose in ten minutes before the first, since one of its polls
// failed, is no echo that the second began under.
func TestASecondLoadDoesNotBeginBeforeTheFirst(t *testing.T) {
	const at = 5 * tanktest.Hour
	told := []float64{141.43, 141.43, 142.18, 124.46, 104.25, 84.07, 66.97, 67.15, 67.06, 67.29, 65.73, 45.54, 25.25, 15.47}
	r := newRig(t, tanktest.Well{})
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		k := math.Floor((s - at) / 300)
		if n := int(k); n >= 0 && n < len(told) {
			return told[n], true
		}
		rise := math.Round(42*k+4*math.Sin(k)) / 100 // of the well, and how exactly the float is read
		if k > 0 {
			return told[len(told)-1] + rise - 5.5, true
		}
		return told[0] + rise, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 2 || math.Abs(r.loads[1].Open-67.2) > 0.6 || math.Abs(r.loads[1].Close-15.4) > 1 {
		t.Errorf("want 142.2 to 67 in and 67.2 to 15.5 in: %+v", r.loads)
	}
}

// What a draw has in common with a load that was reported, and was under way with it, is told; what came before or after it, or lies below it, is its own.
func TestWhatIsInTwoTicketsIsTold(t *testing.T) {
	r := reports{loads: []reportedLoad{{start: 1000, end: 2000, opening: 142, closing: 67}}}
	for name, c := range map[string]struct {
		d    draw
		want float64
	}{
		"both":   {draw{start: 900, end: 3000, opening: gauge{level: 142}, closing: gauge{level: 15}}, 75},
		"part":   {draw{start: 1900, end: 3000, opening: gauge{level: 70}, closing: gauge{level: 15}}, 3},
		"below":  {draw{start: 1900, end: 3000, opening: gauge{level: 67}, closing: gauge{level: 15}}, 0},
		"behind": {draw{start: 2000, end: 3000, opening: gauge{level: 142}, closing: gauge{level: 15}}, 0},
	} {
		if got := r.twice(c.d); got != c.want {
			t.Errorf("%s: %v in, want %v", name, got, c.want)
		}
	}
}

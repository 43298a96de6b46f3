package tank

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// near checks that two runs made the same loads: gauges to 0.05 in, times to 60 s, barrels to 0.5.
func near(t *testing.T, what any, a, b []Load) {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("%v: %d loads, want %d", what, len(a), len(b))
	}
	for i := range a {
		x, y := a[i], b[i]
		if math.Abs(x.Open-y.Open) > 0.05 || math.Abs(x.Close-y.Close) > 0.05 || math.Abs(x.GaugeBbl-y.GaugeBbl) > 0.5 {
			t.Errorf("%v: %.3f to %.3f in, want %.3f to %.3f", what, x.Open, x.Close, y.Open, y.Close)
		}
		if math.Abs(x.Start.Sub(y.Start).Seconds()) > 60 || math.Abs(x.End.Sub(y.End).Seconds()) > 60 {
			t.Errorf("%v: %v to %v, want %v to %v", what, x.Start, x.End, y.Start, y.End)
		}
	}
}

// The box is killed at every sample of a load, once each, and is back at the next reading.
// The load comes out once, the same; and the start that the ticket's number is made of is
// the same to the second once it was fixed and stored.
func TestKillAtEverySample(t *testing.T) {
	whole := newRig(t, aWell)
	whole.run(0, 6*tanktest.Hour)
	fixed := 0
	alive := newRig(t, aWell)
	alive.run(0, aLoad.From-300)
	for at := aLoad.From - 300; at < aLoad.End()+3200; at += 10 {
		r := new(*alive)
		alive.run(at, at+10)
		r.kill(at)
		r.run(at+30, 5.7*tanktest.Hour)
		near(t, at, r.loads, whole.loads)
		if len(r.loads) == 1 && at > aLoad.From+60 && r.loads[0].Began.Equal(whole.loads[0].Began) {
			fixed++
		}
		if t.Failed() {
			return
		}
	}
	if want := int((aLoad.End()+3200-aLoad.From)/10) - 12; fixed < want {
		t.Errorf("the start of the number was the same in %d runs, want %d", fixed, want)
	}
}

// A box that restarts every few minutes forgets nothing that matters.
func TestStormOfRestarts(t *testing.T) {
	whole := newRig(t, aWell)
	whole.run(0, 7*tanktest.Hour)
	r := newRig(t, aWell)
	s := 0.0
	for k := 0; s < 7*tanktest.Hour; k++ {
		next := s + 130 + float64(k*37%200)
		r.run(s, next)
		s = next + 25
		r.kill(s)
	}
	near(t, "storm", r.loads, whole.loads)
}

// What is stored is what is known: a program that goes on from its state, whenever it was stored, tells of the same loads to the last digit.
func TestARestartForgetsNothing(t *testing.T) {
	const rate = 0.35 // bbl a minute
	load := tanktest.Move{From: 7 * tanktest.Hour, Bbl: 150, Rate: 6}
	fill := func(from, to float64) tanktest.Move {
		return tanktest.Move{From: from, Bbl: (from - to) / 60 * rate, Rate: rate}
	}
	pumps := func(from, to, on, every float64) (moves []tanktest.Move) {
		for s := from; s < to; s += every {
			moves = append(moves, fill(s, s+on))
		}
		return moves
	}
	off, last := load.From-3000, 10*tanktest.Hour
	for name, c := range map[string]struct {
		own, other []tanktest.Move
		sensor     string
		noise      float64
	}{
		"a pump with long pauses, turned to the next": {pumps(0, off, 2400, 4800), pumps(off, last, 2400, 4800), "radar", 1},
		"shut in, a pressure sensor":                  {pumps(0, off, 2400, 6000), nil, "hydrostatic", 4},
		"dumps, a noisy sensor":                       {pumps(0, last, 60, 900), nil, "ultrasonic", 12},
	} {
		play := func(reload bool) []Load {
			wells := []tanktest.Well{{Level0: 120, Moves: append(slices.Clone(c.own), load)}}
			if c.other != nil {
				wells = append(wells, tanktest.Well{Level0: 60, Moves: c.other})
			}
			r := newRig(t, wells...)
			r.site.tanks[0].Sensor = c.sensor
			r.sensor = func(i int, s, v float64) (float64, bool) { return v + c.noise*tanktest.Radar(i, s, 0), true }
			for s := 0.0; s < 9*tanktest.Hour; s += 390 {
				r.run(s, s+390)
				if reload {
					r.reload()
				}
			}
			return r.loads
		}
		if whole, cut := play(false), play(true); len(whole) != 1 || !reflect.DeepEqual(whole, cut) {
			t.Errorf("%s: %+v, restarted %+v", name, whole, cut)
		}
	}
}

func TestPowerIsLostUntilAfterTheEnd(t *testing.T) {
	r := newRig(t, aWell)
	at := aLoad.From + 900
	r.run(0, at)
	r.kill(at)
	r.run(aLoad.End()+2400, 8*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-177.5) > 1 || !remarked(r.loads[0], "data gap") {
		t.Fatalf("%+v", r.loads)
	}
	if de := r.loads[0].End.Sub(r.at(aLoad.End())).Seconds(); math.Abs(de) > 90 {
		t.Errorf("end %+.0f s off, carried over the gap", de)
	}
}

// The clock is lost with the power: it starts years ago and is set right minutes later.
func TestPowerAndClockAreLost(t *testing.T) {
	r := newRig(t, aWell)
	at := aLoad.From + 900
	r.run(0, at)
	r.kill(at)
	r.clock = func(s float64) float64 {
		if s < at+600 {
			return -3e8
		}
		return 0
	}
	r.run(at+120, 8*tanktest.Hour)
	want := labelOf(aWell, aLoad, aLoad)
	if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-(want.open-want.close)*tanktest.PerInch) > 0.5 {
		t.Fatalf("%+v", r.loads)
	}
	if de := r.loads[0].End.Sub(r.at(want.end)).Seconds(); math.Abs(de) > 20 {
		t.Errorf("end %+.0f s off by the clock that was set right", de)
	}
}

// The power goes, and the clock starts in 1970 until the link is back: how long the program was away is known only then. It lies where the
// readings are missing, and the times of what was before stay, also when it happens again the next day.
func TestTheTimeAwayIsKnownWhenTheClockIsSet(t *testing.T) {
	for _, c := range []struct{ lost, away, set float64 }{{aLoad.From + 900, 840, 1500}, {aLoad.From - 300, 1500, 600}, {aLoad.End() - 60, 2400, 300}} {
		second := tanktest.Move{From: aLoad.From + 24*tanktest.Hour, Bbl: 150, Rate: 6}
		w := tanktest.Well{Level0: 180, Inflow: 120, Moves: []tanktest.Move{aLoad, second}}
		r := newRig(t, w)
		r.ticks = true
		up := 0.0
		r.clock = func(s float64) float64 {
			for _, day := range []float64{0, 24 * tanktest.Hour} {
				if at := day + c.lost + c.away; s >= at && s < at+c.set {
					return -at - float64(tanktest.Start.Unix())
				}
			}
			return 0
		}
		for _, day := range []float64{0, 24 * tanktest.Hour} {
			r.run(up, day+c.lost)
			up = day + c.lost + c.away
			r.kill(up)
			r.run(up, up+c.set/2) // and what is known of it survives
			up += c.set / 2
			r.kill(up)
		}
		r.run(up, up+8*tanktest.Hour)
		if len(r.loads) != 2 {
			t.Fatalf("%+v: %d loads: %+v", c, len(r.loads), r.loads)
		}
		for k, m := range w.Moves {
			want, l := labelOf(w, m, m), r.loads[k]
			if off := l.GaugeBbl - (want.open-want.close)*tanktest.PerInch; math.Abs(off) > math.Max(0.5, l.ErrorBbl) {
				t.Errorf("%+v: load %d is %+.2f bbl off, said %.2f", c, k, off, l.ErrorBbl)
			}
			if ds, de := l.Start.Sub(r.at(want.start)).Seconds(), l.End.Sub(r.at(want.end)).Seconds(); math.Abs(ds) > 120 || math.Abs(de) > 120 {
				t.Errorf("%+v: load %d starts %+.0f s, ends %+.0f s off", c, k, ds, de)
			}
			for _, x := range r.corrections {
				if x.Began.Equal(l.Began) && (x.Start.Sub(l.Start).Abs() > time.Minute || x.End.Sub(l.End).Abs() > time.Minute) {
					t.Errorf("%+v: load %d of %s to %s is said to be of %s to %s", c, k, l.Start, l.End, x.Start, x.End)
				}
			}
		}
	}
}

func TestTwoReplaysAreTheSameToTheByte(t *testing.T) {
	once := func() ([]byte, []byte) {
		r := newRig(t, aWell, tanktest.Well{Level0: 60, Inflow: 30})
		r.sensor = hide(aLoad.From-700, aLoad.From+100)
		r.run(0, 7*tanktest.Hour)
		out, err := json.Marshal([]any{r.loads, r.events})
		if err != nil {
			t.Fatal(err)
		}
		return out, r.stored
	}
	a, sa := once()
	b, sb := once()
	if !bytes.Equal(a, b) || !bytes.Equal(sa, sb) || len(a) < 100 {
		t.Errorf("two replays differ:\n%s\n%s", a, b)
	}
}

// A commit that failed leaves the old state, and the same input is played again.
func TestADroppedSuccessorLeavesNoTrace(t *testing.T) {
	plain, twice := newRig(t, aWell), newRig(t, aWell)
	plain.run(0, 6*tanktest.Hour)
	for s := 0.0; s < 6*tanktest.Hour; s += 10 {
		keep := *twice
		twice.feed(s, Input{Kind: Level, Value: 55, Good: true}) // something else altogether
		twice.feed(s+1, Input{Kind: Level, Value: 56, Good: true})
		*twice = keep
		twice.run(s, s+10)
	}
	if !reflect.DeepEqual(plain.loads, twice.loads) || !reflect.DeepEqual(plain.events, twice.events) {
		t.Errorf("dropped successors left a trace:\n%+v\n%+v", plain.loads, twice.loads)
	}
}

// Sixty times as fast: the same levels, and times that are the same on the faster clock.
func TestSpeedSixtyIsSpeedOne(t *testing.T) {
	slow := newRig(t, aWell)
	slow.ticks = true
	slow.run(0, 6*tanktest.Hour)
	fast := newRig(t, aWell)
	fast.ticks = true
	fast.speed = 60
	tanks := []Tank{fast.site.tanks[0]}
	tanks[0].Loads.Speed = 60
	tanks[0].Every = 10 * time.Second / 60
	fast.site = testSite(t, tanks)
	fast.run(0, 6*tanktest.Hour)
	if len(slow.loads) != 1 || len(fast.loads) != 1 {
		t.Fatalf("%d and %d loads, want 1 and 1", len(slow.loads), len(fast.loads))
	}
	a, b := slow.loads[0], fast.loads[0]
	if math.Abs(a.Open-b.Open) > 0.005 || math.Abs(a.Close-b.Close) > 0.005 || math.Abs(a.Rate-b.Rate) > 0.001 {
		t.Errorf("%.4f to %.4f in at %.3f; at speed 60 %.4f to %.4f at %.3f", a.Open, a.Close, a.Rate, b.Open, b.Close, b.Rate)
	}
	da, db := a.Start.Sub(tanktest.Start).Seconds(), b.Start.Sub(tanktest.Start).Seconds()*60
	ea, eb := a.End.Sub(tanktest.Start).Seconds(), b.End.Sub(tanktest.Start).Seconds()*60
	if math.Abs(da-db) > 0.5 || math.Abs(ea-eb) > 0.5 {
		t.Errorf("from %.1f to %.1f s; at speed 60 from %.1f to %.1f", da, ea, db, eb)
	}
}

// The first sign of a fall is stored within seconds, and a minute is all that is lost after.
func TestDrawIsStoredAtItsFirstSign(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From)
	for s := aLoad.From; s < aLoad.From+1200; s += 60 {
		before := r.st.Mark()
		r.run(s, s+60)
		if r.st.Mark() == before {
			t.Errorf("nothing was stored from %+.0f to %+.0f s of the load", s-aLoad.From, s-aLoad.From+60)
		}
	}
	first := newRig(t, aWell)
	first.run(0, aLoad.From)
	before := first.st.Mark()
	first.run(aLoad.From, aLoad.From+40)
	if first.st.Mark() == before {
		t.Error("nothing was stored in the first 40 s of the load")
	}
}

// A box that has just restarted may do it again: of what it has heard since it loses no more than two thirds, or two minutes. A
// flash card is not worn for that.
func TestRestartIsStoredOften(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 100})
	r.run(0, 2*tanktest.Hour)
	r.kill(2 * tanktest.Hour)
	begin, before := r.st.Mark(), r.st.Mark()
	storedAt := 0.0
	for s := 0.0; s < tanktest.Hour; s += 30 {
		r.run(2*tanktest.Hour+s, 2*tanktest.Hour+s+30)
		if r.st.Mark() != before {
			before, storedAt = r.st.Mark(), s
		}
		if most := max(120, min(s*2/3, 1800)) + 30; s-storedAt > most {
			t.Errorf("%.0f s after the restart nothing was stored for %.0f s, want %.0f", s, s-storedAt, most)
		}
	}
	if grew := before - begin; grew > 5 {
		t.Errorf("stored %d times in the hour after a restart, want 5 at most", grew)
	}
}

// The program is killed inside a load, and the clock is set while it is away: the box's uptime tells how long that was.
// With the clock alone an hour would lie inside the load.
func TestProgramIsKilledWhileTheClockIsSet(t *testing.T) {
	for _, step := range []float64{-86400, -3300, 3300, 86400} {
		for _, at := range []float64{aLoad.From - 120, aLoad.From + 400, aLoad.From + 1200, aLoad.End() + 200} {
			r := newRig(t, aWell)
			r.box, r.ticks = 77, true
			r.clock = func(s float64) float64 {
				if s < at {
					return -step
				}
				return 0
			}
			r.run(0, at)
			r.kill(at)
			r.run(at+20, 7*tanktest.Hour)
			r.matches(0.06, 30, labelOf(aWell, aLoad, aLoad))
		}
	}
}

// A state of a version that did not know the box's boot is read, and the next restart is measured by the clock.
func TestStateOfBeforeIsRead(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From+900)
	var whole, old State
	if err := whole.UnmarshalBinary(r.stored); err != nil {
		t.Fatal(err)
	}
	before := append([]byte{2}, r.stored[1:len(r.stored)-1]...)
	if err := old.UnmarshalBinary(before); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(old, whole) {
		t.Error("what an earlier version stored is not what is read")
	}
}

// Where one truck takes more than truck_max load after load, it does so with a stop of minutes too.
func TestMoreThanTruckMaxIsUsualWhereLoadsOfBeforeWere(t *testing.T) {
	w := tanktest.Well{Level0: 50, Inflow: 640}
	for k := range 4 {
		a := tanktest.Move{From: float64(10+8*k) * tanktest.Hour, Bbl: 240, Rate: 6}
		if w.Moves = append(w.Moves, a); k == 3 {
			w.Moves[3].Bbl = 130
			w.Moves = append(w.Moves, tanktest.Move{From: w.Moves[3].End() + 170, Bbl: 112, Rate: 6})
		}
	}
	r := newRig(t, w)
	r.run(0, 40*tanktest.Hour)
	if len(r.loads) != 4 {
		t.Fatalf("want four loads: %+v", r.loads)
	}
	if asksFor(t, r.loads[3], ""); !remarked(r.loads[3], "where a truck holds 215: one truck or two") {
		t.Errorf("remarks %q", r.loads[3].Remarks)
	}
}

// Two loads that one truck holds and that lie a quarter of an hour apart, or up to an hour where each is a part of what it holds, may be one truck whose
// hose was in trouble: both ask, but where loads of before were no larger.
func TestTwoLoadsThatOneTruckHoldsAsk(t *testing.T) {
	for _, c := range []struct {
		first, pause, second float64
		before               bool // loads of 85 bbl
		asks                 bool
	}{{90, 1000, 80, false, true}, {90, 1000, 80, true, false}, {120, 1000, 110, false, false}, {90, 4000, 80, false, false}} {
		w := tanktest.Well{Level0: 170, Inflow: 60}
		if c.before {
			w = tanktest.Well{Level0: 200, Inflow: 200}
		}
		for k := 0; c.before && k < 3; k++ {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(4+6*k) * tanktest.Hour, Bbl: 85, Rate: 6})
		}
		a := tanktest.Move{From: 22 * tanktest.Hour, Bbl: c.first, Rate: 6}
		w.Moves = append(w.Moves, a, tanktest.Move{From: a.End() + c.pause, Bbl: c.second, Rate: 6})
		r := newRig(t, w)
		r.run(0, 26*tanktest.Hour)
		if len(r.loads) != len(w.Moves) {
			t.Fatalf("%+v: loads %+v", c, r.loads)
		}
		for k, want := range []string{"bbl left 17 min behind it: one truck or two", "bbl left 17 min before it: one truck or two"} {
			if !c.asks {
				want = ""
			}
			asksFor(t, r.loads[len(r.loads)-2+k], want)
		}
	}
}

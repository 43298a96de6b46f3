package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// outcome of a run, in short: its loads and the events of each rule.
func (r *rig) outcome() string {
	s := fmt.Sprintf("%d loads", len(r.loads))
	for _, e := range r.events {
		s += ", " + e.Rule
	}
	return s
}

// lifted adds inches to what is read from one time to another.
func lifted(from, to, by float64) seen {
	return func(_ int, s, v float64) (float64, bool) {
		if s >= from && s < to {
			v += by
		}
		return v, true
	}
}

func stopped(from, to, at float64) seen {
	return func(_ int, s, v float64) (float64, bool) {
		if s >= from && s < to {
			v = at
		}
		return v, true
	}
}

// Every setting changes what is made of the same readings.
func TestEachSettingHasAnEffect(t *testing.T) {
	two := func(first, pause, second float64) []tanktest.Move {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: first, Rate: 6}
		return []tanktest.Move{a, {From: a.End() + pause, Bbl: second, Rate: 6}}
	}
	quiet := tanktest.Well{Level0: 100, Inflow: 240}
	for name, c := range map[string]struct {
		well   tanktest.Well
		sensor seen
		set    func(l *Loads)
		usual  string // with the defaults
		then   string
	}{
		"min_load": {tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 12, Rate: 2}}}, nil,
			func(l *Loads) { l.MinLoad = 5 }, "0 loads", "1 loads"},
		"min_rate": {tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 60, Rate: 0.35}}}, nil,
			func(l *Loads) { l.MinRate = 0.2 }, "0 loads, unexplained-loss", "1 loads"},
		"max_rate": {tanktest.Well{Level0: 150, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 120, Rate: 120}}}, nil,
			func(l *Loads) { l.MaxRate = 200 }, "0 loads, step", "1 loads"},
		"truck_max": {tanktest.Well{Level0: 180, Moves: two(80, 400, 80)}, nil,
			func(l *Loads) { l.TruckMax = 100 }, "1 loads", "2 loads"},
		"pause_merge": {tanktest.Well{Level0: 180, Moves: two(80, 1200, 80)}, nil,
			func(l *Loads) { l.PauseMerge = 30 * time.Minute }, "2 loads", "1 loads"},
		"confirm": {tanktest.Well{Level0: 180, Moves: []tanktest.Move{{From: 4 * tanktest.Hour, Bbl: 60, Rate: 6}, {From: 4*tanktest.Hour + 4200, Bbl: -60, Rate: 6}}}, nil,
			func(l *Loads) { l.Confirm = 2 * time.Hour }, "1 loads", "0 loads, recirc"},
		"step_hold": {tanktest.Well{Level0: 150}, lifted(4*tanktest.Hour, 4*tanktest.Hour+150, -25),
			func(l *Loads) { l.StepHold = time.Minute }, "0 loads", "0 loads, step, step"},
		"stuck_jump": {quiet, stopped(4*tanktest.Hour, 4*tanktest.Hour+2400, 124),
			func(l *Loads) { l.StuckJump = 20 * time.Minute }, "0 loads", "0 loads, stuck"},
		"stuck": {quiet, stopped(4*tanktest.Hour, 99*tanktest.Hour, 124),
			func(l *Loads) { l.Stuck = 2 * time.Hour }, "0 loads", "0 loads, stuck"},
		"gap_min": {quiet, hide(4*tanktest.Hour, 4*tanktest.Hour+420),
			func(l *Loads) { l.GapMin = 5 * time.Minute }, "0 loads", "0 loads, gap"},
		"max_gap_ticket": {aWell, hide(3.5*tanktest.Hour, 6*tanktest.Hour),
			func(l *Loads) { l.MaxGapTicket = 2 * time.Hour }, "1 loads, gap", "0 loads, gap, unexplained-loss"},
		"noise": {tanktest.Well{Level0: 150}, lifted(4*tanktest.Hour, 99*tanktest.Hour, -12),
			func(l *Loads) { l.Noise = 15 }, "0 loads, step", "0 loads"},
	} {
		for _, own := range []bool{false, true} {
			r := newRig(t, c.well)
			r.sensor, r.ticks = c.sensor, true
			r.site.tanks[0].Loads = DefaultLoads()
			want := c.usual
			if own {
				c.set(&r.site.tanks[0].Loads)
				want = c.then
			}
			r.run(0, 9.8*tanktest.Hour)
			if got := r.outcome(); got != want {
				t.Errorf("%s of its own %v: %s, want %s", name, own, got, want)
			}
		}
	}
}

// A longer rest before the closing gauge passes over a reading that is low for three minutes.
func TestSettleIsTheRestBeforeTheClosing(t *testing.T) {
	want := labelOf(aWell, aLoad, aLoad)
	low := lifted(aLoad.End(), aLoad.End()+180, -1.5)
	for _, settle := range []time.Duration{0, 4 * time.Minute} {
		r := newRig(t, aWell)
		r.sensor = low
		r.site.tanks[0].Loads.Settle = settle
		r.run(0, 7*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%d loads, want 1", len(r.loads))
		}
		if off := math.Abs(r.loads[0].Close - want.close); (off < 0.1) != (settle > 0) {
			t.Errorf("settle %v: closing %.2f in off", settle, off)
		}
	}
}

// The closing of a group is gauged when its equaliser has had the time that is set, and later where it is so narrow that it takes
// longer: until less than a tenth of a barrel is to come.
func TestWhenAGroupIsGauged(t *testing.T) {
	for _, c := range []struct{ settle, fades, at float64 }{{1200, 120, 1200}, {1500, 120, 1500}, {1500, 900, 900 * math.Log(20/0.06)}} {
		r := newRig(t, aWell, tanktest.Well{Level0: 180})
		for i := range r.site.tanks {
			r.site.tanks[i].Group = "west"
			r.site.tanks[i].Loads.GroupSettle = time.Duration(c.settle) * time.Second
		}
		rise := func(s float64) float64 { return 20 * (1 - math.Exp(-math.Max(0, s-aLoad.End())/c.fades)) }
		r.sensor = func(i int, s, v float64) (float64, bool) {
			if i == 0 {
				return v + rise(s), true
			}
			return v - 10*stats.Clamp((s-aLoad.From)/1800, 0, 1) - rise(s), true // the equaliser is open
		}
		r.run(0, 7*tanktest.Hour)
		at := aLoad.End() + c.at
		if want := aWell.Level(at) + rise(at); len(r.loads) != 2 || math.Abs(r.loads[0].Close-want) > 0.2 {
			t.Errorf("%+v: %+v, want a closing of %.2f in", c, r.loads, want)
		}
	}
}

// What falls between two rests as far as a load is told, however far above it min_rate stands: it is one ticket, and asks where it left slower.
func TestALoadSlowerThanMinRateAsks(t *testing.T) {
	for rate, want := range map[float64]string{1.4: "bbl a minute, where min_rate is 2", 1.9: "", 0.3: "no load"} {
		m := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 140, Rate: rate}
		w := tanktest.Well{Level0: 150, Inflow: 270, Moves: []tanktest.Move{m}}
		r := newRig(t, w)
		r.site.tanks[0].Loads.MinRate = 2
		r.run(0, 16*tanktest.Hour)
		if want == "no load" {
			r.matches(0, 0)
			continue
		}
		r.matches(0.3, 120, labelOf(w, m, m))
		asksFor(t, r.loads[0], want)
		if l := r.loads[0]; (len(l.Review) > 0) != (want != "") {
			t.Errorf("at %g bbl a minute: %q", rate, l.Review)
		}
	}
}

// What a truck and its trailer take within pause_merge of one another is more than truck_max: both tickets ask, but not those of two full trucks.
func TestATrailerBesideItsTruckAsks(t *testing.T) {
	for _, first := range []float64{65, 160} {
		a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: first, Rate: 7}
		b := tanktest.Move{From: a.End() + 480, Bbl: 179, Rate: 7}
		r := newRig(t, tanktest.Well{Level0: 230, Moves: []tanktest.Move{a, b}})
		r.run(0, 8*tanktest.Hour)
		r.matches(0.08, 20, labelOf(r.wells[0], a, a), labelOf(r.wells[0], b, b))
		for _, l := range r.loads {
			if said(l, "one truck or two") != (first < 100) {
				t.Errorf("%g bbl first: %q", first, l.Review)
			}
		}
	}
}

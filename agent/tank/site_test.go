package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// The contact on the load valve decides start and end: opened 90 s before the pump,
// closed 200 s after it.
func TestValveDecidesStartAndEnd(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Valve = true
	open, shut := aLoad.From-90, aLoad.End()+200
	r.side = func(r *rig, s float64) {
		v := 0.0
		if s >= open && s < shut {
			v = 1
		}
		r.feed(s, Input{Kind: Valve, Value: v, Good: true})
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.06, 12, label{open, shut, aWell.Level(open), aWell.Level(shut), aWell.Inflow * (shut - open) / 86400})
	r.only()
}

// Two trucks of 80 bbl six minutes apart would be one with a pause, but for the valve.
func TestValveTellsTwoTrucksFromAPause(t *testing.T) {
	a := tanktest.Move{From: 4 * tanktest.Hour, Bbl: 80, Rate: 6}
	b := tanktest.Move{From: a.End() + 400, Bbl: 80, Rate: 6}
	w := tanktest.Well{Level0: 180, Inflow: 60, Moves: []tanktest.Move{a, b}}
	for _, wired := range []bool{true, false} {
		r := newRig(t, w)
		r.site.tanks[0].Valve = wired
		r.side = func(r *rig, s float64) {
			v := 0.0
			if s >= a.From-20 && s <= a.End()+20 || s >= b.From-20 && s <= b.End()+20 {
				v = 1
			}
			r.feed(s, Input{Kind: Valve, Value: v, Good: true})
		}
		r.run(0, 7*tanktest.Hour)
		if want := map[bool]int{true: 2, false: 1}[wired]; len(r.loads) != want {
			t.Errorf("valve wired %v: %d loads, want %d", wired, len(r.loads), want)
		}
	}
}

// What is measured beside the level is taken as it was at the opening, temperatures at the
// closing too.
func TestValuesAtTheOpeningAndTheClosing(t *testing.T) {
	r := newRig(t, aWell)
	r.side = func(r *rig, s float64) {
		r.feed(s, Input{Kind: TopTemperature, Value: 60 + s/600, Good: true})
		r.feed(s, Input{Kind: BottomTemperature, Value: 50 + s/1200, Good: true})
		r.feed(s, Input{Kind: BSW, Value: 0.4, Good: s < aLoad.From-4*tanktest.Hour+600}) // bad for hours
		r.feed(s, Input{Kind: Gravity, Value: math.NaN(), Good: true})
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 {
		t.Fatalf("%d loads, want 1", len(r.loads))
	}
	l := r.loads[0]
	is := func(name string, p *float64, want float64) {
		t.Helper()
		if p == nil || math.Abs(*p-want) > 0.25 {
			t.Errorf("%s = %v, want %.2f", name, p, want)
		}
	}
	is("top", l.TopTemperature, 60+aLoad.From/600)
	is("bottom", l.BottomTemperature, 50+aLoad.From/1200)
	if l.BSW != nil || l.Gravity != nil {
		t.Errorf("BS&W %v and gravity %v that nobody measured", l.BSW, l.Gravity)
	}
	is("closing top", l.ClosingTop, 60+aLoad.End()/600)
	is("closing bottom", l.ClosingBottom, 50+aLoad.End()/1200)
}

// An equaliser of 0.6 bbl/min an inch joins two tanks and a truck pulls from the first.
func TestEqualisedTanksHaveATicketEach(t *testing.T) {
	levels := [2][]float64{}
	a, b := 180.0, 180.0
	for s := range int(9 * tanktest.Hour) {
		levels[0], levels[1] = append(levels[0], a), append(levels[1], b)
		q := (a - b) * 0.6 / 60
		out := 0.0
		if float64(s) >= aLoad.From && float64(s) < aLoad.End() {
			out = aLoad.Rate / 60
		}
		a, b = a-(q+out)/tanktest.PerInch, b+q/tanktest.PerInch
	}
	r := newRig(t, tanktest.Well{}, tanktest.Well{})
	for i := range r.site.tanks {
		r.site.tanks[i].Group = "west"
	}
	r.sensor = func(i int, s, _ float64) (float64, bool) { return tanktest.Radar(i, s, levels[i][int(s)]), true }
	r.run(0, 8*tanktest.Hour)
	if len(r.loads) != 2 || r.loads[0].Tank == r.loads[1].Tank {
		t.Fatalf("%d loads: %+v", len(r.loads), r.loads)
	}
	for i, l := range r.loads {
		k := 0
		if l.Tank == "TK-2" {
			k = 1
		}
		closing := levels[k][int(aLoad.End())+1500]
		if failed := tanktest.Failed(map[string]bool{
			"open":         math.Abs(l.Open-180) > 0.1,
			"close":        math.Abs(l.Close-closing) > 0.1,
			"group volume": math.Abs(l.GroupBbl-180) > 1,
			"group":        l.Group != "west",
		}); failed != "" {
			t.Errorf("%s: %s: %.2f to %.2f in, group %q %.1f bbl; want 180 to %.2f, 180 bbl", failed, l.Tank, l.Open, l.Close, l.Group, l.GroupBbl, closing)
		}
		if ds := l.Start.Sub(r.at(aLoad.From)).Seconds(); math.Abs(ds) > 45 {
			t.Errorf("load %d: start %+.0f s off", i, ds)
		}
	}
	r.only()
}

// A pressure sensor at the bottom feels the truck's vacuum: 1.5 in too low at the end, fading.
func TestHydrostaticDipIsNoOil(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "hydrostatic"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		switch {
		case s < aLoad.From:
		case s < aLoad.End():
			v -= 1.5 * (1 - math.Exp(-(s-aLoad.From)/40))
		default:
			v -= 1.5 * math.Exp(-(s-aLoad.End())/150)
		}
		return v, true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.15, 60, labelOf(aWell, aLoad, aLoad))
}

// A gateway that is polled each 10 s but hears its sensor each two minutes.
func TestCachedValuesAreNotStairs(t *testing.T) {
	r := newRig(t, aWell)
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		fresh := math.Floor(s/120) * 120
		return tanktest.Radar(0, fresh, aWell.Level(fresh)), true
	}
	r.run(0, 7*tanktest.Hour)
	r.matches(0.1, 40, labelOf(aWell, aLoad, aLoad))
	r.only()
}

// However seldom it hears it, and however often it is polled: what it repeats is no reading and no rest, while the tank fills and while
// it is drawn from.
func TestWhatAGatewayRepeatsIsNoRest(t *testing.T) {
	for _, refresh := range []float64{2, 5, 7, 10, 15, 20, 30, 60} {
		for _, poll := range []float64{1, 5, 10, 30, 60} {
			beat := refresh * 60
			m := tanktest.Move{From: max(4*tanktest.Hour, 14*beat) + 500, Bbl: 165, Rate: 6.5}
			w := tanktest.Well{Level0: 165 - 2.2*m.From/tanktest.Hour, Inflow: 2.2 * 24 * tanktest.PerInch, Moves: []tanktest.Move{m}}
			r := newRig(t, w)
			r.every = poll
			r.sensor = func(_ int, s, _ float64) (float64, bool) {
				heard := math.Floor((s+77)/beat)*beat - 77
				return math.Round(10*tanktest.Radar(0, heard, w.Level(heard))) / 10, true
			}
			r.run(0, m.End()+max(3*tanktest.Hour, 3.5*beat))
			if len(r.loads) != 1 || math.Abs(r.loads[0].GaugeBbl-(w.Level(m.From)-w.Level(m.End()))*tanktest.PerInch) > 1.6 {
				t.Errorf("heard each %.0f min, polled each %.0f s: %+v, %+v", refresh, poll, r.loads, r.verdicts)
			}
		}
	}
}

func TestSitesThatCannotBe(t *testing.T) {
	good := Tank{ID: "A", Height: 240, Table: testTable(t)}
	for name, change := range map[string]func(*Tank){
		"no id":       func(k *Tank) { k.ID = "" },
		"no height":   func(k *Tank) { k.Height = 0 },
		"NaN height":  func(k *Tank) { k.Height = Length(math.NaN()) },
		"no table":    func(k *Tank) { k.Table = Table{} },
		"every":       func(k *Tank) { k.Every = -time.Second },
		"rates":       func(k *Tank) { k.Loads = DefaultLoads(); k.Loads.MinRate = 20 },
		"truck":       func(k *Tank) { k.Loads = DefaultLoads(); k.Loads.TruckMax = 10 },
		"negative":    func(k *Tank) { k.Loads = DefaultLoads(); k.Loads.Confirm = -1 },
		"speed":       func(k *Tank) { k.Loads = DefaultLoads(); k.Loads.Speed = -2 },
		"other speed": func(k *Tank) { k.Loads = DefaultLoads(); k.Loads.Speed = 2 },
		"twice":       func(k *Tank) { k.ID = "B" },
	} {
		bad := good
		change(&bad)
		other := good
		other.ID = "B"
		if _, err := NewSite([]Tank{other, bad}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s, err := NewSite([]Tank{good}); err != nil || s.tanks[0].Loads != DefaultLoads() {
		t.Errorf("a plain tank: %v", err)
	}
}

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

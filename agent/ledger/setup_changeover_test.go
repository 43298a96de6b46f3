package ledger

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// wires are the points of a site with what their values are made of; field is what stands in the registers.
type (
	wires map[collectors.Point]collectors.Origin
	field map[string]func(time.Duration) float64
)

func (w wires) making(p collectors.Point) collectors.Origin { return w[p] }

// still is a number that does not change.
func still(v float64) func(time.Duration) float64 { return func(time.Duration) float64 { return v } }

// field plays what stands in the registers, every ten seconds, through the points of the configuration.
func (b *bench) field(d time.Duration, w wires, f field) {
	b.t.Helper()
	for begin := time.Now(); time.Since(begin) < d; {
		var batch []collectors.Reading
		for _, p := range slices.Sorted(maps.Keys(w)) {
			m := w[p]
			batch = append(batch, collectors.Reading{Point: p, Value: f[m.Source](time.Since(begin))*m.Scale + m.Add, Unit: m.Unit, Quality: collectors.Good, At: time.Now()})
		}
		b.must(b.Host("plc").Emit(b.t.Context(), batch))
		pass(10 * time.Second)
		b.must(b.Tick(time.Now()))
	}
}

// wired starts the next run with points of another making, and maybe other tanks.
func (b *bench) wired(w wires, change func(*Site)) {
	b.t.Helper()
	b.reconfigured(func(s *Site) {
		s.OriginOf = w.making
		if change != nil {
			change(s)
		}
	})
}

// newWired is a bench whose points have a making.
func newWired(t *testing.T, w wires, change func(*Site)) *bench {
	return newBench(t, func(s *Site) {
		s.OriginOf = w.making
		if change != nil {
			change(s)
		}
	})
}

// loads are the figures of all tickets: opening, closing, and how many reasons for a review.
func (b *bench) loads() (all []tank.Load) {
	b.t.Helper()
	tickets, err := b.Tickets()
	b.must(err)
	for _, l := range tickets {
		all = append(all, *l.Load)
	}
	return all
}

var (
	inches  = wires{"plc/level": {Source: "A", Unit: "in", Scale: 1}}
	percent = wires{"plc/level": {Source: "A", Unit: "percent", Scale: 1}}
)

var changedSettings = map[string]struct {
	before, after wires
	raw           field // before
	now           field // after; nil: the same
	change        func(*Site)
	away          time.Duration // 0: five minutes
	odd           string        // what the event says that nobody can explain; empty: nothing
}{
	"another point 40 in lower": {
		before: inches, after: wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}, raw: field{"A": still(180), "B": still(140)},
		change: func(s *Site) { s.Tanks[0].Level = "plc/other" }, odd: "the level is 140.00 in where 180.00 was expected, and nobody can explain the 40.00 in (67.1 bbl) less; no ticket is made of it",
	},
	"another point that agrees": {
		before: inches, after: wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}, raw: field{"A": still(180), "B": still(180.4)},
		change: func(s *Site) { s.Tanks[0].Level = "plc/other" },
	},
	"another register under the same name": {
		before: inches, after: wires{"plc/level": {Source: "B", Unit: "in", Scale: 1}}, raw: field{"A": still(180), "B": still(140)},
		odd: "nobody can explain the 40.00 in",
	},
	"a point by another name": {
		before: inches, after: wires{"radar/1": {Source: "A", Unit: "in", Scale: 1}}, raw: field{"A": still(180)},
		change: func(s *Site) { s.Tanks[0].Level = "radar/1" },
	},
	"a corrected height, the level in percent": {
		before: percent, after: percent, raw: field{"A": still(75)}, change: func(s *Site) { s.Tanks[0].Height = 190 },
	},
	"a unit put right, feet into inches": {
		before: inches, after: wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}, raw: field{"A": still(15)},
	},
	"a unit put right, inches into centimetres": {
		before: inches, after: wires{"plc/level": {Source: "A", Unit: "cm", Scale: 1}}, raw: field{"A": still(180)},
	},
	"a scale put right": {
		before: inches, after: wires{"plc/level": {Source: "A", Unit: "in", Scale: 0.5, Add: 2}}, raw: field{"A": still(180)},
	},
	"an offset of the tank": {
		before: inches, after: inches, raw: field{"A": still(180)}, change: func(s *Site) { s.Tanks[0].Offset = -40 },
	},
	"a unit changed in the gauge and in the configuration, over an hour": {
		before: wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}, after: wires{"plc/level": {Source: "A", Unit: "in", Scale: 1}},
		raw: field{"A": still(15)}, now: field{"A": still(180)}, away: time.Hour, odd: "the level stands as before",
	},
	"a scale changed in the gauge and in the configuration, over an hour": {
		before: inches, after: wires{"plc/level": {Source: "A", Unit: "in", Scale: 2}},
		raw: field{"A": still(100)}, now: field{"A": still(50)}, away: time.Hour, odd: "the level stands as before",
	},
	"a distance instead of a level": {
		before: inches, after: wires{"plc/level": {Source: "A", Unit: "in", Scale: -1, Add: 240}}, raw: field{"A": still(180)}, away: time.Hour,
		odd: "nobody can explain the 120.00 in",
	},
	"a table alone": {
		before: inches, after: inches, raw: field{"A": still(180)}, change: func(s *Site) { s.Tanks[0].Table = tank.Cylinder(200, 240) },
	},
}

// A configuration that was changed while the program was away for five minutes makes no ticket of the change.
func TestAChangedSettingMakesNoTicket(t *testing.T) {
	for name, c := range changedSettings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newWired(t, c.before, nil)
				b.field(time.Hour, c.before, c.raw)
				pass(max(c.away, 5*time.Minute))
				b.wired(c.after, c.change)
				if c.now == nil {
					c.now = c.raw
				}
				b.field(2*time.Hour, c.after, c.now)
				if l := b.loads(); len(l) != 0 || len(b.state.held.all) != 0 {
					t.Errorf("tickets of nothing: %+v %+v", l, b.state.held.all)
				}
				n := b.notes("config-changed")
				if len(n) != 1 || !strings.Contains(n[0], c.odd) || (c.odd == "") != strings.Contains(n[0], "no load is measured by both") {
					t.Errorf("events of the change %q, want one with %q", n, c.odd)
				}
				for _, r := range b.rules() {
					if r != "config-changed" && r != "gap" {
						t.Errorf("events %v: there was nothing but a change", b.rules())
					}
				}
				if _, inForce := b.state.tanks.Phase(0), b.state.setups.inForce[0]; b.state.setups.pending || inForce.levelSetting() != b.state.setups.configured[0].levelSetting() {
					t.Errorf("the change is not in force: %+v", inForce)
				}
			})
		})
	}
}

// A load hidden in the time in which the program was away, and the setting changed in it too.
func TestALoadHiddenByAChangeOfTheSetting(t *testing.T) {
	feet := wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}
	for name, c := range map[string]struct {
		before, after wires
		from, to      field
		change        func(*Site)
		open, close   float64 // 0: no ticket, only an event
	}{
		"the offset":       {inches, inches, field{"A": still(180)}, field{"A": still(80)}, func(s *Site) { s.Tanks[0].Offset = -12 }, 168, 68},
		"the unit":         {inches, feet, field{"A": still(15)}, field{"A": still(7)}, nil, 180, 84},
		"the height":       {percent, percent, field{"A": still(80)}, field{"A": still(40)}, func(s *Site) { s.Tanks[0].Height = 220 }, 176, 88},
		"the point":        {inches, wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}, field{"A": still(180)}, field{"B": still(80)}, func(s *Site) { s.Tanks[0].Level = "plc/other" }, 0, 0},
		"the table, alone": {inches, inches, field{"A": still(180)}, field{"A": still(80)}, func(s *Site) { s.Tanks[0].Table = tank.Cylinder(150, 240) }, 180, 80},
		"another modem before it, under the same name": {wires{"plc/level": {Place: "10.0.0.5:502", Source: "A", Unit: "in", Scale: 1}},
			wires{"plc/level": {Place: "10.0.0.9:502", Source: "A", Unit: "in", Scale: 1}}, field{"A": still(180)}, field{"A": still(80)}, nil, 180, 80},
		"another device of the same map": {wires{"plc/level": {Place: "10.0.0.5:502", Source: "A", Unit: "in", Scale: 1}},
			wires{"other/level": {Place: "10.0.0.9:502", Source: "A", Unit: "in", Scale: 1}}, field{"A": still(180)}, field{"A": still(80)},
			func(s *Site) { s.Tanks[0].Level = "other/level" }, 0, 0},
		"the name of a point": {inches, wires{"radar/1": inches["plc/level"]}, field{"A": still(180)}, field{"A": still(80)}, func(s *Site) { s.Tanks[0].Level = "radar/1" }, 180, 80},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newWired(t, c.before, nil)
				b.field(time.Hour, c.before, c.from)
				pass(30 * time.Minute)
				b.wired(c.after, c.change)
				b.field(3*time.Hour, c.after, c.to)
				l, n := b.loads(), strings.Join(b.notes("config-changed"), "\n")
				if c.open == 0 {
					if len(l) != 0 || !strings.Contains(n, "nobody can explain the 100.00 in (167.9 bbl) less") {
						t.Errorf("loads %+v, events %q", l, n)
					}
					return
				}
				if len(l) != 1 || l[0].Open < c.open-0.2 || l[0].Open > c.open+0.2 || l[0].Close < c.close-0.2 || l[0].Close > c.close+0.2 {
					t.Fatalf("loads %+v, want one from %g to %g in; events %v", l, c.open, c.close, b.rules())
				}
				marked := slices.ContainsFunc(l[0].Review, func(r string) bool { return strings.Contains(r, "changed between") })
				if measured := !strings.Contains(name, "table") && !strings.Contains(name, "name"); marked != measured || marked && l[0].Confidence > 0.5 {
					t.Errorf("review %q, confidence %g", l[0].Review, l[0].Confidence)
				}
			})
		})
	}
}

// A point and an offset changed together during a load: the load is finished by those with which it began, or marked.
func TestALoadUnderWayKeepsItsSetting(t *testing.T) {
	both := wires{"plc/level": {Source: "A", Unit: "in", Scale: 1}, "plc/other": {Source: "B", Unit: "in", Scale: 1}}
	alone := wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}
	move := func(offset tank.Length) func(*Site) {
		return func(s *Site) { s.Tanks[0].Level, s.Tanks[0].Offset = "plc/other", offset }
	}
	for name, c := range map[string]struct {
		after  wires
		lower  float64 // B reads so much less than A
		offset tank.Length
		away   time.Duration
		mark   string // in the reasons for a review; empty: none
		miss   float64
	}{
		"the old point is still there":             {both, 10, 10, 10 * time.Second, "offset and level point changed meanwhile, measured by the old", 0.2},
		"the old point is gone, and the two agree": {alone, 10, 10, 10 * time.Second, "the load was measured by two gauges", 0.2},
		"the old point is gone, the new 40 lower":  {alone, 50, 10, 10 * time.Second, "was expected", 0.6},
		"the same, and five minutes away":          {alone, 50, 10, 5 * time.Minute, "was expected", 0.6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newWired(t, inches, nil)
				begin := time.Now()
				level := func(lower float64) func(time.Duration) float64 {
					return func(time.Duration) float64 {
						return 180 - lower - 4*min(max(time.Since(begin)-time.Hour, 0), 30*time.Minute).Minutes()
					}
				}
				f := field{"A": level(0), "B": level(c.lower)}
				b.field(70*time.Minute, inches, f)
				pass(c.away)
				b.wired(c.after, move(c.offset))
				b.field(3*time.Hour, c.after, f)
				l := b.loads()
				if len(l) != 1 || l[0].Open < 179.8 || l[0].Open > 180.2 || l[0].Close < 60-c.miss || l[0].Close > 60+c.miss {
					t.Fatalf("loads %+v, want one from 180 to 60 in; %v", l, b.rules())
				}
				if why := strings.Join(l[0].Review, "; "); (c.mark == "") != (why == "") || !strings.Contains(why, c.mark) {
					t.Errorf("review %q, want %q", why, c.mark)
				}
				if said := strings.Join(append(l[0].Remarks, l[0].Review...), "; "); !strings.Contains(said, "offset and level point changed meanwhile, measured by the old") {
					t.Errorf("remarks %q", said)
				}
				if got := b.state.setups.inForce[0].Level; got != "plc/other" || b.state.setups.pending {
					t.Errorf("after the load its level is %s", got)
				}
				if n := len(b.notes("config-changed")); n != 1 {
					t.Errorf("%d events of the change, want 1", n)
				}
			})
		})
	}
}

// newTwoTanks is a bench with two tanks, each with a gauge of its own.
func newTwoTanks(t *testing.T) (*bench, wires) {
	w := wires{"plc/level": {Source: "A", Unit: "in", Scale: 1}, "plc/other": {Source: "B", Unit: "in", Scale: 1}}
	return newWired(t, w, func(s *Site) {
		second := s.Tanks[0]
		second.ID, second.Level = "TK-2", "plc/other"
		s.Tanks = append(s.Tanks, second)
	}), w
}

// swapLevels gives each of two tanks the other's level point.
func swapLevels(s *Site) {
	s.Tanks = slices.Clone(s.Tanks)
	s.Tanks[0].Level, s.Tanks[1].Level = s.Tanks[1].Level, s.Tanks[0].Level
}

// Two tanks change points while one is hauled: the fall is one load of one tank.
func TestTanksThatSwapPointsDuringALoadMakeOneTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := newTwoTanks(t)
		begin := time.Now()
		f := field{"A": func(time.Duration) float64 {
			return 180 - 4*min(max(time.Since(begin)-time.Hour, 0), 25*time.Minute).Minutes()
		}, "B": still(60)}
		b.field(70*time.Minute, w, f)
		pass(time.Minute)
		b.wired(w, swapLevels)
		b.field(4*time.Hour, w, f)
		l := b.loads()
		if len(l) != 1 || l[0].Tank != "TK-1" || l[0].Close < 79.8 || l[0].Close > 80.2 {
			t.Fatalf("loads %+v, want the one of TK-1; %v", l, b.rules())
		}
		marked(t, l[0], "level point changed meanwhile")
		n := strings.Join(b.notes("config-changed"), "\n")
		for _, want := range []string{"the level is 60.00 in where 80.00 was expected", "the level is 80.00 in where 60.00 was expected"} {
			if strings.Count(n, want) != 1 {
				t.Errorf("%q is not said once in %q", want, n)
			}
		}
	})
}

// What the version before has stored is taken for what is configured now: an upgrade tells of nothing.
func TestAnUpgradeOfAnUnchangedSiteTellsOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}, "plc/water": {Source: "W", Unit: "in", Scale: 1}}
		b := newWired(t, w, func(s *Site) { s.Tanks[0].Interface, s.Tanks[0].Tank.Interface = "plc/water", true })
		begin := time.Now()
		f := field{"A": func(time.Duration) float64 {
			return 15 - min(max(time.Since(begin)-time.Hour, 0), 24*time.Minute).Minutes()/3
		}, "W": still(6)}
		b.field(70*time.Minute, w, f)
		older := `[{"ID":"TK-1","Level":"plc/level","Offset":"0in","Height":"240in","Sensor":"","Table":` + tableJSON(t, b.site.Tanks[0].Table) + `}]`
		b.store(setupsKey, []byte(older))
		b.again()
		b.field(2*time.Hour, w, f)
		if l := b.loads(); len(l) != 1 || len(l[0].Review) != 0 || l[0].Close < 83.8 || l[0].Close > 84.2 || strings.Contains(strings.Join(l[0].Remarks, ""), "changed") {
			t.Errorf("loads %+v, want the one to 84 in", l)
		}
		if r := b.rules(); len(r) != 0 {
			t.Errorf("events %v", r)
		}
		b.wired(wires{"plc/level": {Source: "A", Unit: "in", Scale: 12}, "plc/water": w["plc/water"]}, nil)
		b.field(10*time.Minute, wires{"plc/level": {Source: "A", Unit: "in", Scale: 12}, "plc/water": w["plc/water"]}, f)
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "level unit ft to in; level scale 1 to 12") {
			t.Errorf("after the upgrade a change is told as %q", n)
		}
	})
}

func tableJSON(t *testing.T, table tank.Table) string {
	t.Helper()
	b, err := table.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

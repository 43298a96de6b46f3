package ledger

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// hauled is a level of 180 in that falls by 4 in a minute for 25 minutes, from an instant on.
func hauled(from time.Time) func(time.Duration) float64 {
	return func(time.Duration) float64 { return 180 - 4*min(max(time.Since(from), 0), 25*time.Minute).Minutes() }
}

// An interface that is read elsewhere has not fallen: the load beside it is oil, and no water.
func TestAnotherInterfaceIsNoWaterDraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wires{"plc/level": inches["plc/level"], "plc/water": {Source: "W", Unit: "in", Scale: 1}}
		b := newWired(t, w, func(s *Site) { s.Tanks[0].Interface, s.Tanks[0].Tank.Interface = "plc/water", true })
		f := field{"A": hauled(time.Now().Add(70 * time.Minute)), "W": still(120), "V": still(20)}
		b.field(time.Hour, w, f)
		pass(9 * time.Minute)
		now := wires{"plc/level": w["plc/level"], "plc/water": {Source: "V", Unit: "in", Scale: 1}}
		b.wired(now, nil)
		b.field(3*time.Hour, now, f)
		if l := b.loads(); len(l) != 1 || len(l[0].Review) != 0 {
			t.Errorf("loads %+v, want one; events %v", l, b.rules())
		}
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "interface source W to V") {
			t.Errorf("events %q", n)
		}
	})
}

// Another meter of the production is told of at once, also during a load, and the load is not touched.
func TestAnotherProductionMeterWaitsForNoLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wires{"plc/level": inches["plc/level"], "plc/total": {Source: "M", Unit: "bbl", Scale: 1}}
		b := newWired(t, w, func(s *Site) { s.Tanks[0].Production = "plc/total" })
		f := field{"A": hauled(time.Now().Add(time.Hour)), "M": still(5000)}
		b.field(70*time.Minute, w, f)
		w = wires{"plc/level": inches["plc/level"], "plc/total": {Source: "M", Unit: "gal", Scale: 1}}
		b.wired(w, nil)
		b.field(time.Minute, w, f)
		want := "TK-1: production unit bbl to gal; the book counts from what it shows first"
		if n := b.notes("config-changed"); len(n) != 1 || n[0] != want {
			t.Errorf("events %q, want %q", n, want)
		}
		b.again()
		b.field(3*time.Hour, w, f)
		if l, n := b.loads(), b.notes("config-changed"); len(l) != 1 || len(l[0].Review) != 0 || len(n) != 1 {
			t.Errorf("loads %+v, events %q", l, n)
		}
	})
}

// Another speed counts other seconds: what was before is forgotten, and what comes is seen.
func TestAnotherSpeedBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, func(s *Site) { s.Tanks[0].Loads.Speed = 60 })
		b.field(time.Hour, inches, field{"A": still(180)})
		b.wired(inches, func(s *Site) { s.Tanks[0].Loads.Speed = 1 })
		b.field(4*time.Hour, inches, field{"A": hauled(time.Now().Add(time.Hour))})
		if l := b.loads(); len(l) != 1 || l[0].Open < 179.8 || l[0].Close > 80.2 {
			t.Errorf("loads %+v, want one", l)
		}
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "speed 60 to 1") {
			t.Errorf("events %q", n)
		}
	})
}

// A tank that gets another id while it is hauled keeps its load; at rest another tank may stand there.
func TestATankByAnotherID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, nil)
		f := field{"A": hauled(time.Now().Add(time.Hour))}
		b.field(70*time.Minute, inches, f)
		b.wired(inches, func(s *Site) { s.Tanks[0].ID = "TK-9" })
		b.field(3*time.Hour, inches, f)
		l := b.loads()
		if len(l) != 1 || l[0].Tank != "TK-9" || l[0].Open < 179.8 {
			t.Fatalf("loads %+v, want the whole one of TK-9", l)
		}
		b.wired(inches, func(s *Site) { s.Tanks[0].ID = "TK-2" })
		b.field(2*time.Hour, inches, field{"A": still(20)})
		if l := b.loads(); len(l) != 1 {
			t.Errorf("loads %+v: another tank stands there", l)
		}
		n := strings.Join(b.notes("config-changed"), "\n")
		for _, want := range []string{"TK-9: the tank was TK-1 until now; the load that is under way goes on", "TK-2: the tank was added", "TK-9: the tank is no longer in the configuration"} {
			if strings.Count(n, want) != 1 {
				t.Errorf("%q is not said once in %q", want, n)
			}
		}
	})
}

// A tank that is taken out while it is hauled: its load makes no ticket, and who has to write one is told what was seen of it. At rest
// there is nothing to write.
func TestATankThatIsTakenOutWhileItIsHauled(t *testing.T) {
	for _, under := range []time.Duration{70 * time.Minute, 4 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			b := newWired(t, inches, nil)
			began := time.Now().Add(time.Hour)
			b.field(under, inches, field{"A": hauled(began)})
			b.wired(inches, func(s *Site) { s.Tanks[0].ID, s.Tanks[0].Level = "TK-2", "plc/other" })
			pass(time.Minute)
			b.must(b.Tick(time.Now()))
			n := strings.Join(b.notes("config-changed"), "\n")
			warned, _ := b.MendedWarning(time.Now())
			hauled := under < 2*time.Hour
			if strings.Contains(n, "TK-1: the tank is no longer in the configuration; a load that was under way makes no ticket") != hauled || strings.Contains(warned, "gauger tickets add") != hauled {
				t.Errorf("after %s the events say %q, and the status %q", under, n, warned)
			}
			if at := b.site.minute(began); hauled && (!strings.Contains(n, "was 180.00 in "+at) || !strings.Contains(n, ", and 14")) {
				t.Errorf("it says %q; the load began %s, from 180 in", n, at)
			}
		})
	}
}

// What a load is judged by is changed in the middle of it: it ends by what it began by, and the next goes by the new. At rest nothing waits.
func TestAnOpenLoadIsJudgedByWhatItBeganBy(t *testing.T) {
	for name, c := range map[string]struct {
		what   string
		change func(*Tank)
	}{
		"product":  {"product oil to water", func(t *Tank) { t.Water = true }},
		"sales":    {"sales truck to lact", func(t *Tank) { t.Lact = true }},
		"min_load": {"loads.min_load 25 to 210", func(t *Tank) { t.Loads.MinLoad = 210 }},
	} {
		for _, after := range []time.Duration{70 * time.Minute, 85*time.Minute + 30*time.Second, 30 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				b := newWired(t, inches, func(s *Site) { s.Tanks[0].Loads = tank.DefaultLoads() })
				f := field{"A": hauled(time.Now().Add(time.Hour))}
				b.field(after, inches, f)
				under := after > time.Hour
				b.wired(inches, func(s *Site) { c.change(&s.Tanks[0]) })
				b.field(time.Minute, inches, f)
				b.again() // the setup that waits is stored
				b.field(time.Minute, inches, f)
				waits := b.tankStatus(0, b.site.Tanks[0]).Waits
				b.field(4*time.Hour, inches, f)
				if l := b.loads(); under != (len(l) == 1) || under != strings.Contains(waits, "until the load that is under way is over") {
					t.Errorf("%s after %s: loads %+v, status %q", name, after, l, waits)
				}
				if n := strings.Join(b.notes("config-changed"), "\n"); strings.Contains(n, "TK-1: "+c.what) != under || b.tankStatus(0, b.site.Tanks[0]).Waits != "" {
					t.Errorf("%s after %s: events %q, status %q", name, after, n, b.tankStatus(0, b.site.Tanks[0]).Waits)
				}
				before := len(b.loads())
				b.field(4*time.Hour, inches, field{"A": hauled(time.Now().Add(time.Hour))})
				if l := b.loads(); len(l) != before {
					t.Errorf("%s after %s: loads %+v: the next goes by the new", name, after, l)
				}
			})
		}
	}
}

// A file that was cut off has no tanks: the status says so, and of each load that was under way what was seen of it, at any speed.
func TestAllTanksAreTakenOut(t *testing.T) {
	for _, speed := range []float64{1, 4} {
		for _, hauling := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				site := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
				w := wires{"plc/level": inches["plc/level"], "plc/other": {Source: "B", Unit: "in", Scale: 1}}
				b := newWired(t, w, func(s *Site) {
					s.Tanks[0].Loads.Speed = speed
					s.Tanks = append(s.Tanks, s.Tanks[0])
					s.Tanks[1].ID, s.Tanks[1].Level = "TK-2", "plc/other"
				})
				falls := func(after time.Duration) float64 {
					return 180 - max(0, float64(after-site(time.Hour))*speed/float64(20*time.Minute))*60
				}
				f := field{"A": falls, "B": falls}
				if !hauling {
					f = field{"A": still(180), "B": still(90)}
				}
				b.field(site(70*time.Minute), w, f)
				b.reconfigured(func(s *Site) { s.Tanks = nil })
				pass(time.Minute)
				b.must(b.Tick(time.Now()))
				said, _ := b.MendedWarning(time.Now())
				for _, id := range []string{"TK-1", "TK-2"} {
					want := id + ": the tank is no longer in the configuration"
					if hauling {
						want += "; a load that was under way makes no ticket: its level was 180.00 in"
					}
					if n := strings.Join(b.notes("config-changed"), "\n"); !strings.Contains(n, want) || !strings.Contains(said, want) {
						t.Errorf("at speed %g, hauled %v, the events say %q, and the status %q; want %q", speed, hauling, n, said, want)
					}
				}
			})
		}
	}
}

// A tank's id that is used again names another tank, by another gauge: its level is no movement.
func TestAnIDThatIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wires{"plc/level": inches["plc/level"], "new/level": {Source: "B", Unit: "in", Scale: 1}}
		b := newWired(t, w, nil)
		f := field{"A": still(180), "B": still(30)}
		b.field(time.Hour, w, f)
		pass(48 * time.Hour)
		b.wired(w, func(s *Site) {
			s.Tanks[0].Level, s.Tanks[0].Height, s.Tanks[0].Table = "new/level", 180, tank.Cylinder(120, 180)
		})
		b.field(2*time.Hour, w, f)
		if l, r := b.loads(), b.rules(); len(l) != 0 || slices.Contains(r, "unexplained-loss") {
			t.Errorf("loads %+v, events %v", l, r)
		}
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "the level is 30.00 in where 180.00 was expected") {
			t.Errorf("events %q", n)
		}
	})
}

// A program that is killed every minute while a change waits decides the same.
func TestAChangeThatWaitsOutlivesKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, nil)
		f := field{"A": hauled(time.Now().Add(time.Hour)), "B": func(time.Duration) float64 { return 0 }}
		level := f["A"]
		f["B"] = func(e time.Duration) float64 { return level(e) - 50 }
		b.field(70*time.Minute, inches, f)
		w := wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}
		b.wired(w, func(s *Site) { s.Tanks[0].Level, s.Tanks[0].Offset = "plc/other", 10 })
		for range 90 {
			b.field(110*time.Second, w, f)
			b.again()
		}
		l := b.loads()
		if len(l) != 1 || l[0].Open < 179.8 || l[0].Close < 79 || l[0].Close > 81 || len(l[0].Review) != 1 {
			t.Errorf("loads %+v, want one from 180 to 80 in with one reason for a review", l)
		}
		if n := b.notes("config-changed"); len(n) != 1 {
			t.Errorf("events %q", n)
		}
	})
}

// A change that was taken back before it could take effect was none.
func TestAChangeThatIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feet := wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}
		b := newWired(t, inches, nil)
		f := field{"A": hauled(time.Now().Add(time.Hour))}
		b.field(70*time.Minute, inches, f)
		b.wired(feet, nil)
		b.field(time.Minute, feet, f)
		b.wired(inches, nil)
		b.field(3*time.Hour, inches, f)
		if l := b.loads(); len(l) != 1 || len(l[0].Review) != 0 || strings.Contains(strings.Join(l[0].Remarks, ""), "changed") || l[0].Close < 79.8 || l[0].Close > 80.2 {
			t.Errorf("loads %+v, want the one to 80 in, as if nothing had been", l)
		}
		if n := b.notes("config-changed"); len(n) != 0 {
			t.Errorf("events %q", n)
		}
	})
}

// A new point that gives nothing good leaves all as it was, until it does.
func TestANewPointThatGivesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, nil)
		b.field(time.Hour, inches, field{"A": still(180)})
		w := wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}
		b.wired(w, func(s *Site) { s.Tanks[0].Level = "plc/other" })
		for range 100 {
			b.emit("other", 0, func(r *collectors.Reading) { r.Unit, r.Quality = "in", collectors.Bad })
			pass(10 * time.Second)
			b.emit("other", 9999, func(r *collectors.Reading) { r.Unit = "in" })
			pass(10 * time.Second)
		}
		if g := b.state.setups.inForce[0]; g.Level != "plc/level" || len(b.notes("config-changed")) != 0 {
			t.Errorf("in force is %+v", g.levelSetting())
		}
		b.field(time.Hour, w, field{"B": still(150)})
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "the 30.00 in (50.4 bbl) less") {
			t.Errorf("events %q", n)
		}
	})
}

// What a level was is told by the setting of then, over several changes of it.
func TestALevelOfThePastIsToldByItsSetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, percent, nil)
		b.field(time.Hour, percent, field{"A": still(75)}) // 180 in
		b.wired(percent, func(s *Site) { s.Tanks[0].Height = 200 })
		b.field(time.Hour, percent, field{"A": still(75)}) // 150 in
		w := wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}
		b.wired(w, func(s *Site) { s.Tanks[0].Level = "plc/other" })
		b.field(time.Hour, w, field{"B": still(100)})
		for _, c := range []struct {
			back time.Duration
			want float64
		}{{150 * time.Minute, 180}, {90 * time.Minute, 150}, {30 * time.Minute, 100}} {
			why := b.know(time.Now().Add(-c.back))
			got := slices.MinFunc(why.Levels, func(x, y tank.Moment) int {
				return int(x.At.Sub(why.At).Abs() - y.At.Sub(why.At).Abs())
			})
			if got.In != c.want {
				t.Errorf("%s ago the level was %+v, want %g", c.back, got, c.want)
			}
		}
	})
}

// What came into another tank unseen, whose gauge was changed in that time, may be what left this one.
func TestAFallBesideATankWhoseGaugeWasChangedNeedsAReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wires{"plc/level": inches["plc/level"], "plc/second": {Source: "B", Unit: "in", Scale: 1}}
		b := newWired(t, w, func(s *Site) {
			second := s.Tanks[0]
			second.ID, second.Level = "TK-2", "plc/second"
			s.Tanks = append(s.Tanks, second)
		})
		b.field(time.Hour, w, field{"A": still(180), "B": still(40)})
		pass(30 * time.Minute)
		w = wires{"plc/level": inches["plc/level"], "new/second": {Source: "C", Unit: "in", Scale: 1}}
		b.wired(w, func(s *Site) { s.Tanks[1].Level = "new/second" })
		b.field(3*time.Hour, w, field{"A": still(80), "C": still(140)})
		l := b.loads()
		if len(l) != 1 || l[0].Tank != "TK-1" || !strings.Contains(strings.Join(l[0].Review, ";"), "TK-2: level point changed between") {
			t.Errorf("loads %+v, want one of TK-1 that somebody looks at", l)
		}
	})
}

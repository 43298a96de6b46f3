package ledger

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/tank"
)

// falling is a level that falls by 4 in a minute between two instants.
func falling(high float64, from, to time.Time) func(time.Duration) float64 {
	return func(time.Duration) float64 {
		return high - 4*min(max(time.Since(from), 0), to.Sub(from)).Minutes()
	}
}

// marked are the reasons for a review of a load, which is not to be believed more than half.
func marked(t *testing.T, l tank.Load, want string) {
	t.Helper()
	if why := strings.Join(l.Review, "; "); !strings.Contains(why, want) || l.Confidence > discrepancySure {
		t.Errorf("%s: review %q, confidence %g; want %q and at most %g", l.Tank, why, l.Confidence, want, discrepancySure)
	}
}

var otherSource = wires{"plc/level": {Source: "B", Unit: "in", Scale: 1}}

// A source corrected while a tank is drawn down, to one that stands still: the load ends there, and the next is measured
// by the new source alone. So it does where the program before this one has measured on until no level could be one.
func TestALoadEndsWhereTheNewSourceDoesNotFallOn(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newWired(t, inches, nil)
			begin := time.Now()
			f := field{"A": falling(60, begin.Add(time.Hour), begin.Add(2*time.Hour)), "B": falling(150, begin.Add(73*time.Minute), begin.Add(95*time.Minute+30*time.Second))}
			b.field(67*time.Minute, inches, f)
			pass(2 * time.Minute)
			b.wired(otherSource, nil)
			if stuck {
				setups := slices.Clone(b.state.setups.inForce)
				setups[0].Changeover = &changeover{To: b.state.setups.configured[0].levelSetting(), Conversion: tank.Conversion{Ratio: 1, Add: 118}, Discrepancy: &discrepancy{From: time.Now(), To: time.Now(), Note: "it was changed"}}
				tx := b.begin(time.Now())
				tx.putJSON(setupsKey, setups)
				b.must(b.box.Update(tx.commitTo))
				b.again()
			}
			b.field(24*time.Hour, otherSource, f)
			l := b.loads()
			if len(l) != 2 || l[0].Open < 59.8 || l[0].Open > 60.2 {
				t.Fatalf("stuck %t: loads %+v, want two; phase %s, %v", stuck, l, b.state.tanks.Phase(0), b.rules())
			}
			marked(t, l[0], "changed")
			if !stuck && (l[0].Close < 31 || l[0].Close > 34 || l[1].Open < 149.8 || l[1].Open > 150.2 || l[1].Close < 59.8 || l[1].Close > 60.2) {
				t.Errorf("loads %+v, want 60 to 32 and 150 to 60 in", l)
			}
			if phase := b.state.tanks.Phase(0); phase != "idle" || b.state.setups.pending {
				t.Errorf("stuck %t: the tank is %s", stuck, phase)
			}
		})
	}
}

// A new source that falls on by chance, further down than the old setting has levels: the load ends there.
func TestALoadEndsWhereItsSettingHasNoLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, nil)
		begin := time.Now()
		f := field{"A": falling(60, begin.Add(time.Hour), begin.Add(2*time.Hour)), "B": falling(200, begin.Add(time.Hour), begin.Add(100*time.Minute))}
		b.field(67*time.Minute, inches, f)
		b.wired(otherSource, nil)
		b.field(6*time.Hour, otherSource, f)
		l, fell := b.loads(), 0.
		for _, x := range l {
			fell += x.Open - x.Close
			marked(t, x, "changed")
		}
		if len(l) != 2 || fell < 150 || fell > 162 || b.state.tanks.Phase(0) != "idle" || b.state.setups.pending {
			t.Errorf("loads %+v, want two of 160 in; phase %s", l, b.state.tanks.Phase(0))
		}
	})
}

// Two tanks' points are put right after a load: the next loads are those of the right tanks, and the first is marked.
func TestALoadAfterTheCorrectionIsByTheNewPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, w := newTwoTanks(t)
		begin := time.Now()
		first, second := falling(220, begin.Add(time.Hour), begin.Add(80*time.Minute)), falling(0, begin.Add(110*time.Minute), begin.Add(130*time.Minute))
		f := field{"A": func(e time.Duration) float64 { return first(e) + second(e) }, "B": falling(130, begin.Add(111*time.Minute), begin.Add(126*time.Minute))}
		b.field(90*time.Minute, w, f)
		b.wired(w, swapLevels)
		b.field(time.Minute, w, f)
		if s := b.tankStatus(1, b.site.Tanks[1]); !strings.Contains(s.Waits, "level point") || !strings.Contains(s.Waits, "TK-1") {
			t.Errorf("while TK-1's load has its gauge, of TK-2 is said %q", s.Waits)
		}
		b.field(4*time.Hour, w, f)
		l := b.loads()
		if len(l) != 3 {
			t.Fatalf("loads %+v; %v", l, b.rules())
		}
		for _, x := range l {
			switch {
			case x.Open > 200:
				marked(t, x, "level point changed")
			case x.Open > 135 && x.Tank != "TK-2" || x.Open < 135 && x.Tank != "TK-1" || len(x.Review) != 0:
				t.Errorf("%+v is by the old point, or marked", x)
			}
		}
		if s := b.tankStatus(1, b.site.Tanks[1]); s.Waits != "" {
			t.Errorf("nothing waits any more, and %q is said", s.Waits)
		}
	})
}

// Who puts right what a level is made of says that the tickets by it are wrong: a load under way is marked, and one that
// is held. One that nobody's change has touched is not.
func TestACorrectedSettingMarksALoadUnderWayAndAHeldOne(t *testing.T) {
	both := wires{"plc/level": inches["plc/level"], "plc/other": {Source: "B", Unit: "in", Scale: 1}}
	for name, c := range map[string]struct {
		after  wires
		change func(*Site)
		mark   string
	}{
		"unit":     {wires{"plc/level": {Source: "A", Unit: "cm", Scale: 1}}, nil, "level unit changed"},
		"scale":    {wires{"plc/level": {Source: "A", Unit: "in", Scale: 0.5}}, nil, "level scale changed"},
		"register": {otherSource, nil, "level source changed"},
		"offset":   {inches, func(s *Site) { s.Tanks[0].Offset = -12 }, "offset changed"},
		"point":    {both, func(s *Site) { s.Tanks[0].Level = "plc/other" }, "level point changed"},
		"name":     {wires{"radar/1": inches["plc/level"]}, func(s *Site) { s.Tanks[0].Level = "radar/1" }, ""},
		"table":    {inches, func(s *Site) { s.Tanks[0].Table = tank.Cylinder(150, 240) }, ""},
		"nothing":  {inches, nil, ""},
	} {
		for when, at := range map[string]time.Duration{"under way": 70 * time.Minute, "held": 145 * time.Minute} {
			t.Run(name+" "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newWired(t, inches, func(s *Site) { s.Hold = 3 * time.Hour })
					f := field{"A": hauled(time.Now().Add(time.Hour))}
					f["B"] = f["A"]
					b.field(at, inches, f)
					if n := len(b.state.held.all); (n == 1) != (when == "held") {
						t.Fatalf("%d held", n)
					}
					b.wired(c.after, c.change)
					b.field(5*time.Hour, c.after, f)
					l := b.loads()
					if len(l) != 1 || l[0].Close < 79.5 || l[0].Close > 80.5 {
						t.Fatalf("loads %+v; %v", l, b.rules())
					}
					if c.mark != "" {
						marked(t, l[0], strings.Split(c.mark, " changed")[0])
						marked(t, l[0], "changed")
					} else if len(l[0].Review) != 0 {
						t.Errorf("review %q", l[0].Review)
					}
				})
			})
		}
	}
}

// The log of a start names what this start finds changed, and not what has waited since before it.
func TestAStartNamesWhatItFindsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newWired(t, inches, nil)
		f := field{"A": hauled(time.Now().Add(time.Hour))}
		b.field(70*time.Minute, inches, f)
		feet := wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}
		b.wired(feet, nil)
		b.field(time.Minute, feet, f)
		for _, c := range []struct {
			w    wires
			says bool
		}{{feet, false}, {wires{"plc/level": {Source: "A", Unit: "cm", Scale: 1}}, true}} {
			site, said := b.site, &strings.Builder{}
			site.OriginOf = c.w.making
			if _, err := New(site, b.box, b.clock, zerolog.New(said)); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(said.String(), "level unit"); got != c.says {
				t.Errorf("the log says %q, want the change in it: %t", said, c.says)
			}
		}
	})
}

// The register dies while a truck loads, and a level is read from another some minutes later: where the pump stood meanwhile the level is as it
// is read. What no pump explains makes the load ask, also where the configuration has gone back since, and is within its error.
func TestALoadAcrossAnotherSourceAsksAlsoWhenItWentBack(t *testing.T) {
	for _, off := range []float64{0, 13, 40} {
		synctest.Test(t, func(t *testing.T) {
			b := newWired(t, inches, nil)
			begin := time.Now()
			part := falling(60, begin.Add(time.Hour), begin.Add(72*time.Minute))
			rest := falling(100, begin.Add(77*time.Minute), begin.Add(91*time.Minute))
			f := field{"A": func(e time.Duration) float64 {
				switch since := time.Since(begin); {
				case since < 72*time.Minute:
					return 110 + part(e)
				case since < 2*time.Hour:
					return 0
				}
				return -100
			}, "B": func(e time.Duration) float64 { return part(e) + rest(e) + 10 + off }}
			b.field(77*time.Minute, inches, f)
			b.wired(otherSource, nil)
			b.field(50*time.Minute, otherSource, f)
			b.wired(inches, nil)
			b.field(6*time.Hour, inches, f)
			l := b.loads()
			if len(l) != 1 {
				t.Fatalf("%g in off: loads %+v; %v", off, l, b.rules())
			}
			marked(t, l[0], "level source changed")
			if truth := 104 * l[0].GaugeBbl / (l[0].Open - l[0].Close); math.Abs(l[0].GaugeBbl-truth) > max(1, l[0].ErrorBbl) || off < 1 && l[0].ErrorBbl > 2 {
				t.Errorf("%g in off: %.1f bbl give or take %.1f, want %.1f", off, l[0].GaugeBbl, l[0].ErrorBbl, truth)
			}
		})
	}
}

package ledger

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
)

// changing is one change of a configuration at a site, and what the truck does about it.
type changing struct {
	before, after wires
	raw           map[string]func(level float64) float64 // what a gauge shows of a level
	now           map[string]func(level float64) float64 // after the change
	change        func(*Site)
	keeps         bool // one number, or the old gauge beside the new one: a load under way needs no review
	compares      bool // the levels before and after can be compared
	twofold       bool // the gauge was changed with the configuration
}

func line(each, more float64) func(float64) float64 {
	return func(level float64) float64 { return each*level + more }
}

// changings are ways of changing a configuration that leave the level right before and after.
func changings(r *rand.Rand) changing {
	a := wires{"plc/level": {Source: "A", Unit: "in", Scale: 1}}
	b := wires{"plc/other": {Source: "B", Unit: "in", Scale: 1}}
	both := wires{"plc/level": a["plc/level"], "plc/other": b["plc/other"]}
	feet := wires{"plc/level": {Source: "A", Unit: "ft", Scale: 1}}
	other := func(s *Site) { s.Tanks[0].Level = "plc/other" }
	in, ft := line(1, 0), line(1./12, 0)
	off := float64(r.IntN(60) - 30)
	switch r.IntN(7) {
	case 0: // another gauge that says the same, give or take
		return changing{before: a, after: b, raw: map[string]func(float64) float64{"A": in, "B": line(1, r.Float64()-0.5)}, change: other}
	case 1: // another gauge that is off, beside the old one
		return changing{before: both, after: both, raw: map[string]func(float64) float64{"A": in, "B": line(1, off)}, change: other, keeps: true}
	case 2: // the same with an offset that puts it right
		return changing{before: both, after: both, raw: map[string]func(float64) float64{"A": in, "B": line(1, off)}, keeps: true,
			change: func(s *Site) { other(s); s.Tanks[0].Offset = tank.Length(-off) }}
	case 3: // the gauge and the configuration are set from feet to inches
		return changing{before: feet, after: a, raw: map[string]func(float64) float64{"A": ft}, now: map[string]func(float64) float64{"A": in}, twofold: true, compares: true}
	case 4: // in percent, and the height and the span of the gauge are changed
		return changing{before: percent, after: percent, raw: map[string]func(float64) float64{"A": line(100./240, 0)}, now: map[string]func(float64) float64{"A": line(100./300, 0)},
			change: func(s *Site) { s.Tanks[0].Height = 300 }, twofold: true, compares: true}
	case 5: // a table
		return changing{before: a, after: a, raw: map[string]func(float64) float64{"A": in}, keeps: true, compares: true,
			change: func(s *Site) { s.Tanks[0].Table = tank.Cylinder(144, 300) }}
	}
	// an offset that was forgotten
	return changing{before: a, after: a, raw: map[string]func(float64) float64{"A": in}, keeps: true, compares: true,
		change: func(s *Site) { s.Tanks[0].Offset = tank.Length(off) }}
}

// However a configuration is changed, and wherever a load lies beside it: no ticket is made of the change alone, none is
// made twice, and one that is off says that it needs a review.
func TestManyChangesOfTheSetting(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { oneChange(t, seed) }) })
	}
}

func oneChange(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 11))
	c := changings(r)
	begin := time.Now()
	stop := time.Hour + time.Duration(r.IntN(600))*time.Second
	start := stop + time.Duration(10+r.IntN(1+[]int{60, 600, 7200}[r.IntN(3)]))*time.Second
	pumped := stop + time.Duration(r.IntN(150)-60)*time.Minute // where the load begins
	none := r.IntN(4) == 0
	level := func() float64 {
		if none {
			return 180
		}
		return 180 - 4*min(max(time.Since(begin)-pumped, 0), 25*time.Minute).Minutes()
	}
	shown := func(raw map[string]func(float64) float64) field {
		f := field{}
		for source, of := range raw {
			f[source] = func(time.Duration) float64 { return of(level()) }
		}
		return f
	}
	b := newWired(t, c.before, nil)
	b.field(stop, c.before, shown(c.raw))
	pass(start - stop)
	b.wired(c.after, c.change)
	if c.now == nil {
		c.now = c.raw
	}
	b.field(5*time.Hour, c.after, shown(c.now))

	l, said := b.loads(), strings.Join(b.notes("config-changed"), "\n")
	across := !none && pumped < start+2*time.Minute && pumped+30*time.Minute > stop
	told := strings.Contains(said, "nobody can explain")
	marked := len(l) == 1 && strings.Contains(strings.Join(l[0].Review, ";"), "changed between")
	text := fmt.Sprintf("%+v\nfrom %s to %s away, load at %s; %+v\n%s\n%v", c, stop, start, pumped, l, said, b.rules())
	switch {
	case none && len(l) != 0:
		t.Errorf("a ticket of nothing: %s", text)
	case none:
	case len(l) > 1:
		t.Errorf("%d tickets of one load: %s", len(l), text)
	case len(l) == 0 && (!across || !told):
		t.Errorf("a load was lost: %s", text)
	case len(l) == 1 && math.Abs(l[0].Open-l[0].Close-100) > 2 && !marked:
		t.Errorf("%.1f in, want 100, and nobody has to look at it: %s", l[0].Open-l[0].Close, text)
	case !across && marked:
		t.Errorf("a load before or after the change needs a review: %s", text)
	case across && c.keeps && len(l) == 1 && marked && pumped+5*time.Minute < stop && pumped+20*time.Minute > start && start-stop < 5*time.Minute:
		t.Errorf("one gauge saw the load, and it needs a review: %s", text)
	}
}

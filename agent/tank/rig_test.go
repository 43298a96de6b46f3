package tank

import (
	"fmt"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// The words of the detector's tests: a rig is a Site with true wells, whose levels it reads, feeds and stores, as the ledger
// does; a label is a load as it truly was; a seen is a sensor's fault; only names the events that there may be.

// seen turns a true level at a time into the sensor's value; false: it sends none.
type seen func(tank int, t, v float64) (float64, bool)

// rig feeds a site and keeps what comes out, as the ledger does.
type rig struct {
	t      *testing.T
	site   Site
	wells  []tanktest.Well
	every  float64                 // s
	speed  float64                 // of the site; 0 is 1
	sensor seen                    // nil: what it is
	clock  func(t float64) float64 // error of the wall clock, s; nil: none
	side   func(r *rig, t float64) // other inputs, before the level; nil: none
	ticks  bool

	st       State
	stored   []byte
	boot     int64
	box      int64 // not 0: only the program is killed, and Mono goes on
	booted   float64
	loads    []Load
	events   []Event
	verdicts []Verdict
	told     []float64 // when each load came out

	corrections []Correction
}

func testTable(t testing.TB) Table {
	tab, err := NewTable(tanktest.Rows())
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// newRig is a rig of plain tanks of 20 ft, polled each 10 s by a good radar.
func newRig(t *testing.T, wells ...tanktest.Well) *rig {
	tanks := make([]Tank, len(wells))
	for i := range tanks {
		tanks[i] = Tank{ID: fmt.Sprintf("TK-%d", i+1), Sensor: "radar", Height: 240, Table: testTable(t), Every: 10 * time.Second}
	}
	return &rig{t: t, site: testSite(t, tanks), wells: wells, every: 10, speed: 1}
}

func testSite(t testing.TB, tanks []Tank) Site {
	s, err := NewSite(tanks)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run plays the time from one site second to another.
func (r *rig) run(from, to float64) {
	r.t.Helper()
	for t := from; t < to; t += r.every {
		if r.side != nil {
			r.side(r, t)
		}
		for i, w := range r.wells {
			v, there := tanktest.Radar(i, t, w.Level(t)), true
			if r.sensor != nil {
				v, there = r.sensor(i, t, v)
			}
			if there {
				r.feed(t, Input{Kind: Level, Tank: i, Value: v, Good: true})
			}
		}
		if r.ticks {
			r.feed(t, Input{Kind: Tick})
		}
	}
}

func (r *rig) feed(t float64, in Input) {
	r.t.Helper()
	off := 0.0
	if r.clock != nil {
		off = r.clock(t)
	}
	real := t / r.speed
	in.At = tanktest.Start.Add(time.Duration((real + off) * 1e9))
	in.Mono, in.Boot = time.Duration((real-r.booted)*1e9), r.boot
	in.Box = r.box
	mark := r.st.Mark()
	st, out := r.site.Next(r.st, in)
	r.st = st
	if st.Mark() != mark {
		b, err := st.MarshalBinary()
		if err != nil {
			r.t.Fatal(err)
		}
		r.stored = b
	} else if len(out) > 0 {
		r.t.Fatalf("%d outcomes at %v s without a growth of the mark", len(out), t)
	}
	for _, o := range out {
		switch {
		case o.Load != nil:
			r.notTwice(*o.Load)
			r.loads, r.told = append(r.loads, *o.Load), append(r.told, t)
		case o.Event != nil:
			r.events = append(r.events, *o.Event)
		case o.Verdict != nil:
			r.verdicts = append(r.verdicts, *o.Verdict)
		default:
			r.corrections = append(r.corrections, *o.Correction)
		}
	}
}

// notTwice asks that what a tank gave is in one ticket only: a load begins where the one before it ended, or later. The tanks of a group even out behind each.
func (r *rig) notTwice(l Load) {
	r.t.Helper()
	for _, x := range r.loads {
		if x.Tank == l.Tank && r.site.tanks[0].Group == "" && l.Open > x.Close+1 && x.Open > l.Close+1 && l.Start.Before(x.End.Add(-time.Second)) && x.Start.Before(l.End.Add(-time.Second)) {
			r.t.Errorf("%.1f to %.1f in at %v to %v is in the load of %.1f to %.1f in at %v to %v too", l.Open, l.Close, l.Start, l.End, x.Open, x.Close, x.Start, x.End)
		}
	}
}

// reload stores the state and goes on from what was stored.
func (r *rig) reload() {
	r.t.Helper()
	b, err := r.st.MarshalBinary()
	r.st = State{}
	if err == nil {
		err = r.st.UnmarshalBinary(b)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// kill loses what was not stored and boots again.
func (r *rig) kill(t float64) {
	r.t.Helper()
	r.boot++
	if r.box == 0 {
		r.booted = t / r.speed
	}
	var st State
	if err := st.UnmarshalBinary(r.stored); err != nil {
		r.t.Fatal(err)
	}
	r.st = st
}

// at is the wall clock of a site second.
func (r *rig) at(t float64) time.Time { return tanktest.Start.Add(time.Duration(t / r.speed * 1e9)) }

// label is a true load.
type label struct{ start, end, open, close, inflow float64 }

func labelOf(w tanktest.Well, first, last tanktest.Move) label {
	return label{first.From, last.End(), w.Level(first.From), w.Level(last.End()), w.Inflow * (last.End() - first.From) / 86400}
}

// matches checks that the loads are the labels: levels to in, times to s, barrels to the two levels.
func (r *rig) matches(in, s float64, want ...label) {
	r.t.Helper()
	if len(r.loads) != len(want) {
		r.t.Fatalf("%d loads, want %d: %+v", len(r.loads), len(want), r.loads)
	}
	for i, w := range want {
		l := r.loads[i]
		if math.Abs(l.Open-w.open) > in || math.Abs(l.Close-w.close) > in {
			r.t.Errorf("load %d: %.3f to %.3f in, want %.3f to %.3f", i, l.Open, l.Close, w.open, w.close)
		}
		if math.Abs(l.GaugeBbl-(w.open-w.close)*tanktest.PerInch) > 2*in*tanktest.PerInch {
			r.t.Errorf("load %d: %.2f bbl, want %.2f", i, l.GaugeBbl, (w.open-w.close)*tanktest.PerInch)
		}
		ds, de := l.Start.Sub(r.at(w.start)).Seconds()*r.speed, l.End.Sub(r.at(w.end)).Seconds()*r.speed
		if math.Abs(ds) > s || math.Abs(de) > s {
			r.t.Errorf("load %d: start %+.0f s, end %+.0f s off", i, ds, de)
		}
		if math.Abs(l.InflowBbl-w.inflow) > 0.5+0.2*w.inflow {
			r.t.Errorf("load %d: inflow %.2f bbl, want %.2f", i, l.InflowBbl, w.inflow)
		}
	}
}

// rules counts the events of each rule, and checks that each names its tank.
func (r *rig) rules() map[string]int {
	r.t.Helper()
	out := map[string]int{}
	for _, e := range r.events {
		out[e.Rule]++
		if want := "tank " + e.Tank + ": "; len(e.Note) < len(want) || e.Note[:len(want)] != want || len(e.Note) > 500 {
			r.t.Errorf("note %q does not begin with %q, or is too long", e.Note, want)
		}
		if e.End.Before(e.Start) {
			r.t.Errorf("event %+v ends before it starts", e)
		}
	}
	return out
}

// only checks that the events are of these rules, once each.
func (r *rig) only(rules ...string) {
	r.t.Helper()
	got := r.rules()
	for _, x := range rules {
		if got[x] != 1 {
			r.t.Errorf("%d events %q, want 1: %+v", got[x], x, r.events)
		}
		delete(got, x)
	}
	if len(got) > 0 {
		r.t.Errorf("events that nothing called for: %+v", r.events)
	}
}

// inflowIs wants one load, and an inflow of some barrels over it: off by no more than so many, nor than it says, which is at most so much.
func (r *rig) inflowIs(name string, came, off, most float64) {
	r.t.Helper()
	if len(r.loads) != 1 {
		r.t.Errorf("%s: want one load: %+v", name, r.loads)
		return
	}
	l := r.loads[0]
	if by := math.Abs(l.InflowBbl - came); by > off || by > l.InflowErrorBbl || l.InflowErrorBbl > most {
		r.t.Errorf("%s: want an inflow of %.1f: %.1f, give or take %.1f", name, came, l.InflowBbl, l.InflowErrorBbl)
	}
}

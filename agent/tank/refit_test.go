package tank

import (
	"bytes"
	"encoding/json"
	"testing"

	"gauger/agent/tank/codec"
	"gauger/agent/tank/tanktest"
)

func TestAChangedOffsetIsNoMovement(t *testing.T) {
	for _, by := range []float64{12, -12, 0.5} {
		r := newRig(t, aWell)
		change := aLoad.From - 900
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			if s >= change {
				v += by
			}
			return v, true
		}
		r.run(0, change)
		r.st = r.st.Converted(0, Conversion{1, by}, Conversion{1, by})
		raw, err := r.st.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		r.stored = raw
		r.kill(change)
		r.run(change+30, 6*tanktest.Hour)
		want := labelOf(aWell, aLoad, aLoad)
		want.open, want.close = want.open+by, want.close+by
		r.matches(0.06, 20, want)
		r.only()
	}
}

func TestTanksThatChangePlacesKeepTheirStates(t *testing.T) {
	r := newRig(t, aWell, tanktest.Well{Level0: 60, Inflow: 20})
	half := aLoad.From + 600
	r.run(0, half)
	r.st = r.st.Arranged([]int{1, 0})
	r.wells[0], r.wells[1] = r.wells[1], r.wells[0]
	r.run(half, 6*tanktest.Hour)
	r.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	if r.loads[0].Tank != "TK-2" {
		t.Errorf("the load is of %s, want TK-2", r.loads[0].Tank)
	}
	r.only()
	st := r.st.Arranged([]int{-1, 0, 7})
	if failed := tanktest.Failed(map[string]bool{
		"first":  st.Phase(0) != "waiting",
		"second": st.Phase(1) != "idle",
		"third":  st.Phase(2) != "waiting",
		"mark":   st.Mark() <= r.st.Mark(),
	}); failed != "" {
		t.Errorf("%s: phases %s %s %s", failed, st.Phase(0), st.Phase(1), st.Phase(2))
	}
}

func TestATableIsTheSameAfterItWasStored(t *testing.T) {
	strap := testTable(t)
	for _, tab := range []Table{strap, Cylinder(144, 240)} {
		b, err := json.Marshal(tab)
		var back Table
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || !back.Same(tab) {
			t.Errorf("%s came back as %+v (%v)", b, back, err)
		}
	}
	if strap.Same(Cylinder(144, 240)) {
		t.Error("two tables are not the same")
	}
	if err := json.Unmarshal([]byte(`{"rows":[[0,0]]}`), new(Table)); err == nil {
		t.Error("a table of one row was taken")
	}
}

// A state of the format before, which had no reported loads, is read as it was.
func TestTheFormatBeforeIsRead(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, aLoad.From+600)
	slim := r.st.trimmed()
	a := archive{codec.Write(1)}
	a.state(&slim)
	var st State
	stored, err := a.Bytes()
	if err == nil {
		err = st.UnmarshalBinary(stored)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.stored = stored
	r.kill(aLoad.From + 600)
	r.run(aLoad.From+630, 6*tanktest.Hour)
	r.matches(0.06, 30, labelOf(aWell, aLoad, aLoad))
}

// A tank goes over to another instance of the program, whose time began earlier or later, at any moment of a load: it is there as if
// that had watched it all the time, to the byte, and the load comes out once.
func TestATankGoesOverToAnotherInstance(t *testing.T) {
	quiet := tanktest.Well{Level0: 60, Inflow: 20}
	only := func(k int, from float64) seen {
		return func(i int, at, v float64) (float64, bool) { return v, i == k && at >= from || i != k && k < 0 }
	}
	bytesOf := func(ts tankState) []byte {
		ts.stored = storedMarks{} // they go by when the site was stored
		a := archive{codec.Write(stateFormat)}
		a.tank(&ts)
		b, err := a.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for _, zero := range []float64{-7200, 1800} {
		for at := aLoad.From - 600; at < aLoad.End()+3000; at += 700 {
			theirs, ours, both := newRig(t, aWell, quiet), newRig(t, aWell, quiet), newRig(t, aWell, quiet)
			theirs.sensor, ours.sensor = only(0, 0), only(1, zero)
			both.sensor = func(i int, at, v float64) (float64, bool) { return v, i == 0 && at >= 0 || i == 1 && at >= zero }
			for _, r := range []*rig{theirs, ours, both} {
				r.ticks = true
			}
			theirs.run(0, at)
			ours.run(zero, at)
			both.run(min(0, zero), at)
			st, err := ours.st.Joined(theirs.st, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			st = st.Arranged([]int{2, 1})
			if !bytes.Equal(bytesOf(*st.tanks[0]), bytesOf(*both.st.tanks[0])) {
				t.Fatalf("at %.0f, begun at %.0f: the tank is not what it was", at, zero)
			}
			ours.sensor, ours.st = nil, st
			if ours.stored, err = st.MarshalBinary(); err != nil {
				t.Fatal(err)
			}
			ours.kill(at)
			ours.run(at+60, 6*tanktest.Hour)
			both.sensor = nil
			both.run(at, 6*tanktest.Hour)
			near(t, at, append(theirs.loads, ours.loads...), both.loads)
		}
	}
}

// Into an instance that has begun nothing yet the first tank brings its time; what has no time goes nowhere.
func TestATankGoesOverToANewInstance(t *testing.T) {
	r := newRig(t, aWell)
	half := aLoad.From + 600
	r.run(0, half)
	fresh := newRig(t, tanktest.Well{Level0: 60}, aWell)
	if _, err := (State{}).Joined(State{}, 0, 1); err == nil {
		t.Error("a tank of which nothing is known went over")
	}
	st, err := State{}.Joined(r.st, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh.st, fresh.booted = st.Arranged([]int{-1, 0}), r.booted
	fresh.run(half, 6*tanktest.Hour)
	fresh.matches(0.06, 20, labelOf(aWell, aLoad, aLoad))
	if fresh.loads[0].Tank != "TK-2" {
		t.Errorf("the load is of %s, want TK-2", fresh.loads[0].Tank)
	}
}

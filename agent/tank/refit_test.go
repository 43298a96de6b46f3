package tank

import (
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

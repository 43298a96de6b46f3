package tank

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// two are a site of two tanks, each with a draw, and where they stand.
func two(t *testing.T) (Site, State) {
	t.Helper()
	site := testSite(t, []Tank{{ID: "A", Height: 240, Table: testTable(t)}, {ID: "B", Height: 240, Table: testTable(t)}})
	var st State
	for n := range 700 {
		at := time.Duration(n) * 10 * time.Second
		for i := range 2 {
			st, _ = site.Next(st, Input{Tank: i, Value: aWell.Level(at.Seconds()) + float64(i), Good: true, At: tanktest.Start.Add(at), Mono: at})
		}
	}
	return site, st
}

// TestANumberThatIsNoneCostsOneTank: whether this version is about to store it or an older one has, the other tanks' states
// are read again as they were.
func TestANumberThatIsNoneCostsOneTank(t *testing.T) {
	_, whole := two(t)
	raw, err := whole.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	spoil := map[string]func(ts *tankState){
		"noise": func(ts *tankState) { ts.noise.sigma = math.NaN() },
		"a level": func(ts *tankState) {
			ts.levels.recent = append(ts.levels.recent[:0:0], sample{t: ts.last.t, v: float32(math.Inf(1))})
		},
		"a figure": func(ts *tankState) { ts.aux.values[topAt] = []point{{ts.last.t, math.Inf(-1)}} },
	}
	check := func(name string, b []byte, err error) {
		t.Helper()
		var back State
		if err == nil {
			err = back.UnmarshalBinary(b)
		}
		if err != nil || len(back.tanks) != 2 {
			t.Fatalf("%s: %v", name, err)
		}
		if back.tanks[1].seen || back.tanks[0].last != whole.tanks[0].last || len(back.tanks[0].levels.recent) == 0 || back.Mark() != whole.Mark() {
			t.Errorf("%s: B %+v, A last %+v", name, back.tanks[1].last, back.tanks[0].last)
		}
	}
	for name, change := range spoil {
		st := whole.cloned(2)
		ts := *st.tanks[1]
		change(&ts)
		st.tanks[1] = &ts
		b, err := st.MarshalBinary()
		check(name, b, err)
	}
	// What the version before wrote: the newest believed level of B, of which nothing else has the bits.
	level := binary.LittleEndian.AppendUint64(nil, math.Float64bits(whole.tanks[1].last.v))
	if bytes.Count(raw, level) == 0 {
		t.Fatal("the state does not hold the level of B")
	}
	check("of before", bytes.Replace(raw, level, binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(1))), 1), nil)
}

// TestFiguresBeyondMeasureAreNone: a temperature, a gravity or a percentage of 1.7e308 is a fault, and an interface above
// the shell too; a contact may be any number.
func TestFiguresBeyondMeasureAreNone(t *testing.T) {
	site, st := two(t)
	now := 7000 * time.Second
	for _, kind := range []Kind{TopTemperature, BottomTemperature, Gravity, BSW, Interface} {
		for _, v := range []float64{1.7e308, -1.7e308, 2e6, math.NaN(), math.Inf(1)} {
			st, _ = site.Next(st, Input{Kind: kind, Value: v, Good: true, At: tanktest.Start.Add(now), Mono: now})
		}
	}
	ts := st.tanks[0]
	if len(ts.aux.water) != 0 || len(ts.aux.values[topAt])+len(ts.aux.values[bottomAt])+len(ts.aux.values[gravityAt])+len(ts.aux.values[bswAt]) != 0 {
		t.Errorf("kept: water %v, others %v", ts.aux.water, ts.aux.values)
	}
	for i, kind := range []Kind{TopTemperature, BottomTemperature, Gravity, BSW, Interface} {
		st, _ = site.Next(st, Input{Kind: kind, Value: 70 + float64(i), Good: true, At: tanktest.Start.Add(now), Mono: now})
	}
	st, _ = site.Next(st, Input{Kind: Valve, Value: 4294967295, Good: true, At: tanktest.Start.Add(now), Mono: now})
	ts = st.tanks[0]
	if len(ts.aux.water) != 1 || ts.aux.values[topAt][0].v != 70 || ts.aux.values[valveAt][0].v != 1 {
		t.Errorf("not kept: water %v, others %v", ts.aux.water, ts.aux.values)
	}
}

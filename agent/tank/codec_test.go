package tank

import (
	"bytes"
	"encoding/binary"
	"math"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"gauger/agent/tank/tanktest"
)

// size of a tank's state in memory, bytes.
func (ts *tankState) size() int {
	n := int(unsafe.Sizeof(*ts)) + 16*(cap(ts.levels.recent)+cap(ts.levels.history)+cap(ts.aux.water)) + 8*cap(ts.firstSeen)
	for _, o := range ts.aux.values {
		n += 16 * cap(o)
	}
	return n
}

// Thirty days of a busy tank, every kind of point wired, a load each day: 64 KiB at most
// in memory at any time, and some KiB stored.
func TestThirtyDaysAreBounded(t *testing.T) {
	w := tanktest.Well{Level0: 180, Inflow: 180}
	for d := range 30 {
		w.Moves = append(w.Moves, tanktest.Move{From: float64(d)*86400 + 8*tanktest.Hour, Bbl: 178, Rate: 6}, tanktest.Move{From: float64(d)*86400 + 20*tanktest.Hour, Bbl: 4, Rate: 2})
	}
	r := newRig(t, w)
	r.every, r.site.tanks[0].Every = 20, 20*time.Second
	r.site.tanks[0].Interface, r.site.tanks[0].Valve = true, true
	most, stored := 0, 0
	r.side = func(r *rig, s float64) {
		for k := TopTemperature; k < Tick; k++ {
			v := 60 + math.Mod(s, 997)
			switch k {
			case Interface:
				v = 10 + math.Mod(s, 3)/10
			case Valve:
				v = 0
			}
			r.feed(s, Input{Kind: k, Value: v, Good: true})
		}
		if len(r.st.tanks) > 0 {
			most = max(most, r.st.tanks[0].size())
		}
		stored = max(stored, len(r.stored))
	}
	r.run(0, 30*86400)
	if len(r.loads) != 30 {
		t.Errorf("%d loads in 30 days, want 30", len(r.loads))
	}
	if most > 64<<10 || most < 16<<10 {
		t.Errorf("%d bytes of state, want at most 64 KiB", most)
	}
	if stored > 13<<10 || stored < 1<<10 {
		t.Errorf("%d bytes stored, want at most 13 KiB", stored)
	}
	t.Logf("%d bytes in memory, %d stored, mark %d", most, stored, r.st.Mark())
}

// A week in which nothing moves is stored twice an hour, and now and then at a hint that was none.
func TestQuietWeekIsSeldomStored(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 120})
	r.every, r.site.tanks[0].Every = 30, 30*time.Second
	r.run(0, 7*86400)
	if most := uint64(7*24*2 + 30); r.st.Mark() > most {
		t.Errorf("the mark grew %d times in a week, want at most %d", r.st.Mark(), most)
	}
	r.only()
}

// A second's poll for half a day fits as well.
func TestSecondsAreBounded(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 150, Inflow: 100, Moves: []tanktest.Move{{From: 2 * tanktest.Hour, Bbl: 250, Rate: 1.2}}})
	r.every, r.site.tanks[0].Every = 1, time.Second
	most := 0
	r.side = func(r *rig, s float64) {
		if len(r.st.tanks) > 0 {
			most = max(most, r.st.tanks[0].size())
		}
	}
	r.run(0, 8*tanktest.Hour)
	r.matches(0.06, 30, labelOf(r.wells[0], r.wells[0].Moves[0], r.wells[0].Moves[0]))
	if most > 64<<10 {
		t.Errorf("%d bytes of state, want at most 64 KiB", most)
	}
}

// One load a day at a 10 s poll with its temperature, on one core.
func BenchmarkNext(b *testing.B) {
	w := tanktest.Well{Level0: 180, Inflow: 180}
	for d := range 400 {
		w.Moves = append(w.Moves, tanktest.Move{From: float64(d)*86400 + 8*tanktest.Hour, Bbl: 178, Rate: 6})
	}
	const day = 8640
	in := make([]Input, 0, 2*day)
	for k := range day {
		s := float64(k) * 10
		v := tanktest.Radar(0, s, tanktest.Well{Level0: 180, Inflow: 180, Moves: w.Moves[:1]}.Level(s))
		in = append(in, Input{Kind: Level, Value: v, Good: true}, Input{Kind: TopTemperature, Value: 60 + s/7200, Good: true})
	}
	site := testSite(b, []Tank{{ID: "A", Height: 240, Table: testTable(b), Every: 10 * time.Second}})
	runtime.GC()
	b.ReportAllocs()
	var st State
	for n := range b.N {
		x := in[n%len(in)]
		at := time.Duration(n/2) * 10 * time.Second
		x.At, x.Mono = tanktest.Start.Add(at), at
		st, _ = site.Next(st, x)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "readings/s")
}

func BenchmarkMarshal(b *testing.B) {
	site := testSite(b, []Tank{{ID: "A", Height: 240, Table: testTable(b), Every: 10 * time.Second}})
	var st State
	for n := range 1700 { // in the middle of a load
		at := time.Duration(n) * 10 * time.Second
		st, _ = site.Next(st, Input{Kind: Level, Value: tanktest.Radar(0, at.Seconds(), aWell.Level(at.Seconds())), Good: true, At: tanktest.Start.Add(at), Mono: at})
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		raw, err := st.MarshalBinary()
		if err != nil {
			b.Fatal(err)
		}
		n = len(raw)
	}
	b.ReportMetric(float64(n), "bytes")
}

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
		if failed := tanktest.Failed(map[string]bool{
			"B is read":       back.tanks[1].seen,
			"last level of A": back.tanks[0].last != whole.tanks[0].last,
			"levels of A":     len(back.tanks[0].levels.recent) == 0,
			"mark":            back.Mark() != whole.Mark(),
		}); failed != "" {
			t.Errorf("%s: %s: B %+v, A last %+v", failed, name, back.tanks[1].last, back.tanks[0].last)
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

// However often a level seems to begin to fall before anything is decided, the state can be read again.
func TestManyBeginningsCanBeStored(t *testing.T) {
	var p drawPhase
	for i := range 3 * firstSeenMost {
		p.noteFirstSeen(float64(i))
	}
	if n := len(p.firstSeen); n != firstSeenMost || p.firstSeen[0] != 0 || p.firstSeen[n-1] != 3*firstSeenMost-1 {
		t.Errorf("%d are remembered, %v", n, p.firstSeen)
	}
}

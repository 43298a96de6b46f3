package tank

import (
	"math"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"gauger/agent/tank/tanktest"
)

// size is what a tank's state holds in memory, bytes.
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
	if stored > 12<<10 || stored < 1<<10 {
		t.Errorf("%d bytes stored, want at most 12 KiB", stored)
	}
	t.Logf("%d bytes in memory, %d stored, mark %d", most, stored, r.st.Mark())
}

// A week in which nothing moves is stored four times an hour, and now and then at a hint that was none.
func TestQuietWeekIsSeldomStored(t *testing.T) {
	r := newRig(t, tanktest.Well{Level0: 120})
	r.every, r.site.tanks[0].Every = 30, 30*time.Second
	r.run(0, 7*86400)
	if most := uint64(7*24*4 + 30); r.st.Mark() > most {
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

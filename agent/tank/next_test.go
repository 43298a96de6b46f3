package tank

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gauger/agent/tank/stats"
	"gauger/agent/tank/tanktest"
)

// wild makes inputs of bytes: most are plausible, some are anything at all.
func wild(b []byte) (Input, []byte) {
	in := Input{Kind: Kind(b[0] & 15), Tank: int(int8(b[1])) % 4, Good: b[2]&7 != 0}
	real := time.Duration(binary.LittleEndian.Uint16(b[3:])) * time.Second
	in.Mono, in.At = real, tanktest.Start.Add(real)
	in.Value = float64(binary.LittleEndian.Uint16(b[5:])) / 256
	switch b[7] & 31 {
	case 1:
		in.Value = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 9999, 0}[int(b[5])%7]
	case 2:
		in.Mono = time.Duration(binary.LittleEndian.Uint64(b))
	case 3:
		in.At = time.Unix(int64(binary.LittleEndian.Uint64(b)), 0)
	case 4:
		in.Boot = int64(b[5])
	case 5:
		in.At = time.Time{}
	case 6:
		in.At = in.At.Add(time.Duration(int8(b[6])) * time.Hour)
	}
	return in, b[8:]
}

// Whatever comes, Next gives an answer, and every number in it is one; what it wants stored
// can be stored and read back.
func FuzzNext(f *testing.F) {
	f.Add([]byte("01234567abcdefgh"))
	var load []byte
	for k := range 900 { // a load, an hour of rest, and ticks
		level := 200.0 - stats.Clamp(float64(k-200)*0.5, 0, 100)
		row := [8]byte{0, 0, 1}
		binary.LittleEndian.PutUint16(row[3:], uint16(k*20))
		binary.LittleEndian.PutUint16(row[5:], uint16(level*256)+uint16(k%3))
		load = append(load, row[:]...)
		if k%9 == 0 {
			row[0] = byte(Tick)
			load = append(load, row[:]...)
		}
	}
	f.Add(load)
	tab := testTable(f)
	site := testSite(f, []Tank{
		{ID: "A", Height: 240, Table: tab, Interface: true, Every: 20 * time.Second}, {ID: "B", Height: 240, Table: tab, Group: "g", Sensor: "hydrostatic"},
		{ID: "C", Height: 240, Table: tab, Group: "g", Valve: true, OpeningClosing: true}, {ID: "D", Height: 240, Table: tab, Lact: true},
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		for len(b) >= 8 {
			var in Input
			in, b = wild(b)
			next, out := site.Next(st, in)
			sane(t, out)
			if next.Mark() < st.Mark() || len(out) > 0 && next.Mark() == st.Mark() {
				t.Fatalf("mark %d after %d, %d outcomes", next.Mark(), st.Mark(), len(out))
			}
			if next.Mark() != st.Mark() {
				stores(t, next)
			}
			st = next
		}
	})
}

func sane(t *testing.T, out []Outcome) {
	t.Helper()
	for _, o := range out {
		if c := o.Correction; c != nil && o.Load == nil && o.Event == nil {
			if c.Tank == "" || c.Note == "" && c.Start.IsZero() || len(c.Note) > 300 {
				t.Fatalf("correction %+v", c)
			}
			continue
		}
		if v := o.Verdict; v != nil && o.Load == nil && o.Event == nil {
			if failed := tanktest.Failed(map[string]bool{
				"what":  v.What == "",
				"tank":  v.Tank == "",
				"why":   v.Why == "",
				"times": v.End.Before(v.Start),
				"bbl":   !stats.Finite(v.Bbl),
				"open":  !stats.Finite(v.Open),
				"close": !stats.Finite(v.Close),
			}); failed != "" {
				t.Fatalf("%s: verdict %+v", failed, v)
			}
			continue
		}
		if (o.Load == nil) == (o.Event == nil) || o.Verdict != nil || o.Correction != nil {
			t.Fatalf("outcome %+v is not one of the four", o)
		}
		if e := o.Event; e != nil {
			if failed := tanktest.Failed(map[string]bool{
				"rule":      e.Rule == "",
				"tank":      e.Tank == "",
				"no note":   e.Note == "",
				"long note": len(e.Note) > 500,
			}); failed != "" {
				t.Fatalf("%s: event %+v", failed, e)
			}
			continue
		}
		l := o.Load
		for _, v := range []float64{l.Open, l.Close, l.GaugeBbl, l.RemovedBbl, l.InflowBbl, l.Rate, l.Sigma, l.Confidence, l.ErrorBbl, l.GroupBbl} {
			if !stats.Finite(v) {
				t.Fatalf("load %+v holds a number that is none", l)
			}
		}
		if failed := tanktest.Failed(map[string]bool{
			"times":              l.End.Before(l.Start),
			"confidence below 0": l.Confidence < 0,
			"confidence above 1": l.Confidence > 1,
			"removed":            l.RemovedBbl < 25,
		}); failed != "" {
			t.Fatalf("%s: load %+v", failed, l)
		}
	}
}

func stores(t *testing.T, st State) {
	t.Helper()
	raw, err := st.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := back.UnmarshalBinary(raw); err != nil {
		t.Fatalf("reading back what was stored: %v", err)
	}
	if again, err := back.MarshalBinary(); err != nil || back.Mark() != st.Mark() || len(again) > len(raw)+64 {
		t.Fatalf("stored again: %v, %d bytes after %d", err, len(again), len(raw))
	}
}

// A stored state that was damaged is refused or is one that can go on.
func FuzzState(f *testing.F) {
	site := testSite(f, []Tank{{ID: "A", Height: 240, Table: testTable(f)}})
	var st State
	for n := range 1600 {
		at := time.Duration(n) * 10 * time.Second
		st, _ = site.Next(st, Input{Value: aWell.Level(at.Seconds()), Good: true, At: tanktest.Start.Add(at), Mono: at})
	}
	raw, err := st.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	f.Add([]byte{stateFormat})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var st State
		if st.UnmarshalBinary(b) != nil {
			return
		}
		for n := range 40 {
			at := time.Duration(20000+n*60) * time.Second
			st, _ = site.Next(st, Input{Kind: Level, Value: 100 + float64(n%3), Good: true, At: tanktest.Start.Add(at), Mono: at})
		}
		if _, err := st.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestDamagedStatesAreRefused(t *testing.T) {
	r := newRig(t, aWell)
	r.run(0, 5*tanktest.Hour)
	for n := range r.stored {
		if err := new(State).UnmarshalBinary(r.stored[:n]); err == nil {
			t.Fatalf("a state cut to %d of %d bytes was taken", n, len(r.stored))
		}
	}
}

// Whatever faults come together - kills, silences, false echoes, error codes, steps of the
// clock, a poll that changes - each load comes out exactly once, with its barrels.
func TestFaultsTogether(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 1))
		between := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
		w := tanktest.Well{Level0: between(175, 190), Inflow: between(10, 50)}
		for d := range 2 {
			w.Moves = append(w.Moves, tanktest.Move{From: float64(d)*24*tanktest.Hour + between(4, 16)*tanktest.Hour, Bbl: between(60, 150), Rate: between(3, 9)})
		}
		r := newRig(t, w)
		r.ticks = seed%2 == 0
		r.every = []float64{5, 10, 20, 30}[rng.IntN(4)]
		silence := map[int]bool{}
		for range 12 {
			for k, from := 0, rng.IntN(48*60); k < 6; k++ {
				silence[from+k] = true
			}
		}
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			switch h := rand.New(rand.NewPCG(seed, uint64(s))).IntN(1000); {
			case silence[int(s/60)]:
				return 0, false
			case h < 3:
				return []float64{9999, math.NaN(), 0}[h], true
			case h < 6:
				return math.Max(0, v-between(20, 60)), true
			}
			return v, true
		}
		stepAt, step := between(0, 40*tanktest.Hour), between(-4000, 4000)
		r.clock = func(s float64) float64 {
			if s < stepAt {
				return -step
			}
			return 0
		}
		s := 0.0
		for s < 48*tanktest.Hour {
			next := s + between(600, 30000)
			r.run(s, math.Min(next, 48*tanktest.Hour))
			s = next + r.every
			r.kill(s)
		}
		r.soaked(seed, w)
	}
}

// soaked checks that each move is one load of its barrels.
func (r *rig) soaked(seed uint64, w tanktest.Well) {
	r.t.Helper()
	if len(r.loads) != len(w.Moves) {
		r.t.Errorf("seed %d: %d loads, want %d: %+v", seed, len(r.loads), len(w.Moves), r.loads)
		return
	}
	for i, m := range w.Moves {
		l, want := r.loads[i], labelOf(w, m, m)
		gauge := (want.open - want.close) * tanktest.PerInch
		if off := math.Abs(l.GaugeBbl - gauge); off > math.Max(1, 0.01*gauge) && len(l.Review) == 0 || off > 8 {
			r.t.Errorf("seed %d, load %d: %.2f bbl, want %.2f, review %q", seed, i, l.GaugeBbl, gauge, l.Review)
		}
	}
}

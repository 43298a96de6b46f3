package tank

import (
	"math"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// swings is a pressure sensor beside a compressor: an inch up and down each two minutes.
func swings(int, t, v float64) (float64, bool) {
	return v + math.Sin(2*math.Pi*t/150) + 0.05*math.Sin(t), true
}

// playSwings plays some readings, and counts how many falls were measured on the way.
func playSwings(t testing.TB, readings int) (falls int) {
	w := tanktest.Well{Level0: 100, Inflow: 20}
	s := testSite(t, []Tank{{ID: "TK-1", Sensor: "hydrostatic", Height: 240, Table: testTable(t), Every: 10 * time.Second}})
	var st State
	for k := range readings {
		at := float64(k) * 10
		v, _ := swings(0, at, w.Level(at))
		was := 0.0
		if len(st.tanks) > 0 {
			was = st.tanks[0].judgeAt
		}
		st, _ = s.Next(st, Input{Kind: Level, Value: v, Good: true, At: tanktest.Start.Add(time.Duration(at * 1e9)), Mono: time.Duration(at * 1e9)})
		if ts := st.tanks[0]; ts.drawing && ts.judgeAt != was {
			ds, _ := ts.draws(&s.tanks[0], 1, at)
			for _, d := range ds {
				falls += max(d.parts, 1)
			}
		}
	}
	return falls
}

// A sensor whose reading swings beside a compressor falls again and again, and is no less alive than others: its falls, which are one long draw,
// are not all measured anew each minute, or its tank starves the others.
func TestSwingsAreNotSearchedEachMinute(t *testing.T) {
	const readings = 1500 // four hours
	if falls := playSwings(t, readings); falls == 0 || falls > readings {
		t.Errorf("%d falls were measured for %d readings, want some, and at most one for each", falls, readings)
	}
}

func BenchmarkSwings(b *testing.B) {
	for b.Loop() {
		playSwings(b, 11000)
	}
}

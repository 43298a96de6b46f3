package ledger

import (
	"testing"
	"testing/synctest"
	"time"
)

// What the detector has long forgotten the recorder still knows.
func TestTheLevelOfLongAgoComesFromTheRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.record(t.TempDir()).Close()
		began := time.Now()
		for range 3 * 24 * 30 {
			b.emit("level", 100+time.Since(began).Hours())
			pass(2 * time.Minute)
		}
		w := b.know(began.Add(2 * time.Hour))
		if len(w.Levels) < 50 || w.Damage != "" || w.Oldest.Sub(began).Abs() > time.Hour {
			t.Fatalf("%d levels, damage %q, oldest %v, want those of two hours from %v on", len(w.Levels), w.Damage, w.Oldest, began)
		}
		for _, m := range w.Levels {
			if want := 100 + m.At.Sub(began).Hours(); m.In < want-0.02 || m.In > want+0.02 {
				t.Errorf("level at %v is %g in, want %.2f", m.At, m.In, want)
			}
		}
		if w := b.know(time.Now().Add(-time.Hour)); len(w.Levels) < 20 {
			t.Errorf("%d levels of the last hour", len(w.Levels))
		}
	})
}

// A level is told by the offset that was in force when it was read, as the tickets of that time say it.
func TestALevelIsToldByTheOffsetOfItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.record(t.TempDir()).Close()
		began := time.Now()
		hours := func(n int) {
			for range n * 30 {
				b.emit("level", 100)
				pass(2 * time.Minute)
			}
		}
		hours(10)
		ring := b.Ledger.recording.ring
		b.reconfigured(func(s *Site) { s.Tanks[0].Offset = -12 })
		b.Ledger.recording.ring = ring
		hours(2)
		for after, want := range map[time.Duration]float64{2 * time.Hour: 100, 8*time.Hour + 30*time.Minute: 100, 11*time.Hour + 30*time.Minute: 88} {
			w := b.know(began.Add(after))
			if len(w.Levels) == 0 {
				t.Errorf("no level after %v", after)
			}
			for _, m := range w.Levels {
				if m.In != want {
					t.Errorf("level at %v is %g in, want %g", m.At.Sub(began), m.In, want)
				}
			}
		}
	})
}

package agent

import (
	"testing"
	"testing/synctest"
	"time"
)

// What the detector has long forgotten the recorder still knows.
func TestTheLevelOfLongAgoComesFromTheRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		defer b.recording(t.TempDir()).Close()
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

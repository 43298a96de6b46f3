package ledger

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/flash"
	"gauger/agent/recorder"
	"gauger/collectors"
)

// TestAQuietDayWearsNoFlash plays a day of levels in which nothing moves but noise, the hours after the start and the recorder
// included, and asks the kernel what this process has had written.
func TestAQuietDayWearsNoFlash(t *testing.T) {
	for _, c := range []struct {
		tanks, hours int     // that are played; what is behind them is like the last of them
		most         float64 // MB a day; 0: it is only told
	}{{1, 24, 2}, {20, 6, 5}, {100, 3, 0}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, func(s *Site) {
				for i := 1; i < c.tanks; i++ {
					next := s.Tanks[0]
					next.ID, next.Level = fmt.Sprint("TK-", i+1), collectors.Point(fmt.Sprint("plc/level", i))
					s.Tanks = append(s.Tanks, next)
				}
			})
			ring, err := recorder.Open(t.TempDir(), recorder.Options{MaxBytes: 64 << 20})
			if err != nil {
				t.Fatal(err)
			}
			b.UseRecorder(ring, 64<<20)
			random := rand.New(rand.NewPCG(1, uint64(c.tanks)))
			batch := make([]collectors.Reading, c.tanks)
			play := func(d time.Duration) float64 {
				before := flash.Written()
				for range d / (10 * time.Second) {
					pass(10 * time.Second)
					for i := range batch {
						batch[i] = collectors.Reading{Point: b.site.Tanks[i].Level, Value: 100 + 0.03*random.NormFloat64(), Unit: "in", Quality: collectors.Good, At: time.Now()}
					}
					if err := b.Host("plc").Emit(t.Context(), batch); err != nil {
						t.Fatal(err)
					}
					if err := b.Tick(time.Now()); err != nil {
						t.Fatal(err)
					}
				}
				return float64(flash.Written()-before) / 1e6
			}
			hour := play(time.Hour)
			rest := play(time.Duration(c.hours-1) * time.Hour)
			day := hour + rest*23/float64(c.hours-1)
			if day == 0 {
				t.Skip("this kernel does not count what is written, or the temporary folder is in memory")
			}
			t.Logf("quiet, tanks: %d, MB a day: %.2f, at the pace of the first hour: %.2f, goal: %g", c.tanks, day, 24*hour, c.most)
			if c.most > 0 && (day > c.most || 24*hour > 1.5*c.most) {
				t.Errorf("%d tanks: %.2f MB a day, at the pace of the hour after a first start %.2f; want %g, and half as much again at most in that hour: the kernel counts other pages with it", c.tanks, day, 24*hour, c.most)
			}
		})
	}
}

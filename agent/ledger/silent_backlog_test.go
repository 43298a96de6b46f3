package ledger

import (
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// TestAVerdictOfSilenceDoesNotShutOutWhatTheDeviceKept: a device with a clock of its own was away while a load ran, was told of as
// silent, and brings what it kept, in order: the ticket has the load's own times.
func TestAVerdictOfSilenceDoesNotShutOutWhatTheDeviceKept(t *testing.T) {
	for name, verdict := range map[string]bool{"silence was told": true, "nobody watched": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				live := func(v float64, n int) {
					for range n {
						b.emit("level", v, func(r *collectors.Reading) { r.At = time.Now().Round(0) })
						pass(10 * time.Second)
						b.must(b.Tick(time.Now()))
					}
				}
				live(180, 360)
				away := time.Now().Round(0)
				begins, ends := away.Add(10*time.Minute), away.Add(30*time.Minute)
				for i := range 240 {
					if verdict && i == 200 {
						b.emit("level", math.NaN(), func(r *collectors.Reading) {
							r.Quality, r.Err = collectors.Bad, errors.New("silent for 33m20s, expected every 20m")
						})
					}
					pass(10 * time.Second)
					b.must(b.Tick(time.Now()))
				}
				for i := range 240 {
					at := away.Add(time.Duration(i) * 10 * time.Second)
					gone := min(max(at.Sub(begins).Seconds()/ends.Sub(begins).Seconds(), 0), 1)
					b.emit("level", 180-100*gone, func(r *collectors.Reading) { r.At = at })
				}
				live(80, 720)
				all, err := b.Tickets()
				if err != nil || len(all) != 1 {
					t.Fatalf("%d tickets (%v), want one", len(all), err)
				}
				got := all[0]
				if got.Start.Sub(begins).Abs() > time.Minute || got.End.Sub(ends).Abs() > time.Minute || len(got.Load.Review) > 0 {
					t.Errorf("the load ran %s to %s, doubts %q; want %s to %s and none", got.Start, got.End, got.Load.Review, begins, ends)
				}
			})
		})
	}
}

package mqtt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestADeadDeviceClockLosesNothing: a level at rest is sent as the same bytes again and again, and what stands where the
// time should be makes no two of these messages one.
func TestADeadDeviceClockLosesNothing(t *testing.T) {
	for _, ts := range []string{`0`, `"0"`, `"1970-01-01T00:00:00Z"`, `"1970-01-01 00:00:00"`, `86400`, `"--:--"`, `""`, `null`, `true`, `"2099-01-01T00:00:00Z"`} {
		t.Run(ts, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(time.Until(noon)) // the box's own clock is right
				b, h := listen(t, timed("field/tk1"))
				var want []float64
				for i := range 30 {
					v := []float64{180, 180, 180, 120, 120, 180}[i%6]
					want = append(want, v)
					b.publish(t, "field/tk1", fmt.Sprintf(`{"v": %v, "ts": %s}`, v, ts))
					later(10 * time.Second)
				}
				if got := h.goods("radio/level"); !slices.Equal(got, want) {
					t.Errorf("%d of %d levels were used: %v", len(got), len(want), got)
				}
				if n := h.noticed("device-time"); len(n) != 1 {
					t.Errorf("told of the clock: %v", n)
				}
			})
		})
	}
}

// TestADeviceTimeThatStandsIsNoTime: a time that could be one, but stays the same for minutes while the level moves.
func TestADeviceTimeThatStandsIsNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := listen(t, timed("field/tk1"))
		send := func(v float64, at time.Time) {
			b.publish(t, "field/tk1", sample(v, at))
			later(30 * time.Second)
		}
		send(180, noon.Add(-time.Hour))
		send(181, noon) // two samples within one second of the device are two samples
		send(182, noon)
		for _, v := range []float64{182, 182, 120, 120, 120, 180, 120} {
			send(v, noon) // and here its clock stands
		}
		want := []float64{180, 181, 182, 120, 120, 120, 180, 120}
		if got := h.goods("radio/level"); !slices.Equal(got, want) {
			t.Errorf("used %v, want %v", got, want)
		}
		for i, r := range h.all("radio/level") {
			if device := i < 3; device != (r.At.Year() == 2026) {
				t.Errorf("reading %d, %v, has the time %s", i, r.Value, r.At)
			}
		}
		if n := h.noticed("device-time"); len(n) != 1 || !strings.Contains(n[0].Note, "stands") {
			t.Errorf("told %v", n)
		}
		again := time.Now()
		for i := range 22 {
			send(121, noon.Add(time.Hour+time.Duration(i)*30*time.Second))
		}
		if n := h.noticed("device-time"); len(n) != 2 || !n[1].Until.Equal(again) {
			t.Errorf("told %v of the clock that goes again from %s on", n, again)
		}
	})
}

// TestADeviceClockThatFailsNowAndThenIsOneEpisode: a good time and 1970 in turn are one fault, and it is over only when
// the time has been right for a while; the levels are used all the same.
func TestADeviceClockThatFailsNowAndThenIsOneEpisode(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		wrong int // one message of so many has no time
	}{{10 * time.Second, 2}, {time.Minute, 2}, {time.Minute, 5}, {3 * time.Minute, 2}} {
		t.Run(fmt.Sprintf("%s, each %d.", c.every, c.wrong), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				<-time.After(time.Until(noon))
				b, h := listen(t, timed("field/tk1"))
				var want []float64
				send := func(at time.Time) {
					want = append(want, float64(len(want)%200))
					b.publish(t, "field/tk1", sample(want[len(want)-1], at))
					later(c.every)
				}
				for i := range 60 {
					at := time.Now()
					if i%c.wrong == 0 {
						at = time.Unix(5, 0)
					}
					send(at)
				}
				if n := h.noticed("device-time"); len(n) != 1 || !n[0].Until.IsZero() || !n[0].Since.Equal(noon.Add(20*time.Millisecond)) {
					t.Fatalf("told %v of a clock that fails now and then, want one episode that is open", n)
				}
				right := time.Now()
				for range 61 {
					send(time.Now())
				}
				n := h.noticed("device-time")
				if len(n) != 2 || !n[1].Since.Equal(n[0].Since) {
					t.Fatalf("told %v, want the end of the one episode", n)
				}
				if end := n[1].Until; end.After(right) || end.Before(right.Add(-c.every*time.Duration(c.wrong))) {
					t.Errorf("told of its end at %s, want %s, when the times came right for good", end, right)
				}
				if got := h.goods("radio/level"); !slices.Equal(got, want) {
					t.Errorf("%d of %d levels were used", len(got), len(want))
				}
			})
		})
	}
}

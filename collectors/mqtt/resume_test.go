package mqtt

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnHourWithoutTheBroker: the session is gone when it is back. What may be missing is said to the second, and what was
// published while we were connected is here, once.
func TestAnHourWithoutTheBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		start(t, h, collect(t, Session{Dial: b.dial}, timed("field/tk1")))
		later(time.Minute)
		var want []float64
		publish := func(from, to int) {
			for n := from; n < to; n++ {
				b.publish(t, "field/tk1", sample(float64(n), noon.Add(time.Duration(n)*time.Second)))
				want = append(want, float64(n))
			}
		}
		publish(0, 50)
		momentarily()
		gone := time.Now()
		b.down()
		later(time.Hour)
		b.up(t)
		later(longestPause + time.Second)
		back := time.Now()
		publish(50, 100)
		later(time.Minute)
		if got := h.goods("radio/level"); !slices.Equal(got, want) {
			t.Errorf("%d values, want %d: %v", len(got), len(want), got)
		}
		lost := h.noticed("session-lost")
		if len(lost) != 1 || !lost[0].Since.Equal(gone) {
			t.Fatalf("told %+v, want one loss since %v", lost, gone)
		}
		if end := lost[0].Until; end.Before(gone.Add(time.Hour)) || end.After(back) {
			t.Errorf("told of its end at %v, want an hour after %v, at most %v", end, gone, back)
		}
	})
}

// TestWrongClockAtAConnection: a time that was remembered under another clock is not told as one, and costs nothing else.
func TestWrongClockAtAConnection(t *testing.T) {
	for name, alive := range map[string]time.Time{"never set": time.Date(1970, 1, 1, 0, 10, 0, 0, time.UTC), "ahead": time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, h := newBroker(t), newMemo()
				h.memory["mqtt gauger-test "+address] = fmt.Appendf(nil, `{"topics":["field/old"],"alive":%q}`, alive.Format(time.RFC3339))
				now := time.Now()
				start(t, h, collect(t, Session{Dial: b.dial}, timed("field/tk1")))
				later(time.Minute)
				b.publish(t, "field/tk1", sample(7, noon))
				momentarily()
				if got := h.goods("radio/level"); !slices.Equal(got, []float64{7}) {
					t.Errorf("values %v, want 7", got)
				}
				lost := h.noticed("session-lost")
				if len(lost) != 1 || lost[0].Since.Before(now) || !strings.Contains(lost[0].Note, "published before 2000-01-01T00:00:00Z may be missing") {
					t.Errorf("told: %+v", lost)
				}
			})
		})
	}
}

package mqtt

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// TestMessagesThatComeTogetherAreInTheOrderOfTheirTimes: a gateway that catches up sends the newest first.
func TestMessagesThatComeTogetherAreInTheOrderOfTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		var open atomic.Bool
		h.emitting = func([]collectors.Reading) error {
			if !open.Load() {
				return errors.New("disk busy")
			}
			return nil
		}
		start(t, h, collect(t, Session{Dial: b.dial}, timed("field/tk1")))
		momentarily()
		for _, second := range []int{1, 5, 4, 2, 3, 6} { // the first is on its way to the host when the others come
			b.publish(t, "field/tk1", sample(float64(second), noon.Add(time.Duration(second)*time.Second)))
			momentarily()
		}
		open.Store(true)
		later(time.Minute)
		if got, want := h.goods("radio/level"), []float64{1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
			t.Errorf("values %v, want %v", got, want)
		}
	})
}

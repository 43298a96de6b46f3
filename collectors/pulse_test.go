package collectors

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulseTellsWhatHangsFromWhatWaits in a day of waiting, long pieces of work that say so, and one that never ends.
func TestPulseTellsWhatHangsFromWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const usual = time.Minute
		var all Pulses
		idle, slow, steps, stuck := all.Part("idle"), all.Part("slow"), all.Part("steps"), all.Part("stuck")
		well := func(when string) {
			t.Helper()
			if err := all.Hung(usual); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		well("before anything")
		idle.Work()
		if !idle.Rest() || idle.Rest() {
			t.Error("a part that rests has worked just before, and only once")
		}
		Wait(context.Background(), 24*time.Hour)
		well("after a day of rest")
		slow.WorkFor(10 * time.Minute)
		steps.Work()
		for range 9 {
			Wait(context.Background(), 59*time.Second)
			steps.Work()
			well("step by step")
		}
		steps.Rest()
		slow.Rest()
		stuck.Work()
		Wait(context.Background(), usual)
		well("just before")
		slow.Work()
		Wait(context.Background(), 2*time.Minute)
		if err := all.Hung(usual); err == nil || !strings.HasPrefix(err.Error(), "stuck hangs") || !strings.Contains(err.Error(), "3m0s") {
			t.Errorf("of two that hang the longer one is named: %v", err)
		}
	})
}

// TestPollerRestsBetweenItsPolls and in its waits, and hangs in a call that does not come back. Its parts have pulses of their own.
func TestPollerRestsBetweenItsPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all Pulses
		ctx, stop := context.WithCancel(WithPulse(t.Context(), all.Part("poller")))
		release := make(chan struct{})
		polls, ended := 0, make(chan struct{})
		go func() {
			defer close(ended)
			_ = Poll(ctx, time.Hour, func(ctx context.Context) {
				if polls++; polls == 3 {
					<-release
				}
				Wait(ctx, 10*time.Minute)
			})
		}()
		part := PulseOf(WithPart(ctx, "part"))
		Wait(context.Background(), 2*time.Hour-time.Second)
		if err := all.Hung(time.Minute); err != nil || polls != 2 {
			t.Errorf("%d polls, %v", polls, err)
		}
		Wait(context.Background(), 2*time.Minute)
		part.Work()
		if err := all.Hung(time.Minute); err == nil || !strings.HasPrefix(err.Error(), "poller hangs") {
			t.Errorf("in a call that does not come back: %v", err)
		}
		close(release)
		Wait(context.Background(), 2*time.Minute)
		if err := all.Hung(time.Minute); err == nil || !strings.HasPrefix(err.Error(), "part hangs") {
			t.Errorf("the part of a part: %v", err)
		}
		stop()
		<-ended
		if ctx := WithPart(context.Background(), "nobody's"); PulseOf(ctx) != nil {
			t.Error("a part of what nobody watches is watched")
		}
	})
}

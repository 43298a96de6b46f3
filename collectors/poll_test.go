package collectors

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// beats runs Poll for a while of virtual time; takes says how long each call lasts, the last one for all later calls.
func beats(t *testing.T, every, until time.Duration, takes ...time.Duration) []time.Duration {
	t.Helper()
	var at []time.Duration
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), until)
		defer cancel()
		start := time.Now()
		err := Poll(ctx, every, func(ctx context.Context) {
			n := min(len(at), len(takes)-1)
			at = append(at, time.Since(start))
			Wait(ctx, takes[n])
		})
		if err != nil {
			t.Errorf("Poll: %v", err)
		}
	})
	return at
}

func TestPollKeepsItsPhase(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name  string
		takes []time.Duration
		want  []time.Duration
	}{
		{"first at once, then on the beat", []time.Duration{0}, []time.Duration{0, 10 * s, 20 * s, 30 * s}},
		{"a call that takes time does not shift the beat", []time.Duration{3 * s}, []time.Duration{0, 10 * s, 20 * s, 30 * s}},
		{"missed beats are skipped", []time.Duration{0, 14 * s, 0}, []time.Duration{0, 10 * s, 30 * s}},
		{"a call of exactly one interval misses nothing", []time.Duration{10 * s}, []time.Duration{0, 10 * s, 20 * s, 30 * s}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := beats(t, 10*s, 35*s, tt.takes...); !slices.Equal(got, tt.want) {
				t.Errorf("polled at %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPollEndsInsideAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Minute)
		defer cancel()
		start, calls := time.Now(), 0
		if err := Poll(ctx, time.Hour, func(context.Context) { calls++ }); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 90*time.Minute || calls != 2 {
			t.Errorf("returned after %s and %d calls, want 1h30m and 2", took, calls)
		}
	})
}

func TestPollRefusesAnEmptyInterval(t *testing.T) {
	if err := Poll(t.Context(), 0, func(context.Context) {}); err == nil {
		t.Error("an interval of zero was accepted")
	}
}

func TestPhaseAfter(t *testing.T) {
	start := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	p := Phase{Start: start, Every: time.Minute}
	for after, want := range map[time.Duration]time.Duration{
		-time.Second: 0, 0: time.Minute, time.Second: time.Minute, time.Minute: 2 * time.Minute, 150 * time.Second: 3 * time.Minute,
	} {
		if got := p.After(start.Add(after)); !got.Equal(start.Add(want)) {
			t.Errorf("after %s: %s, want %s", after, got.Sub(start), want)
		}
	}
}

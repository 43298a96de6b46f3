package link

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// streams are those of a site.
var streams = map[string]Class{"tickets": Must, "events": Soon, "targets": Later, "tagvalues": Bulk}

// took is how long n requests of a stream wait.
func took(t *testing.T, l *Link, stream string, n int) time.Duration {
	t.Helper()
	begin := time.Now()
	for range n {
		if err := l.Wait(t.Context(), stream); err != nil {
			t.Fatal(err)
		}
	}
	return time.Since(begin)
}

func TestABurstLeavesAndThenTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Every: 500 * time.Millisecond, Streams: streams})
		if got := took(t, l, "tickets", burst); got != 0 {
			t.Errorf("the first %d requests waited %s", burst, got)
		}
		if got := took(t, l, "tickets", 10); got != 5*time.Second {
			t.Errorf("ten more at two a second took %s, want 5s", got)
		}
	})
}

// why is what the link says of a stream.
func why(l *Link, stream string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why(l.class(stream), time.Now())
}

func TestWithoutOptionsNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{})
		l.Backlog(1000, time.Now())
		l.count(1 << 40)
		if got := took(t, l, "tagvalues", 100); got != 0 {
			t.Errorf("a hundred requests waited %s", got)
		}
		if why := why(l, "tagvalues"); why != "" {
			t.Errorf("said to wait: %s", why)
		}
	})
}

func TestABacklogAfterABootIsSpreadButItsFirstRequestIsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Every: time.Millisecond})
		l.Backlog(500, time.Now())
		if left := time.Until(l.hold); left < 0 || left > spread {
			t.Fatalf("held for %s", left)
		}
		l.hold = time.Now().Add(20 * time.Second) // whatever chance made of it
		if got := took(t, l, "tickets", 1); got != 0 {
			t.Errorf("the first request waited %s", got)
		}
		if why := why(l, "tickets"); why != "a backlog begins to leave within a minute of the start; this one in 20s" {
			t.Errorf("the reason is %q", why)
		}
		if got := took(t, l, "tickets", 1); got != 20*time.Second {
			t.Errorf("the second waited %s, want 20s", got)
		}
	})
	l := New(Options{Every: time.Millisecond})
	l.Backlog(burst, time.Now())
	if !l.hold.IsZero() {
		t.Error("a few records were taken for a backlog")
	}
}

// A ticket that comes while a backlog of values, targets and events leaves is the next to go.
func TestTheMostUrgentInLineGoesNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Every: 10 * time.Second, Streams: streams})
		took(t, l, "tagvalues", burst)
		var mu sync.Mutex
		var order []string
		var all sync.WaitGroup
		for _, stream := range []string{"tagvalues", "targets", "events", "tickets"} {
			all.Go(func() {
				for range 2 {
					if err := l.Wait(t.Context(), stream); err != nil {
						t.Error(err)
					}
					mu.Lock()
					order = append(order, stream)
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		if why := why(l, "tagvalues"); why != "link.rate lets a request leave every 10s" {
			t.Errorf("the reason is %q", why)
		}
		begin := time.Now()
		all.Wait()
		want := []string{"tickets", "tickets", "events", "events", "targets", "targets", "tagvalues", "tagvalues"}
		if !slices.Equal(order, want) || time.Since(begin) != 80*time.Second {
			t.Errorf("in %s: %v, want %v in 80s", time.Since(begin), order, want)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Every: time.Hour, Streams: streams})
		took(t, l, "tickets", burst)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Wait(ctx, "tickets"); err == nil || time.Until(time.Now()) > 0 {
			t.Errorf("%v", err)
		}
		if l.line != [len(shares)]int{} {
			t.Errorf("somebody still stands in line: %v", l.line)
		}
	})
}

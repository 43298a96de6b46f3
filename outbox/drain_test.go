package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// put appends records with these bodies, one transaction for all.
func put(t testing.TB, b *outbox.Box, stream string, bodies ...string) {
	t.Helper()
	err := b.Update(func(tx *outbox.Tx) error {
		for _, body := range bodies {
			tx.Append(stream, outbox.Record{Body: []byte(body)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// running starts a drain; stop ends it and waits.
func running(t testing.TB, b *outbox.Box, stream string, to outbox.Sender) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := b.Drain(ctx, stream, to); err != nil {
			t.Errorf("drain %s: %v", stream, err)
		}
	})
	return func() { cancel(); wg.Wait() }
}

// bubble runs f with a fresh box under virtual time.
func bubble(t *testing.T, f func(t *testing.T, b *outbox.Box, n *notes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := open(t, boxPath(t), outbox.Options{Notify: n.add, Label: func(_ string, r outbox.Record) string { return "label " + string(r.Body) }})
		f(t, b, n)
		for name := range b.Counts() {
			counts(t, b, name)
		}
		shut(t, b)
	})
}

func answer(class outbox.Class, status int) outbox.Answer {
	return outbox.Answer{Class: class, Status: status, Message: "as told"}
}

func bodies(records []outbox.Record) (all []string) {
	for _, r := range records {
		all = append(all, string(r.Body))
	}
	return all
}

func TestDrainKeepsOrderAndBatches(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		var want []string
		for i := range 120 {
			want = append(want, fmt.Sprintf(`{"n":%d}`, i))
		}
		put(t, b, "events", want...)
		s := &outboxtest.Service{}
		drained(t, b, "events", s)
		if got := bodies(s.Taken("events")); !slices.Equal(got, want) {
			t.Errorf("the service has %q", got)
		}
		if s.Requests() != 3 {
			t.Errorf("%d requests for 120 records in batches of 50", s.Requests())
		}
		if c := counts(t, b, "events"); c != (outbox.Counts{Accepted: 120, Delivered: 120}) {
			t.Errorf("counts are %+v", c)
		}
		e, err := b.Entry("events", 7)
		if err != nil || e.State != outbox.Delivered || e.Status != 200 || e.Label != `label {"n":6}` || e.Since.IsZero() {
			t.Errorf("receipt is %+v, %v", e, err)
		}
	})
}

func TestBatchesHaveOneAddressAndABound(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		big := strings.Repeat("x", 100<<10)
		err := b.Update(func(tx *outbox.Tx) error {
			for i := range 12 {
				tx.Append("tags", outbox.Record{Address: fmt.Sprintf("well-%d", i%3), Body: []byte("small")})
			}
			for range 5 {
				tx.Append("tags", outbox.Record{Address: "big", Body: []byte(big)})
			}
			tx.Append("tags", outbox.Record{Address: "huge", Body: []byte(big + big + big)})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (a outbox.Answer, stored, ok bool) {
			sum := 0
			for _, r := range batch {
				sum += len(r.Body)
				if r.Address != batch[0].Address {
					t.Errorf("addresses %s and %s in one request", r.Address, batch[0].Address)
				}
			}
			if sum > outbox.MaxRequest && len(batch) > 1 {
				t.Errorf("%d bytes in one request of %d", sum, len(batch))
			}
			sizes = append(sizes, len(batch))
			return a, false, false
		}}
		drained(t, b, "tags", s)
		if want := []int{4, 4, 4, 2, 2, 1, 1}; !slices.Equal(sizes, want) {
			t.Errorf("requests of %v, want %v", sizes, want)
		}
	})
}

func TestKeptClassesWaitAndLoseNothing(t *testing.T) {
	longest := map[outbox.Class]time.Duration{outbox.Wait: 8 * time.Minute, outbox.Key: 15 * time.Minute,
		outbox.Path: 15 * time.Minute, outbox.Ambiguous: 11 * time.Minute}
	for class, limit := range longest {
		t.Run(class.String(), func(t *testing.T) {
			bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
				put(t, b, "events", "a", "b")
				var mended atomic.Bool
				var at []time.Time
				s := &outboxtest.Service{Fault: func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
					at = append(at, time.Now())
					return answer(class, 503), false, !mended.Load()
				}}
				stop := running(t, b, "events", s)
				wait(6 * time.Hour)
				put(t, b, "events", "c")
				synctest.Wait() // where a new one ends the wait
				if c := counts(t, b, "events"); c.Waiting != 3 {
					t.Errorf("while the service is away: %+v", c)
				}
				if len(at) < 10 || len(at) > 150 {
					t.Errorf("%d requests in six hours", len(at))
				}
				for i := 1; i < len(at); i++ {
					if gap := at[i].Sub(at[i-1]); gap <= 0 && i > 1 || gap > limit { // two that were refused at an address are tried apart at once
						t.Fatalf("%v between requests, at most %v", gap, limit)
					} else if class == outbox.Ambiguous && gap < 7*time.Second { // each may have stored it
						t.Errorf("%v between two requests without a clear answer", gap)
					}
				}
				if n.count(outbox.NoteStalled) != 1 {
					t.Errorf("%d notes of a stall", n.count(outbox.NoteStalled))
				}
				mended.Store(true)
				before := time.Now()
				b.Kick("events")
				synctest.Wait()
				if time.Since(before) != 0 || counts(t, b, "events").Delivered != 3 {
					t.Errorf("a kick left %+v", counts(t, b, "events"))
				}
				stop()
				if n.count(outbox.NoteResumed) != 1 || s.Doubled() != 0 {
					t.Errorf("%d notes of the end, %d doubled", n.count(outbox.NoteResumed), s.Doubled())
				}
			})
		})
	}
}

// wait lets virtual time pass.
func wait(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestRetryAfterIsObeyed(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", "a")
		start := time.Now()
		var second time.Duration
		s := &outboxtest.Service{Fault: func(n int, _ string, _ []outbox.Record) (outbox.Answer, bool, bool) {
			second = time.Since(start)
			return outbox.Answer{Class: outbox.Wait, Status: 429, RetryAfter: 40 * time.Minute}, false, n == 1
		}}
		stop := running(t, b, "events", s)
		wait(time.Hour)
		stop()
		if second < 40*time.Minute || counts(t, b, "events").Delivered != 1 {
			t.Errorf("second request after %v", second)
		}
	})
}

func TestAmbiguousBatchGoesTogetherAgain(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", "a", "b", "c")
		var seen [][]string
		var attempts []int
		s := &outboxtest.Service{}
		s.Fault = func(n int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			seen, attempts = append(seen, bodies(batch)), append(attempts, batch[0].Attempt)
			if n == 1 { // more arrives while the answer is lost
				put(t, b, "events", "d")
			}
			class := []outbox.Class{outbox.Ambiguous, outbox.Wait, outbox.Ambiguous}
			return answer(class[min(n-1, 2)], 0), false, n <= 3
		}
		stop := running(t, b, "events", s)
		wait(time.Hour)
		stop()
		want := [][]string{{"a", "b", "c"}, {"a", "b", "c"}, {"a", "b", "c"}, {"a", "b", "c"}, {"d"}}
		if !slices.EqualFunc(seen, want, slices.Equal) {
			t.Errorf("requests were %q", seen)
		}
		if !slices.Equal(attempts, []int{0, 1, 1, 2, 0}) {
			t.Errorf("attempts told were %v", attempts)
		}
	})
}

func TestTooLargeHalvesAndRemembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		put(t, b, "events", slices.Repeat([]string{"x"}, 100)...)
		s := &outboxtest.Service{Limit: 10}
		drained(t, b, "events", s)
		if s.Requests() != 20 { // 50, 25, 12 refused, then 6 at a time
			t.Errorf("%d requests", s.Requests())
		}
		shut(t, b)
		b = open(t, path, outbox.Options{})
		put(t, b, "events", slices.Repeat([]string{"x"}, 12)...)
		s = &outboxtest.Service{Limit: 10}
		drained(t, b, "events", s)
		if s.Requests() != 2 {
			t.Errorf("after the restart %d requests for 12", s.Requests())
		}
		put(t, b, "events", slices.Repeat([]string{"y"}, 20000)...)
		s = &outboxtest.Service{}
		drained(t, b, "events", s)
		if s.Requests() > 1500 {
			t.Errorf("%d requests for 20,000 records: the limit does not recover", s.Requests())
		}
		shut(t, b)
	})
}

func TestSingleTooLargeIsADeadLetter(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
		put(t, b, "events", "a", "huge", "c")
		s := &outboxtest.Service{Fault: func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			return answer(outbox.TooLarge, 413), false, slices.Contains(bodies(batch), "huge")
		}}
		drained(t, b, "events", s)
		if c := counts(t, b, "events"); c.Delivered != 2 || c.Dead != 1 || n.count(outbox.NoteDeadLetter) != 1 {
			t.Errorf("counts are %+v", c)
		}
	})
}

func TestSenderThatForgetsReceipts(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", "a", "b", "c")
		calls := 0
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if calls++; calls == 1 {
				return []outbox.Answer{{Class: outbox.Stored, Status: 200}}
			}
			return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
		}))
		wait(time.Minute)
		stop()
		if c := counts(t, b, "events"); c.Delivered != 3 || calls != 2 {
			t.Errorf("%d calls, %+v", calls, c)
		}
	})
}

type senderFunc func(batch []outbox.Record) []outbox.Answer

func (f senderFunc) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	return f(batch)
}

func TestPaceIsAskedAndItsEndIsTheDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		b := open(t, boxPath(t), outbox.Options{Pace: func(ctx context.Context, stream string) error {
			if asked++; asked == 3 {
				return errors.New("pacing broke")
			}
			return nil
		}})
		put(t, b, "tickets", "a", "b", "c")
		err := b.Drain(t.Context(), "tickets", &outboxtest.Service{})
		if err == nil || !strings.Contains(err.Error(), "pacing broke") || counts(t, b, "tickets").Delivered != 2 {
			t.Errorf("drain ended with %v, %+v", err, counts(t, b, "tickets"))
		}
		shut(t, b)
	})
}

func TestDrainIsRefusedWhereItCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		if err := b.Drain(t.Context(), "nosuch", nil); !errors.Is(err, outbox.ErrStream) {
			t.Error(err)
		}
		if err := b.Drain(t.Context(), "refused", nil); !errors.Is(err, outbox.ErrRefused) {
			t.Error(err)
		}
		stop := running(t, b, "events", &outboxtest.Service{})
		synctest.Wait()
		if err := b.Drain(t.Context(), "events", nil); !errors.Is(err, outbox.ErrRefused) {
			t.Error(err)
		}
		stop()
	})
}

// Nothing is told of what is not taken for less than ten minutes; at ten it is.
func TestAStallIsToldAtTenMinutes(t *testing.T) {
	for after, told := range map[time.Duration]int{10*time.Minute - 1: 0, 10 * time.Minute: 1} {
		bubble(t, func(t *testing.T, b *outbox.Box, n *notes) {
			put(t, b, "tickets", "a")
			start, calls := time.Now(), 0
			stop := running(t, b, "tickets", senderFunc(func([]outbox.Record) []outbox.Answer {
				if calls++; calls == 2 {
					<-time.After(time.Until(start.Add(after))) // a slow answer
				}
				return []outbox.Answer{answer(outbox.Wait, 503)}
			}))
			wait(after)
			got := n.count(outbox.NoteStalled)
			stop()
			if calls != 2 || got != told {
				t.Errorf("after %s and %d answers it was told %d times, want %d", after, calls, got, told)
			}
		})
	}
}

// A wish of nanoseconds is a wish too: the record goes again after the usual wait.
func TestTheShortestWish(t *testing.T) {
	for wish := range 9 * time.Nanosecond {
		bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
			put(t, b, "tickets", "a")
			calls := 0
			stop := running(t, b, "tickets", senderFunc(func([]outbox.Record) []outbox.Answer {
				if calls++; calls == 1 {
					return []outbox.Answer{{Class: outbox.Wait, Status: 503, RetryAfter: wish}}
				}
				return []outbox.Answer{answer(outbox.Stored, 200)}
			}))
			wait(time.Second)
			stop()
			if c := counts(t, b, "tickets"); c.Delivered != 1 {
				t.Errorf("after a wish of %s: %+v", wish, c)
			}
		})
	}
}

package outbox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// While a few single places are refused for what they are, a record for another one goes at once. Where the service asked
// for time, says "try again later" or refuses many places, it sits out the wait.
func TestWhatIsNewEndsAWait(t *testing.T) {
	slow := answer(outbox.Path, 404)
	slow.RetryAfter = 2 * time.Hour
	for what, c := range map[string]struct {
		answer  outbox.Answer
		unknown int
		soon    bool
	}{
		"an unknown well":       {answer(outbox.Path, 404), 1, true},
		"a forbidden well":      {answer(outbox.Key, 403), 1, true},
		"nine unknown wells":    {answer(outbox.Path, 404), 9, true},
		"ten unknown wells":     {answer(outbox.Path, 404), 10, false},
		"no key is accepted":    {answer(outbox.Key, 401), 1, false},
		"no key for a record":   {answer(outbox.Key, 401), 0, false},
		"a service in trouble":  {answer(outbox.Wait, 503), 1, false},
		"a service with a wish": {slow, 1, false},
		"two without address":   {answer(outbox.Path, 404), 0, true}, // which were tried apart
	} {
		synctest.Test(t, func(t *testing.T) {
			b := letters(t, boxPath(t), &notes{})
			k := newDesk(c.answer)
			k.all = true
			for i := range c.unknown {
				post(t, b, "tags", fmt.Sprint("lost ", i))
			}
			if c.unknown == 0 {
				post(t, b, "tags", "", "")
			}
			stop := running(t, b, "tags", k)
			wait(5 * time.Hour)
			before := k.Requests()
			for i := range c.unknown {
				post(t, b, "tags", fmt.Sprint("lost ", i))
			}
			if synctest.Wait(); k.Requests() != before {
				t.Errorf("%s: %d requests for more of the same", what, k.Requests()-before)
			}
			k.say(func() { k.all = false; k.unknown = map[string]bool{"lost 0": true} })
			post(t, b, "tags", "known")
			if synctest.Wait(); (counts(t, b, "tags").Delivered > 0) != c.soon || k.Requests() == before == c.soon {
				t.Errorf("%s: after %d requests %+v", what, k.Requests()-before, counts(t, b, "tags"))
			}
			wait(4 * time.Hour)
			stop()
			if got := k.Times("tags", counts(t, b, "tags").Accepted); got != 1 {
				t.Errorf("%s: the new one came %d times", what, got)
			}
			shut(t, b)
		})
	}
}

// A refused batch is being taken apart when the service knows the path no more: a new record ends no wait.
func TestPiecesSitOutTheirWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		post(t, b, "tags", "", "", "")
		var mu sync.Mutex
		var all [][]uint64
		got := func() [][]uint64 { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			mu.Lock()
			defer mu.Unlock()
			a := answer(outbox.Path, 404)
			if all = append(all, seqsOf(batch)); len(all) == 1 {
				a = answer(outbox.Poison, 400)
			}
			return slices.Repeat([]outbox.Answer{a}, len(batch))
		}))
		synctest.Wait()
		post(t, b, "tags", "")
		synctest.Wait()
		if want := [][]uint64{{1, 2, 3}, {1}}; !slices.EqualFunc(got(), want, slices.Equal) {
			t.Errorf("sent %v", got())
		}
		wait(time.Second)
		synctest.Wait()
		if sent := got(); len(sent) < 3 || !slices.Equal(sent[2], []uint64{2, 3}) {
			t.Errorf("sent %v", sent)
		}
		stop()
		shut(t, b)
	})
}

// The link may be metered: a queue in which nothing may go asks for no pace, however much comes for an unknown address.
func TestNothingToSendAsksForNoPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		n := &notes{}
		b := open(t, boxPath(t), outbox.Options{Notify: n.add, Streams: []outbox.Stream{{Name: "tags", Batch: 20}},
			Pace: func(context.Context, string) error { asked++; return nil }})
		k := newDesk(answer(outbox.Path, 404), "lost")
		stop := running(t, b, "tags", k)
		b.Kick("tags")
		wait(time.Minute)
		if asked != 0 {
			t.Errorf("%d times for an empty queue", asked)
		}
		post(t, b, "tags", "lost", "known")
		wait(5 * time.Second)
		if at := b.DrainStatus("tags").Isolated; len(at) != 1 || n.count(outbox.NoteIsolated) != 1 || asked != k.Requests() {
			t.Fatalf("%+v, asked %d times for %d requests", at, asked, k.Requests())
		}
		before := asked
		for range 20 {
			post(t, b, "tags", "lost")
			wait(time.Second)
		}
		if asked != before || k.Requests() != asked {
			t.Errorf("asked %d times for %d requests", asked-before, k.Requests())
		}
		stop()
		shut(t, b)
	})
}

// Two addresses wait by themselves. After a kick the one whose record is older goes first, the other a minute later; what the
// service wishes is obeyed, and people are told of the end.
func TestTheTurnsOfWhatWaitsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := letters(t, boxPath(t), n)
		k := newDesk(answer(outbox.Path, 404), "lost", "gone")
		post(t, b, "memos", "lost", "known", "gone", "known")
		stop := running(t, b, "memos", k)
		wait(10 * time.Minute)
		if n.count(outbox.NoteIsolated) != 2 {
			t.Fatalf("told %+v", n.all)
		}
		k.say(func() { k.answer.RetryAfter = 5 * time.Hour })
		b.Kick("memos")
		wait(30 * time.Second)
		next := func(i int) time.Duration {
			return time.Until(b.DrainStatus("memos").Isolated[i].Next).Round(time.Second)
		}
		if gone, lost := next(0), next(1); lost != 5*time.Hour-30*time.Second || gone != 30*time.Second {
			t.Errorf("after a kick the older goes again in %s, the other in %s", lost, gone)
		}
		wait(time.Minute)
		if next(0) != 5*time.Hour-30*time.Second {
			t.Errorf("the other goes again in %s", next(0))
		}
		k.say(func() { k.unknown = nil })
		wait(5*time.Hour + time.Minute)
		stop()
		told := n.of(outbox.NoteRejoined)
		if n.count(outbox.NoteRejoined) != 2 || !strings.Contains(told.Message, "is taken, after 5h") || told.Address == "" {
			t.Errorf("told %+v", n.all)
		}
		shut(t, b)
	})
}

// A request in which the service itself has told records apart says nothing of their address.
func TestAMixedAnswerIsolatesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := letters(t, boxPath(t), n)
		post(t, b, "tags", "one", "one", "one")
		requests := 0
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			requests++
			receipts := slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
			if requests < 3 {
				receipts[len(batch)-1] = answer(outbox.Path, 404)
			}
			return receipts
		}))
		wait(time.Minute)
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 3 || n.count(outbox.NoteIsolated) != 0 || requests != 3 {
			t.Errorf("%+v after %d requests, told %+v", c, requests, n.all)
		}
		shut(t, b)
	})
}

func seqsOf(batch []outbox.Record) (all []uint64) {
	for _, r := range batch {
		all = append(all, r.Seq)
	}
	return all
}

// moods is a service that changes its mind about addresses.
type moods struct {
	mu   sync.Mutex
	of   map[string]outbox.Answer
	last map[string]uint64
	bad  error
}

func (m *moods) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	m.mu.Lock()
	defer m.mu.Unlock()
	to := batch[0].Address
	a, ok := m.of[to]
	if !ok {
		a = outbox.Answer{Class: outbox.Stored, Status: 200}
		for _, r := range batch {
			if r.Seq <= m.last[to] || r.Address != to {
				m.bad = fmt.Errorf("record %d of %s came after %d of %s", r.Seq, r.Address, m.last[to], to)
			}
			m.last[to] = r.Seq
		}
	}
	return slices.Repeat([]outbox.Answer{a}, len(batch))
}

func (m *moods) set(to string, a outbox.Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delete(m.of, to); a.Class != outbox.Stored {
		m.of[to] = a
	}
}

// Whatever the service thought of its addresses, and however often it was asked: those that it knows have all that is theirs
// once, in order, and within two hours, while one is unknown for good; in the end that one too.
func TestIsolationAtRandom(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			b := letters(t, boxPath(t), &notes{})
			defer shut(t, b)
			post(t, b, "tags", slices.Repeat([]string{"b"}, int(seed%3))...)
			m := &moods{of: map[string]outbox.Answer{"a": answer(outbox.Path, 404)}, last: map[string]uint64{}}
			stop := running(t, b, "tags", m)
			classes := []outbox.Class{outbox.Stored, outbox.Path, outbox.Key, outbox.Wait, outbox.Ambiguous}
			for range 60 {
				to := string(rune('a' + rng.IntN(5)))
				switch rng.IntN(8) {
				case 0:
					if to != "a" {
						m.set(to, answer(classes[rng.IntN(len(classes))], 444))
					}
				case 1:
					b.Kick("tags")
				case 2:
					wait(time.Duration(rng.IntN(1200)) * time.Second)
				case 3:
					stop()
					stop = running(t, b, "tags", m)
				default:
					post(t, b, "tags", slices.Repeat([]string{to}, 1+rng.IntN(30))...)
				}
				if floor, holds, err := outbox.Floor(b, "tags"); !holds || err != nil {
					t.Fatalf("seed %d: not all below %d wait by themselves, %v", seed, floor, err)
				}
			}
			for _, to := range []string{"b", "c", "d", "e"} {
				m.set(to, outbox.Answer{Class: outbox.Stored})
			}
			post(t, b, "tags", "a", "b")
			wait(2 * time.Hour)
			if at := b.DrainStatus("tags").Isolated; len(at) != 1 || at[0].Address != "a" || m.bad != nil {
				t.Errorf("seed %d: %+v wait by themselves, %v", seed, at, m.bad)
			}
			if at, err := b.Oldest("tags"); err != nil || !at.IsZero() {
				t.Errorf("seed %d: one of %s waits, %v", seed, at, err)
			}
			m.set("a", outbox.Answer{Class: outbox.Stored})
			wait(2 * time.Hour)
			stop()
			if c := counts(t, b, "tags"); c.Waiting != 0 || c.Dead != 0 || m.bad != nil {
				t.Errorf("seed %d: in the end %+v, %v", seed, c, m.bad)
			}
		})
	}
}

// What waits by itself in front of the queue is not read again for every request.
func TestWhatWaitsInFrontIsPassedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		stop := running(t, b, "tags", newDesk(answer(outbox.Path, 404), "lost"))
		post(t, b, "tags", append(slices.Repeat([]string{"lost"}, 1000), "known")...)
		wait(time.Minute)
		post(t, b, "tags", "known", "lost", "known")
		wait(time.Second)
		if floor, holds, err := outbox.Floor(b, "tags"); floor != 1004 || !holds || err != nil {
			t.Errorf("passed are those below %d, want 1004; %t, %v", floor, holds, err)
		}
		if n, err := b.Drop("tags", "not wanted", 1, 2); n != 2 || err != nil {
			t.Error(n, err)
		}
		wait(2 * time.Hour)
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 3 || c.Waiting != 999 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

// A record that was parked comes back in front of what is for an unknown address, while so many are refused that not all are
// remembered. That it was just tried does not hide it: it goes with the others when they are taken.
func TestAParkedRecordBeforeAnUnknownAddressComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := letters(t, boxPath(t), n)
		post(t, b, "tickets", "odd")
		var odd atomic.Value
		odd.Store(answer(outbox.Ambiguous, 500))
		stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if batch[0].Address == "lost" {
				return []outbox.Answer{answer(outbox.Path, 404)}
			}
			return []outbox.Answer{odd.Load().(outbox.Answer)}
		}))
		wait(time.Hour)
		if n.count(outbox.NoteParked) != 1 {
			t.Fatalf("told %+v", n.all)
		}
		odd.Store(answer(outbox.Poison, 400))
		post(t, b, "tickets", append([]string{"lost"}, slices.Repeat([]string{"odd"}, 20)...)...)
		wait(72 * time.Hour)
		odd.Store(answer(outbox.Stored, 200))
		wait(3 * time.Hour)
		stop()
		if c := counts(t, b, "tickets"); c.Delivered != 21 || c.Waiting != 1 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

package outbox_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// letters is a box whose streams have addresses.
func letters(t *testing.T, path string, n *notes) *outbox.Box {
	t.Helper()
	return open(t, path, outbox.Options{Notify: n.add, MaxBytes: 8 << 20,
		Streams: []outbox.Stream{{Name: "memos", Batch: 1}, {Name: "tags", Batch: 20}, {Name: "tickets", Batch: 1, Journal: true}}})
}

// post puts one record for each address.
func post(t *testing.T, b *outbox.Box, stream string, addresses ...string) {
	t.Helper()
	err := b.Update(func(tx *outbox.Tx) error {
		for _, to := range addresses {
			tx.Append(stream, outbox.Record{Address: to, Body: []byte("for " + to)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// desk is a service that does not take what is for some addresses.
type desk struct {
	outboxtest.Service
	mu      sync.Mutex
	unknown map[string]bool
	all     bool // takes nothing at all
	answer  outbox.Answer
	tries   int // requests for the unknown
}

func (k *desk) say(change func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	change()
}

func newDesk(answer outbox.Answer, unknown ...string) *desk {
	k := &desk{unknown: map[string]bool{}, answer: answer}
	for _, u := range unknown {
		k.unknown[u] = true
	}
	k.Fault = func(_ int, _ string, batch []outbox.Record) (outbox.Answer, bool, bool) {
		k.mu.Lock()
		defer k.mu.Unlock()
		bad := k.all || k.unknown[batch[0].Address] || k.unknown[string(batch[0].Body)]
		if bad {
			k.tries++
		}
		return k.answer, false, bad
	}
	return k
}

// ordered says that of each address the records came in their order.
func (k *desk) ordered(stream string) bool {
	last := map[string]uint64{}
	for _, r := range k.Taken(stream) {
		if r.Seq < last[r.Address] {
			return false
		}
		last[r.Address] = r.Seq
	}
	return true
}

// One unknown device or well, whatever the service says of it: the others do not wait, it is named, its records are tried
// now and then in their order, over a restart too, and arrive when the service knows it.
func TestAnUnknownAddressHoldsUpNobody(t *testing.T) {
	for _, answer := range []outbox.Answer{answer(outbox.Path, 404), answer(outbox.Key, 403), answer(outbox.Wait, 500)} {
		for _, stream := range []string{"memos", "tags"} {
			synctest.Test(t, func(t *testing.T) {
				path, n := boxPath(t), &notes{}
				b := letters(t, path, n)
				k := newDesk(answer, "lost")
				post(t, b, stream, "lost", "lost", "one", "two", "lost", "one")
				stop := running(t, b, stream, k)
				wait(10 * time.Second)
				if c := counts(t, b, stream); c.Delivered != 3 || c.Waiting != 3 || c.Dead != 0 {
					t.Errorf("%s, %v: %+v", stream, answer.Class, c)
				}
				wait(24 * time.Hour)
				post(t, b, stream, "lost", "two")
				stalls, most := 0, 60
				if wait(time.Second); answer.Class == outbox.Wait { // says less: with nobody to compare it with it looks like an outage
					wait(10 * time.Minute)
					stalls, most = 1, 400 // a wait of 320 s, half more or less
				}
				s := b.DrainStatus(stream)
				if c := counts(t, b, stream); c.Delivered != 4 {
					t.Errorf("%s, %v: after a day %+v", stream, answer.Class, c)
				}
				if !s.Troubled.IsZero() {
					t.Errorf("%s, %v: the stream is in trouble since %v", stream, answer.Class, s.Troubled)
				}
				if len(s.Isolated) != 1 {
					t.Fatalf("%s, %v: these wait by themselves: %+v", stream, answer.Class, s.Isolated)
				}
				if x := s.Isolated[0]; x.Address != "lost" || x.Answer.Status != answer.Status {
					t.Errorf("%s, %v: waiting by itself is %q for status %d", stream, answer.Class, x.Address, x.Answer.Status)
				}
				if next := s.Isolated[0].Next; !next.After(time.Now()) {
					t.Errorf("%s, %v: the next attempt was at %v", stream, answer.Class, next)
				}
				if n.count(outbox.NoteIsolated) != 1 || n.count(outbox.NoteStalled) > stalls {
					t.Errorf("told %+v", n.all)
				}
				if told := n.of(outbox.NoteIsolated); told.Address != "lost" || !strings.Contains(told.Message, "what is for lost is not taken") {
					t.Errorf("told %+v", told)
				}
				if k.tries < 20 || k.tries > most {
					t.Errorf("%s, %v: a day of %d attempts", stream, answer.Class, k.tries)
				}
				stop()
				shut(t, b)
				b = letters(t, path, n)
				stop = running(t, b, stream, k)
				post(t, b, stream, "one")
				wait(10 * time.Second)
				if c := counts(t, b, stream); c.Delivered != 5 || c.Waiting != 4 {
					t.Errorf("%s, %v: after a restart %+v", stream, answer.Class, c)
				}
				k.say(func() { k.unknown = nil })
				wait(2 * time.Hour)
				stop()
				if c := counts(t, b, stream); c.Delivered != 9 {
					t.Errorf("%s, %v: in the end %+v", stream, answer.Class, c)
				}
				if told := n.count(outbox.NoteRejoined); told != 1 && answer.Class != outbox.Wait {
					t.Errorf("%s, %v: told %d times that it is taken", stream, answer.Class, told)
				}
				if k.Doubled() != 0 || !k.ordered(stream) {
					t.Errorf("%s, %v: %d came twice, in order %v", stream, answer.Class, k.Doubled(), k.ordered(stream))
				}
				shut(t, b)
			})
		}
	}
}

// The service takes nothing for a day: no address is accused, few requests are made, and everything arrives afterwards, of
// each address in its order.
func TestAServiceThatTakesNothingAccusesNobody(t *testing.T) {
	for _, answer := range []outbox.Answer{answer(outbox.Path, 404), answer(outbox.Key, 403), answer(outbox.Wait, 503)} {
		synctest.Test(t, func(t *testing.T) {
			n := &notes{}
			b := letters(t, boxPath(t), n)
			k := newDesk(answer)
			k.all = true
			for range 3 {
				for i := range 300 {
					post(t, b, "tags", fmt.Sprint("well ", i))
				}
			}
			stop := running(t, b, "tags", k)
			for i := range 24 {
				wait(time.Hour)
				post(t, b, "tags", fmt.Sprint("new ", i))
			}
			if c := counts(t, b, "tags"); c.Waiting != 924 || k.Requests() > 350 {
				t.Errorf("%v: %+v after %d requests", answer.Class, c, k.Requests())
			}
			if n.count(outbox.NoteIsolated) != 0 || n.count(outbox.NoteStalled) != 1 {
				t.Errorf("%v: told %+v", answer.Class, n.all)
			}
			before := k.Requests()
			k.say(func() { k.all = false })
			wait(20 * time.Minute)
			stop()
			if c := counts(t, b, "tags"); c.Delivered != 924 || k.Requests()-before > 330 {
				t.Errorf("%v: afterwards %+v after %d requests", answer.Class, c, k.Requests()-before)
			}
			if told := n.count(outbox.NoteIsolated); told != 0 || !k.ordered("tags") {
				t.Errorf("%v: afterwards isolated %d, in order %v", answer.Class, told, k.ordered("tags"))
			}
			shut(t, b)
		})
	}
}

// An unknown device is alone for hours; a memo for another one leaves at once, and shows which of them is to blame. A
// thousand more for the unknown one cost no request.
func TestANewAddressDoesNotWaitForAnUnknownOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &notes{}
		b := letters(t, boxPath(t), n)
		k := newDesk(answer(outbox.Path, 404), "lost")
		post(t, b, "memos", "lost")
		stop := running(t, b, "memos", k)
		wait(5 * time.Hour)
		post(t, b, "memos", "known")
		wait(time.Second)
		if c := counts(t, b, "memos"); c.Delivered != 1 || n.count(outbox.NoteIsolated) != 1 {
			t.Errorf("%+v, told %+v", c, n.all)
		}
		before := k.Requests()
		for range 1000 {
			post(t, b, "memos", "lost")
			wait(time.Second)
		}
		if k.Requests()-before > 12 {
			t.Errorf("%d requests in a quarter of an hour", k.Requests()-before)
		}
		k.say(func() { k.unknown = nil })
		if n, err := b.Retry("memos", 1); n != 1 || err != nil { // a person asks
			t.Errorf("retried %d, %v", n, err)
		}
		wait(time.Minute)
		stop()
		if c := counts(t, b, "memos"); c.Delivered != 1002 || !k.ordered("memos") {
			t.Errorf("in the end %+v", c)
		}
		shut(t, b)
	})
}

// Three hundred unknown wells and one that is known: the known one's values leave, the others are tried once a minute at
// most, all of them in their turn.
func TestManyUnknownAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		k := newDesk(answer(outbox.Path, 404))
		for i := range 300 {
			k.unknown[fmt.Sprint("lost ", i)] = true
			post(t, b, "tags", fmt.Sprint("lost ", i))
		}
		stop := running(t, b, "tags", k)
		for range 24 * 60 {
			post(t, b, "tags", "known", "lost 7")
			wait(time.Minute)
		}
		if c := counts(t, b, "tags"); c.Delivered != 24*60 || k.tries > 24*60+700 {
			t.Errorf("%+v, %d attempts", c, k.tries)
		}
		k.say(func() { k.unknown = nil })
		wait(7 * time.Hour)
		stop()
		if c := counts(t, b, "tags"); c.Waiting != 0 || c.Dead != 0 || !k.ordered("tags") {
			t.Errorf("in the end %+v", c)
		}
		shut(t, b)
	})
}

// What may be stored already goes again with the same records, also where its address was set apart in between.
func TestWhatMayBeStoredStaysTogetherInIsolation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		post(t, b, "tags", "lost", "lost", "known")
		var sent [][]uint64
		lost := 0
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			a := outbox.Answer{Class: outbox.Stored, Status: 200}
			if batch[0].Address == "lost" {
				var seqs []uint64
				for _, r := range batch {
					seqs = append(seqs, r.Seq)
				}
				sent = append(sent, seqs)
				if lost++; lost == 1 {
					a = outbox.Answer{Class: outbox.Ambiguous}
				} else if lost < 5 {
					a = answer(outbox.Path, 404)
				}
			}
			return slices.Repeat([]outbox.Answer{a}, len(batch))
		}))
		wait(100 * time.Millisecond)
		post(t, b, "tags", "lost", "known")
		wait(6 * time.Hour)
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 5 || len(sent) != 6 {
			t.Errorf("%+v, sent %v", c, sent)
		}
		for i, seqs := range sent[:min(5, len(sent))] {
			if !slices.Equal(seqs, []uint64{1, 2}) {
				t.Errorf("attempt %d had %v", i, seqs)
			}
		}
		shut(t, b)
	})
}

// A person, or the link that is back, asks for another attempt while the service takes nothing: that is no evidence against
// the address that it does not take.
func TestAKickIsNoEvidence(t *testing.T) {
	for _, answer := range []outbox.Answer{answer(outbox.Path, 404), answer(outbox.Key, 403), answer(outbox.Wait, 503)} {
		synctest.Test(t, func(t *testing.T) {
			n := &notes{}
			b := letters(t, boxPath(t), n)
			k := newDesk(answer)
			k.all = true
			post(t, b, "tags", "one", "two")
			stop := running(t, b, "tags", k)
			for range 6 {
				wait(time.Hour)
				before := k.Requests()
				b.Kick("tags")
				if synctest.Wait(); k.Requests() != before+1 {
					t.Errorf("%v: %d requests after a kick", answer.Class, k.Requests()-before)
				}
			}
			if n.count(outbox.NoteIsolated) != 0 || len(b.DrainStatus("tags").Isolated) != 0 {
				t.Errorf("%v: told %+v", answer.Class, n.all)
			}
			k.say(func() { k.all = false })
			b.Kick("tags")
			wait(time.Second)
			stop()
			if c := counts(t, b, "tags"); c.Delivered != 2 {
				t.Errorf("%v: afterwards %+v", answer.Class, c)
			}
			shut(t, b)
		})
	}
}

// A person drops what waits by itself, all of it or the last of it: nothing is left to be told of, and the drain sleeps.
func TestWhatWasDroppedDoesNotWaitByItself(t *testing.T) {
	for _, others := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := letters(t, boxPath(t), &notes{})
			k := newDesk(answer(outbox.Path, 404), "lost", "gone")
			post(t, b, "memos", "lost", "one")
			if others {
				post(t, b, "memos", "gone", "two")
			}
			stop := running(t, b, "memos", k)
			wait(10 * time.Second)
			if n := len(b.DrainStatus("memos").Isolated); n == 0 {
				t.Fatal("nothing waits by itself")
			}
			if _, err := b.Drop("memos", "a typing mistake", 1); err != nil {
				t.Fatal(err)
			}
			wait(2 * time.Minute)
			for _, a := range b.DrainStatus("memos").Isolated {
				if a.Address == "lost" {
					t.Errorf("still told: %+v", a)
				}
			}
			wait(24 * time.Hour)
			stop()
			shut(t, b)
		})
	}
}

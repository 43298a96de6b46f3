package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// While everything is refused one record is tried from time to time: the newest, one that was refused, and the next that was
// not tried yet, in turn; so good ones behind many bad ones are found, and what the service has learned meanwhile.
func TestTheTurnsOfProbes(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "tickets", slices.Repeat([]string{"bad"}, 40)...)
		var sent []uint64
		stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			sent = append(sent, batch[0].Seq)
			return []outbox.Answer{answer(outbox.Poison, 400)}
		}))
		wait(10 * time.Hour)
		stop()
		want := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 40, 1, 12, 39, 2, 13, 38, 3, 14, 37, 4}
		if len(sent) < 40 || !slices.Equal(sent[:len(want)], want) {
			t.Errorf("sent %v, want %v first", sent, want)
		}
	})
}

// A person drops whatever is refused: the next record is tried at once, and the stream is well again.
func TestWhatIsRefusedIsDropped(t *testing.T) {
	for _, n := range []int{1, 5, 16} {
		bubble(t, func(t *testing.T, b *outbox.Box, notes *notes) {
			put(t, b, "tickets", slices.Repeat([]string{"bad"}, n)...)
			var sent atomic.Int64
			stop := running(t, b, "tickets", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				sent.Add(1)
				if poisoned("", batch[0]) {
					return []outbox.Answer{answer(outbox.Poison, 400)}
				}
				return []outbox.Answer{answer(outbox.Stored, 200)}
			}))
			wait(5 * time.Hour)
			for seq := range n {
				if done, err := b.Drop("tickets", "not wanted", uint64(seq+1)); done != 1 || err != nil {
					t.Fatal(done, err)
				}
			}
			before := sent.Load()
			wait(time.Hour)
			if sent.Load() != before {
				t.Errorf("%d of %d: %d requests for nothing", n, n, sent.Load()-before)
			}
			put(t, b, "tickets", "good")
			wait(time.Second)
			if c := counts(t, b, "tickets"); c.Delivered != 1 || notes.count(outbox.NoteResumed) != 1 {
				t.Errorf("%d were dropped: %+v, told %+v", n, c, notes.all)
			}
			stop()
		})
	}
}

// A batch of one address leaves out what lies between, however it is mixed, and ends at the stream's own number.
func TestABatchTakesOneAddressFromBetweenOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		for range 25 {
			post(t, b, "tags", "one", "two", "two")
		}
		var sent []string
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			sent = append(sent, fmt.Sprint(len(batch), " ", batch[0].Address))
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		wait(time.Second)
		stop()
		if got := strings.Join(sent, ", "); got != "20 one, 20 two, 20 two, 5 one, 10 two" {
			t.Errorf("sent %s", got)
		}
		shut(t, b)
	})
}

// One record is refused as invalid, another address is unknown, and nothing else comes to compare them with: both are tried
// from time to time, and whichever the service takes first leaves within two hours.
func TestARefusedRecordAndAnUnknownAddressBothHaveTheirTurns(t *testing.T) {
	for _, mended := range []string{"odd", "lost"} {
		for _, first := range []bool{false, true} { // a known one came first, so that the address is to blame
			synctest.Test(t, func(t *testing.T) {
				b := letters(t, boxPath(t), &notes{})
				k := newDesk(answer(outbox.Path, 404), "lost")
				odd := map[bool]outbox.Answer{true: answer(outbox.Poison, 400)}
				fault := k.Fault
				k.Fault = func(i int, stream string, batch []outbox.Record) (outbox.Answer, bool, bool) {
					k.mu.Lock()
					a, ok := odd[batch[0].Address == "odd"]
					k.mu.Unlock()
					if ok {
						return a, false, true
					}
					return fault(i, stream, batch)
				}
				stop := running(t, b, "memos", k)
				if first {
					post(t, b, "memos", "lost", "known")
					wait(time.Minute)
				}
				post(t, b, "memos", "odd", "lost")
				wait(24 * time.Hour)
				before := counts(t, b, "memos")
				if before.Dead != 0 || before.Waiting != map[bool]uint64{false: 2, true: 3}[first] || k.Requests() > 250 {
					t.Errorf("%s, %t: %+v after %d requests", mended, first, before, k.Requests())
				}
				k.say(func() {
					if delete(k.unknown, mended); mended == "odd" {
						odd = nil
					}
				})
				wait(2 * time.Hour)
				stop()
				if c := counts(t, b, "memos"); c.Delivered == before.Delivered {
					t.Errorf("%s, %t: two hours after it would be taken %+v", mended, first, c)
				}
				shut(t, b)
			})
		}
	}
}

// Time and again all that is refused is dropped while the service refuses everything, or all but one, and a good one comes:
// it leaves within the hour, whoever's turn it is.
func TestWhatIsRefusedIsDroppedAtAnyTurn(t *testing.T) {
	for round := range 24 {
		bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
			n := 12
			put(t, b, "tickets", slices.Repeat([]string{"bad"}, n)...)
			stop := running(t, b, "tickets", &outboxtest.Service{Refuse: poisoned})
			wait(time.Hour + time.Duration(round)*4*time.Minute)
			for seq := range n - round%2 {
				if done, err := b.Drop("tickets", "not wanted", uint64(seq+1)); done != 1 || err != nil {
					t.Fatal(done, err)
				}
			}
			put(t, b, "tickets", "good")
			wait(time.Hour)
			if c := counts(t, b, "tickets"); c.Delivered != 1 || c.Waiting != 0 || c.Dead != uint64(round%2) {
				t.Errorf("round %d: %+v", round, c)
			}
			stop()
		})
	}
}

// A person drops what is left of a piece of a refused batch: the next piece goes all the same.
func TestADroppedPieceHoldsUpNoOther(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", "a", "b", "c", "d")
		var sent [][]uint64
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			sent = append(sent, seqsOf(batch))
			class := []outbox.Class{outbox.Poison, outbox.Wait, outbox.Stored}[min(len(sent)-1, 2)]
			return slices.Repeat([]outbox.Answer{answer(class, 0)}, len(batch))
		}))
		synctest.Wait()
		if n, err := b.Drop("events", "not wanted", 1, 2); n != 2 || err != nil {
			t.Error(n, err)
		}
		wait(time.Second)
		stop()
		if want := [][]uint64{{1, 2, 3, 4}, {1, 2}, {3, 4}}; !slices.EqualFunc(sent, want, slices.Equal) {
			t.Errorf("sent %v, want %v", sent, want)
		}
	})
}

// A batch is not looked for through the whole of a long queue; the newest address is, while others are refused.
func TestHowFarABatchIsLookedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		post(t, b, "tags", append(append([]string{"one"}, slices.Repeat([]string{"two"}, 5000)...), "one", "known", "known")...)
		k := newDesk(answer(outbox.Path, 404), "one", "two")
		var sent []string
		fault := k.Fault
		k.Fault = func(i int, stream string, batch []outbox.Record) (outbox.Answer, bool, bool) {
			sent = append(sent, fmt.Sprint(len(batch), " ", batch[0].Address))
			return fault(i, stream, batch)
		}
		stop := running(t, b, "tags", k)
		wait(5 * time.Second)
		stop()
		if got := strings.Join(sent, ", "); !strings.HasPrefix(got, "1 one, 2 known, ") {
			t.Errorf("sent %s", got)
		}
		shut(t, b)
	})
}

// Records go together up to the limit of a request, to the byte; what does not fit goes with the next.
func TestARequestIsFullToTheByte(t *testing.T) {
	for more, want := range map[int][]int{0: {2}, 1: {1, 1}} {
		bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
			half := outbox.MaxRequest/2 - outbox.RecordHeader
			put(t, b, "events", strings.Repeat("x", half), strings.Repeat("x", half+more))
			var sizes []int
			drained(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				sizes = append(sizes, len(batch))
				return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
			}))
			if !slices.Equal(sizes, want) {
				t.Errorf("%d bytes over the limit: requests of %v, want %v", more, sizes, want)
			}
		})
	}
}

// Of 4,096 records that one look at the queue reads the last may still go with the first, and the next may not.
func TestTheLastRecordOfALook(t *testing.T) {
	for between, want := range map[int]int{4094: 2, 4095: 1} {
		synctest.Test(t, func(t *testing.T) {
			b := letters(t, boxPath(t), &notes{})
			post(t, b, "tags", append(append([]string{"one"}, slices.Repeat([]string{"two"}, between)...), "one")...)
			first := 0
			ctx, cancel := context.WithCancel(t.Context())
			err := b.Drain(ctx, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
				first = len(batch)
				cancel()
				return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
			}))
			if err != nil || first != want {
				t.Errorf("%d records between: the first request has %d, want %d; %v", between, first, want, err)
			}
			shut(t, b)
		})
	}
}

// All that is refused is dropped before a probe that is the turn of a refused one: what came meanwhile goes together at once.
func TestWhenNothingRefusedIsLeftTheRestGoesTogether(t *testing.T) {
	bubble(t, func(t *testing.T, b *outbox.Box, _ *notes) {
		put(t, b, "events", slices.Repeat([]string{"bad"}, 12)...)
		var alone atomic.Int64
		var good []int
		stop := running(t, b, "events", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if poisoned("", batch[0]) {
				alone.Add(int64(1 / len(batch)))
				return slices.Repeat([]outbox.Answer{answer(outbox.Poison, 400)}, len(batch))
			}
			good = append(good, len(batch))
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		for synctest.Wait(); alone.Load() < 15; { // eleven of a batch, then the turns of the newest, a refused one, the next and the newest
			wait(time.Second)
		}
		if done, err := b.Drop("events", "not wanted", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12); done != 12 || err != nil {
			t.Fatal(done, err)
		}
		put(t, b, "events", "good", "good", "good")
		wait(time.Hour)
		stop()
		if alone.Load() != 15 || !slices.Equal(good, []int{3}) {
			t.Errorf("after %d probes requests of %v, want one of 3", alone.Load(), good)
		}
	})
}

// All that is refused as invalid is dropped, and what is left is for an unknown address: that is no pause of the stream.
func TestAnUnknownAddressAloneIsNoPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := letters(t, boxPath(t), &notes{})
		post(t, b, "memos", append([]string{"lost"}, slices.Repeat([]string{"odd"}, 14)...)...)
		var odd, lost atomic.Int64
		stop := running(t, b, "memos", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if batch[0].Address == "lost" {
				lost.Add(1)
				return []outbox.Answer{answer(outbox.Path, 404)}
			}
			odd.Add(1)
			return []outbox.Answer{answer(outbox.Poison, 400)}
		}))
		for synctest.Wait(); odd.Load() < 15; { // eleven, then the turns of the newest, a refused one, the next and the newest
			wait(time.Second)
		}
		if got := b.DrainStatus("memos").Activity; got != outbox.Paused {
			t.Errorf("while all is refused it is %s", got)
		}
		for seq := uint64(2); seq <= 15; seq++ {
			if done, err := b.Drop("memos", "not wanted", seq); done != 1 || err != nil {
				t.Fatal(done, err)
			}
		}
		before := lost.Load()
		wait(time.Hour)
		if got := b.DrainStatus("memos").Activity; odd.Load() != 15 || lost.Load() == before || got != outbox.BackOff {
			t.Errorf("after %d requests for the unknown address it is %s", lost.Load()-before, got)
		}
		stop()
		shut(t, b)
	})
}

package outbox_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// offered are records with these bodies, each for the well that its first letter names.
func offered(bodies ...string) (all []outbox.Record) {
	for _, body := range bodies {
		all = append(all, outbox.Record{Address: "well-" + body[:1], Body: []byte(body), At: time.Now()})
	}
	return all
}

// taker is a service that takes after a time what it is not told to answer otherwise, and knows what it took.
type taker struct {
	answers []outbox.Answer // to the first requests
	refuses string          // a body that is refused, with all that it comes with
	took    time.Duration   // each
	batches [][]string      // that were taken, or may have been
}

func (s *taker) Send(_ context.Context, _ string, batch []outbox.Record) []outbox.Answer {
	wait(s.took)
	a := answer(outbox.Stored, 200)
	if len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	if slices.Contains(bodies(batch), s.refuses) {
		a = answer(outbox.Poison, 400)
	}
	if a.Class == outbox.Stored || a.Class == outbox.Ambiguous {
		s.batches = append(s.batches, bodies(batch))
	}
	return slices.Repeat([]outbox.Answer{a}, len(batch))
}

// taken are the bodies of all batches, sorted.
func (s *taker) taken() string {
	all := slices.Concat(s.batches...)
	slices.Sort(all)
	return strings.Join(all, " ")
}

// What the service takes at once is never written: the file is as it was until the counts are due, five minutes later, and then it has
// those and the receipts.
func TestWhatIsTakenAtOnceIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := lingering(t, path)
		service := &taker{}
		stop := running(t, b, "tags", service)
		synctest.Wait()
		before := map[string][]byte{path: read(t, path), path + ".receipts": read(t, path+".receipts"), path + ".high": read(t, path+".high")}
		for range 3 {
			if !b.Offer("tags", offered("a1", "b1", "a2")) {
				t.Fatal("an idle drain takes no offer")
			}
			wait(30 * time.Second)
		}
		for name, content := range before {
			if !bytes.Equal(read(t, name), content) {
				t.Errorf("%s was written", name)
			}
		}
		want := [][]string{{"a1", "a2"}, {"b1"}}
		if got := service.batches; len(got) != 6 || !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
			t.Errorf("requests of %v, want %v three times", got, want)
		}
		if c := counts(t, b, "tags"); c.Accepted != 9 || c.Delivered != 9 {
			t.Errorf("%+v", c)
		}
		wait(4 * time.Minute)
		all, err := b.Audit()
		if err != nil || all["tags"].Delivered != 9 {
			t.Errorf("five minutes later the file has %+v, %v", all["tags"], err)
		}
		page, err := b.Entries("tags", outbox.Delivered, 0, 100)
		if err != nil || len(page) != 9 || page[8].Record.Seq != 9 {
			t.Errorf("%d receipts, %v", len(page), err)
		}
		stop()
		shut(t, b)
	})
}

// An audit of now has what is counted in memory alone too, with its receipts.
func TestAnAuditIsOfNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lingering(t, boxPath(t))
		stop := running(t, b, "tags", &taker{})
		synctest.Wait()
		if !b.Offer("tags", offered("a1", "b1", "a2")) {
			t.Fatal("an idle drain takes no offer")
		}
		wait(time.Second)
		all, err := b.AuditNow()
		if err != nil || all["tags"].Counts != counts(t, b, "tags") || all["tags"].Delivered != 3 {
			t.Errorf("the file has %+v, %v", all["tags"], err)
		}
		if page, err := b.Entries("tags", outbox.Delivered, 0, 100); err != nil || len(page) != 3 {
			t.Errorf("%d receipts, %v", len(page), err)
		}
		stop()
		shut(t, b)
	})
}

// A kill costs the counts of what was taken meanwhile, and what it had not been: nothing comes twice, and the numbers are given again.
func TestAKillCostsWhatIsOffered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := lingering(t, path)
		service := &taker{took: time.Second}
		stop := running(t, b, "tags", service)
		synctest.Wait()
		b.Offer("tags", offered("a1", "a2"))
		wait(2 * time.Second)
		b.Offer("tags", offered("a3"))
		killed := map[string][]byte{path: read(t, path), path + ".receipts": read(t, path+".receipts"), path + ".high": read(t, path+".high")}
		wait(2 * time.Second)
		stop()
		shut(t, b)
		for name, content := range killed {
			write(t, name, content)
		}
		b = lingering(t, path)
		if c := counts(t, b, "tags"); c != (outbox.Counts{}) {
			t.Errorf("after the kill %+v", c)
		}
		post(t, b, "tags", "well")
		drained(t, b, "tags", service)
		if c := counts(t, b, "tags"); c.Accepted != 1 || c.Delivered != 1 || c.Dead > 0 || c.Lost > 0 {
			t.Errorf("later %+v", c)
		}
		if got := service.taken(); got != "a1 a2 a3 for well" {
			t.Errorf("taken: %s", got)
		}
		shut(t, b)
	})
}

// What is not taken is stored, and goes the way of all others.
func TestWhatIsNotTakenAtOnceIsStored(t *testing.T) {
	for name, c := range map[string]struct {
		service      taker
		queued, dead uint64 // seconds after the offer, and an hour later
		taken        string
	}{
		"unreachable":     {taker{answers: slices.Repeat([]outbox.Answer{answer(outbox.Wait, 503)}, 10)}, 3, 0, "a1 a2 b1"},
		"refused":         {taker{refuses: "a1"}, 1, 1, "a2 b1"},
		"the answer lost": {taker{answers: []outbox.Answer{{}}}, 3, 0, "a1 a1 a2 a2 b1"},
		"slow":            {taker{took: 20 * time.Second}, 3, 0, "a1 a2 b1"},
		"slow by and by":  {taker{took: 3 * time.Second}, 1, 0, "a1 a2 b1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := lingering(t, boxPath(t))
				stop := running(t, b, "tags", &c.service)
				synctest.Wait()
				if !b.Offer("tags", offered("a1", "a2", "b1")) {
					t.Fatal("an idle drain takes no offer")
				}
				if b.Offer("tags", offered("a3")) {
					t.Error("a second offer was taken while the first is under way")
				}
				wait(5*time.Second + time.Millisecond)
				all, err := b.Audit()
				if err != nil || all["tags"].Accepted != 3 || all["tags"].Queued != c.queued {
					t.Errorf("the file has %+v, %v", all["tags"], err)
				}
				wait(time.Hour)
				stop()
				if n := counts(t, b, "tags"); n.Accepted != 3 || n.Waiting != 0 || n.Dead != c.dead {
					t.Errorf("at the end %+v", n)
				}
				if got := c.service.taken(); got != c.taken {
					t.Errorf("taken: %s, want %s", got, c.taken)
				}
				shut(t, b)
			})
		})
	}
}

// An offer is for a drain that has nothing else to do; what the end of a drain leaves of one is stored.
func TestAnOfferIsDeclinedOrStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		paced := make(chan struct{})
		streams := site()
		streams[2].Linger = 10 * time.Second
		b := open(t, boxPath(t), outbox.Options{Streams: streams, Pace: func(ctx context.Context, _ string) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-paced:
				return nil
			}
		}})
		if b.Offer("tags", offered("a1")) {
			t.Error("taken without a drain")
		}
		service := &taker{}
		stopEvents := running(t, b, "events", service)
		stop := running(t, b, "tags", service)
		synctest.Wait()
		if b.Offer("events", offered("a1")) || b.Offer("nowhere", offered("a1")) {
			t.Error("taken of a stream that does not linger, or is none")
		}
		if !b.Offer("tags", offered("a1")) {
			t.Error("an idle drain takes no offer")
		}
		wait(time.Second)
		stop()
		if c := counts(t, b, "tags"); c.Waiting != 1 {
			t.Errorf("after the end of the drain %+v", c)
		}
		stop = running(t, b, "tags", service)
		synctest.Wait()
		if b.Offer("tags", offered("a2")) {
			t.Error("taken beside a backlog")
		}
		close(paced)
		wait(time.Minute)
		stop()
		stopEvents()
		if got := service.taken(); got != "a1" {
			t.Errorf("taken: %s", got)
		}
		shut(t, b)
	})
}

// Receipts of what is not stored are not gathered without bound.
func TestManyReceiptsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lingering(t, boxPath(t))
		stop := running(t, b, "tags", &taker{})
		synctest.Wait()
		b.Offer("tags", offered(slices.Repeat([]string{"a"}, 1100)...))
		wait(time.Second)
		if all, err := b.Audit(); err != nil || all["tags"].Delivered != 1100 {
			t.Errorf("the file has %+v, %v", all["tags"], err)
		}
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 1100 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

// Where tickets have used up the quota, what is not taken can be stored nowhere: it waits for the service in memory, and the drain goes on.
func TestAnOfferWaitsWhereThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := site()
		streams[2].Linger = 10 * time.Second
		b := open(t, boxPath(t), outbox.Options{Streams: streams, MaxBytes: 1 << 20})
		full := error(nil)
		for full == nil {
			full = b.Update(func(tx *outbox.Tx) error {
				tx.Append("tickets", outbox.Record{Body: bytes.Repeat([]byte("t"), 20<<10)})
				return nil
			})
		}
		if !outbox.NoRoom(full) {
			t.Fatal(full)
		}
		for full = nil; full == nil; {
			full = b.Update(func(tx *outbox.Tx) error {
				tx.Append("tickets", outbox.Record{Body: []byte("t")})
				return nil
			})
		}
		service := &taker{answers: slices.Repeat([]outbox.Answer{answer(outbox.Wait, 503)}, 5)}
		stop := running(t, b, "tags", service)
		synctest.Wait()
		if !b.Offer("tags", offered("a1")) {
			t.Fatal("an idle drain takes no offer")
		}
		wait(time.Hour)
		if !b.Offer("tags", offered("a2")) {
			t.Error("an hour later the drain takes no offer")
		}
		wait(time.Minute)
		stop()
		if got := service.taken(); got != "a1 a2" {
			t.Errorf("taken: %s", got)
		}
		if c := counts(t, b, "tags"); c.Delivered != 2 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

// Of what is being sent without being stored people see, too, since when its answer is awaited.
func TestAnOfferThatIsSentSaysSinceWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lingering(t, boxPath(t))
		stop := running(t, b, "tags", &taker{took: 20 * time.Second})
		synctest.Wait()
		began := time.Now()
		if !b.Offer("tags", offered("a1")) {
			t.Fatal("an idle drain takes no offer")
		}
		wait(10 * time.Second) // by then it is stored too, and waits
		if s := b.DrainStatus("tags"); s.Activity != outbox.Sending || !s.Asked.Equal(began) || s.Asking != len("a1") {
			t.Errorf("%s since %s, %d bytes; want since %s", s.Activity, s.Asked, s.Asking, began)
		}
		wait(time.Minute)
		stop()
		shut(t, b)
	})
}

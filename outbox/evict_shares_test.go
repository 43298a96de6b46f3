package outbox_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// shared is the site with shares: no stream may take all.
func shared() []outbox.Stream {
	return []outbox.Stream{
		{Name: "tickets", Journal: true},
		{Name: "events", Batch: 50, Keep: outbox.OldestLast, Share: 40},
		{Name: "tags", Batch: 100, Keep: outbox.ThinFirst, Share: 50},
		{Name: "refused", Held: true, Keep: outbox.OldestFirst, Share: 5},
		{Name: "memos", Share: 2},
	}
}

// Records of all streams come at random, some are refused and become dead letters, and after each step the box is what
// the model says: no stream has more than its share, no ticket has given way, of the events the oldest have, the newest
// values are there, and every record that went is counted and told.
func TestSharesAgainstTheModel(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &sharing{t: t, rng: rand.New(rand.NewPCG(seed, 7)), m: outboxtest.NewModel("tickets", "events", "tags", "refused"), n: &notes{}}
				r.s = &outboxtest.Service{Refuse: func(_ string, x outbox.Record) bool { return x.Config == 1 }}
				r.b = open(t, boxPath(t), outbox.Options{MaxBytes: mib, Streams: shared(), Notify: r.n.add})
				for range 150 {
					r.step()
				}
				if r.m.Streams["tickets"].Evicted != 0 {
					t.Error("tickets gave way")
				}
				for _, stream := range []string{"events", "tags", "refused"} {
					if r.m.Streams[stream].Evicted == 0 {
						t.Errorf("no %s gave way: the test is too small", stream)
					}
				}
				shut(t, r.b)
			})
		})
	}
}

type sharing struct {
	t   *testing.T
	rng *rand.Rand
	b   *outbox.Box
	m   *outboxtest.Model
	s   *outboxtest.Service
	n   *notes
}

func (r *sharing) step() {
	r.t.Helper()
	stream := []string{"tickets", "events", "tags", "refused"}[min(r.rng.IntN(10)/2, 3)]
	most := 30
	if stream == "tickets" {
		most = 2
	}
	var all []outbox.Record
	err := r.b.Update(func(tx *outbox.Tx) error {
		for range 1 + r.rng.IntN(most) {
			x := outbox.Record{Body: make([]byte, 200+r.rng.IntN(1500)), At: time.Now(), Config: uint32(r.rng.IntN(6))}
			x.Seq = tx.Append(stream, x)
			all = append(all, x)
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.gone()
	for _, x := range all {
		r.m.Append(stream, x)
	}
	if r.rng.IntN(20) == 0 && stream == "events" {
		r.drain(stream)
	}
	r.compare()
}

// gone moves in the model what the box does not have any more, and judges what that was.
func (r *sharing) gone() {
	r.t.Helper()
	for stream, q := range r.m.Streams {
		for state, place := range map[outbox.State]map[uint64]outbox.Record{outbox.Waiting: q.Waiting, outbox.Dead: q.Dead} {
			have, err := outboxtest.All(r.b, stream, state)
			if err != nil {
				r.t.Fatal(err)
			}
			kept := map[uint64]bool{}
			for _, e := range have {
				kept[e.Record.Seq] = true
			}
			seqs := slices.Sorted(maps.Keys(place))
			evicted := slices.DeleteFunc(slices.Clone(seqs), func(seq uint64) bool { return kept[seq] })
			if len(evicted) == 0 {
				continue
			}
			if stream != "tags" && !slices.Equal(evicted, seqs[:len(evicted)]) {
				r.t.Errorf("%s: %v gave way, of %v", stream, evicted, seqs)
			}
			if newest := seqs[len(seqs)*3/4:]; stream == "tags" && evicted[len(evicted)-1] >= newest[0] {
				r.t.Errorf("tags: %v gave way, of %v", evicted, seqs)
			}
			for _, seq := range evicted {
				r.m.Evict(stream, seq)
			}
		}
	}
}

func (r *sharing) compare() {
	r.t.Helper()
	if err := r.m.Compare(r.b); err != nil {
		r.t.Fatal(err)
	}
	told := 0
	for _, s := range shared() {
		q := r.m.Streams[s.Name]
		if q == nil || s.Share == 0 {
			continue
		}
		size, most := 0, mib/5*4*s.Share/100
		for _, place := range []map[uint64]outbox.Record{q.Waiting, q.Dead} {
			for _, x := range place {
				size += len(x.Body)
			}
		}
		if size > most && len(q.Waiting)+len(q.Dead) > 30 {
			r.t.Errorf("%s uses %d bytes of its %d", s.Name, size, most)
		}
		told += int(q.Evicted)
	}
	if n := r.n.sum(outbox.NoteEvicted); n != told {
		r.t.Errorf("%d are told, %d gave way", n, told)
	}
}

func (r *sharing) drain(stream string) {
	stop := running(r.t, r.b, stream, r.s)
	wait(6 * time.Hour)
	stop()
	q := r.m.Streams[stream]
	dead, err := outboxtest.All(r.b, stream, outbox.Dead)
	if err != nil {
		r.t.Fatal(err)
	}
	is := map[uint64]bool{}
	for _, e := range dead {
		is[e.Record.Seq] = true
	}
	waiting, err := outboxtest.All(r.b, stream, outbox.Waiting)
	if err != nil {
		r.t.Fatal(err)
	}
	still := map[uint64]outbox.Record{}
	for _, e := range waiting {
		still[e.Record.Seq] = q.Waiting[e.Record.Seq]
		delete(q.Waiting, e.Record.Seq)
	}
	r.m.Drain(stream, func(x outbox.Record) bool { return is[x.Seq] })
	maps.Copy(q.Waiting, still)
}

// A site that refuses every message, or whose service refuses every event, leaves the tickets their room; a stream that
// never gives way is refused beyond its share, and the others go on.
func TestNoStreamTakesTheRoomOfAnother(t *testing.T) {
	n := &notes{}
	b := open(t, boxPath(t), outbox.Options{MaxBytes: mib, Streams: shared(), Notify: n.add})
	defer shut(t, b)
	body := strings.Repeat("x", 1000)
	for range 60 {
		put(t, b, "refused", repeat(body, 20)...)
		put(t, b, "events", repeat(body, 20)...)
		put(t, b, "tags", repeat(body, 20)...)
	}
	for stream, most := range map[string]uint64{"refused": 31, "events": 246, "tags": 308} { // shares of 614 records of 1,365 bytes
		if c := counts(t, b, stream); c.Waiting > most || c.Waiting < most*9/10 || c.Evicted+c.Waiting != 1200 {
			t.Errorf("%s: %+v", stream, c)
		}
	}
	put(t, b, "tickets", repeat(body, 500)...)
	if c := counts(t, b, "tickets"); c.Waiting != 500 {
		t.Errorf("tickets: %+v", c)
	}
	var err error
	for range 20 {
		err = errors.Join(err, b.Update(func(tx *outbox.Tx) error { tx.Append("memos", outbox.Record{Body: []byte(body)}); return nil }))
	}
	if !errors.Is(err, outbox.ErrFull) || !strings.Contains(err.Error(), "share of memos") || n.count(outbox.NoteFull) != 1 {
		t.Errorf("memos beyond their share: %v, %d notes", err, n.count(outbox.NoteFull))
	}
	put(t, b, "tickets", body)
	large := strings.Repeat("x", 100_000)
	put(t, b, "refused", large)
	if c := counts(t, b, "refused"); c.Waiting != 1 {
		t.Errorf("one larger than the share: %+v", c)
	}
}

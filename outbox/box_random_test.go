package outbox_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// A thousand random steps, done to a box and to a model in memory, with the box closed and opened in between, and after
// every reopening the two are the same, byte by byte.
func TestRandomStepsAgainstTheModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newRun(t, seed).steps(250) })
		})
	}
}

// run is one randomised test.
type run struct {
	t     *testing.T
	rng   *rand.Rand
	path  string
	b     *outbox.Box
	m     *outboxtest.Model
	s     *outboxtest.Service
	fixed bool // the service takes what it refused before
}

func newRun(t *testing.T, seed uint64) *run {
	r := &run{t: t, rng: rand.New(rand.NewPCG(seed, 99)), path: boxPath(t), m: outboxtest.NewModel("tickets", "events", "tags")}
	r.s = &outboxtest.Service{Refuse: func(_ string, x outbox.Record) bool { return r.refused(x) }}
	r.b = open(t, r.path, outbox.Options{})
	return r
}

// refused: a quarter of some records, so that a batch always has a good one (the step that drains puts one behind).
func (r *run) refused(x outbox.Record) bool { return !r.fixed && x.Config%8 == 7 }

func (r *run) stream() string { return []string{"tickets", "events", "tags"}[r.rng.IntN(3)] }

func (r *run) steps(n int) {
	for range n {
		switch p := r.rng.IntN(100); {
		case p < 55:
			r.update()
		case p < 65:
			r.drain()
		case p < 70:
			r.amend(r.mayConfirm, func(stream string, seq uint64) (int, error) { return r.b.Confirm(stream, "test: seen", seq) })
		case p < 75:
			r.amend(r.m.Drop, func(stream string, seq uint64) (int, error) { return r.b.Drop(stream, "test", seq) })
		case p < 85:
			r.amend(r.m.Retry, func(stream string, seq uint64) (int, error) { return r.b.Retry(stream, seq) })
		case p < 88:
			r.fixed = !r.fixed
		default:
			shut(r.t, r.b)
			if _, err := outbox.Check(r.path); err != nil {
				r.t.Fatal(err)
			}
			r.b = open(r.t, r.path, outbox.Options{})
		}
		if r.rng.IntN(10) == 0 {
			r.compare()
		}
	}
	r.compare()
	shut(r.t, r.b)
}

func (r *run) compare() {
	r.t.Helper()
	if err := r.m.Compare(r.b); err != nil {
		r.t.Fatal(err)
	}
}

func (r *run) update() {
	failing := r.rng.IntN(8) == 0
	type appended struct {
		stream string
		rec    outbox.Record
		seq    uint64
	}
	var all []appended
	state := map[string][]byte{}
	err := r.b.Update(func(tx *outbox.Tx) error {
		for range r.rng.IntN(20) {
			a := appended{stream: r.stream(), rec: outbox.Record{
				Address: fmt.Sprint("well-", r.rng.IntN(3)), Body: make([]byte, 1+r.rng.IntN(2000)),
				At: time.Now().Add(time.Duration(r.rng.Int64N(1e15))), Clock: byte(r.rng.IntN(3)), Config: r.rng.Uint32(),
			}}
			a.seq = tx.Append(a.stream, a.rec)
			all = append(all, a)
		}
		for range r.rng.IntN(3) {
			name := fmt.Sprint("state/", r.rng.IntN(20))
			var v []byte
			if r.rng.IntN(3) > 0 {
				v = make([]byte, r.rng.IntN(300))
			}
			tx.Put(name, v)
			state[name] = v
		}
		if failing {
			return fmt.Errorf("as told")
		}
		return nil
	})
	if failing != (err != nil) {
		r.t.Fatalf("update: %v", err)
	}
	if failing {
		return
	}
	for _, a := range all {
		if want := r.m.Append(a.stream, a.rec); a.seq != want {
			r.t.Fatalf("%s: number %d, want %d", a.stream, a.seq, want)
		}
	}
	for name, v := range state {
		r.m.Put(name, v)
	}
}

// drain lets the service take a stream. Good records behind the refused ones settle what the refused ones are.
func (r *run) drain() {
	stream := r.stream()
	stop := running(r.t, r.b, stream, r.s)
	for range 40 {
		good := outbox.Record{Body: []byte("good"), At: time.Now()}
		err := r.b.Update(func(tx *outbox.Tx) error { tx.Append(stream, good); return nil })
		if err != nil {
			r.t.Fatal(err)
		}
		r.m.Append(stream, good)
		wait(10 * time.Minute)
		if r.b.Counts()[stream].Waiting == 0 {
			break
		}
	}
	stop()
	r.m.Drain(stream, r.refused)
}

// mayConfirm is Confirm of the model, which does not know what was never sent and therefore stays.
func (r *run) mayConfirm(stream string, seq uint64) bool {
	e, err := r.b.Entry(stream, seq)
	return (err != nil || !e.NeverSent) && r.m.Confirm(stream, seq)
}

func (r *run) amend(model func(string, uint64) bool, box func(string, uint64) (int, error)) {
	stream := r.stream()
	seq := 1 + r.rng.Uint64N(r.m.Streams[stream].Next)
	n, err := box(stream, seq)
	if found := model(stream, seq); found != (n == 1) || found != (err == nil) {
		r.t.Fatalf("%s %d: %d, %v; the model says %v", stream, seq, n, err, found)
	}
}

package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// The words of these tests: a site is the usual set of streams; open, shut and put open and close a box and store records;
// drained, emptied, drainAll, drainSome and running run a drain; counts are those of a stream, and add up; notes collect what is told.
// A desk (isolation_test.go) is a service that does not take some ids; a script (box_script_test.go) is a run of steps that a
// child plays under our tracer, and a story what it has said until it was cut off; a base and its mutants
// (salvage_mutant_bases_test.go) are a sound file and damaged copies of it. Tests inside the package have openTickets, oneStream
// and reopened instead.

// site is the set of streams that the tests use: a Journal stream one by one, and two that go in batches.
func site() []outbox.Stream {
	return []outbox.Stream{
		{Name: "tickets", Batch: 1, Journal: true},
		{Name: "events", Batch: 50, Keep: outbox.OldestLast},
		{Name: "tags", Batch: 100, Keep: outbox.ThinFirst},
		{Name: "refused", Held: true, Keep: outbox.OldestFirst},
	}
}

func open(t testing.TB, path string, o outbox.Options) *outbox.Box {
	t.Helper()
	if o.Streams == nil {
		o.Streams = site()
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 8 << 20
	}
	b, err := outbox.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func shut(t testing.TB, b *outbox.Box) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func boxPath(t testing.TB) string { return filepath.Join(scratch(t), "outbox.db") }

// scratch is a folder in memory where there is one with room: most tests judge what the box does, not how fast a disk
// obeys.
func scratch(t testing.TB) string {
	t.Helper()
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil || int64(st.Bavail)*int64(st.Bsize) < 512<<20 {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp("/dev/shm", "outbox-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// drained runs a drain inside the caller's bubble until it waits for something.
func drained(t testing.TB, b *outbox.Box, stream string, to outbox.Sender) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { err = b.Drain(ctx, stream, to) })
	synctest.Wait()
	cancel()
	wg.Wait()
	if err != nil {
		t.Fatalf("drain %s: %v", stream, err)
	}
}

// emptied is drained with an hour for what waits: a ticket whose answer a cut has taken is not sent at once.
func emptied(t testing.TB, b *outbox.Box, stream string, to outbox.Sender) {
	t.Helper()
	stop := running(t, b, stream, to)
	wait(time.Hour)
	stop()
}

func counts(t testing.TB, b *outbox.Box, stream string) outbox.Counts {
	t.Helper()
	c := b.Counts()[stream]
	if !c.Balanced() {
		t.Fatalf("counts of %s do not add up: %+v", stream, c)
	}
	if all, err := b.Audit(); err != nil || !all[stream].Holds() {
		t.Fatalf("the file has %+v of %s, %v", all[stream], stream, err)
	}
	return c
}

// notes collects what a box tells.
type notes struct {
	mu  sync.Mutex
	all []outbox.Note
}

func (n *notes) add(x outbox.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, x)
}

func (n *notes) count(kind outbox.NoteKind) (c int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range n.all {
		if x.Kind == kind {
			c++
		}
	}
	return c
}

// of returns the last note of a kind.
func (n *notes) of(kind outbox.NoteKind) (last outbox.Note) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range n.all {
		if x.Kind == kind {
			last = x
		}
	}
	return last
}

func TestRecordsAndStateAreThereAfterReopening(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	var seq uint64
	err := b.Update(func(tx *outbox.Tx) error {
		tx.Put("tank/TK-1", []byte("level 12"))
		tx.Put("empty", []byte{})
		seq = tx.Append("tickets", outbox.Record{Address: "well-7", Body: []byte(`{"n":1}`), Clock: 2, Config: 77})
		if got := tx.Get("tank/TK-1"); string(got) != "level 12" {
			t.Errorf("inside the transaction the state is %q", got)
		}
		return nil
	})
	if err != nil || seq != 1 {
		t.Fatalf("append gave %d, %v", seq, err)
	}
	shut(t, b)
	b = open(t, path, outbox.Options{})
	defer shut(t, b)
	e, err := b.Entry("tickets", 1)
	if err != nil {
		t.Fatal(err)
	}
	r := e.Record
	if string(r.Body) != `{"n":1}` || r.Address != "well-7" {
		t.Errorf("read back %s for %q", r.Body, r.Address)
	}
	if r.Clock != 2 || r.Config != 77 {
		t.Errorf("read back clock %d, configuration %d", r.Clock, r.Config)
	}
	if r.At.IsZero() || e.State != outbox.Waiting {
		t.Errorf("read back %v since %v", e.State, r.At)
	}
	if v, err := b.Get("empty"); err != nil || v == nil || len(v) != 0 {
		t.Errorf("empty state came back as %v, %v", v, err)
	}
	if v, err := b.Get("nothing"); err != nil || v != nil {
		t.Errorf("no state came back as %v, %v", v, err)
	}
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	b := open(t, boxPath(t), outbox.Options{})
	defer shut(t, b)
	boom := errors.New("boom")
	err := b.Update(func(tx *outbox.Tx) error {
		tx.Append("events", outbox.Record{Body: []byte("a")})
		tx.Put("n", []byte("1"))
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("error is %v", err)
	}
	bad := map[string]func(tx *outbox.Tx){
		"unknown stream": func(tx *outbox.Tx) { tx.Append("nosuch", outbox.Record{Body: []byte("a")}) },
		"no body":        func(tx *outbox.Tx) { tx.Append("events", outbox.Record{}) },
		"long address": func(tx *outbox.Tx) {
			tx.Append("events", outbox.Record{Address: string(make([]byte, 256)), Body: []byte("a")})
		},
		"no name": func(tx *outbox.Tx) { tx.Put("", []byte("a")) },
	}
	for name, stage := range bad {
		err := b.Update(func(tx *outbox.Tx) error {
			tx.Append("events", outbox.Record{Body: []byte("good")})
			stage(tx)
			return nil
		})
		if !errors.Is(err, outbox.ErrRefused) && !errors.Is(err, outbox.ErrStream) {
			t.Errorf("%s: error is %v", name, err)
		}
	}
	if c := counts(t, b, "events"); c.Accepted != 0 {
		t.Errorf("something of a failed transaction was accepted: %+v", c)
	}
	if names, _ := b.Names(""); len(names) != 0 {
		t.Errorf("state of a failed transaction: %q", names)
	}
	put(t, b, "events", "x")
	if e, err := b.Entry("events", 1); err != nil || e.Record.Seq != 1 {
		t.Errorf("the number of a failed record was not used again: %v", err)
	}
}

func TestProducersShareCommits(t *testing.T) {
	b := open(t, boxPath(t), outbox.Options{})
	defer shut(t, b)
	const producers, each = 32, 20
	got := make([][]uint64, producers)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			for i := range each {
				err := b.Update(func(tx *outbox.Tx) error {
					n, _ := strconv.Atoi(string(tx.Get("sum")))
					tx.Put("sum", []byte(strconv.Itoa(n+1)))
					got[p] = append(got[p], tx.Append("events", outbox.Record{Body: fmt.Appendf(nil, "%d/%d", p, i)}))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all := slices.Sorted(slices.Values(slices.Concat(got...)))
	for i, seq := range all {
		if seq != uint64(i+1) {
			t.Fatalf("number %d is at place %d", seq, i)
		}
	}
	if v, _ := b.Get("sum"); string(v) != strconv.Itoa(producers*each) {
		t.Errorf("read, add, write counted to %s", v)
	}
	for p := range producers {
		for i, seq := range got[p] {
			e, err := b.Entry("events", seq)
			if want := fmt.Sprintf("%d/%d", p, i); err != nil || string(e.Record.Body) != want {
				t.Fatalf("record %d is %q, want %q, %v", seq, e.Record.Body, want, err)
			}
		}
	}
}

func TestSecondOpenSaysWhoHoldsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := open(t, path, outbox.Options{})
		defer shut(t, b)
		if _, err := outbox.Open(path, outbox.Options{Streams: site()}); !errors.Is(err, outbox.ErrHeld) {
			t.Errorf("second open: %v", err)
		}
		if _, err := outbox.Check(path); !errors.Is(err, outbox.ErrHeld) {
			t.Errorf("check of an open box: %v", err)
		}
	})
}

func TestClosedBoxRefuses(t *testing.T) {
	b := open(t, boxPath(t), outbox.Options{})
	shut(t, b)
	err := b.Update(func(tx *outbox.Tx) error { tx.Put("a", []byte("b")); return nil })
	_, getErr := b.Get("a")
	_, listErr := b.Entries("events", outbox.Waiting, 0, 1)
	drainErr := b.Drain(t.Context(), "events", &outboxtest.Service{})
	for _, err := range []error{err, getErr, listErr, drainErr, b.Close()} {
		if !errors.Is(err, outbox.ErrClosed) {
			t.Errorf("error is %v", err)
		}
	}
}

// drainAll drains until nothing waits, in real time; every request must be taken in the end.
func drainAll(t testing.TB, b *outbox.Box, stream string, s outbox.Sender) {
	t.Helper()
	drainSome(t, b, stream, s, b.Counts()[stream].Waiting)
}

// drainSome drains until so many more records are delivered.
func drainSome(t testing.TB, b *outbox.Box, stream string, to outbox.Sender, n uint64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if n == 0 {
		return
	}
	if err := b.Drain(ctx, stream, &ending{to: to, left: int(n), end: cancel}); err != nil {
		t.Fatal(err)
	}
}

// ending ends a drain when so many records were stored; the drain commits their receipts all the same.
type ending struct {
	to   outbox.Sender
	left int
	end  func()
}

func (e *ending) Send(ctx context.Context, stream string, batch []outbox.Record) []outbox.Answer {
	receipts := e.to.Send(ctx, stream, batch)
	for _, r := range receipts {
		if r.Class == outbox.Stored {
			e.left--
		}
	}
	if e.left <= 0 {
		e.end()
	}
	return receipts
}

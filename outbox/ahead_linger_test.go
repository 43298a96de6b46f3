package outbox_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// lingering is a box whose tags wait ten seconds for each other.
func lingering(t *testing.T, path string) *outbox.Box {
	t.Helper()
	streams := site()
	streams[2].Linger = 10 * time.Second
	return open(t, path, outbox.Options{Streams: streams})
}

// Behind the first request of a run values wait for each other, those of all addresses, and leave at once when a request is full or a
// person asks.
func TestLingeringRecordsLeaveTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lingering(t, boxPath(t))
		start := time.Now()
		var at []time.Duration
		var sizes []int
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			at, sizes = append(at, time.Since(start)), append(sizes, len(batch))
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		for range 3 {
			post(t, b, "tags", "well-1", "well-2")
			wait(4 * time.Second)
		}
		if s := b.DrainStatus("tags"); s.Activity != outbox.Idle {
			t.Errorf("afterwards it is %q", s.Activity)
		}
		wait(8 * time.Second) // 20 s
		post(t, b, "tags", slices.Repeat([]string{"well-1"}, 100)...)
		wait(5 * time.Second)
		post(t, b, "tags", "well-3")
		wait(2 * time.Second)
		if s := b.DrainStatus("tags"); s.Activity != outbox.Gathering {
			t.Errorf("with one that waits for others it is %q", s.Activity)
		}
		b.Kick("tags")
		wait(time.Second)
		stop()
		wantAt := []time.Duration{0, 10 * time.Second, 10 * time.Second, 20 * time.Second, 27 * time.Second}
		if !slices.Equal(at, wantAt) || !slices.Equal(sizes, []int{1, 3, 2, 100, 1}) {
			t.Errorf("requests at %v of %v records, want %v", at, sizes, wantAt)
		}
		if c := counts(t, b, "tags"); c.Delivered != 107 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

// What was taken is deleted by the commit of the next values, and by itself half a minute later where none come; until then it is not
// sent again, nor by the next start after a kill.
func TestLingeringDeletionGoesWithTheNextCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := boxPath(t)
		b := lingering(t, path)
		var service outboxtest.Service
		queued := func() uint64 {
			t.Helper()
			all, err := b.Audit()
			if err != nil {
				t.Fatal(err)
			}
			return all["tags"].Queued
		}
		stop := running(t, b, "tags", &service)
		post(t, b, "tags", "well-1", "well-2")
		wait(11 * time.Second)
		if n := service.Requests(); n != 2 || queued() != 2 {
			t.Errorf("after %d requests the file has %d records", n, queued())
		}
		if e, err := b.Entry("tags", 2); err != nil || e.State != outbox.Delivered || e.Status != 200 {
			t.Errorf("whoever waits for the delivery of what was taken is told %s, %d, %v", e.State, e.Status, err)
		}
		killed := map[string][]byte{path: read(t, path), path + ".receipts": read(t, path+".receipts"), path + ".high": read(t, path+".high")}
		post(t, b, "events", "well-1")
		if queued() != 0 {
			t.Errorf("behind a commit of others the file has %d records", queued())
		}
		post(t, b, "tags", "well-1")
		wait(11 * time.Second)
		if queued() != 1 {
			t.Errorf("the file has %d records", queued())
		}
		wait(30 * time.Second)
		if queued() != 0 {
			t.Errorf("half a minute later the file has %d records", queued())
		}
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 3 || service.Requests() != 3 {
			t.Errorf("%+v after %d requests", c, service.Requests())
		}
		shut(t, b)
		for name, content := range killed {
			write(t, name, content)
		}
		b = lingering(t, path)
		drained(t, b, "tags", &service)
		if c := counts(t, b, "tags"); c.Delivered != 2 || service.Doubled() != 0 {
			t.Errorf("after a kill %+v, %d came twice", c, service.Doubled())
		}
		shut(t, b)
	})
}

// In an outage the values wait as all others do, and a backlog leaves in full requests without a pause.
func TestLingeringBacklogLeavesWithoutAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := lingering(t, boxPath(t))
		var up atomic.Bool
		var first, last time.Time
		n := 0
		stop := running(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
			if !up.Load() {
				return slices.Repeat([]outbox.Answer{answer(outbox.Wait, 503)}, len(batch))
			}
			if n += len(batch); first.IsZero() {
				first = time.Now()
			}
			last = time.Now()
			return slices.Repeat([]outbox.Answer{answer(outbox.Stored, 200)}, len(batch))
		}))
		for range 50 {
			post(t, b, "tags", slices.Repeat([]string{"well"}, 15)...)
			wait(20 * time.Second)
		}
		up.Store(true)
		wait(time.Hour)
		if n != 750 || last.Sub(first) > 10*time.Second {
			t.Errorf("%d records left within %s", n, last.Sub(first))
		}
		stop()
		if c := counts(t, b, "tags"); c.Delivered != 750 {
			t.Errorf("%+v", c)
		}
		shut(t, b)
	})
}

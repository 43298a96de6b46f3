package outbox

import (
	"sync"
	"testing"
	"time"
)

// The disk gives less than the quota after a replacement of the file, while records come: the quota shrinks between two
// of them (the race detector tells), and it is said once.
func TestQuotaShrinksWhileRecordsCome(t *testing.T) {
	b := openTickets(t, t.TempDir()+"/outbox.db")
	var told []Note
	b.notify = func(n Note) { told = append(told, n) }
	var wg sync.WaitGroup
	var err error
	wg.Go(func() {
		for range 50 {
			if err = appendOne(b, "one"); err != nil {
				return
			}
		}
	})
	for range 50 {
		b.commitMu.Lock()
		path := b.path
		b.path = "/proc/version" // where nothing can be reserved, and nothing is free
		b.reserveQuota()
		b.path = path
		b.commitMu.Unlock()
	}
	wg.Wait()
	if err == nil {
		err = appendOne(b, "last")
	}
	if err != nil || len(told) != 1 || told[0].Kind != NoteUnreserved || b.quota.Load() != 1<<20 {
		t.Errorf("%v, %d bytes, told %+v", err, b.quota.Load(), told)
	}
	if has, wanted := b.Quota(); has != 1<<20 || wanted <= has {
		t.Errorf("it has %d of %d bytes", has, wanted)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// A replacement of the file that hangs, as on a disk that hangs, is seen like a commit that does: nobody can store
// anything meanwhile.
func TestReplacementThatHangsIsSeen(t *testing.T) {
	b := openTickets(t, t.TempDir()+"/outbox.db")
	var all []uint64
	for n := uint64(1); n <= 36; n++ {
		if err := appendOne(b, string(make([]byte, 90_000))); err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	b.dbMu.RLock() // the exchange of the file waits for this
	var wg sync.WaitGroup
	var err error
	wg.Go(func() { _, err = b.Drop("tickets", "test", all...) })
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	hangs := false
	for range 20_000 {
		<-tick.C
		b.mu.Lock()
		hangs = b.streams["tickets"].counts.Waiting == 0 && b.running == nil && b.Stalled() > 0
		b.mu.Unlock()
		if hangs {
			break
		}
	}
	b.dbMu.RUnlock()
	wg.Wait()
	if !hangs || err != nil || b.length.Load() > 1<<20 {
		t.Errorf("seen: %v, %v, %d bytes", hangs, err, b.length.Load())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

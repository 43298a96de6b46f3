package outbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

const mib = 1 << 20

// Far more comes than the quota holds: tag values are thinned first, then the oldest events go, tickets never, and
// every record that went is counted and told.
func TestQuotaTakesTagsThenEventsNeverTickets(t *testing.T) {
	path, n := boxPath(t), &notes{}
	b := open(t, path, outbox.Options{MaxBytes: 4 * mib, Notify: n.add})
	body := strings.Repeat("x", 1000)
	for range 40 {
		put(t, b, "tags", repeat(body, 100)...)
		put(t, b, "events", repeat(body, 20)...)
		put(t, b, "tickets", repeat(body, 15)...)
	}
	tickets, events, tags := counts(t, b, "tickets"), counts(t, b, "events"), counts(t, b, "tags")
	if tickets.Waiting != 600 || tickets.Evicted != 0 {
		t.Errorf("tickets: %+v", tickets)
	}
	if tags.Evicted == 0 || tags.Waiting == 0 || events.Evicted != 0 {
		t.Errorf("tags: %+v, events: %+v", tags, events)
	}
	if told := n.sum(outbox.NoteEvicted); uint64(told) != tags.Evicted+events.Evicted {
		t.Errorf("%d evictions are told, %d counted", told, tags.Evicted+events.Evicted)
	}
	for range 26 {
		put(t, b, "tickets", repeat(body, 50)...)
	}
	events, tags = counts(t, b, "events"), counts(t, b, "tags")
	if events.Evicted == 0 || tags.Waiting != 0 {
		t.Errorf("with more tickets: tags %+v, events %+v", tags, events)
	}
	first, err := b.Entries("events", outbox.Waiting, 0, 1)
	if err != nil || len(first) != 1 || first[0].Record.Seq != events.Evicted+1 {
		t.Errorf("the oldest event is %d after %d evictions, %v", first[0].Record.Seq, events.Evicted, err)
	}
	shut(t, b)
	if _, err := outbox.Check(path); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 5*mib {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}

func repeat(body string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = body
	}
	return all
}

func (n *notes) sum(kind outbox.NoteKind) (sum int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, x := range n.all {
		if x.Kind == kind {
			sum += x.Count
		}
	}
	return sum
}

// Thinning keeps a coarse picture: of the oldest values one in eight, and everything of the newest.
func TestThinningKeepsOneInEight(t *testing.T) {
	b := open(t, boxPath(t), outbox.Options{MaxBytes: mib})
	defer shut(t, b)
	for range 9 {
		put(t, b, "tags", repeat(strings.Repeat("x", 972), 100)...) // 1,016 bytes each as the quota counts
	}
	all, err := outboxtest.All(b, "tags", outbox.Waiting)
	if err != nil {
		t.Fatal(err)
	}
	thin := 0
	for thin < len(all) && all[thin].Record.Seq == uint64(8*(thin+1)) {
		thin++
	}
	for i, e := range all[thin:] {
		if i > 0 && e.Record.Seq != all[thin+i-1].Record.Seq+1 {
			t.Fatalf("a gap before record %d behind the %d thinned ones", e.Record.Seq, thin)
		}
	}
	if thin < 5 || all[len(all)-1].Record.Seq != 900 {
		t.Errorf("%d are thinned, the newest is %d", thin, all[len(all)-1].Record.Seq)
	}
}

func TestFullWhenNothingMayGiveWay(t *testing.T) {
	n := &notes{}
	b := open(t, boxPath(t), outbox.Options{MaxBytes: mib, Notify: n.add})
	defer shut(t, b)
	body := strings.Repeat("x", 10000)
	var err error
	accepted := 0
	for err == nil {
		err = b.Update(func(tx *outbox.Tx) error {
			tx.Append("tickets", outbox.Record{Body: []byte(body)})
			tx.Put("last", fmt.Append(nil, accepted))
			return nil
		})
		accepted++
	}
	accepted--
	if !errors.Is(err, outbox.ErrFull) || accepted < 60 || accepted > 84 {
		t.Fatalf("after %d tickets: %v", accepted, err)
	}
	if err := b.Update(func(tx *outbox.Tx) error { tx.Append("tags", outbox.Record{Body: []byte(body)}); return nil }); !errors.Is(err, outbox.ErrFull) {
		t.Errorf("a tag value: %v", err)
	}
	if v, _ := b.Get("last"); string(v) != fmt.Sprint(accepted-1) {
		t.Errorf("state of a refused transaction: %s", v)
	}
	if err := b.Update(func(tx *outbox.Tx) error { tx.Put("state", []byte("goes on")); return nil }); err != nil {
		t.Errorf("state alone: %v", err)
	}
	if n.count(outbox.NoteFull) != 1 {
		t.Errorf("full is told %d times", n.count(outbox.NoteFull))
	}
	drainSome(t, b, "tickets", &outboxtest.Service{}, 2)
	put(t, b, "tickets", body)
	if c := counts(t, b, "tickets"); c.Delivered != 2 || c.Accepted != uint64(accepted+1) {
		t.Errorf("counts are %+v", c)
	}
}

// A record that is just being sent does not give way: it would count twice.
func TestRecordsInFlightDoNotGiveWay(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{MaxBytes: mib})
	body := strings.Repeat("x", 1000)
	put(t, b, "tags", repeat(body, 100)...)
	drainSome(t, b, "tags", senderFunc(func(batch []outbox.Record) []outbox.Answer {
		for range 20 {
			put(t, b, "tags", repeat(body, 50)...)
		}
		if n, err := b.Drop("tags", "test", batch[0].Seq); n != 0 || !errors.Is(err, outbox.ErrRefused) {
			t.Errorf("drop of a record in flight: %d, %v", n, err)
		}
		return slices.Repeat([]outbox.Answer{{Class: outbox.Stored, Status: 200}}, len(batch))
	}), 100)
	if c := counts(t, b, "tags"); c.Delivered != 100 || c.Evicted == 0 || c.Accepted != 1100 {
		t.Errorf("counts are %+v", c)
	}
	shut(t, b)
	if _, err := outbox.Check(path); err != nil {
		t.Error(err)
	}
}

// The quota is blocks of the disk, not length of the file.
func TestQuotaIsReserved(t *testing.T) {
	path, n := filepath.Join(t.TempDir(), "outbox.db"), &notes{}
	b := open(t, path, outbox.Options{MaxBytes: 8 * mib, Notify: n.add})
	defer shut(t, b)
	if n.count(outbox.NoteUnreserved) > 0 {
		t.Skip("this file system cannot reserve space")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := info.Sys().(*syscall.Stat_t).Blocks * 512
	if blocks < 8*mib || info.Size() > 2*mib {
		t.Errorf("%d bytes of disk and a length of %d", blocks, info.Size())
	}
}

// After a backlog has come and gone the file is short again, and everything else is still there.
func TestFileIsReplacedWhenEmpty(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{MaxBytes: 64 * mib})
	put(t, b, "events", mixed(3, 1)...)
	s := &outboxtest.Service{Refuse: poisoned}
	drainSome(t, b, "events", s, 2)
	err := b.Update(func(tx *outbox.Tx) error { tx.Put("tank/1", []byte("state")); return nil })
	if err != nil {
		t.Fatal(err)
	}
	put(t, b, "tickets", "waits")
	body := strings.Repeat("x", 500)
	for range 40 {
		put(t, b, "tags", repeat(body, 1000)...)
	}
	before, err := os.Stat(path)
	if err != nil || before.Size() < 16*mib {
		t.Fatalf("the backlog has %d bytes, %v", before.Size(), err)
	}
	drainAll(t, b, "tags", s)
	after, err := os.Stat(path)
	if err != nil || after.Size() > 4*mib {
		t.Errorf("the drained file has %d bytes, %v", after.Size(), err)
	}
	for range 2 { // as it is, and opened again
		if c := counts(t, b, "tags"); c.Delivered != 40000 {
			t.Errorf("tags: %+v", c)
		}
		if v, err := b.Get("tank/1"); string(v) != "state" || err != nil {
			t.Errorf("state is %q, %v", v, err)
		}
		if e, err := b.Entry("tickets", 1); err != nil || string(e.Record.Body) != "waits" {
			t.Errorf("ticket is %+v, %v", e, err)
		}
		shut(t, b)
		if _, err := outbox.Check(path); err != nil {
			t.Error(err)
		}
		b = open(t, path, outbox.Options{MaxBytes: 64 * mib})
	}
	shut(t, b)
}

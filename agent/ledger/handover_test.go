package ledger

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// emptyStore is a store in which nothing was ever kept.
func emptyStore(t *testing.T) *outbox.Box {
	t.Helper()
	box, err := outbox.Open(filepath.Join(t.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 4 << 20, Streams: []outbox.Stream{{Name: Tickets}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// A tank goes over with the ticket that is held of it, once, and to the instance that it is for; whatever is wrong takes nothing.
func TestATankGoesOverWithItsHeldTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 24 * time.Hour })
		b.haul(50 * time.Minute)
		if n := len(b.Snapshot().Held); n != 1 {
			t.Fatalf("%d tickets are held, want 1", n)
		}
		goes := func(string) (string, bool) { return "1/2", true }
		var file Handover
		full := errors.New("the disk is full")
		if err := HandOver(b.box, b.site, "", goes, "0/2", func([]Handover) error { return full }); !errors.Is(err, full) {
			t.Fatalf("no file was written, and the tank went: %v", err)
		}
		if err := CheckShard(b.box, "0/2"); err == nil || !strings.Contains(err.Error(), "of the whole site, with 1 tank, and not of shard 0/2") {
			t.Errorf("the whole site's store is taken for a shard's: %v", err)
		}
		b.must(HandOver(b.box, b.site, "", goes, "0/2", func(all []Handover) error { file = all[0]; return nil }))
		if len(file.Tanks) != 1 || len(file.Tanks[0].Held) != 1 || file.To != "1/2" {
			t.Fatalf("handed over: %+v", file)
		}
		b.must(CheckShard(b.box, "0/2"))
		if h := (handing{box: b.box}); h.load() != nil || len(h.setups)+len(h.held) != 0 {
			t.Errorf("%d tanks and %d tickets stayed behind", len(h.setups), len(h.held))
		}
		box := emptyStore(t)
		strange, other, faster := file, file, file
		strange.Site, other.To, faster.Speed = "ELSEWHERE", "0/2", 60
		torn := file
		torn.Tanks = slices.Clone(file.Tanks)
		torn.Tanks[0].State = torn.Tanks[0].State[:20]
		for want, f := range map[string]Handover{"are of site ELSEWHERE": strange, "are for shard 0/2": other, "60 times as fast": faster, "tank TK-1: reading the state": torn, "of format 0": {}} {
			if err := TakeOver(box, b.site, "1/2", f); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
		b.must(TakeOver(box, b.site, "1/2", file))
		if err := TakeOver(box, b.site, "1/2", file); err == nil || !strings.Contains(err.Error(), "in this store already") {
			t.Errorf("twice: %v", err)
		}
		for shard, want := range map[string]string{"": "give --shard 1/2", "0/2": "`gauger tanks export` hands its tanks over"} {
			if err := CheckShard(box, shard); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("as shard %q: %v, want %q", shard, err, want)
			}
		}
		b.must(CheckShard(box, "1/2"))
		gone := func(string) (string, bool) { return "", true }
		left := emptyStore(t)
		b.must(TakeOver(left, b.site, "1/2", file))
		b.must(HandOver(left, b.site, "1/2", gone, HandedAll, func([]Handover) error { return nil }))
		for _, shard := range []string{"1/2", "0/2", ""} {
			if err := CheckShard(left, shard); err == nil || !strings.Contains(err.Error(), "all tanks of this store were handed over") {
				t.Errorf("an instance that there is no more starts as %q: %v", shard, err)
			}
		}
		l, err := New(b.site, box, b.clock, b.log)
		b.must(err)
		if s := l.Snapshot(); len(s.Held) != 1 || s.Held[0].Load.Tank != "TK-1" || !l.state.setups.inForce[0].Whole {
			t.Errorf("taken over: %+v", s.Held)
		}
	})
}

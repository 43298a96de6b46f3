package ledger

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/eventrules"
	"gauger/outbox"
)

// level gives readings of one level for a while.
func (b *bench) level(in float64, d time.Duration) {
	for range d / (10 * time.Second) {
		b.emit("level", in)
		pass(10 * time.Second)
		b.must(b.Tick(time.Now()))
	}
}

// A store of before a load is put back after its ticket was delivered. The fall over the silence waits for a person, whether the older store
// is known as such or a receipt shows that ticket, and whatever tickets.review says; the loads after it leave as always.
func TestALoadOverAPutBackStoreWaitsForAPerson(t *testing.T) {
	for _, receipts := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, nil)
			b.level(180, 2*time.Hour)
			older := map[string][]byte{}
			b.must(b.box.Close())
			for _, part := range []string{"", ".high", ".receipts"} {
				file, err := os.ReadFile(b.path + part)
				b.must(err)
				older[part] = file
			}
			b.open()
			kept := b.Newest()
			b.haul(2 * time.Hour)
			if n := len(b.bodies(Tickets)); n != 1 {
				t.Fatalf("%d tickets of the load, want 1", n)
			}
			first := b.bodies(Tickets)[0]["ticketNumber"].(string)
			b.deliver()
			b.must(b.box.Close())
			for part, file := range older {
				if part == "" || !receipts {
					b.must(os.WriteFile(b.path+part, file, 0o600))
				}
			}
			pass(time.Minute)
			b.open()
			why := "the store has lost what it knew of this time, the service may have this load's ticket already: " + first
			if receipts {
				b.must(b.RebuildTickets())
			} else {
				b.must(b.PutBack(time.Now()))
				why = "the store was put back to " + kept.UTC().Format("2006-01-02 15:04") + ", the service may have this load's ticket already"
				b.again() // also the next run knows it
			}
			b.level(80, 30*time.Hour)
			h := b.only()
			if n := len(b.bodies(Tickets)); n != 0 || h.Number == "" || !slices.Contains(h.Load.Review, why) || !h.waitsForPerson(&b.site) {
				t.Fatalf("with receipts %v: %d tickets leave by themselves; held is %s for %q, want %q", receipts, n, h.Number, h.Load.Review, why)
			}
			if told := b.notes(eventrules.LoadNeedsReview); len(told) != 2 || !strings.HasSuffix(told[1], "held by gauger: look there, then release or reject this one") {
				t.Errorf("with receipts %v: told was %q, want it once a day", receipts, told)
			}
			b.haul(2 * time.Hour)
			if got := b.bodies(Tickets); len(got) != 1 || got[0]["ticketNumber"] == h.Number || got[0]["ticketNumber"] == first {
				t.Errorf("with receipts %v: of the next load leaves %v", receipts, got)
			}
			b.must(b.Release(h.Number, "ann"))
			if n := len(b.bodies(Tickets)); n != 2 {
				t.Errorf("with receipts %v: %d tickets have left after the release, want 2", receipts, n)
			}
		})
	}
}

// A silence of a store that is the same leaves as always, and so does one that was over when an older store was put back.
func TestALoadOverAnyOtherSilenceLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.must(b.box.Update(func(tx *outbox.Tx) error {
			tx.Put(putBackKey, []byte(`{"from":"1999-12-31T20:00:00Z","to":"1999-12-31T22:00:00Z"}`))
			return nil
		}))
		b.again()
		b.level(180, 2*time.Hour)
		pass(3 * time.Hour)
		b.level(80, 3*time.Hour)
		if n := len(b.bodies(Tickets)); n != 1 || len(b.state.held.all) != 0 {
			t.Errorf("%d tickets have left and %d are held", n, len(b.state.held.all))
		}
	})
}

// A time without a store of which no level tells, as on a new box, is in the status with what to do; after a level that is stored, a load of
// that time shows by itself.
func TestATimeWithoutAStoreIsToldWhereNoLevelIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		shut := func(d time.Duration) (text, do string) {
			b.must(b.QueueOutboxShut(time.Now().Add(-d), time.Now(), errors.New("read-only file system")))
			return b.MendedWarning(time.Now())
		}
		if text, _ := shut(30 * time.Second); text != "" {
			t.Errorf("in half a minute no load begins and ends: %q", text)
		}
		text, do := shut(40 * time.Minute)
		if !strings.Contains(text, "a load of that time shows nowhere") || strings.Contains(text, "read-only") || !strings.Contains(do, "gauger tickets add") {
			t.Errorf("the status says %q, do %q", text, do)
		}
		if said := b.notes(eventrules.OutboxShut); len(said) != 2 || !strings.Contains(said[1], "a load of that time shows nowhere: read-only") {
			t.Errorf("the events say %q", said)
		}
		b.level(180, time.Hour)
		b.must(b.SaveState(mendedKey, nil))
		b.again()
		if text, _ := shut(40 * time.Minute); text != "" {
			t.Errorf("with a level of before: %q", text)
		}
	})
}

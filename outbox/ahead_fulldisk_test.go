package outbox

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A deletion that the full disk refused behind the drain's back is made again before anything else is.
func TestHeldDeletionIsMadeAgainOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openTickets(t, t.TempDir()+"/outbox.db")
		if err := appendOne(b, "taken"); err != nil {
			t.Fatal(err)
		}
		d := &drain{b: b, s: b.streams["tickets"], waits: newBackOff(firstWait, waitCap)}
		p, err := d.nextBatch()
		if err != nil || len(p.batch) != 1 {
			t.Fatal(p, err)
		}
		h := &heldBatch{records: p.batch, done: make(chan struct{}), err: fmt.Errorf("as told: %w", ErrNoSpace)}
		h.timer = time.AfterFunc(0, func() { close(h.done) })
		synctest.Wait()
		d.held = h
		if err := d.deleteHeld(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := b.Counts()["tickets"]; c.Delivered != 1 || c.Waiting != 0 || len(d.s.inFlight) != 0 {
			t.Errorf("%+v, %d in flight", c, len(d.s.inFlight))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

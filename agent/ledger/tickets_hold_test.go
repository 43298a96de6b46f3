package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/outbox"
)

// A step of the clock makes no second reminder of a day, and a clock that goes back for days does not silence them.
func TestRemindersOverStepsOfTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.HoldDoubtful = true })
		begin := time.Now()
		h := HeldTicket{Number: "A-1", Load: tank.Load{Tank: "TK-1", Start: begin, End: begin, Review: []string{"data gap"}}, Due: begin}
		told := func(at time.Duration) bool {
			tx := b.begin(begin.Add(at))
			tx.remindPerson(&h)
			return len(tx.records) > 0
		}
		for _, x := range []struct {
			at   time.Duration
			want bool
		}{
			{0, true}, {time.Minute, false}, {-40 * time.Minute, false}, {time.Hour, false}, {24 * time.Hour, true},
			{23*time.Hour + 30*time.Minute, false}, {24*time.Hour + time.Minute, false}, {30 * time.Hour, false},
			{48 * time.Hour, true}, {2 * time.Hour, false}, {24 * time.Hour, true}, // set back by 46 hours
		} {
			if got := told(x.at); got != x.want {
				t.Errorf("%v after the first: told %v, want %v", x.at, got, x.want)
			}
		}
	})
}

// What an older version has held can be named, edited and released.
func TestTicketsThatAnOlderVersionHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		old := `[{"Load":{"Tank":"TK-1","Began":"2000-01-01T01:00:00Z","Start":"2000-01-01T01:00:00Z","End":"2000-01-01T01:30:00Z","Open":180,"Close":80,"GaugeBbl":167.9},
			"Number":"","Due":"2000-01-02T02:00:00Z","Boot":1,"Zero":"2000-01-01T00:00:00Z","Person":""}]`
		b.must(b.box.Update(func(tx *outbox.Tx) error {
			tx.Put(heldKey, []byte(old))
			tx.Put(setupsKey, nil)
			return nil
		}))
		b.again()
		h := b.only()
		if h.Handle != "H-TEST-TK-1-20000101T0100Z" {
			t.Fatalf("it is called %q", h.Handle)
		}
		_, err := b.Edit(EditArgs{Number: h.Handle, Set: map[string]string{"bsw": "0.2"}}, "ann")
		b.must(err)
		b.wait(20 * time.Minute) // until the clock is believed
		b.must(b.Release(h.Handle, "ann"))
		if got := b.bodies(Tickets); len(got) != 1 || got[0]["bsw"] != 0.2 || !strings.HasPrefix(got[0]["ticketNumber"].(string), "A-TEST-TK-1-") {
			t.Errorf("tickets %v", got)
		}
		if got := b.rules(); len(got) != 0 {
			t.Errorf("events %v of a configuration that is the first to be known", got)
		}
	})
}

package ledger

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
)

// waiting puts these into the place of the held tickets.
func (b *bench) waiting(held ...HeldTicket) *txn {
	tx := b.begin(time.Now())
	tx.held.all = held
	tx.putJSON(heldKey, tx.held.all)
	return tx
}

// loadAt is a load of TK-1 that began then.
func loadAt(at time.Time) tank.Load {
	return tank.Load{Tank: "TK-1", Began: at, Start: at, End: at.Add(25 * time.Minute), Open: 180, Close: 80}
}

// Two loads that waited for a number begin in one minute once the clock is set, as after two boots in 1970: each has its own.
func TestTicketsThatGetTheirNumbersTogetherShareNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.clock.Confirm()
		at := time.Now().Round(0)
		d := b.waiting(HeldTicket{Load: loadAt(at), Handle: "H-1", Due: at.Add(time.Hour)}, HeldTicket{Load: loadAt(at), Handle: "H-2", Due: at.Add(time.Hour)})
		d.releaseDue()
		if d.held.all[0].Number == d.held.all[1].Number || d.held.all[0].Number != "A-TEST-TK-1-20000101T0000Z" {
			t.Errorf("numbers %s and %s", d.held.all[0].Number, d.held.all[1].Number)
		}
		b.must(b.commit(d, ""))
		b.wait(61 * time.Minute)
		if n := len(b.bodies(Tickets)); n != 2 {
			t.Errorf("%d tickets left, want 2", n)
		}
	})
}

// A handle is what a load is called that has no number yet: two of one minute have two, and one with a number has none.
func TestALoadHasOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		at := time.Now().Round(0)
		d := b.waiting()
		for range 3 {
			d.holdLoad(loadAt(at))
		}
		var names []string
		for _, h := range d.held.all {
			names = append(names, h.name())
		}
		const first = "H-TEST-TK-1-20000101T0000Z"
		if want := []string{first, first + "-2", first + "-3"}; !slices.Equal(names, want) || d.held.all[0].Number != "" {
			t.Errorf("loads without a number are called %v, want %v", names, want)
		}
		pass(clock.SteadyAfter)
		d = b.waiting()
		d.holdLoad(loadAt(at))
		if h := d.held.all[0]; h.Handle != "" || h.name() != "A-TEST-TK-1-20000101T0000Z" {
			t.Errorf("one that has its number at once is called %q and %q", h.Handle, h.Number)
		}
	})
}

// A ticket whose tank was taken out of the configuration waits, says so, and leaves once the tank is back.
func TestATicketOfATankThatIsGoneLeavesWhenItIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, second)
		b.clock.Confirm()
		at := time.Now().Round(0)
		l := loadAt(at)
		l.Tank = "TK-2"
		b.must(b.commit(b.waiting(HeldTicket{Load: l, Number: "A-2", Due: at}, HeldTicket{Load: loadAt(at), Number: "A-1", Due: at}), ""))
		tanks := b.site.Tanks
		b.site.Tanks = tanks[:1]
		b.again()
		b.clock.Confirm()
		b.wait(5 * time.Minute)
		if got := b.bodies(Tickets); len(got) != 1 || got[0]["ticketNumber"] != "A-1" {
			t.Errorf("tickets %v, want the one of the tank that is there", got)
		}
		const why = "TK-2: A-2: tank TK-2 is no longer configured; put it back"
		if e := b.state.episodes[episodeKey("ticket-unwritable", "TK-2")]; len(b.state.episodes) != 1 || !strings.HasPrefix(e.Note, why) {
			t.Errorf("people are told %+v, want that of A-2", b.state.episodes)
		}
		if due := b.only().Due; time.Until(due) < time.Minute || time.Until(due) > 10*time.Minute {
			t.Errorf("it is tried again in %s, want within ten minutes", time.Until(due))
		}
		b.site.Tanks = tanks
		b.again()
		b.clock.Confirm()
		b.wait(time.Hour)
		if got := b.bodies(Tickets); len(got) != 2 || got[1]["ticketNumber"] != "A-2" || len(b.state.held.all) != 0 {
			t.Errorf("tickets %v", got)
		}
		if got := b.notes("ticket-unwritable"); len(got) != 1 || !strings.HasPrefix(got[0], why) || len(b.state.episodes) != 0 {
			t.Errorf("after it has left the events say %q, and open are %v", got, b.state.episodes)
		}
	})
}

// The hour at which a ticket leaves moves with a step of the clock, also a person's that was named a moment ago. What lies
// further away than a hold can be was stored by another clock, and stays.
func TestTheHourOfATicketMovesWithTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		now := time.Now().Round(0)
		until := now.Add(3 * time.Hour)
		stop := func() *HoldOrder { return &HoldOrder{Person: "ann", At: now, Until: until} }
		d := b.waiting(HeldTicket{Number: "1", Due: now.Add(b.site.Hold)}, HeldTicket{Number: "2", Due: until, Stop: stop()}, HeldTicket{Number: "3", Due: now.Add(b.site.Hold + time.Second)},
			HeldTicket{Due: now.Add(time.Minute)}, HeldTicket{Number: "5", Due: until.Add(time.Hour), Stop: stop()})
		d.held.shift(now, 24*time.Hour, &d.l.site)
		for i, want := range []time.Duration{24*time.Hour + b.site.Hold, 27 * time.Hour, b.site.Hold + time.Second, time.Minute, 4 * time.Hour} {
			if got := d.held.all[i].Due.Sub(now); got != want {
				t.Errorf("ticket %d leaves in %s by the old clock, want %s", i+1, got, want)
			}
		}
		if s := d.held.all[1].Stop; !s.Until.Equal(until.Add(24*time.Hour)) || !s.At.Equal(now.Add(24*time.Hour)) {
			t.Errorf("the person's three hours are from %s to %s", s.At, s.Until)
		}
	})
}

// A number is made of the start that was seen first, while that is the start: not of one that the clock has left behind.
func TestTheStartThatANumberIsMadeOf(t *testing.T) {
	began := time.Date(2026, 3, 2, 7, 14, 0, 0, time.UTC)
	for off, first := range map[time.Duration]bool{
		0: true, time.Minute: true, -4 * time.Minute: true, 299 * time.Second: true, 301 * time.Second: false, -301 * time.Second: false, time.Hour: false,
	} {
		h := HeldTicket{Load: tank.Load{Began: began, Start: began.Add(off)}}
		if got := h.numberStart(); got.Equal(began) != (first || off == 0) || !first && !got.Equal(began.Add(off)) {
			t.Errorf("seen at %s, and at last at %s: a number of %s", began, h.Load.Start, got)
		}
	}
}

// The readings of a tank go by the box's clock or by their device's own: a load moves by as much as that one was set.
func TestByHowMuchALoadMoves(t *testing.T) {
	zero := time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC)
	const h = time.Hour
	for _, x := range []struct {
		own            time.Duration // of the readings' clock beside the box's, at the end of the load
		boxSet, ownSet time.Duration // since
		want           time.Duration
	}{
		{0, 0, 0, 0}, {0, 5 * h, 5 * h, 5 * h}, {0, 5 * h, 0, 5 * h}, // also when no reading has come since
		{9 * time.Second, 5 * h, 0, 5 * h}, {-9 * time.Second, 5 * h, 0, 5 * h},
		{11 * time.Second, 5 * h, 0, 0}, {-11 * time.Second, 5 * h, 0, 0}, {2 * h, 5 * h, 0, 0}, {2 * h, 0, 3 * h, 3 * h}, {-2 * h, 5 * h, -h, -h},
	} {
		then := &ClockZeros{zero, zero.Add(x.own)}
		now := &ClockZeros{zero.Add(x.boxSet), zero.Add(x.own + x.ownSet)}
		if got := then.shift(now); got != x.want {
			t.Errorf("%+v: moved by %s", x, got)
		}
	}
	if got := (&ClockZeros{Box: zero}).shift(&ClockZeros{zero, zero}); got != 0 {
		t.Errorf("readings of no known clock move by %s", got)
	}
	if got := (&ClockZeros{Own: zero}).shift(&ClockZeros{zero, zero}); got != 0 {
		t.Errorf("where the box's clock was not known they move by %s", got)
	}
}

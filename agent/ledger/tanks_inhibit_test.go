package ledger

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// play emits a level every ten seconds for a while; level says what it is so long after the beginning.
func (b *bench) play(d time.Duration, level func(time.Duration) float64) {
	b.t.Helper()
	for begin := time.Now(); time.Since(begin) < d; {
		b.emit("level", level(time.Since(begin)))
		pass(10 * time.Second)
		b.must(b.Tick(time.Now()))
	}
}

// fall is a level of 180 in that falls by 4 in a minute from one time to another.
func fall(from, to time.Duration) func(time.Duration) float64 {
	return func(t time.Duration) float64 { return 180 - 4*(min(max(t, from), to)-from).Minutes() }
}

// notes are the notes of the waiting events of a rule.
func (b *bench) notes(rule string) (all []string) {
	for _, e := range b.bodies(Events) {
		if e["ruleName"] == rule {
			all = append(all, e["note"].(string))
		}
	}
	return all
}

func TestWorkOnATankMakesNoTicketAndOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.play(time.Hour, func(time.Duration) float64 { return 180 })
		_, err := b.Inhibit("TK-1", 2*time.Hour, "ann", "cleaning")
		b.must(err)
		b.play(time.Hour, fall(10*time.Minute, 35*time.Minute))
		b.again() // it stays over a restart
		b.play(5*time.Hour, func(time.Duration) float64 { return 80 })
		if got := len(b.bodies(Tickets)); got != 0 {
			t.Errorf("%d tickets, want none", got)
		}
		notes := b.notes("tank-inhibited")
		if len(notes) != 1 || len(b.bodies(Events)) != 1 {
			t.Fatalf("events %v", b.rules())
		}
		if !strings.Contains(notes[0], "TK-1: inhibited by ann: cleaning") || !strings.Contains(notes[0], "167.9 bbl left") {
			t.Errorf("note %q", notes[0])
		}
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 || all[0].Rejected != "ann: tank inhibited: cleaning" || all[0].Load == nil {
			t.Errorf("the book has %+v", all)
		}
		b.play(2*time.Hour, fall(20*time.Minute, 45*time.Minute)) // it refilled and the next truck came
		b.play(time.Hour, func(time.Duration) float64 { return 80 })
		if got := len(b.bodies(Tickets)); got != 1 {
			t.Errorf("%d tickets of the load after the work, want 1", got)
		}
	})
}

func TestALoadUnderWayWhenTheWorkBeginsIsTicketedForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.play(80*time.Minute, fall(time.Hour, 90*time.Minute))
		_, err := b.Inhibit("TK-1", time.Hour, "ann", "new probe")
		b.must(err)
		b.play(10*time.Minute, func(e time.Duration) float64 { return 100 - 4*e.Minutes() })
		b.play(2*time.Hour, func(time.Duration) float64 { return 60 })
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 {
			t.Fatalf("%d tickets, want the one", len(tickets))
		}
		if notes := b.notes("tank-inhibited"); len(notes) != 1 || !strings.HasSuffix(notes[0], "; nothing began meanwhile") {
			t.Errorf("the work is told as %q", notes)
		}
		if text := tickets[0]["comments"].(string); !strings.Contains(text, "needs review: the tank was inhibited at") {
			t.Errorf("comments %q", text)
		}
		if n := b.notes("tank-inhibited"); len(n) != 1 || strings.Contains(n[0], "bbl left") {
			t.Errorf("events %q", n)
		}
	})
}

// What the sensor does while it is worked on is told in the one event.
func TestFaultsDuringTheWorkAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.play(time.Hour, func(time.Duration) float64 { return 150 })
		_, err := b.Inhibit("TK-1", 2*time.Hour, "ann", "re-span")
		b.must(err)
		b.play(10*time.Minute, func(time.Duration) float64 { return 150 })
		ripple := func(e time.Duration) float64 { return 0.02 * float64(int(e.Seconds())/10%5) }
		b.play(time.Hour, func(e time.Duration) float64 { return 110 + ripple(e) })
		w, err := b.Allow("TK-1")
		b.must(err)
		if w.Until.After(time.Now()) {
			t.Errorf("the work ends at %v", w.Until)
		}
		if _, err := b.Allow("TK-1"); err == nil {
			t.Error("work that is over was ended")
		}
		b.play(time.Hour, func(e time.Duration) float64 { return 110 + ripple(e) })
		if got := b.rules(); !slices.Equal(got, []string{"tank-inhibited"}) {
			t.Fatalf("events %v", got)
		}
		if n := b.notes("tank-inhibited")[0]; !strings.Contains(n, "step: level stepped from 150.00") {
			t.Errorf("note %q", n)
		}
	})
}

func TestWorkNeedsATankATimeAndAReason(t *testing.T) {
	b := newBench(t, nil)
	for name, call := range map[string]func() error{
		"no such tank": func() error { _, err := b.Inhibit("TK-9", time.Hour, "ann", "x"); return err },
		"no reason":    func() error { _, err := b.Inhibit("TK-1", time.Hour, "ann", " "); return err },
		"no time":      func() error { _, err := b.Inhibit("TK-1", 0, "ann", "x"); return err },
		"too long":     func() error { _, err := b.Inhibit("TK-1", 32*24*time.Hour, "ann", "x"); return err },
		"not going on": func() error { _, err := b.Allow("TK-1"); return err },
		"nor there":    func() error { _, err := b.Allow("TK-9"); return err },
	} {
		if call() == nil {
			t.Errorf("%s: taken", name)
		}
	}
	first, err := b.Inhibit("TK-1", time.Hour, "ann", "x")
	b.must(err)
	again, err := b.Inhibit("TK-1", 3*time.Hour, "bob", "y")
	b.must(err)
	if !again.From.Equal(first.From) || again.Person != "bob" || len(b.state.inhibitions) != 1 {
		t.Errorf("longer work is %+v, of %d", again, len(b.state.inhibitions))
	}
}

func TestTwoHoursOfWorkStayTwoHoursWhenTheClockIsSet(t *testing.T) {
	b := newBench(t, nil)
	w, err := b.Inhibit("TK-1", 2*time.Hour, "ann", "x")
	b.must(err)
	tx := b.begin(time.Now())
	tx.shiftInhibitions(tx.now, 55*time.Minute)
	b.must(b.commit(tx, ""))
	b.again()
	if got := b.state.inhibitions[0]; !got.From.Equal(w.From.Add(55*time.Minute)) || !got.Until.Equal(w.Until.Add(55*time.Minute)) {
		t.Errorf("work from %v to %v, was %v to %v", got.From, got.Until, w.From, w.Until)
	}
}

// A load that began during the work is none to match or to release, also while it waits for its hour.
func TestALoadDuringTheWorkIsNoHeldTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 6 * time.Hour })
		b.play(time.Hour, func(time.Duration) float64 { return 180 })
		_, err := b.Inhibit("TK-1", 2*time.Hour, "ann", "cleaning")
		b.must(err)
		b.play(2*time.Hour, fall(10*time.Minute, 35*time.Minute))
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 || all[0].Rejected != "ann: tank inhibited: cleaning" {
			t.Fatalf("tickets %+v", all)
		}
		if _, _, err := b.Match(MatchArgs{Number: all[0].Number, Hauler: "1", Bbl: 160, Basis: AsObserved}, "ann"); err == nil {
			t.Error("a truck's ticket was recorded with a load that makes none")
		}
	})
}

// A load that nobody saw was at any time between the reading before and the one behind it: where a part of that was work on the tank, somebody
// should look, wherever the guessed times lie; where all of it was, it makes no ticket.
func TestALoadUnseenAboutTheWorkIsTicketedForAPerson(t *testing.T) {
	at := func(m int) time.Duration { return time.Duration(m) * time.Minute }
	for name, c := range map[string]struct {
		silent, work, until time.Duration // after the first hour
		tickets             int
	}{
		"work began in the silence":        {0, at(50), at(170), 1},
		"work lay within the silence":      {0, at(25), at(45), 1},
		"work ended within the silence":    {0, at(-10), at(40), 1},
		"work was all through the silence": {0, at(-10), at(170), 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				begin := time.Now().Add(time.Hour)
				silent := func(d time.Duration) { // readings until then
					b.play(time.Until(begin.Add(d)), func(time.Duration) float64 { return 180 })
				}
				inhibit := func() {
					_, err := b.Inhibit("TK-1", c.until-c.work, "ann", "cleaning")
					b.must(err)
				}
				if c.work < 0 {
					silent(c.work)
					inhibit()
				}
				silent(0)
				for time.Since(begin) < time.Hour {
					if c.work >= 0 && time.Since(begin) == c.work {
						inhibit()
					}
					pass(10 * time.Second)
					b.must(b.Tick(time.Now()))
				}
				b.play(5*time.Hour, func(time.Duration) float64 { return 80 })
				tickets := b.bodies(Tickets)
				if len(tickets) != c.tickets {
					t.Fatalf("%d tickets, want %d; events %q", len(tickets), c.tickets, b.notes("tank-inhibited"))
				}
				if len(tickets) > 0 && !strings.Contains(tickets[0]["comments"].(string), "the tank was inhibited at") {
					t.Errorf("comments %q", tickets[0]["comments"])
				}
			})
		})
	}
}

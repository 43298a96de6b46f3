package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
)

// only is the one held ticket.
func (b *bench) only() HeldTicket {
	b.t.Helper()
	if len(b.state.held.all) != 1 {
		b.t.Fatalf("%d held tickets, want 1: %+v", len(b.state.held.all), b.state.held.all)
	}
	return b.state.held.all[0]
}

// wait lets the clock go by without readings, a minute at a time.
func (b *bench) wait(d time.Duration) {
	b.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		pass(time.Minute)
		if err := b.Tick(time.Now()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// must fails the test on an error.
func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// longHold is a site whose tickets wait for four hours after the end of a load.
func longHold(s *Site) {
	s.Hold = 4 * time.Hour
	s.Tanks[0].Comments = "west battery"
	gravity := 0.84
	s.Tanks[0].Gravity.Constant = &gravity
}

func TestEditsOfAHeldTicketLeaveWithItAndAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		b.haul(50 * time.Minute)
		h := b.only()
		edit := func(person string, set map[string]string) []Edit {
			t.Helper()
			made, err := b.Edit(EditArgs{Number: h.Number, Set: set}, person)
			b.must(err)
			return made
		}
		edit("ann", map[string]string{"gravity": "39.0 API", "bsw": "0.3", "comments": "second truck"})
		b.again()
		made := edit("bob", map[string]string{"gravity": "0.825", "seal_on": "4712", "bsw": "0.3"})
		if len(made) != 2 || made[0].Field != "gravity" || made[0].Old != "0.8299" || made[0].New != "0.825" || made[1].Old != "" {
			t.Errorf("bob's edits are %+v", made)
		}
		if _, err := b.Edit(EditArgs{Number: h.Number, Set: map[string]string{"seal_on": "4712"}}, "bob"); err == nil {
			t.Error("an edit that changes nothing was taken")
		}
		b.wait(4 * time.Hour)
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 {
			t.Fatalf("%d tickets, want 1", len(tickets))
		}
		got := tickets[0]
		for field, want := range map[string]any{"specificGravity": 0.825, "bsw": 0.3, "sealOn": "4712", "ticketNumber": h.Number} {
			if got[field] != want {
				t.Errorf("the ticket's %s is %v, want %v", field, got[field], want)
			}
		}
		text := got["comments"].(string)
		if !strings.HasPrefix(text, "second truck; auto observation") || !strings.Contains(text, "; edited by ann: bsw, comments; edited by bob: gravity, seal_on") ||
			strings.Contains(text, "constant") {
			t.Errorf("comments %q", text)
		}
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 || len(all[0].Edits) != 5 {
			t.Fatalf("booked %+v", all)
		}
		if e := all[0].Edits[0]; e.Person != "ann" || e.Old != "0.84" {
			t.Errorf("the first edit is booked as %+v", e)
		}
		_, err = b.Edit(EditArgs{Number: h.Number, Set: map[string]string{"bsw": "1"}}, "ann")
		if !errors.Is(err, ErrLeft) || !strings.Contains(err.Error(), "tickets add") {
			t.Errorf("an edit of a ticket that has left: %v", err)
		}
		_, err = b.Edit(EditArgs{Number: "A-NONE", Set: map[string]string{"bsw": "1"}}, "ann")
		if !errors.Is(err, ErrNoTicket) {
			t.Errorf("an edit of no ticket: %v", err)
		}
	})
}

func TestNonsenseIsNoEdit(t *testing.T) {
	for _, x := range [][2]string{
		{"gravity", "39"}, {"gravity", "0.2"}, {"gravity", "140 API"}, {"gravity", "NaN"}, {"gravity", "Infinity API"}, {"gravity", ""}, {"bsw", "-1"},
		{"bsw", "140"}, {"bsw", "NaN"}, {"top_temperature", "400"}, {"purchaser", " "}, {"comments", strings.Repeat("x", 201)},
		{"seal_on", "47\n12"}, {"open", "171"}, {"start", "2026-01-01"},
	} {
		if got, err := EditValue(x[0], x[1]); err == nil {
			t.Errorf("%s %q was taken as %q", x[0], x[1], got)
		}
	}
	for _, x := range [][3]string{
		{"gravity", "39.0 API", "0.8299"}, {"gravity", "41.2api", "0.8193"}, {"gravity", "41.2°API", "0.8193"}, {"gravity", "0.8300", "0.83"},
		{"bsw", " 0.40 ", "0.4"}, {"seal_off", "", ""}, {"bottom_temperature", "-4", "-4"},
	} {
		if got, err := EditValue(x[0], x[1]); err != nil || got != x[2] {
			t.Errorf("%s %q is %q (%v), want %q", x[0], x[1], got, err, x[2])
		}
	}
}

// Of long comments the figures give way, not what a person has written, nor who edited, nor the reasons for a review.
func TestAPersonsWordsAreNeverCut(t *testing.T) {
	h := HeldTicket{Load: tank.Load{Tank: "TK-1", Review: []string{"data gap 42 min"}}, Edits: []Edit{{Field: "comments", New: strings.Repeat("w", 200), Person: "ann"}}}
	s := Site{Zone: time.UTC}
	text := s.comments(Tank{Comments: "as configured"}, h, clock.Trusted, 300)
	if len(text) > 300 || !strings.HasPrefix(text, h.Edits[0].New+"; auto observation") || !strings.HasSuffix(text, "; edited by ann: comments; needs review: data gap 42 min") {
		t.Errorf("%d characters: %q", len(text), text)
	}
}

func TestATicketOnHoldWaitsAndTellsOfItOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		b.haul(50 * time.Minute)
		h := b.only()
		leaves, err := b.Hold(h.Number, "ann", "gravity is being checked", time.Time{})
		b.must(err)
		if !leaves.IsZero() {
			t.Errorf("it leaves at %v without a person", leaves)
		}
		b.wait(5 * time.Hour)
		for day := range 3 {
			if got := b.told(); len(got) != day+1 {
				t.Fatalf("%d reminders after %d days: %v", len(got), day, got)
			}
			b.again()
			b.wait(24 * time.Hour)
		}
		told := b.told()
		for i := 1; i < len(told); i++ {
			if gap := told[i].Sub(told[i-1]); (gap - 24*time.Hour).Abs() > 2*time.Minute {
				t.Errorf("reminders %v apart", gap)
			}
		}
		if got := len(b.bodies(Tickets)); got != 0 {
			t.Errorf("%d tickets left while one is on hold", got)
		}
		b.must(b.Release(h.Number, "bob"))
		if got := len(b.bodies(Tickets)); got != 1 {
			t.Errorf("%d tickets after the release", got)
		}
		b.wait(48 * time.Hour)
		if got := b.told(); len(got) != 4 {
			t.Errorf("%d reminders, want 4: none after the release", len(got))
		}
	})
}

// told are the ends of the events that a ticket waits for a person.
func (b *bench) told() (at []time.Time) {
	b.t.Helper()
	for _, e := range b.bodies(Events) {
		if e["ruleName"] == "load-needs-review" {
			t, err := time.Parse("2006-01-02T15:04:05", e["endTimeString"].(string))
			b.must(err)
			at = append(at, t)
		}
	}
	return at
}

func TestAHoldOfSomeHoursEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.site.Hold = 2 * time.Hour
		b.again()
		b.haul(50 * time.Minute)
		h := b.only()
		leaves, err := b.Hold(h.Number, "ann", "", time.Now().Add(6*time.Hour))
		b.must(err)
		if time.Until(leaves) != 6*time.Hour {
			t.Errorf("it leaves in %v, want 6h", time.Until(leaves))
		}
		b.wait(5*time.Hour + 55*time.Minute)
		b.only()
		b.wait(10 * time.Minute)
		if got := len(b.bodies(Tickets)); got != 1 || len(b.told()) != 0 {
			t.Errorf("%d tickets, %d reminders, want 1 and 0", got, len(b.told()))
		}
		if _, err := b.Hold(h.Number, "ann", "", time.Time{}); !errors.Is(err, ErrLeft) {
			t.Errorf("a hold of a ticket that has left: %v", err)
		}
	})
}

func TestReminderKeepsItsTimeOfDay(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	s := Site{Zone: zone}
	at := func(text string) time.Time {
		x, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	asked := at("2026-03-06 09:00")
	for told, want := range map[string]string{
		"2026-03-06 09:00": "2026-03-07 09:00",
		"2026-03-07 09:01": "2026-03-08 09:00", // the day with 23 hours
		"2026-03-07 15:30": "2026-03-08 09:00", // told late: the box was off
		"2026-03-07 23:30": "2026-03-09 09:00", // so late that the next would follow at once
	} {
		if got := s.nextSameTime(asked, at(told).Add(remindGap)); !got.Equal(at(want)) {
			t.Errorf("told at %s: next at %v, want %s", told, got, want)
		}
	}
}

func TestATicketWithoutANumberHasAHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		b.clock.NotBefore = time.Now().Add(6 * time.Hour)
		b.haul(50 * time.Minute)
		h := b.only()
		if h.Number != "" || !strings.HasPrefix(h.Handle, "H-TEST-TK-1-") {
			t.Fatalf("number %q, handle %q", h.Number, h.Handle)
		}
		_, err := b.Edit(EditArgs{Number: strings.ToLower(h.Handle), Set: map[string]string{"bsw": "0.2"}}, "ann")
		b.must(err)
		all, err := b.Tickets()
		b.must(err)
		if !slices.ContainsFunc(all, func(x TicketRecord) bool { return x.Handle == h.Handle && len(x.Edits) == 1 }) {
			t.Errorf("listed %+v", all)
		}
		b.must(b.Reject(h.Handle, "ann", "it was a test"))
		if len(b.state.held.all) != 0 || len(b.bodies(Tickets)) != 0 {
			t.Error("a rejected ticket is still there")
		}
	})
}

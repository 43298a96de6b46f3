package ledger

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
)

// match records a truck's ticket, or says why not.
func (b *bench) match(a MatchArgs) (*TicketRecord, string) {
	b.t.Helper()
	if a.Basis == "" {
		a.Basis = AsObserved
	}
	got, warning, err := b.Match(a, "ann")
	if err != nil {
		b.t.Fatal(err)
	}
	return got, warning
}

func TestTruckTicketsAreSummedAndComparedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.haul(50 * time.Minute)
		all, err := b.Tickets()
		if err != nil || len(all) != 1 || all[0].TruckTotals() != nil {
			t.Fatalf("%d tickets (%v), want one without a truck's", len(all), err)
		}
		n, ours := all[0].Number, all[0].Load.GaugeBbl // 100 in of 1.6786 bbl
		b.match(MatchArgs{Number: strings.ToLower(n), Hauler: "1", Bbl: 80})
		got, _ := b.match(MatchArgs{Number: n, Hauler: "2", Bbl: 88.5, By: "Bob"})
		h := got.TruckTotals()
		if h == nil || h.Bbl != 168.5 || !slices.Equal(h.Numbers, []string{"1", "2"}) {
			t.Fatalf("two compartments: %+v", h)
		}
		if want := hundredths(168.5 - hundredths(ours)); *h.Difference != want || !*h.Close {
			t.Fatalf("two compartments: they differ by %g, want %g; close: %t", *h.Difference, want, *h.Close)
		}
		b.match(MatchArgs{Number: n, Hauler: "2", Remove: true, Why: "typo"})
		b.again()
		all, err = b.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatalf("%d tickets (%v)", len(all), err)
		}
		m := all[0].Matches
		if len(m) != 2 || m[1].Removed == nil {
			t.Fatalf("kept %+v, want both, the second with who took it back", m)
		}
		if m[1].Removed.Why != "typo" || m[1].By != "Bob" {
			t.Errorf("the second is by %q and was taken back for %q", m[1].By, m[1].Removed.Why)
		}
		if m[0].Person != "ann" || m[0].At.IsZero() {
			t.Errorf("the first is %+v", m[0])
		}
		if h := all[0].TruckTotals(); h.Bbl != 80 || *h.Close || *h.Percent > -50 {
			t.Errorf("of the one that is left: %+v", h)
		}
		if all[0].Seq == 0 || all[0].Ticket == nil || all[0].Volumes == nil {
			t.Errorf("the rest of the ticket was lost: %+v", all[0])
		}
	})
}

func TestATruckTicketOfAHeldLoadLeavesWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Hold = 3 * time.Hour })
		b.haul(50 * time.Minute)
		all, err := b.Tickets()
		if err != nil || len(all) != 1 || all[0].Ticket != nil || all[0].Number == "" {
			t.Fatalf("tickets %+v (%v), want one that is held", all, err)
		}
		n := all[0].Number
		b.match(MatchArgs{Number: n, Hauler: "7", Bbl: 168})
		b.again()
		if err := b.Release(n, "ann"); err != nil {
			t.Fatal(err)
		}
		pass(20 * time.Minute) // until the clock is believed again
		if err := b.Tick(time.Now()); err != nil {
			t.Fatal(err)
		}
		all, err = b.Tickets()
		if err != nil || len(all) != 1 || all[0].Ticket == nil || all[0].TruckTotals() == nil || all[0].TruckTotals().Bbl != 168 {
			t.Errorf("tickets %+v (%v), want one that left with the truck's", all, err)
		}
	})
}

func TestTruckTicketsThatCannotBeAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.haul(50 * time.Minute)
		all, err := b.Tickets()
		if err != nil || len(all) != 1 {
			t.Fatalf("%d tickets (%v)", len(all), err)
		}
		n := all[0].Number
		b.match(MatchArgs{Number: n, Hauler: "A1", Bbl: 168})
		for want, a := range map[string]MatchArgs{
			"no such ticket":             {Number: "A-X", Hauler: "1", Bbl: 1, Basis: AsObserved},
			"cannot be what a truck":     {Number: n, Hauler: "1", Bbl: -3, Basis: AsObserved},
			"one line of plain text":     {Number: n, Hauler: "1\n2", Bbl: 3, Basis: AsObserved},
			"too long; 64 fit":           {Number: n, Hauler: strings.Repeat("1", 65), Bbl: 3, Basis: AsObserved},
			"is missing":                 {Number: n, Hauler: " ", Bbl: 3, Basis: AsObserved},
			"already, with 168 bbl":      {Number: n, Hauler: "a1", Bbl: 3, Basis: AsObserved},
			"gross ones cannot be":       {Number: n, Hauler: "2", Bbl: 3, Basis: AsGross},
			"recorded with it; there is": {Number: n, Hauler: "2", Remove: true},
			"come to 1972.00 bbl, and":   {Number: n, Hauler: "2", Bbl: 1804, Basis: AsObserved},
			"say why with --anyway":      {Number: n, Hauler: "2", Bbl: 1804, Basis: AsObserved},
			"a digit too many":           {Number: n, Hauler: "2", Bbl: 180, Basis: AsObserved},
		} {
			if _, _, err := b.Match(a, "ann"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", a, err, want)
			}
		}
		if _, warning := b.match(MatchArgs{Number: n, Hauler: "2", Bbl: 1804, Anyway: "the month's sum"}); !strings.Contains(warning, "another load's ticket?") {
			t.Errorf("with a reason, the warning is %q", warning)
		}
		if _, _, err := b.Match(MatchArgs{Number: "A-X"}, "ann"); !errors.Is(err, ErrNoTicket) {
			t.Errorf("an unknown number: %v", err)
		}
		number, _, err := b.Add(ManualTicket{Tank: "TK-1", Open: 100, Close: 50, Start: time.Now().Add(-20 * time.Minute), End: time.Now()}, "ann")
		if err != nil {
			t.Fatal(err)
		}
		for want, bbl := range map[string]float64{"a digit too few": 8} {
			if _, _, err := b.Match(MatchArgs{Number: number, Hauler: "A1", Bbl: bbl, Basis: AsObserved}, "ann"); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%g bbl of a ticket that is with another load: %v, want %q", bbl, err, want)
			}
		}
		if _, warning := b.match(MatchArgs{Number: number, Hauler: "A1", Bbl: 80}); !strings.Contains(warning, n) {
			t.Errorf("the same truck's ticket with two of ours: warning %q", warning)
		}
	})
}

// A gross volume of the hauler's is compared with ours only where there is one.
func TestVolumesAreComparedOnTheSameBasis(t *testing.T) {
	for basis, want := range map[string]*float64{AsObserved: new(200.0), AsGross: new(198.0), AsNet: nil} {
		b := &TicketRecord{Matches: []TruckTicket{{Hauler: "1", Bbl: 199, Basis: basis}}, Volumes: &Volumes{OpenBbl: 300, CloseBbl: 100, GrossBbl: new(198.0)}}
		h := b.TruckTotals()
		if want == nil {
			if h.Difference != nil || h.Close != nil {
				t.Errorf("%s: %+v, want no difference", basis, h)
			}
			continue
		}
		if h.Ours == nil || *h.Ours != *want || *h.Difference != 199-*want || !*h.Close {
			t.Errorf("%s: %+v, want ours %v", basis, h, *want)
		}
	}
}

// A truck's meter has what flows in meanwhile, on every basis; a hauler who gauges the tank has it on none, as the ticket.
func TestWhatFlowedInIsByATrucksMeterOnly(t *testing.T) {
	b := &TicketRecord{Load: &tank.Load{GaugeBbl: 200, InflowBbl: 10, RemovedBbl: 210},
		Volumes: &Volumes{OpenBbl: 300, CloseBbl: 100, OpenCTL: new(0.99), CloseCTL: new(0.99), GrossBbl: new(198.0), BSW: new(1.0), NetBbl: new(196.02)}}
	for _, c := range []struct {
		basis   string
		metered bool
		want    float64
	}{{AsObserved, true, 210}, {AsGross, true, 207.9}, {AsNet, true, 205.82}, {AsObserved, false, 200}, {AsGross, false, 198}, {AsNet, false, 196.02}} {
		b.Matches = []TruckTicket{{Hauler: "1", Bbl: c.want, Basis: c.basis, Metered: c.metered}}
		if h := b.TruckTotals(); h.Ours == nil || *h.Ours != c.want || *h.Difference != 0 {
			t.Errorf("%+v: %+v", c, h)
		}
	}
	if _, err := addTruckTicket(b, TruckTicket{Hauler: "2", Bbl: 10, Basis: AsNet, Metered: true}); err == nil {
		t.Error("a metered one was added to one by gauges")
	}
}

// One truck's ticket with two loads is said of both until it is taken back or one of them is void. A truck that took from two tanks of an
// open equaliser at once has one ticket of both.
func TestATruckTicketOfTwoLoadsIsSaidOfBoth(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	of := func(number string, after time.Duration, group, hauler string) TicketRecord {
		start := at.Add(after)
		return TicketRecord{Number: number, Start: start, End: start.Add(40 * time.Minute), TwiceWith: []string{"old"}, Load: &tank.Load{Group: group}, Matches: []TruckTicket{{Hauler: hauler}}}
	}
	all := []TicketRecord{of("A-1", 0, "bat", "x7"), of("A-2", time.Minute, "bat", "X7"), of("A-3", 2*time.Hour, "bat", "x7"), of("A-4", 0, "", "8")}
	linkTrucks(all)
	if !slices.Equal(all[0].TwiceWith, []string{"A-3"}) || !slices.Equal(all[2].TwiceWith, []string{"A-1", "A-2"}) || all[3].TwiceWith != nil {
		t.Errorf("%q %q %q", all[0].TwiceWith, all[2].TwiceWith, all[3].TwiceWith)
	}
	all[2].Voided = "ann"
	if linkTrucks(all); all[0].TwiceWith != nil || all[2].TwiceWith != nil {
		t.Errorf("after a void: %q %q", all[0].TwiceWith, all[2].TwiceWith)
	}
}

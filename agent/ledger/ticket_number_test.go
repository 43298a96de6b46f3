package ledger

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud"
	"gauger/collectors"
	"gauger/outbox"
)

// Whatever length the service takes, a number fits, is the same each time, and nobody else's: not another tank's, site's
// or minute's.
func TestANumberIsAsShortAsTheServiceTakesIt(t *testing.T) {
	start := time.Date(2026, 3, 2, 7, 14, 0, 0, time.UTC)
	for most := cloud.LeastNumber; most <= numberMax+1; most++ {
		wire := cloud.DefaultWire()
		wire.NumberMax = most
		owner := map[string]string{}
		for _, site := range []string{"A", "COOPER12-7", "COOPER12-777"} {
			for _, tank := range []string{"1", "TK-1001", "TK-1002", "tk 1001", "a tank whose name is far too long for a number"} {
				for minute := range 3 {
					s, at := Site{ID: site, Wire: wire}, start.Add(time.Duration(minute)*time.Minute)
					n, who := s.number("A", tank, at), fmt.Sprint(site, tank, minute)
					if len(n) > most || !strings.HasPrefix(n, "A-") || strings.Trim(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-") != "" {
						t.Errorf("%s of %s is not at most %d of A-Z 0-9 -", n, who, most)
					}
					if owner[n] != "" || s.number("A", tank, at.Add(59*time.Second)) != n {
						t.Errorf("%s is the number of %s and of %s, or not the same each time", n, owner[n], who)
					}
					if owner[n] = who; most >= numberMax && n != Number("A", site, tank, at) {
						t.Errorf("with room enough the number of %s is %s", who, n)
					}
				}
			}
		}
	}
}

// A held ticket got its number when the service took longer ones; it leaves under one that fits.
func TestAHeldTicketWhoseNumberBecameTooLongLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, longHold)
		b.haul(50 * time.Minute)
		long := b.only().Number
		b.site.Wire.NumberMax = 20
		b.again()
		b.wait(4 * time.Hour)
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 {
			t.Fatalf("%d tickets left, want 1", len(tickets))
		}
		n := tickets[0]["ticketNumber"].(string)
		all, err := b.Tickets()
		b.must(err)
		if len(n) > 20 || len(long) <= 20 || len(all) != 1 || n != b.site.number("A", "TK-1", all[0].Load.Began) {
			t.Errorf("it left as %s; its number was %s", n, long)
		}
	})
}

// Names that no store and no request takes hold up nothing but what goes by them.
func TestNamesThatAreTooLongHoldUpNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("x", 700)
		b := newBench(t, func(s *Site) {
			s.Wire.Codes = append(s.Wire.Codes, long)
			s.Tanks[0].ID = long
			s.Values = []Value{{Well: long, Code: "Production Target Oil", Point: "plc/level"}, {Well: "w", Code: long, Point: "plc/level"}}
		})
		b.emit("level", 100)
		host := b.Host(long)
		b.must(host.Remember("seen", []byte("1")))
		if got, err := host.Recall("seen"); err != nil || string(got) != "1" {
			t.Errorf("remembered %q, %v", got, err)
		}
		b.must(host.Refuse(t.Context(), []collectors.Refusal{{Source: "t", Raw: []byte("x"), Err: outbox.ErrRefused}}))
		if n := len(b.bodies(TagValues)); n != 1 {
			t.Errorf("%d values left, want that of the well with a name", n)
		}
		if levels := b.Latest("plc/level"); len(levels) != 1 {
			t.Errorf("the level was not taken: %v", levels)
		}
		b.again()
		b.emit("level", 100)
		if n := len(b.bodies(TagValues)); n != 1 {
			t.Errorf("%d values after the same sample came again: what was sent was not remembered", n)
		}
	})
}

// A number says as much in words as there is room for: the tank's name, then its beginning, then the site's name; and the
// minute as long as possible.
func TestANumberSaysWhatThereIsRoomFor(t *testing.T) {
	const stamp = "-20260302T0714Z"
	for _, c := range []struct {
		most             int
		tank, begin, end string
		length           int
	}{
		{35, "TK-1001", "A-COOPER12-7-TK-1001-", stamp, 35},
		{34, "TK-1001", "A-COOPER12-7-", stamp, 34},
		{33, "TK-1001", "A-", stamp, 29},
		{40, "TK-1001-NORTH-BATTERY", "A-COOPER12-7-TK-100", stamp, 40},
		{40, "AZ09-", "A-COOPER12-7-AZ09-" + stamp, "", 33},
		{40, "Tk_Aé[Z`0/9:@", "A-COOPER12-7-TAZ09", stamp, 39},
		{23, "TK-1001", "A-", stamp, 23},
		{22, "TK-1001", "A-", "", 22},
		{0, "TK-1001", "A-COOPER12-7-TK-1001-", stamp, 35},
	} {
		wire := cloud.DefaultWire()
		wire.NumberMax = c.most
		n := (&Site{ID: "COOPER12-7", Wire: wire}).number("A", c.tank, time.Date(2026, 3, 2, 7, 14, 0, 0, time.UTC))
		if !strings.HasPrefix(n, c.begin) || !strings.HasSuffix(n, c.end) || len(n) != c.length {
			t.Errorf("%s within %d is %s of %d, want %s...%s of %d", c.tank, c.most, n, len(n), c.begin, c.end, c.length)
		}
		if c.most == 22 && strings.HasSuffix(n, stamp) {
			t.Errorf("%s has no room for a hash", n)
		}
	}
}

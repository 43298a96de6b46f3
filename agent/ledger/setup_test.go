package ledger

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// reconfigured starts the next run with another configuration.
func (b *bench) reconfigured(change func(*Site)) {
	b.t.Helper()
	tanks := append([]Tank(nil), b.site.Tanks...)
	b.site.Tanks = tanks
	change(&b.site)
	b.again()
}

func TestANewOffsetIsNoMovementAndIsNamedOnTheNextTicketOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.play(time.Hour, func(time.Duration) float64 { return 180 })
		b.reconfigured(func(s *Site) { s.Tanks[0].Offset = -12 })
		b.play(3*time.Hour, fall(time.Hour, 85*time.Minute))
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 {
			t.Fatalf("%d tickets, want 1; events %v", len(tickets), b.rules())
		}
		open := tickets[0]["openingLevel"].(map[string]any)["level"].(float64)
		if text := tickets[0]["comments"].(string); open < 167.9 || open > 168.1 || !strings.Contains(text, "; offset changed 2000-01-01") {
			t.Errorf("opening %v, comments %q", open, text)
		}
		if n := b.notes("config-changed"); len(n) != 1 || !strings.Contains(n[0], "TK-1: offset 0.00 to -12.00 in") || len(b.bodies(Events)) != 1 {
			t.Errorf("events %v: %q", b.rules(), n)
		}
		b.again()
		b.haul(50 * time.Minute)
		tickets = b.bodies(Tickets)
		if text := tickets[len(tickets)-1]["comments"].(string); len(tickets) != 2 || strings.Contains(text, "changed") {
			t.Errorf("%d tickets, the next says %q", len(tickets), text)
		}
	})
}

func TestALoadUnderWayIsFinishedByTheOldOffsetAndTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.play(70*time.Minute, fall(time.Hour, 85*time.Minute))
		b.reconfigured(func(s *Site) {
			s.Tanks[0].Offset, s.Tanks[0].Table = 5, tank.Cylinder(186, 240)
		})
		b.play(15*time.Minute, func(e time.Duration) float64 { return 140 - 4*e.Minutes() })
		if len(b.notes("config-changed")) != 0 || !b.state.setups.pending {
			t.Error("the change took effect inside the load")
		}
		if s := b.tankStatus(0, b.site.Tanks[0]); !strings.Contains(s.Waits, "it is not in force until the load that is under way is over") || !strings.Contains(s.Waits, "the level shown is by the new one") {
			t.Errorf("of the change is said %q, beside a level by it", s.Waits)
		}
		tx := b.begin(time.Now())
		if len(tx.puts) > 0 || tx.setups.changed || tx.held.changed {
			t.Errorf("a change that waits stores %d things with each reading", len(tx.puts))
		}
		b.again()
		b.play(2*time.Hour, func(time.Duration) float64 { return 80 })
		all, err := b.Tickets()
		b.must(err)
		if len(all) != 1 {
			t.Fatalf("%d tickets, want 1", len(all))
		}
		l := all[0].Load
		if l.Open < 179.9 || l.Open > 180.1 || l.Close < 79.9 || l.Close > 80.1 || l.GaugeBbl < 167 || l.GaugeBbl > 169 {
			t.Errorf("%.2f to %.2f in, %.1f bbl, want 180 to 80 and 167.9", l.Open, l.Close, l.GaugeBbl)
		}
		n := b.notes("config-changed")
		if len(n) != 1 || !strings.Contains(n[0], "offset 0.00 to 5.00 in; table geometry, 402.87 bbl at 240.00 in to geometry, 672.15 bbl at 240.00 in") {
			t.Errorf("events %q", n)
		}
		if got := b.rules(); !slices.Equal(got, []string{"load-needs-review", "config-changed"}) {
			t.Errorf("events %v, want the two", got)
		}
		if s := b.tankStatus(0, b.site.Tanks[0]); s.Level == nil || *s.Level != 85 {
			t.Errorf("the level is shown as %v, want 85 by the new offset", s.Level)
		}
	})
}

func TestTanksThatComeGoAndChangePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		second := Tank{Tank: tank.Tank{ID: "TK-2", Height: 240, Table: tank.Cylinder(144, 240), Loads: tank.DefaultLoads()}, Level: "plc/other", Purchaser: "Acme"}
		b := newBench(t, func(s *Site) { s.Tanks = append(s.Tanks, second) })
		b.play(70*time.Minute, fall(time.Hour, 85*time.Minute))
		b.reconfigured(func(s *Site) {
			third := second
			third.ID, third.Level = "TK-3", "plc/third"
			s.Tanks = []Tank{third, s.Tanks[0]}
			s.Tanks[1].Level = "plc/renamed"
		})
		for e := time.Duration(0); e < 2*time.Hour; e += 10 * time.Second {
			b.emit("renamed", max(80, 140-4*e.Minutes()), func(r *collectors.Reading) { r.Unit = "in" })
			pass(10 * time.Second)
			b.must(b.Tick(time.Now()))
		}
		tickets := b.bodies(Tickets)
		if len(tickets) != 1 || tickets[0]["tank"].(map[string]any)["externalID"] != "TK-1" {
			t.Fatalf("tickets %v, want the one of TK-1", tickets)
		}
		notes := strings.Join(b.notes("config-changed"), "\n")
		for _, want := range []string{"TK-3: the tank was added", "TK-2: the tank is no longer", "TK-1: level point plc/level to plc/renamed"} {
			if strings.Count(notes, want) != 1 {
				t.Errorf("%q is not said once in %q", want, notes)
			}
		}
		b.again()
		b.wait(time.Hour)
		if got := len(b.notes("config-changed")); got != 3 {
			t.Errorf("%d events of changes, want 3", got)
		}
	})
}

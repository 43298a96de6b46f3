package ledger

import (
	"math"
	"strings"
	"testing"
)

// TestWaterThatIsHauledIsNoRun: a load of a tank of water makes no ticket but an event, and is in the book's water, not in its runs.
func TestWaterThatIsHauledIsNoRun(t *testing.T) {
	b := newBench(t, func(s *Site) { metered(s); s.Tanks[0].Water = true })
	b.leaking(51)
	if n := len(b.bodies(Tickets)); n > 0 {
		t.Errorf("%d tickets of water", n)
	}
	if all, err := b.Tickets(); err != nil || len(all) > 0 {
		t.Errorf("tickets of water: %+v, %v", all, err)
	}
	if err := b.site.CheckManual(ManualTicket{Tank: "TK-1"}); err == nil || !strings.Contains(err.Error(), "no run ticket") {
		t.Errorf("a ticket by hand: %v", err)
	}
	told := 0
	for _, e := range b.bodies(Events) {
		if e["ruleName"] == "water-draw" {
			told++
			if note := e["note"].(string); !strings.Contains(note, "bbl of water hauled") {
				t.Errorf("the event says %q", note)
			}
		}
	}
	if told != 1 {
		t.Errorf("the haul was told of %d times, want once", told)
	}
	rows, err := b.BookDays(BookPeriod{From: "2026-03-02", To: "2026-03-03"})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%+v, %v", rows, err)
	}
	water := 0.0
	for _, r := range rows {
		water += r.Water
		if r.Runs != 0 || r.Product != "water" || len(r.Tickets) > 0 || r.Residual == nil || math.Abs(*r.Residual+1) > 2 {
			t.Errorf("%s: %+v", r.Date, r)
		}
	}
	if math.Abs(water-150) > 2 {
		t.Errorf("%.1f bbl of water in the book, want 150", water)
	}
	verdicts, err := b.Explain(ExplainArgs{Tank: "TK-1", At: rows[1].From})
	if err != nil || len(verdicts.Verdicts) != 1 || verdicts.Verdicts[0].What != "water" {
		t.Errorf("asked for the haul: %+v, %v", verdicts, err)
	}
}

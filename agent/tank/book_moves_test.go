package tank

import (
	"math"
	"testing"
	"time"
)

// booked plays a rig's site for some days and returns the closed days of each tank.
func booked(r *rig, days float64, events *[]Event) map[string][]BookDay {
	r.t.Helper()
	rules := BookRules{Zone: time.UTC, Day: 7 * time.Hour, LossLimit: 0.8}
	var b Book
	out := map[string][]BookDay{}
	for t := 0.0; t < days*day; t += r.every {
		for i, w := range r.wells {
			at := r.at(t)
			in := Input{Kind: Level, Tank: i, Value: noisy(i, t, w.level(t)), Good: true, At: at, Mono: at.Sub(testStart)}
			var o []Outcome
			var said []BookOutcome
			r.st, o = r.site.Next(r.st, in)
			b, said = r.site.Book(b, rules, r.st, in, o)
			for _, s := range said {
				out[s.Day.Tank] = append(out[s.Day.Tank], *s.Day)
				if s.Loss != nil {
					*events = append(*events, *s.Loss)
				}
			}
		}
	}
	return out
}

// TestBookBooksAMovementWhereItBelongs: a transfer leaves one tank and comes into the other, a drain is no loss, and
// nothing of it is production.
func TestBookBooksAMovementWhereItBelongs(t *testing.T) {
	r := newRig(t,
		well{level0: 150, inflow: 0, moves: []move{{30 * 3600, 60, 3}, {50 * 3600, 9, 3}}},
		well{level0: 60, inflow: 0, moves: []move{{30 * 3600, -60, 3}}})
	r.every = 30
	var losses []Event
	days := booked(r, 3.2, &losses)
	if len(losses) != 0 {
		t.Errorf("a loss was told of: %s", losses[0].Note)
	}
	given, got := days["TK-1"], days["TK-2"]
	if len(given) != 4 || len(got) != 4 {
		t.Fatalf("%d and %d days, want 4 each", len(given), len(got))
	}
	for i := 1; i < 4; i++ {
		given[i].adds(t)
		got[i].adds(t)
		if math.Abs(*given[i].Production) > 0.5 || math.Abs(*got[i].Production) > 0.5 {
			t.Errorf("day %d: production %.2f and %.2f of tanks into which nothing came", i, *given[i].Production, *got[i].Production)
		}
	}
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"given", given[2].TransfersOut, 60}, {"received", got[2].TransfersIn, 60}, {"drained", given[3].Other, 9},
		{"given on another day", given[1].TransfersOut + given[3].TransfersOut, 0},
		{"residual of the giver", *given[2].Residual, 0}, {"residual of the drained", *given[3].Residual, 0},
	} {
		if math.Abs(c.got-c.want) > 0.8 {
			t.Errorf("%s: %.2f bbl, want %.0f", c.name, c.got, c.want)
		}
	}
}

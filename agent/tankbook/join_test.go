package tankbook

import (
	"strings"
	"testing"
	"time"
)

// TestDaysWithoutAStockBetweenThemAreBookedTogether: what came is known by the stocks before and after, and stands once, on the last day. A
// day that is missing, and a tank of which the level cannot say it, stay empty.
func TestDaysWithoutAStockBetweenThemAreBookedTogether(t *testing.T) {
	on := func(date int, id string, opening, closing, made *float64, runs float64) Day {
		from := time.Date(2026, 3, date, 7, 0, 0, 0, time.UTC)
		return Day{Tank: id, From: from, To: from.AddDate(0, 0, 1), Opening: opening, Closing: closing, Production: made, Runs: runs}
	}
	days := []Day{
		on(1, "A", new(10.), new(20.), new(10.), 0), on(1, "B", new(10.), nil, nil, 0),
		on(2, "A", new(20.), nil, nil, 170.25), on(2, "C", new(10.), nil, nil, 0),
		on(3, "A", nil, nil, nil, 0), on(3, "B", nil, new(50.), nil, 0), on(3, "C", nil, new(40.), nil, 0),
		on(4, "A", nil, new(60.), nil, 171), on(5, "A", new(60.), nil, nil, 0),
	}
	days[3].Lact, days[6].Lact = true, true
	JoinDays(len(days), func(i int) *Day { return &days[i] }, time.UTC)
	for i, d := range days {
		said := strings.Join(d.Remarks, " ")
		switch {
		case i == 0:
		case i != 7 && d.Production != nil:
			t.Errorf("%s %s: produced %v", d.From, d.Tank, *d.Production)
		case i == 7 && (d.Production == nil || *d.Production != 381.25 || !strings.Contains(said, "381.25 bbl that came from 2026-03-02 on")):
			t.Errorf("%+v", d)
		case (i == 2 || i == 4) != strings.Contains(said, "PRODUCED of 2026-03-04"):
			t.Errorf("%s %s says %q", d.From, d.Tank, d.Remarks)
		}
	}
}

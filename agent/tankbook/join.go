package tankbook

import (
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank/stats"
)

// JoinDays books what a tank made on days between which no stock is known, as where nothing was read at the gauge-off: by the stocks before
// and after them, on the last. How it parts among them nobody knows, and each says so. The n days are in the order of their dates.
func JoinDays(n int, of func(int) *Day, zone *time.Location) {
	began := map[string][]*Day{} // by tank: the days since the one whose opening is known
	for i := range n {
		d := of(i)
		since := began[d.Tank]
		if k := len(since); k > 0 && (d.Opening != nil || !since[k-1].To.Equal(d.From)) {
			since = nil
		}
		switch {
		case d.Measured || d.Lact || d.Production != nil:
			since = nil
		case since == nil && d.Opening == nil:
		case d.Closing == nil:
			since = append(since, d)
		case since != nil:
			joinOn(append(since, d), zone)
			since = nil
		}
		began[d.Tank] = since
	}
}

// joinOn books on the last of some days what came on all of them.
func joinOn(days []*Day, zone *time.Location) {
	last := days[len(days)-1]
	date := func(d *Day) string { return d.From.In(zone).Format(time.DateOnly) }
	last.Production = new(stats.Round(came(days...), 2))
	for _, d := range days[:len(days)-1] {
		d.Remarks = append(slices.Clone(d.Remarks), fmt.Sprintf("PRODUCED of %s has what came on this day", date(last)))
	}
	last.Remarks = append(slices.Clone(last.Remarks), fmt.Sprintf("PRODUCED has the %.2f bbl that came from %s on, by the stocks before and after: how much of it came on which day is not known", *last.Production, date(days[0])))
}

package ledger

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"gauger/agent/tankbook"
	"gauger/outbox"
)

// What came on days without a stock between them stands on the last of them, whichever days are asked for: a month that begins or ends
// among them has the same figures as the day, and no oil is in neither month.
func TestADaySaysTheSameWhateverPeriodIsAskedFor(t *testing.T) {
	b := newBench(t, nil)
	b.must(b.box.Update(func(tx *outbox.Tx) error {
		for i, stocks := range [][2]*float64{{new(10.), new(20.)}, {new(20.), nil}, {}, {nil, new(60.)}, {new(60.), new(70.)}} {
			from := time.Date(2026, 2, 26+i, 7, 0, 0, 0, time.UTC)
			raw, err := json.Marshal(tankbook.Day{Tank: "TK-1", From: from, To: from.AddDate(0, 0, 1), Opening: stocks[0], Closing: stocks[1]})
			if err != nil {
				return err
			}
			tx.Put(closedDaysKey+from.Format(time.DateOnly)+"/TK-1", raw)
		}
		return nil
	}))
	all, err := b.BookDays(BookPeriod{})
	b.must(err)
	if len(all) != 5 || all[3].Production == nil || *all[3].Production != 40 {
		t.Fatalf("all days: %+v", all)
	}
	for _, p := range []BookPeriod{{From: "2026-03-01", To: "2026-03-01"}, {From: "2026-03-01"}, {To: "2026-02-28"}, {From: "2026-02-28", To: "2026-02-28", Tank: "TK-1"}} {
		rows, err := b.BookDays(p)
		b.must(err)
		if len(rows) == 0 {
			t.Errorf("%+v: no days", p)
		}
		for _, r := range rows {
			i := slices.IndexFunc(all, func(x BookRow) bool { return x.Date == r.Date })
			if !reflect.DeepEqual(r, all[i]) {
				t.Errorf("%+v: %+v, want %+v", p, r, all[i])
			}
		}
	}
}

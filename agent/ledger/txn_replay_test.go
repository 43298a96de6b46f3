package ledger

import (
	"fmt"
	"testing"
	"time"

	"gauger/collectors"
)

// Whatever a row of a recording put on disk, the place in the recording is stored with it, and so are the places of the
// other recordings whose rows the tanks' state holds: a row that was played is not played again.
func TestPlaceInARecordingIsStoredWithWhatItDid(t *testing.T) {
	high := 118.0
	b := newBench(t, func(s *Site) {
		s.Rules = []Rule{{Name: "High level", Object: guid, ObjectType: "Device", Point: "b/level", Above: &high, Urgent: true}}
	})
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	play := func(device string, s int, v float64) {
		r := collectors.Reading{Point: collectors.PointOf(device, "level"), Unit: "in", Quality: collectors.Good, Value: v,
			At: begin.Add(time.Duration(s) * time.Second), Boot: 1, Mono: time.Duration(s) * time.Second}
		if err := b.Host(device).Emit(t.Context(), []collectors.Reading{r}); err != nil {
			t.Fatal(err)
		}
	}
	place := func(device string) string {
		raw, err := b.Host(device).Recall(collectors.ReplayPosition)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	at := func(s int) string { return fmt.Sprintf("1 %d", time.Duration(s)*time.Second) }
	play("plc", 0, 100)
	play("b", 3, 100)
	play("plc", 10, 100)
	if got := place("plc"); got != at(0) {
		t.Errorf("plc is at %q after a row that changed nothing, want %q", got, at(0))
	}
	play("b", 12, 120)
	if n := len(b.bodies(Events)); n != 1 {
		t.Fatalf("%d events, want the high level", n)
	}
	if got, other := place("b"), place("plc"); got != at(12) || other != at(10) {
		t.Errorf("after the event of b it is at %q and plc at %q, want %q and %q", got, other, at(12), at(10))
	}
	b.again()
	play("b", 23, 100)
	if got := place("plc"); got != at(10) {
		t.Errorf("after a restart plc is at %q, want %q", got, at(10))
	}
}

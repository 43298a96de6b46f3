package ledger

import (
	"fmt"
	"strings"
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

// A recording falls silent two minutes after a load and goes on hours later: the load is judged in the silence, as it was when it was
// recorded, and not by what came after it.
func TestTheClockGoesOnInARecordingsSilence(t *testing.T) {
	b := newBench(t, nil)
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for s := 0; s < 8*3600; s += 10 {
		if s > 11400+120 && s < 6*3600 {
			continue
		}
		v := 150 - 0.06*float64(min(max(s-9600, 0), 1800))
		r := collectors.Reading{Point: "plc/level", Unit: "in", Quality: collectors.Good, Value: v,
			At: begin.Add(time.Duration(s) * time.Second), Boot: 1, Mono: time.Duration(s) * time.Second}
		if err := b.Host("plc").Emit(t.Context(), []collectors.Reading{r}); err != nil {
			t.Fatal(err)
		}
	}
	tickets := b.bodies(Tickets)
	if len(tickets) != 1 || !strings.Contains(fmt.Sprint(tickets[0]["comments"]), "readings stopped 120 s after the end") {
		t.Errorf("%q, want one ticket that says when the readings stopped", tickets)
	}
}

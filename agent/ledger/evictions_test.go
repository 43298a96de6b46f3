package ledger

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/outbox"
)

// What a damaged outbox lost stands in the status until a week after somebody first saw it, however long nobody looks, over
// restarts too; what was found in the file is left to the event.
func TestAMendedOutboxIsShownForAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		if text, _ := b.MendedWarning(time.Now()); text != "" {
			t.Errorf("nothing was mended, and it says %q", text)
		}
		b.NoteLoss(outbox.Note{Kind: outbox.NoteSalvaged, At: time.Now(), Message: "it was mended: 3 are lost; what was found: page 4 is outside the file"})
		b.must(b.SaveLosses())
		pass(30 * 24 * time.Hour)
		b.again()
		first, _ := b.MendedWarning(time.Now())
		if !strings.HasPrefix(first, "it was mended: 3 are lost (on ") || strings.Contains(first, "page 4") {
			t.Errorf("a month later it says %q", first)
		}
		pass(6 * 24 * time.Hour)
		b.again()
		if text, _ := b.MendedWarning(time.Now()); text != first {
			t.Errorf("six days after it was shown it says %q", text)
		}
		pass(25 * time.Hour)
		if text, _ := b.MendedWarning(time.Now()); text != "" {
			t.Errorf("a week after it was shown it says %q", text)
		}
	})
}

// Tickets that wait while the service's units are put right leave in the old ones: each is named once.
func TestTicketsThatWaitInOldUnitsAreNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		note := func() string {
			t.Helper()
			text, err := b.NoteUnits(time.Now())
			b.must(err)
			return text
		}
		if text := note(); text != "" {
			t.Errorf("a first run says %q", text)
		}
		pass(48 * time.Hour)
		number, _, err := b.Add(ManualTicket{Tank: "TK-1", Start: time.Now().Add(-3 * time.Hour), End: time.Now().Add(-2 * time.Hour), Open: 180, Close: 90}, "ann")
		b.must(err)
		for _, step := range []struct {
			unit  string
			names bool
		}{{"in", false}, {"ft", true}, {"ft", false}, {"in", true}} {
			b.reconfigured(func(s *Site) { s.Wire.LevelUnit = step.unit })
			n := note()
			if want := "service.wire.level_unit is " + step.unit + " (was "; step.names && !(strings.Contains(n, want) && strings.Contains(n, "1 ticket that waited") && strings.HasSuffix(n, ": "+number)) || !step.names && n != "" {
				t.Errorf("in %s it says %q", step.unit, n)
			}
			if text, do := b.MendedWarning(time.Now()); step.names && (!strings.HasPrefix(text, n) || do == "") {
				t.Errorf("in %s the status says %q: %q", step.unit, text, do)
			}
		}
		_, err = b.box.Drop(Tickets, "left", 1)
		b.must(err)
		b.reconfigured(func(s *Site) { s.Wire.BSW = "fraction" })
		if n := note(); n != "" {
			t.Errorf("nothing waits, and it says %q", n)
		}
	})
}

// A store that is new is told to the office once, when it has stood for a while, over restarts too; one that has records of before is none.
func TestANewStoreIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.must(b.BeginStore(time.Now()))
		began := time.Now()
		for n := range 4 {
			text, since := b.NewStoreEvent(time.Now())
			if (text != "") != (n == 2) || text != "" && (!strings.Contains(text, "with no ticket and no level of before") || !since.Equal(began.Round(0))) {
				t.Errorf("after %s it says %q, since %s", time.Since(began), text, since)
			}
			pass(12 * time.Minute)
			b.again()
		}
	})
}

// What gave way after the last time that it was stored is counted after a kill, by the outbox's own counts; once, over further restarts.
func TestWhatGaveWayBeforeAKillIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		starts := func(evicted uint64) string { // after a kill, with what the outbox has counted by then
			t.Helper()
			b.evictions.byStream = map[string]eviction{}
			b.must(b.evictions.load(map[string]outbox.Counts{TagValues: {Accepted: 9000, Evicted: evicted}, Events: {Accepted: 1}}))
			return strings.Join(b.EvictionWarnings(time.Now()), "\n")
		}
		gives := func(n int) {
			b.NoteLoss(outbox.Note{Kind: outbox.NoteEvicted, Stream: TagValues, Count: n, At: time.Now()})
		}
		says := func(what, got, want string) {
			t.Helper()
			if !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s: %q, want %q", what, got, want)
			}
		}
		gives(500)
		says("a kill before anything was stored", starts(500), "500 records of tagvalues gave way")
		says("another start", starts(500), "500 records of tagvalues gave way")
		gives(20)
		b.must(b.SaveLosses())
		gives(300)
		pass(time.Hour)
		says("a kill after the half was stored", starts(820), "820 records of tagvalues gave way")
		gives(10) // of a commit that the disk then refused
		b.must(b.SaveLosses())
		says("what was taken back", starts(820), "830 records")
		pass(25 * time.Hour)
		says("a day later", starts(820), "")
		b.must(b.SaveState(evictionsKey, map[string]eviction{TagValues: {Since: time.Now(), Last: time.Now(), Count: 7}}))
		says("what the version before has kept", starts(820), "7 records of tagvalues gave way")
		says("and another start", starts(821), "8 records of tagvalues gave way")
	})
}

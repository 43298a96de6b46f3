package ledger

import (
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
)

// TestWhatWasOpenBeforeARestartEndsOnce: the collector of the new run does not know of it. A good reading of one of the
// devices it is about ends it, unless the new run has found the same; then it ends when that run says so, and once.
func TestWhatWasOpenBeforeARestartEndsOnce(t *testing.T) {
	for _, source := range []string{"plc", "radio,plc", "plc Lease/N1", "radio,plc field/tk2", "plc/level"} {
		for _, known := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, nil)
				tell := func(until time.Time) {
					t.Helper()
					n := collectors.Notice{Rule: "comm-loss", Source: source, Note: "away", Since: time.Now(), Until: until}
					if err := b.Host("mqtt").Notice(t.Context(), n); err != nil {
						t.Fatal(err)
					}
				}
				tell(time.Time{})
				pass(time.Minute)
				b.again()
				if known {
					tell(time.Time{})
				}
				b.emit("level", 180)
				if open := len(b.state.episodes); known != (open == 1) {
					t.Errorf("%s: %d open after a good reading; known to this run: %t", source, open, known)
				}
				if known {
					tell(time.Now())
				}
				b.emit("level", 180)
				if got := b.rules(); len(got) != 1 || len(b.state.episodes) != 0 {
					t.Errorf("%s, known to this run: %t: events %v, open %v; want one, ended", source, known, got, b.state.episodes)
				}
			})
		}
	}
}

// TestWhatIsOpenOfAnotherDeviceStays: a good reading says nothing about a device of another name.
func TestWhatIsOpenOfAnotherDeviceStays(t *testing.T) {
	b := newBench(t, nil)
	for _, source := range []string{"plc2", "radio,plc2 Lease/N1", "plc/top", "radio plc"} {
		if err := b.Host("mqtt").Notice(t.Context(), collectors.Notice{Rule: "comm-loss", Source: source, Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	b.again()
	b.emit("level", 180)
	if len(b.state.episodes) != 4 {
		t.Errorf("open are %v, want all four", b.state.episodes)
	}
}

// TestAReasonThatHasChangedIsTheOneTold: of the same episode, after a restart and within a run.
func TestAReasonThatHasChangedIsTheOneTold(t *testing.T) {
	b := newBench(t, nil)
	say := func(note string) {
		t.Helper()
		if err := b.Host("service").Notice(t.Context(), collectors.Notice{Rule: "service-settings", Source: "service primary_key", Note: note, Since: time.Now()}); err != nil {
			t.Fatal(err)
		}
		for _, e := range b.state.episodes {
			if e.Note != "service primary_key: "+note {
				t.Errorf("told is %q, want %q", e.Note, note)
			}
		}
	}
	say("it is empty")
	b.again()
	say("more than one line")
	say("no such file")
	if len(b.state.episodes) != 1 {
		t.Errorf("open are %v", b.state.episodes)
	}
}

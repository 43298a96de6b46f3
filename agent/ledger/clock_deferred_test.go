package ledger

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/outbox"
)

// single is a well's value of every reading.
func single(s *Site) {
	s.Values = []Value{{Well: guid, Code: "Production Target Oil", Point: "plc/level"}}
}

// sent are the tag values that wait to be sent, with their times, in order.
func (b *bench) sent() (all []string) {
	b.t.Helper()
	for _, body := range b.bodies(TagValues) {
		for _, v := range body["values"].([]any) {
			at, err := time.Parse(time.RFC3339, v.(map[string]any)["timestamp"].(string))
			b.must(err)
			all = append(all, at.UTC().Format("02 15:04:05"))
		}
	}
	return all
}

// doubted is a site on a box that has been up for an hour, at noon, whose clock was set a day ahead and is not believed.
func doubted(t *testing.T) *wrong {
	w := newWrong(t, single)
	wall := w.at.Round(0)
	w.at = w.at.Add(wall.Truncate(24 * time.Hour).Add(36 * time.Hour).Sub(wall))
	w.started, w.clock = w.at, clock.New(w.at, time.Time{}, w.site.Steady(), nil)
	w.must(w.SetBoot(upFor("b1", time.Hour)))
	w.uptimeAtStart = time.Hour
	w.pass(time.Minute)
	w.off = 24 * time.Hour
	w.pass(time.Minute)
	return w
}

// nextRun is the program started again on what is in the box, on this boot of it; the clock was set right meanwhile.
func (w *wrong) nextRun(boot clock.Boot) {
	w.t.Helper()
	r, err := w.clock.Save(w.now(), upFor("b1", time.Hour+w.at.Sub(w.started)))
	w.must(err)
	up, err := boot.Uptime()
	w.must(err)
	w.again()
	w.off = 0
	w.started = w.now()
	w.clock = clock.New(w.started, time.Time{}, clock.SteadyAfter, nil)
	w.must(w.clock.Resume(r, time.Time{}, w.started, boot))
	w.must(w.SetBoot(boot))
	w.uptimeAtStart = up
}

// Values that were read by a clock in doubt leave in their order, by the clock that proved right; those of a device with a
// clock of its own by that one.
func TestValuesThatWaitForTheClockLeaveInOrder(t *testing.T) {
	w := doubted(t)
	noon := w.started.Round(0).UTC()
	for k := range 12 {
		w.read("plc/level", float64(k), k%3 == 2)
		w.pass(10 * time.Second)
	}
	if n := len(w.sent()); n != 0 {
		t.Fatalf("%d values left by a clock in doubt", n)
	}
	w.off = 0
	w.pass(time.Minute)
	got := w.sent()
	if len(got) != 12 {
		t.Fatalf("%d values left, want 12: %v", len(got), got)
	}
	for k, at := range got {
		if want := noon.Add(2*time.Minute + time.Duration(k)*10*time.Second).Format("02 15:04:05"); at != want {
			t.Errorf("value %d is of %s, want %s", k, at, want)
		}
	}
}

// A clock that is in doubt for long must not fill the card: when many records wait, of a value few join them.
func TestFewValuesWaitForAClockThatIsInDoubtForLong(t *testing.T) {
	w := doubted(t)
	w.off = -24 * time.Hour
	w.state.lastDeferred = deferredMost
	for k := range 180 { // half an hour
		w.read("plc/level", float64(k), false)
		w.pass(10 * time.Second)
	}
	w.off = 0
	w.pass(time.Minute)
	if got := w.sent(); len(got) != 3 {
		t.Errorf("%d values of half an hour left, want one in ten minutes: %v", len(got), got)
	}
}

// The clock is set right while the program is started again. On the same boot of the box the values have their right times;
// after another one nobody knows them, and how many are not sent is said. A record that cannot be read stops no other.
func TestValuesThatWaitForTheClockOverARestart(t *testing.T) {
	for _, boot := range []string{"b1", "b2"} {
		w := doubted(t)
		noon := w.started.Round(0).UTC()
		for k := range 6 {
			w.read("plc/level", float64(k), k == 2)
			w.pass(10 * time.Second)
		}
		w.must(w.box.Update(func(tx *outbox.Tx) error { tx.Put(deferredKey+"000000000002", []byte("{")); return nil }))
		w.pass(time.Minute)
		if n := len(w.sent()); n != 0 {
			t.Fatalf("%s: %d values left by a clock in doubt", boot, n)
		}
		w.nextRun(upFor(boot, time.Hour+4*time.Minute))
		var said bytes.Buffer
		w.log = zerolog.New(&said)
		w.read("plc/level", 90, false)
		w.pass(time.Minute)
		want := []string{noon.Add(2*time.Minute + 20*time.Second).Format("02 15:04:05")}
		if boot == "b1" {
			want = nil
			for _, k := range []int{0, 2, 3, 4, 5} {
				want = append(want, noon.Add(2*time.Minute+time.Duration(k)*10*time.Second).Format("02 15:04:05"))
			}
		}
		want = append(want, noon.Add(4*time.Minute).Format("02 15:04:05"))
		if got := w.sent(); !slices.Equal(got, want) {
			t.Errorf("%s: values of %v, want %v", boot, got, want)
		}
		if n := strings.Count(said.String(), "cannot be read"); n != 1 || !strings.Contains(said.String(), deferredKey+"000000000002") {
			t.Errorf("%s: of one record that cannot be read the log says %s", boot, said.String())
		}
		lost := w.notes("value-refused")
		if (boot == "b2") != (len(lost) == 1 && strings.Contains(lost[0], ": 4 values read while the clock was not believed")) {
			t.Errorf("%s: told %q", boot, lost)
		}
	}
}

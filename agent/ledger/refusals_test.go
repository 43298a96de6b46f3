package ledger

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/flash"
	"gauger/collectors"
)

var usualLimits = flash.Limits{Messages: 2000, Bytes: 4e6, Day: 5e6}

// babble hands over n messages of a device in which nothing can be read, as a collector does, twenty at a time. It returns how many
// were stored.
func (b *bench) babble(device, topic string, n int) (kept int) {
	b.t.Helper()
	h := b.Host("mqtt")
	var batch []collectors.Refusal
	for i := range n {
		r := collectors.Refusal{Device: device, Source: topic, Raw: fmt.Appendf(nil, "%s %d %s", device, i, time.Now()), Err: errors.New("no level in it"), At: time.Now()}
		if h.Keeps(r) {
			kept, batch = kept+1, append(batch, r)
		}
		if len(batch) == 20 || i == n-1 {
			if err := h.Refuse(b.t.Context(), batch); err != nil {
				b.t.Fatal(err)
			}
			batch = nil
		}
	}
	return kept
}

// TestNonsenseHasABudgetADevice: what goes over it is counted and told once, with what to do; a restart refills nothing, and another
// device has its own.
func TestNonsenseHasABudgetADevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(s *Site) { s.Refusals = usualLimits })
		if got := b.babble("radio", "tank/1", 10_000); got != 2000 {
			t.Errorf("%d stored of a burst, want 2000", got)
		}
		for range 5 { // a crash loop
			b.again()
			if got := b.babble("radio", "tank/1", 100); got > 1 {
				t.Errorf("%d stored after a restart", got)
			}
		}
		if got := b.babble("radio", "tank/2", 100); got != 3 {
			t.Errorf("%d samples of another topic, want 3", got)
		}
		if got := b.babble("other", "tank/3", 100); got != 100 {
			t.Errorf("%d of another device, want all", got)
		}
		open := b.Snapshot().Episodes
		if len(open) != 1 || open[0].Rule != "messages-dropped" || open[0].Source != "radio" || !strings.Contains(open[0].Note, "gauger outbox dead refused") {
			t.Fatalf("open: %+v", open)
		}
		// What was counted since the last message that was stored is not known after a kill.
		if got := b.Undecoded(); len(got) != 1 || got[0].Device != "radio" || got[0].Over < 97 || got[0].Over > 8600 {
			t.Errorf("counted %+v", got)
		}
		for range 13 { // twice the quiet time
			pass(10 * time.Minute)
			b.must(b.Tick(time.Now()))
		}
		// An episode that lasts is told while it does, and when it ends.
		if got := b.notes("messages-dropped"); len(got) != 2 || !strings.Contains(got[1], "dropped so far") || len(b.Snapshot().Episodes) != 0 {
			t.Errorf("told %v", got)
		}
		pass(24 * time.Hour)
		if got := b.babble("radio", "tank/1", 10_000); got != 2000 {
			t.Errorf("%d stored a day later, want 2000", got)
		}
		if got := len(b.Snapshot().Episodes); got != 1 {
			t.Errorf("%d episodes at the second time", got)
		}
	})
}

// TestEqualNonsenseIsCounted instead of stored, after a restart too, as long as one like it is there.
func TestEqualNonsenseIsCounted(t *testing.T) {
	b := newBench(t, func(s *Site) { s.Refusals = usualLimits })
	r := collectors.Refusal{Device: "radio", Source: "t", Raw: []byte("E05"), Err: errors.New("no number")}
	h := b.Host("mqtt")
	if first, second := h.Keeps(r), h.Keeps(r); !first || second {
		t.Fatal("the first is to be stored, the second is not")
	}
	b.must(h.Refuse(t.Context(), []collectors.Refusal{r}))
	b.again()
	h = b.Host("mqtt")
	for range 2 {
		if h.Keeps(r) {
			t.Error("stored again after a restart")
		}
	}
	if got := b.Undecoded(); len(got) != 1 || got[0].Equal < 2 || got[0].Over != 0 {
		t.Errorf("counted %+v", got)
	}
	b.must(b.QueueDecoded([]DecodedMessage{{Seq: 1}}))
	if !h.Keeps(r) {
		t.Error("it is not there any more, and was not stored again")
	}
}

// TestAMessageCostsTwoKilobytesAtMost, in the mean of what is stored twenty at a time; where the test's folder is no disk nothing is counted.
func TestAMessageCostsTwoKilobytesAtMost(t *testing.T) {
	b := newBench(t, func(s *Site) { s.Refusals = usualLimits })
	b.babble("radio", "tank/1", 160) // the file grows at the beginning
	const n = 1600
	before := flash.Written()
	if got := b.babble("radio", "tank/1", n); got != n {
		t.Fatalf("%d stored", got)
	}
	if each := (flash.Written() - before) / n; each > 2048 {
		t.Errorf("%d bytes for each message", each)
	} else {
		t.Logf("%d bytes for each message", each)
	}
}

// TestWhatComesAndGoesStaysOpen: two nodes of one name that end each other are told some times, and then once, when it is over.
func TestWhatComesAndGoesStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		h := b.Host("mqtt")
		tell := func(over bool) {
			n := collectors.Notice{Rule: "comm-loss", Source: "edge G/N", Note: "has died", Since: time.Now()}
			if over {
				n.Until = time.Now()
			}
			b.must(h.Notice(t.Context(), n))
			pass(time.Second)
		}
		for range 1000 {
			tell(false)
			tell(true)
		}
		if got := len(b.notes("comm-loss")); got != openingsEach {
			t.Errorf("%d events, want %d", got, openingsEach)
		}
		tell(false)
		if open := b.Snapshot().Episodes; len(open) != 1 || !strings.HasSuffix(open[0].Note, "has died"+comesAndGoes) {
			t.Errorf("there again: %+v", open)
		}
		tell(true)
		ended := time.Now()
		pass(openingsCalm)
		b.must(b.Tick(time.Now()))
		got := b.bodies(Events)
		if len(got) != openingsEach+1 || len(b.Snapshot().Episodes) != 0 {
			t.Fatalf("%d events, open: %v", len(got), b.Snapshot().Episodes)
		}
		if end, err := time.Parse("2006-01-02T15:04:05", fmt.Sprint(got[openingsEach]["endTimeString"])); err != nil || ended.Sub(end) > 2*time.Second || end.After(ended) {
			t.Errorf("it ended %v (%v), want about %v", end, err, ended)
		}
		pass(time.Hour)
		tell(false)
		tell(true)
		if got := len(b.notes("comm-loss")); got != openingsEach+2 {
			t.Errorf("%d events: one of later is told as ever", got)
		}
	})
}

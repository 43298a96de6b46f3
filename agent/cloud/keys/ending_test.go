package keys

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// told collects the warnings of a ring.
type told struct {
	mu    sync.Mutex
	notes []Note
}

func (w *told) hear(n Note) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.Rule == "key-expiring" {
		w.notes = append(w.notes, n)
	}
}

func (w *told) all() []Note {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.notes
}

// warned runs a ring for a while, in processes of some days, each from the disk of the one before.
func warned(t *testing.T, disk *ramDisk, s *cloudtest.Service, days, process int, believed func() bool) (*told, *Ring) {
	w := &told{}
	var ring *Ring
	for ; days > 0; days -= process {
		ring = openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
		ring.Notify, ring.Believed = w.hear, believed
		c := clientOf(t, ring, s)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := ring.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		for range process {
			postTicket(t, c, "T-1")
			<-time.After(day)
		}
		stop()
		running.Wait()
	}
	return w, ring
}

func yes() bool { return true }

func newDisk() *ramDisk { return &ramDisk{files: map[string][]byte{}, left: -1} }

// A key that the service does not renew is told of 30, 14 and 7 days before its end, once each over all restarts; the
// other one, that is renewed, never.
func TestAKeyThatEndsIsToldOfThreeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey, KeyLife: 182 * day}
		s.Fault = func(c cloudtest.Call) *cloudtest.Fault {
			if broken.Load() && strings.Contains(c.Path, "primary/renew") {
				return &cloudtest.Fault{Status: 404}
			}
			return nil
		}
		disk := newDisk()
		if w, ring := warned(t, disk, s, 150, 5, yes); len(w.all()) > 0 || len(ring.Endings()) > 0 {
			t.Errorf("renewed as planned, and told %+v, %v", w.all(), ring.Endings())
		}
		broken.Store(true)
		began := time.Now()
		w, ring := warned(t, disk, s, 180, 5, yes)
		var left []string
		for _, n := range w.all() {
			if n.Slot != "primary" || !n.Once {
				t.Errorf("not once, or not of the primary: %+v", n)
			}
			if !strings.Contains(n.Text, "the secondary key is good until") || strings.Contains(n.Text, "assumed") {
				t.Errorf("told as %q", n.Text)
			}
			_, after, _ := strings.Cut(n.Text, "ends in ")
			days, _, _ := strings.Cut(after, " days")
			left = append(left, days)
		}
		if got := strings.Join(left, " "); got != "30 14 7" {
			t.Errorf("told with %s days left, want 30 14 7, in %s", got, time.Since(began))
		}
		if len(ring.Endings()) != 0 {
			t.Errorf("when it has ended the refusal is told, not %v", ring.Endings())
		}
		broken.Store(false)
		again, ring := warned(t, disk, s, 30, 5, yes)
		if len(again.all()) > 0 || len(ring.Endings()) > 0 {
			t.Errorf("renewed again, and told %+v, %v", again.all(), ring.Endings())
		}
	})
}

// The end of keys that were never renewed is assumed, and said to be; a clock that nobody believes tells nothing.
func TestAnAssumedEndIsToldAsSuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey, KeyLife: 400 * day}
		s.Fault = func(c cloudtest.Call) *cloudtest.Fault {
			if c.Op == "RenewAPIKey" {
				return &cloudtest.Fault{Status: 404}
			}
			return nil
		}
		disk := newDisk()
		w, ring := warned(t, disk, s, 160, 160, func() bool { return false })
		if len(w.all()) > 0 {
			t.Errorf("without a clock: %+v", w.all())
		}
		if e := ring.Endings(); len(e) != 2 || !strings.Contains(e[0], "the clock is not set") {
			t.Errorf("without a clock: %v", e)
		}
		w, ring = warned(t, disk, s, 4, 2, yes)
		if n := w.all(); len(n) != 2 || !strings.Contains(n[0].Text, "assumed") || !strings.Contains(n[0].Text, "never renewed") {
			t.Errorf("%+v", n)
		}
		if e := ring.Endings(); len(e) != 2 || !strings.Contains(e[1], "the secondary key ends in ") {
			t.Errorf("%v", e)
		}
	})
}

// Where the clock is not set, a key that this process has renewed as planned is nobody's business; one that is late is said to
// be beyond telling.
func TestARenewedKeyWithoutAClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a bubble begins in 2000
		r := openFile(keyFile{}, time.Now, Seeds{Primary: testKey})
		r.Believed = func() bool { return false }
		r.renewedHere[Primary] = time.Now()
		<-time.After(r.renewEvery + renewalSlack - 1)
		if said := r.Endings(); len(said) != 0 {
			t.Errorf("as planned, and said %q", said)
		}
		<-time.After(1)
		if said := r.Endings(); len(said) != 1 || !strings.Contains(said[0], "the clock is not set") {
			t.Errorf("late, and said %q", said)
		}
	})
}

// The end of a key is near 30, 14 and 7 days before it, unless it was renewed as planned, give or take two days.
func TestWhenAnEndIsNear(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	late := 7*day + renewalSlack
	for _, c := range []struct {
		left, age time.Duration
		want      int
	}{
		{30*day + 1, late, 0}, {30 * day, late, 30}, {14*day + 1, late, 30}, {14 * day, late, 14}, {7*day + 1, late, 14}, {7 * day, late, 7},
		{1, late, 7}, {0, late, 0}, {-day, late, 0}, {7 * day, late - 1, 0},
	} {
		r := &Ring{renewEvery: 7 * day, state: ringState{Slots: [2]slotState{{Renewed: now.Add(-c.age), Expires: Expiry{At: now.Add(c.left)}, Entries: []entry{{Value: "k"}}}}}}
		if got := r.warningStep(Primary, now); got != c.want {
			t.Errorf("%s before the end, %s after the renewal: %d, want %d", c.left, c.age, got, c.want)
		}
	}
	old := slotState{Entries: []entry{{Value: "new", Since: now}, {Value: "old", Since: now.AddDate(0, -1, 0)}}}
	if end := old.end(); !end.Assumed || !end.At.Equal(time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("of a key that was never renewed: %+v", end)
	}
}

// What was told of an end is forgotten when the end is far again, and not before.
func TestAnEndIsToldAnewAfterARenewal(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		left time.Duration
		want int
	}{{30 * day, 14}, {30*day + 1, 0}, {-day, 14}} { // renewed just now, so that nothing is told
		r := openFile(keyFile{}, func() time.Time { return now }, Seeds{Primary: testKey})
		r.state.Slots[Primary].Renewed, r.state.Slots[Primary].Expires, r.state.Slots[Primary].Warned = now, Expiry{At: now.Add(c.left)}, 14
		r.warnOfEnds()
		if got := r.state.Slots[Primary].Warned; got != c.want {
			t.Errorf("%s before the end: %d, want %d", c.left, got, c.want)
		}
	}
}

// A key that a person gives has not the end of the one before it, of which the service has said it; until it works the slot's end is the
// old one's.
func TestAGivenKeyHasNotTheEndOfTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey, KeyLife: 182 * day}
		_, ring := warned(t, newDisk(), s, 10, 10, yes)
		was := ring.Status()[0].Expires
		if err := ring.Set(Primary, "given-by-hand-1234"); err != nil {
			t.Fatal(err)
		}
		all := ring.Status()
		if !all[0].Expires.IsZero() || all[0].State != "untried" || was.IsZero() || !all[1].Expires.Equal(was) || !ring.state.Slots[Primary].end().At.Equal(was) {
			t.Errorf("given beside one that ends %s: %+v", was, all)
		}
		ring.Accepted(Key{Primary, "given-by-hand-1234"}, true)
		if end := ring.state.Slots[Primary].end(); !end.Assumed || !end.At.Equal(time.Now().UTC().AddDate(0, 6, -1)) {
			t.Errorf("once it works the end is %+v", end)
		}
	})
}

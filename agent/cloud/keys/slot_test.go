package keys

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// A candidate may be unknown to the gateway for half an hour, by this process's time where the clock was set meanwhile.
func TestHowLongACandidateIsYoung(t *testing.T) {
	for _, c := range []struct {
		since, open, wait time.Duration // when it came and when the ring was opened, from now; and how long until it is tried
		want              valueState
	}{
		{0, -time.Hour, 0, untried}, {0, -time.Hour, candidateYouth - 1, untried}, {0, -time.Hour, candidateYouth, refused},
		{3650 * day, 0, candidateYouth - 1, untried}, {3650 * day, 0, candidateYouth, refused}, {3650 * day, -candidateYouth, 0, refused},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := openFile(keyFile{}, time.Now, Seeds{testKey, otherKey})
			r.opened = time.Now().Add(c.open)
			r.state.Slots[Primary].add("candidate", "file", time.Now().Add(c.since))
			<-time.After(c.wait)
			r.Rejected(Key{Primary, "candidate"})
			if got := r.state.Slots[Primary].Entries[0].State; got != c.want {
				t.Errorf("%+v: %d, want %d", c, got, c.want)
			}
		})
	}
}

// The only value of a slot is refused at once: there is nothing to fall back to.
func TestAnOnlyValueIsNeverYoung(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{Primary: testKey})
	r.Rejected(Key{Primary, testKey})
	r.Rejected(Key{Primary, "nobody's"})
	r.Accepted(Key{Primary, "nobody's"}, true)
	if e := r.state.Slots[Primary].Entries; len(e) != 1 || e[0].State != refused {
		t.Errorf("%+v", e)
	}
}

// The file is written when something changed that a restart must know, and once a day for the time of the last use.
func TestWhenTheFileIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openFile(keyFile{"keys", newDisk()}, time.Now, Seeds{testKey, otherKey})
		generation := r.state.Generation
		writes := func(what string, want uint64, do func()) {
			t.Helper()
			do()
			s, _, err := r.file.load()
			if err != nil || s.Generation-generation != want {
				t.Errorf("%s: written %d times, want %d; %v", what, s.Generation-generation, want, err)
			}
			generation = s.Generation
		}
		key, other := Key{Primary, testKey}, Key{Secondary, otherKey}
		stored := func() { r.Accepted(key, true) }
		writes("proven", 1, stored)
		writes("used again", 0, stored)
		<-time.After(day - 1)
		writes("used within a day", 0, stored)
		<-time.After(day)
		writes("used after a day", 1, stored)
		<-time.After(2 * day)
		writes("made a renewal", 0, func() { r.Accepted(other, false) })
		writes("refused", 1, func() { r.Rejected(key) })
		writes("refused again", 0, func() { r.Rejected(key) })
		writes("accepted for a renewal", 1, func() { r.Accepted(key, false) })
		writes("proven again", 1, stored)
		r.state.Slots[Primary].add("older", "file", time.Now())
		r.state.Slots[Primary].add(testKey, "renewal", time.Now())
		writes("an older candidate waits for its trial", 0, stored)
		r.state.Slots[Primary].Entries[1].State = refused
		writes("an older one is forgotten", 1, stored)
		writes("nothing is left to forget", 0, stored)
		if e := r.state.Slots[Primary].Entries; len(e) != 1 || e[0].State != proven || e[0].Value != testKey {
			t.Errorf("%+v", e)
		}
	})
}

// A slot keeps sixteen values that the service never accepted. Refused ones go before untried ones, the oldest first.
func TestWhatASlotForgets(t *testing.T) {
	now := time.Now()
	var s slotState
	s.add("accepted", "file", now)
	s.Entries[0].State, s.Entries[0].OK = refused, now
	s.add("renewed", "renewal", now)
	for i := range candidatesPer - 1 {
		s.add(Secret(fmt.Sprint("candidate-", i)), "file", now)
	}
	if len(s.Entries) != candidatesPer+1 {
		t.Fatalf("%d values, want %d", len(s.Entries), candidatesPer+1)
	}
	s.Entries[s.find("candidate-9")].State = refused
	s.Entries[s.find("candidate-4")].State = refused
	for i, gone := range []Secret{"candidate-4", "candidate-9", "candidate-0", "candidate-1"} {
		if s.find(gone) < 0 {
			t.Errorf("%s is gone before its time", gone)
		}
		s.add(Secret(fmt.Sprint("later-", i)), "file", now)
		for what, right := range map[string]bool{
			"how many":               len(s.Entries) == candidatesPer+1,
			"the oldest is gone":     s.find(gone) < 0,
			"the renewed one stays":  s.find("renewed") >= 0,
			"the accepted one stays": s.find("accepted") >= 0,
			"the newest is first":    s.find(Secret(fmt.Sprint("later-", i))) == 0,
		} {
			if !right {
				t.Errorf("%s, when %s should be gone: %+v", what, gone, s.Entries)
			}
		}
	}
}

// A value that the slot has already goes first and keeps what it has proven; only a refusal is forgotten.
func TestAValueThatComesAgain(t *testing.T) {
	now := time.Now()
	before := now.Add(-day)
	s := slotState{Entries: []entry{
		{Value: "a", State: untried, Since: before}, {Value: "b", State: proven, Since: before, OK: before}, {Value: "c", State: refused, Since: before, OK: before},
	}}
	s.add("b", "renewal", now)
	s.add("c", "renewal", now)
	want := []entry{{Value: "c", State: untried, Since: now, OK: before}, {Value: "b", State: proven, Since: before, OK: before}, {Value: "a", State: untried, Since: before}}
	if fmt.Sprint(s.Entries) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", s.Entries, want)
	}
}

// A seed that was taken is taken again when nothing of its slot is left.
func TestASeedOfAnEmptySlot(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{})
	r.state.Slots[Primary].SeedSum = Secret(testKey).Fingerprint()
	if fresh, err := r.Seed(Seeds{Primary: testKey}); !fresh || err != nil || len(r.state.Slots[Primary].Entries) != 1 {
		t.Errorf("%v, %v", fresh, err)
	}
}

// That a configured key cannot be used is over for the slot to which another one was given.
func TestAnUnusableKeyIsOverForItsSlot(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{"two words", "two words"})
	open := map[string]bool{}
	r.Notify = func(n Note) { open[n.Rule+" "+n.Slot] = n.Ongoing }
	for _, n := range r.found {
		r.beginEpisode(n.Rule, n.Slot, n.Text)
	}
	if err := r.Set(Primary, testKey); err != nil {
		t.Fatal(err)
	}
	if len(open) != 2 || open["key-unusable primary"] || !open["key-unusable secondary"] {
		t.Errorf("%v", open)
	}
}

// What the disk holds is readable to nobody else, also where a file of the name was open to others.
func TestTheFileIsNobodyElses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte("old and longer than the new text"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (realDisk{}).write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	text, err2 := os.ReadFile(path)
	if errors.Join(err, err2) != nil || info.Mode().Perm() != 0o600 || string(text) != "new" {
		t.Errorf("%v, %q, %v", info.Mode(), text, err)
	}
	if err := os.Symlink(path, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := (realDisk{}).write(path+".link", nil); err == nil {
		t.Error("a link was followed")
	}
	if err := (realDisk{}).sync(path + "/nowhere"); err == nil {
		t.Error("a folder that is not there was synced")
	}
}

// What a renewal's answer says of the renewal: made, certainly not made, or in doubt.
func TestWhatAnAnswerSaysOfARenewal(t *testing.T) {
	const renewed = `{"subscriptionKey":"renewed-key","expirationDate":"2026-12-01"}`
	for _, c := range []struct {
		fault cloudtest.Fault
		want  string
	}{
		{cloudtest.Fault{Status: 200, Body: renewed}, "made"}, {cloudtest.Fault{Status: 299, Body: renewed}, "made"},
		{cloudtest.Fault{Status: 200, Body: `{"expirationDate":"2026-12-01"}`}, "made"}, // the value stays
		{cloudtest.Fault{Status: 300}, "not made"}, {cloudtest.Fault{Status: 404}, "not made"}, {cloudtest.Fault{Status: 499}, "not made"},
		{cloudtest.Fault{Refuse: true}, "not made"},
		{cloudtest.Fault{Status: 500}, "in doubt"}, {cloudtest.Fault{DropAfter: true}, "in doubt"},
		{cloudtest.Fault{Status: 200, Body: `{"subscriptionKey":"two words"}`}, "in doubt"}, {cloudtest.Fault{Status: 200, Body: "<html>"}, "in doubt"},
	} {
		s := &cloudtest.Service{}
		k := keyed(t, "", s)
		s.Next(c.fault)
		_, err := k.RenewAPIKey(t.Context(), Primary)
		slot, got := k.keys.state.Slots[Primary], "not made"
		switch {
		case !slot.Doubt.IsZero() && slot.Tries == 1 && err != nil:
			got = "in doubt"
		case err == nil && slot.Doubt.IsZero() && slot.Tries == 0 && !slot.Renewed.IsZero():
			got = "made"
		case err == nil || !slot.Renewed.IsZero() || slot.Tries != 0:
			got = "neither"
		}
		if got != c.want {
			t.Errorf("%+v: %s, want %s: %v", c.fault, got, c.want, err)
		}
	}
	ring, err := Open("", Seeds{testKey, otherKey})
	if err != nil {
		t.Fatal(err)
	}
	k := clientOf(t, ring, tripper(func(*http.Request) (*http.Response, error) {
		body := io.MultiReader(strings.NewReader(renewed), iotest.ErrReader(errPower)) // whole, and then cut
		return &http.Response{StatusCode: 200, Body: io.NopCloser(body)}, nil
	}))
	_, err = k.RenewAPIKey(t.Context(), Primary)
	if slot := k.keys.state.Slots[Primary]; !errors.Is(err, errPower) || slot.Tries != 1 || slot.Doubt.IsZero() {
		t.Errorf("an answer that was cut: %v", err)
	}
}

// A renewal that fails for want of a link is told when the key has not been renewed for twice as long as planned.
func TestWhenAnOutageOfRenewalsIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := openFile(keyFile{}, time.Now, Seeds{testKey, otherKey})
		told := 0
		r.Notify = func(Note) { told++ }
		r.reportRenewal(Primary, errPower)
		r.state.Slots[Primary].Renewed = time.Now()
		<-time.After(2 * r.renewEvery)
		r.reportRenewal(Primary, errPower)
		if told != 0 {
			t.Error("told too soon")
		}
		<-time.After(1)
		r.reportRenewal(Primary, errPower)
		if told != 1 {
			t.Errorf("told %d times", told)
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

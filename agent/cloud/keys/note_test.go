package keys

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// A key that was refused before a restart is still refused after it, and whoever listens then has not heard of it.
func TestARefusedKeyIsToldAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		<-time.After(time.Until(earliestClock.AddDate(1, 0, 0)))
		path := filepath.Join(t.TempDir(), "keys")
		c := keyed(t, path, &cloudtest.Service{PrimaryKey: "another-primary", SecondaryKey: "another-secondary"})
		if a := postTicket(t, c, "T-1"); a.Class != noKey {
			t.Fatalf("with refused keys: %+v", a)
		}
		again, err := Open(path, Seeds{})
		if err != nil {
			t.Fatal(err)
		}
		told, refusedAt := map[string]int{}, time.Now()
		<-time.After(time.Hour)
		again.Notify = func(n Note) {
			if n.Rule == "key-refused" && n.Ongoing {
				told[n.Slot]++
			}
			if n.Slot != "" && !n.Since.Equal(refusedAt) {
				t.Errorf("%s since %s, and it was %s", n.Slot, n.Since, refusedAt)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := again.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if told["primary"] != 1 || told["secondary"] != 1 {
			t.Errorf("told %v, want each refused key once", told)
		}
	})
}

// What is told of a refused key ends when the key that took its place is accepted: a new value that a person gave, and the
// old one after the other key renewed it.
func TestARefusalEndsWithTheKeyThatWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{PrimaryKey: "another-primary", SecondaryKey: "another-secondary"}
		c := keyed(t, "", s)
		open := map[string]bool{}
		c.keys.Notify = func(n Note) {
			open[n.Rule+" "+n.Slot] = n.Ongoing
		}
		c.keys.reportRenewal(Primary, func() error { _, err := c.keys.requestRenewal(t.Context(), Primary); return err }())
		if a := postTicket(t, c, "T-1"); a.Class != noKey {
			t.Fatalf("with refused keys: %+v", a)
		}
		for _, episode := range []string{"key-refused primary", "key-refused secondary", "key-renewal-failed primary"} {
			if !open[episode] {
				t.Fatalf("with refused keys %s is not told: %v", episode, open)
			}
		}
		if _, err := c.keys.Seed(Seeds{Primary: "another-primary"}); err != nil {
			t.Fatal(err)
		}
		if a := postTicket(t, c, "T-1"); a.Class != stored {
			t.Errorf("with a new primary key: %+v", a)
		}
		if open["key-refused primary"] || open["key-renewal-failed primary"] || !open["key-refused secondary"] {
			t.Errorf("with a new primary key: told %v", open)
		}
		if _, err := c.keys.requestRenewal(t.Context(), Secondary); err != nil {
			t.Fatal(err)
		}
		if a := postTicket(t, c, "T-2"); a.Class != stored || open["key-refused secondary"] {
			t.Errorf("with a renewed secondary key: %+v, told %v", a, open)
		}
	})
}

// Keys that were refused together, and of which one is accepted again, were refused by a service that was out of order: the other is
// tried with the next request, and nothing is told of it any more. Where it alone was refused it stays so.
func TestARefusalOfBothIsOverForBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		open := map[string]bool{}
		c.keys.Notify = func(n Note) { open[n.Rule+" "+n.Slot] = n.Ongoing }
		states := func() (all string) {
			for _, k := range c.keys.Status() {
				all += k.State + " "
			}
			return all
		}
		refuse := func(primary, secondary bool) {
			s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary, s.RefuseSecondary = primary, secondary })
		}
		expect := func(what, want string, told bool) {
			t.Helper()
			if states() != want || open["key-refused secondary"] != told {
				t.Errorf("%s: %s, want %s; told %v", what, states(), want, open)
			}
		}
		postTicket(t, c, "T-1")
		postTicket(t, c, "T-2")
		expect("at first", "proven proven ", false)
		refuse(true, true)
		postTicket(t, c, "T-3")
		expect("refused", "refused refused ", true)
		refuse(false, false)
		postTicket(t, c, "T-4")
		expect("one is accepted", "proven untried ", false)
		postTicket(t, c, "T-5")
		expect("and the other", "proven proven ", false)
		refuse(true, true)
		postTicket(t, c, "T-6")
		refuse(false, true)
		postTicket(t, c, "T-7")
		postTicket(t, c, "T-8")
		postTicket(t, c, "T-9")
		expect("it alone is refused", "proven refused ", true)
	})
}

// One key that cannot be used keeps the other one from nothing, is told while it stands there, and no longer.
func TestAnUnusableKeyIsToldWhileItStandsThere(t *testing.T) {
	r, err := Open("", Seeds{Primary: "a-good-primary", Secondary: "a-good-secondary"})
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	r.Notify = func(n Note) { open[n.Rule+" "+n.Slot] = n.Ongoing }
	fresh, err := r.Seed(Seeds{Primary: "with a blank", Secondary: "another-secondary"})
	if err == nil || !fresh || !open["key-unusable primary"] || len(r.Values()) != 3 {
		t.Errorf("new: %v, told %v, values %d, error %v", fresh, open, len(r.Values()), err)
	}
	if _, err := r.Seed(Seeds{Primary: "a-good-primary", Secondary: "another-secondary"}); err != nil || open["key-unusable primary"] {
		t.Errorf("with the old key again: %v, told %v", err, open)
	}
	if r.Set(Primary, "with a blank") == nil || open["key-unusable primary"] {
		t.Errorf("a person's own slip: told %v", open)
	}
}

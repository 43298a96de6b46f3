package keys

import (
	"context"
	"path/filepath"
	"testing"
	"testing/synctest"

	"gauger/agent/cloud/cloudtest"
)

// A key that was refused before a restart is still refused after it, and whoever listens then has not heard of it.
func TestARefusedKeyIsToldAgainAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "keys")
		c := keyed(t, path, &cloudtest.Service{PrimaryKey: "another-primary", SecondaryKey: "another-secondary"})
		if a := postTicket(t, c, "T-1"); a.Class != noKey {
			t.Fatalf("with refused keys: %+v", a)
		}
		again, err := Open(path, Seeds{})
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]int{}
		again.Notify = func(n Note) {
			if n.Rule == "key-refused" && n.Ongoing {
				told[n.Slot]++
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

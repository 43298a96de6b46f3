package keys

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// TestBothRefused: renewals are tried, then the login, whose keys then work; without one, the class is Key, and
// the recovery is not repeated with every request.
func TestBothRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{PrimaryKey: "new-primary", SecondaryKey: "new-secondary", LoginKey: "login-key", Users: []cloudtest.User{{UserName: "pat"}}}
		var notes []Note
		c := keyed(t, "", s)
		c.keys.Notify = func(n Note) { notes = append(notes, n) }
		for i := range 20 {
			if a := postTicket(t, c, "T-1"); a.Class != noKey || a.Status != 401 {
				t.Fatalf("request %d: %+v", i, a)
			}
			<-time.After(time.Minute)
		}
		if n := s.Count("RenewAPIKey"); n < 2 || n > 8 {
			t.Errorf("%d renewals in 20 minutes", n)
		}
		open := 0
		for _, n := range notes {
			if n.Rule == "key-refused" && n.Slot == "" && n.Ongoing {
				open++
			}
		}
		if open != 1 {
			t.Errorf("told %d times: %+v", open, notes)
		}
		c.LoginWith("pat", "login-key")
		<-time.After(20 * time.Minute)
		if a := postTicket(t, c, "T-1"); a.Class != stored {
			t.Fatalf("after the login: %+v", a)
		}
		if got := carried(s, "Authenticate"); got != "login" {
			t.Errorf("keys of the logins: %q", got)
		}
		if last := notes[len(notes)-1]; last.Ongoing || last.Rule != "key-refused" {
			t.Errorf("the last note leaves the episode open: %+v", last)
		}
	})
}

// TestYoungCandidate: a renewed key that the gateway does not know yet falls back to the old one within the same
// call, and takes over once it has stored something.
func TestYoungCandidate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Rotate: true, Activation: 9 * time.Minute, Grace: time.Hour}
		c := keyed(t, filepath.Join(t.TempDir(), "keys"), s)
		postTicket(t, c, "T-0")
		if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
			t.Fatal(err)
		}
		if a := postTicket(t, c, "T-1"); a.Class != stored {
			t.Fatalf("%+v", a)
		}
		if st := c.keys.Status(); len(st) != 3 || st[1].State != "proven" {
			t.Errorf("the candidate is not kept beside the old key: %+v", st)
		} else if st[0].State != "untried" || st[0].Source != "renewal" {
			t.Errorf("the candidate is %+v", st[0])
		}
		postTicket(t, c, "T-2")
		<-time.After(10 * time.Minute)
		postTicket(t, c, "T-3")
		st := c.keys.Status()
		if len(st) != 2 || st[0].State != "proven" || st[0].Source != "renewal" {
			t.Errorf("the candidate did not take over: %+v", st)
		}
		// T-0 with the old one; T-1 tries the new one; T-2 does not try it again so soon, but the secondary for the first time.
		if got, want := carried(s, "SaveRunTickets"), "primary,,primary,secondary,primary"; got != want {
			t.Errorf("keys: %q, want %q", got, want)
		}
		again, err := Open(c.keys.file.path, Seeds{testKey, otherKey})
		if err != nil || again.Status()[0].Fingerprint != st[0].Fingerprint || len(again.Status()) != 2 {
			t.Errorf("after a restart: %+v, %v", again.Status(), err)
		}
	})
}

// TestRenewTooSoon: the ring itself waits, a person is warned and may insist.
func TestRenewTooSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		if w := c.keys.Hasty(Primary); w != "" {
			t.Errorf("warned before any renewal: %s", w)
		}
		if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
			t.Fatal(err)
		}
		if got := carried(s, "RenewAPIKey"); got != "secondary" {
			t.Errorf("renewed with %q, want the other key", got)
		}
		if _, err := c.keys.renewUnlessTooSoon(t.Context(), Secondary); err == nil || !strings.Contains(err.Error(), "a day") {
			t.Errorf("both within a day: %v", err)
		}
		if w := c.keys.Hasty(Secondary); !strings.Contains(w, "a day") || s.Count("RenewAPIKey") != 1 {
			t.Errorf("warning %q after %d renewals", w, s.Count("RenewAPIKey"))
		}
		s.Next(cloudtest.Fault{DropAfter: true})
		if _, err := c.RenewAPIKey(t.Context(), Secondary); err == nil || s.Count("RenewAPIKey") != 2 {
			t.Errorf("a lost answer was no error, or the person was refused: %v", err)
		}
		<-time.After(24 * time.Hour)
		if _, err := c.keys.renewUnlessTooSoon(t.Context(), Primary); err == nil || !strings.Contains(err.Error(), "not answered") {
			t.Errorf("while the other is in doubt: %v", err)
		}
		if w := c.keys.Hasty(Primary); !strings.Contains(w, "not answered") {
			t.Errorf("warning %q", w)
		}
		if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
			t.Errorf("a person was refused: %v", err)
		}
		s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary = true })
		postTicket(t, c, "T-1") // with the key that the renewals were made with
		postTicket(t, c, "T-2") // the trial of the primary
		if _, err := c.keys.renewUnlessTooSoon(t.Context(), Primary); err != nil {
			t.Errorf("a refused key may be renewed at any time: %v", err)
		}
		if _, err := c.RenewAPIKey(t.Context(), Slot(7)); err == nil {
			t.Error("slot 7 was renewed")
		}
	})
}

func TestSeedsAreTakenOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	s := &cloudtest.Service{}
	c := keyed(t, path, s)
	postTicket(t, c, "T-1")
	if fresh, err := c.keys.Seed(Seeds{testKey, otherKey}); fresh || err != nil {
		t.Errorf("the same seeds again: %v, %v", fresh, err)
	}
	if fresh, err := c.keys.Seed(Seeds{Primary: "mistyped-key"}); !fresh || err != nil {
		t.Errorf("a new seed: %v, %v", fresh, err)
	}
	if a := postTicket(t, c, "T-2"); a.Class != stored {
		t.Errorf("a mistyped seed stopped the site: %+v", a)
	}
	s.SetKey("primary", "right-key", time.Now().AddDate(0, 6, 0))
	s.SetKey("secondary", "right-key-2", time.Now().AddDate(0, 6, 0))
	if a := postTicket(t, c, "T-3"); a.Class != noKey {
		t.Errorf("%+v", a)
	}
	if _, err := c.keys.Seed(Seeds{"right-key", "right-key-2"}); err != nil {
		t.Fatal(err)
	}
	if a := postTicket(t, c, "T-3"); a.Class != stored {
		t.Errorf("new keys by file: %+v", a)
	}
	if _, err := c.keys.Seed(Seeds{Primary: "not usable"}); err == nil {
		t.Error("a seed with a space was taken")
	}
}

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	ring, err := Open(path, Seeds{Primary: "generation-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Seed(Seeds{Primary: "generation-2"}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + ".old"} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newest := func() string {
		r, err := Open(path, Seeds{})
		if err != nil {
			return err.Error()
		}
		return r.Status()[0].Fingerprint
	}
	one, two := Secret("generation-1").Fingerprint(), Secret("generation-2").Fingerprint()
	if got := newest(); got != two {
		t.Fatalf("%s", got)
	}
	for n := range whole { // a torn write, at every byte
		if err := os.WriteFile(path, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newest(); got != one {
			t.Fatalf("cut after %d bytes: %s", n, got)
		}
	}
	for n := range whole { // a flipped bit, in every byte
		bent := []byte(string(whole))
		bent[n] ^= 1
		if err := os.WriteFile(path, bent, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newest(); got != one {
			t.Fatalf("bit %d flipped: %s", 8*n, got)
		}
	}
	// The damaged file must not push out the sound generation when the next one is written.
	ring, err = Open(path, Seeds{Primary: "generation-3"})
	if err != nil {
		t.Fatal(err)
	}
	if old, err := ring.file.readState(path + ".old"); err != nil || old.Slots[0].Entries[0].Value != "generation-1" {
		t.Errorf("the old generation: %v", err)
	}
	if len(ring.Status()) != 2 {
		t.Errorf("%+v", ring.Status())
	}
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.WriteFile(path+".old", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	ring, err = Open(path, Seeds{})
	if err != nil || len(ring.Status()) != 0 {
		t.Fatalf("both generations damaged: %v", err)
	}
	var told []Note
	ring.Notify = func(n Note) { told = append(told, n) }
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := ring.Run(ended); err != nil || len(told) != 1 || !strings.Contains(told[0].Text, "gauger keys set") {
		t.Errorf("%v, told %+v", err, told)
	}
	if r, err := Open(path, Seeds{Primary: "generation-4"}); err != nil || len(r.Status()) != 1 {
		t.Errorf("both damaged, but a seed is there: %v", err)
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

package keys

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

const day = 24 * time.Hour

// TestDue holds the rule of when a slot is renewed, with clocks that were wrong when a time was written.
func TestDue(t *testing.T) {
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	never := time.Time{}
	one := []entry{{Value: "k"}}
	dead := []entry{{Value: "k", State: refused}}
	works := []entry{{Value: "k", State: proven}}
	cases := []struct {
		name       string
		own, other slotState
		want       time.Duration
	}{
		{"state lost: now", slotState{Entries: one}, slotState{Entries: one}, 0},
		{"a day after its own", slotState{Entries: one, Renewed: ago(day)}, slotState{Entries: one, Renewed: ago(5 * day)}, 6 * day},
		{"overdue, but the other one was just renewed", slotState{Entries: one, Renewed: ago(170 * day)}, slotState{Entries: one, Renewed: ago(time.Hour)}, 84*time.Hour - time.Hour},
		{"never, the other one just renewed", slotState{Entries: one}, slotState{Entries: one, Renewed: now}, 84 * time.Hour},
		{"no other key", slotState{Entries: one, Renewed: ago(8 * day)}, slotState{}, 0},
		{"refused", slotState{Entries: dead, Renewed: now}, slotState{Entries: one, Renewed: now}, 0},
		{"refused, the other in doubt", slotState{Entries: dead}, slotState{Entries: one, Doubt: ago(time.Hour)}, forever},
		{"refused, the other in doubt and refused", slotState{Entries: dead}, slotState{Entries: dead, Doubt: ago(time.Hour)}, 0},
		{"its own in doubt", slotState{Entries: one, Renewed: ago(day), Doubt: ago(time.Hour)}, slotState{Entries: one, Renewed: now}, 0},
		{"the other in doubt", slotState{Entries: one, Renewed: ago(9 * day)}, slotState{Entries: one, Renewed: ago(9 * day), Doubt: ago(200 * day), Tries: doubtTries - 1}, forever},
		{"the other was tried in vain for days", slotState{Entries: one, Renewed: ago(40 * day)}, slotState{Entries: one, Renewed: ago(40 * day), Doubt: ago(31 * day), Tries: doubtTries}, 0},
		{"it lasts two days: at half of them", slotState{Entries: one, Renewed: ago(time.Hour), Expires: Expiry{At: now.Add(47 * time.Hour)}}, slotState{Entries: one, Renewed: ago(5 * day)}, 23 * time.Hour},
		{"the same, and the other one was just renewed", slotState{Entries: one, Renewed: ago(2 * day), Expires: Expiry{At: now}}, slotState{Entries: one, Renewed: ago(2 * time.Hour)}, 10 * time.Hour},
		{"the other one lasts two days: half of its time between them", slotState{Entries: one, Renewed: ago(9 * day)}, slotState{Entries: one, Renewed: ago(2 * time.Hour), Expires: Expiry{At: now.Add(46 * time.Hour)}}, 10 * time.Hour},
		{"it ended before it was renewed, which says nothing", slotState{Entries: one, Renewed: ago(day), Expires: Expiry{At: ago(300 * day)}}, slotState{Entries: one, Renewed: ago(5 * day)}, 6 * day},
		{"its end is a guess", slotState{Entries: one, Renewed: ago(day), Expires: Expiry{At: now.Add(time.Hour), Assumed: true}}, slotState{Entries: one, Renewed: ago(5 * day)}, 6 * day},
		{"it lasts two days, by a clock of 1970", slotState{Entries: one, Renewed: time.Unix(60, 0), Expires: Expiry{At: time.Unix(60, 0).Add(2 * day)}}, slotState{Entries: works, Renewed: ago(5 * day)}, 0},
		{"own written ten years ahead", slotState{Entries: one, Renewed: ago(-3650 * day)}, slotState{Entries: one, Renewed: ago(9 * day)}, 0},
		{"other written ten years ahead: counted from this start", slotState{Entries: one, Renewed: never}, slotState{Entries: one, Renewed: ago(-3650 * day)}, 82 * time.Hour},
		{"both written in 1970: counted from this start", slotState{Entries: one, Renewed: time.Unix(60, 0)}, slotState{Entries: one, Renewed: time.Unix(30, 0)}, 82 * time.Hour},
		{"both written in 1970, the other one has worked since", slotState{Entries: one, Renewed: time.Unix(60, 0)}, slotState{Entries: works, Renewed: time.Unix(30, 0)}, 0},
		{"the other ten years ahead has worked since", slotState{Entries: one, Renewed: never}, slotState{Entries: works, Renewed: ago(-3650 * day)}, 0},
	}
	for _, c := range cases {
		r := &Ring{renewEvery: 7 * day, opened: ago(2 * time.Hour), state: ringState{Slots: [2]slotState{c.own, c.other}}}
		if got := r.dueIn(Primary, now); got != c.want && max(got, 0) != c.want {
			t.Errorf("%s: in %v, want %v", c.name, got, c.want)
		}
	}
}

// running runs the ring's worker for a test and ends it.
func running(t *testing.T, c *client, during func()) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var w sync.WaitGroup
	w.Go(func() {
		if err := c.keys.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	during()
	stop()
	w.Wait()
}

func TestWeeklyRhythm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		begin := time.Now()
		running(t, c, func() { <-time.After(28*day - time.Hour) })
		var got []string
		for i, call := range s.Calls() {
			if want := time.Duration(i) * 84 * time.Hour; call.At.Sub(begin) != want {
				t.Errorf("renewal %d after %v, want %v", i, call.At.Sub(begin), want)
			}
			got = append(got, call.Path)
		}
		if len(got) != 8 || got[0] != "/v1/apikey/primary/renew" || got[1] != "/v1/apikey/secondary/renew" {
			t.Errorf("%q", got)
		}
	})
}

// TestRefusedKeyIsRenewedAtOnce: the worker wakes, uses the other key, and does not go in a circle when the
// service goes on refusing.
func TestRefusedKeyIsRenewedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		running(t, c, func() {
			<-time.After(day)
			s.SetKey("primary", "rotated-at-the-portal", time.Now().AddDate(0, 6, 0))
			postTicket(t, c, "T-0") // with the key that the weekly renewal was made with
			postTicket(t, c, "T-1") // the trial of the other one
			synctest.Wait()
			if n := s.Count("RenewAPIKey"); n != 2 {
				t.Errorf("%d renewals, want the weekly one and one at once", n)
			}
			postTicket(t, c, "T-2")
			if st := c.keys.Status(); st[0].State != "proven" || st[0].Source != "renewal" {
				t.Errorf("%+v", st)
			}
			s.Adjust(func(s *cloudtest.Service) { s.RefusePrimary = true })
			for range 24 * 60 {
				postTicket(t, c, "T-3")
				<-time.After(time.Minute)
			}
			if n := s.Count("RenewAPIKey"); n > 30 {
				t.Errorf("%d renewals in a day of refusals", n)
			}
		})
	})
}

func TestRenewalFailureIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var back atomic.Bool
		s := &cloudtest.Service{}
		s.Fault = func(c cloudtest.Call) *cloudtest.Fault {
			if c.Op == "RenewAPIKey" && !back.Load() {
				return &cloudtest.Fault{Status: 404}
			}
			return nil
		}
		c := keyed(t, "", s)
		notes := map[Note]int{}
		c.keys.Notify = func(n Note) { n.Text = ""; notes[n]++ }
		running(t, c, func() {
			<-time.After(20 * day)
			back.Store(true)
			<-time.After(10 * day)
		})
		for _, slot := range []string{"primary", "secondary"} {
			for _, open := range []bool{true, false} {
				if n := notes[Note{Rule: "key-renewal-failed", Slot: slot, Ongoing: open}]; n != 1 {
					t.Errorf("%s, open %v: told %d times", slot, open, n)
				}
			}
		}
		if n := s.Count("RenewAPIKey"); n > 400 {
			t.Errorf("%d renewals in 30 days", n)
		}
	})
}

// TestOutageIsNoNote: a link that is away for a day is nobody's business here.
func TestOutageIsNoNote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Fault: func(cloudtest.Call) *cloudtest.Fault { return &cloudtest.Fault{Refuse: true} }}
		c := keyed(t, "", s)
		c.keys.Notify = func(n Note) { t.Errorf("%+v", n) }
		running(t, c, func() { <-time.After(day) })
	})
}

func TestRingWithoutClient(t *testing.T) {
	ring, err := Open("", Seeds{Primary: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.renewUnlessTooSoon(t.Context(), Primary); err == nil {
		t.Error("a ring without client renewed a key")
	}
	if _, err := Open("/proc/none/keys", Seeds{Primary: testKey}); err == nil {
		t.Error("a folder that is not there was no error")
	}
}

// TestFileThatCannotBeWritten: a folder stands where the file should be. The keys work all the same, and a
// person is told once, and when it is well again.
func TestFileThatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := keyed(t, path, &cloudtest.Service{})
	var told []string
	c.keys.Notify = func(n Note) { told = append(told, fmt.Sprint(n.Rule, n.Slot, n.Ongoing)) }
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := c.keys.Run(ended); err != nil {
		t.Fatal(err)
	}
	if a := postTicket(t, c, "T-1"); a.Class != stored {
		t.Errorf("%+v", a)
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
		t.Fatal(err)
	}
	want := "key-filetrue key-filefalse"
	if got := strings.Join(told, " "); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
	if again, err := Open(path, Seeds{}); err != nil || len(again.Status()) != 2 {
		t.Errorf("after it was well: %v", err)
	}
}

// TestTheOnlyKeyIsNotRenewedFirst: when it turns out that the other key is refused, that one is renewed with this one. The
// other way round a lost answer would cost the only key that works.
func TestTheOnlyKeyIsNotRenewedFirst(t *testing.T) {
	s := &cloudtest.Service{Rotate: true}
	c := keyed(t, "", s)
	postTicket(t, c, "T-1")
	s.SetKey("primary", "rotated-at-the-portal", time.Now().AddDate(0, 6, 0))
	before := s.Keys()
	if _, err := c.keys.renewUnlessTooSoon(t.Context(), Secondary); err == nil || !strings.Contains(err.Error(), "the primary key turned out to be refused") {
		t.Errorf("renewing the secondary key: %v", err)
	}
	if after := s.Keys(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the service has %+v, want %+v", after, before)
	}
	for _, slot := range [...]Slot{Primary, Secondary} {
		if _, err := c.keys.Renew(t.Context(), slot); err != nil {
			t.Errorf("renewing the %s key then: %v", slot, err)
		}
	}
	if a := postTicket(t, c, "T-2"); a.Class != stored {
		t.Errorf("%+v", a)
	}
}

// A key that a person gave was not renewed: what is said of the slot's last renewal was the key before it.
func TestAKeyGivenByHandHasNoRenewalOfTheOneBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{}
		c := keyed(t, "", s)
		postTicket(t, c, "T-1")
		if _, err := c.keys.Renew(t.Context(), Primary); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Hour)
		if why := c.keys.Hasty(Secondary); !strings.Contains(why, "the primary key was renewed less than a day ago") {
			t.Errorf("renewed: %q", why)
		}
		if err := c.keys.Set(Primary, "from-the-portal"); err != nil {
			t.Fatal(err)
		}
		if k := c.keys.Status()[0]; !k.Renewed.IsZero() || k.Source != "file" {
			t.Errorf("the new key: %+v", k)
		}
		if k := c.keys.Status()[1]; k.Renewed.IsZero() {
			t.Errorf("the key of before: %+v", k)
		}
		if why := c.keys.Hasty(Secondary); !strings.Contains(why, "was given by hand and no record was sent with it yet") {
			t.Errorf("given by hand: %q", why)
		}
		all, _ := c.keys.Order(true)
		c.keys.Accepted(all[slices.IndexFunc(all, func(k Key) bool { return k.Value == "from-the-portal" })], true)
		if why := c.keys.Hasty(Secondary); why != "" {
			t.Errorf("it works: %q", why)
		}
	})
}

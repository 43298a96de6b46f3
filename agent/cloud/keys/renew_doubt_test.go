package keys

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// denied is a site at which both keys stored data and were then refused, by a gateway's mistake. The service gives new values at
// each renewal, and the old ones end at once. The answers of renewals with the key in lossy are lost.
func denied(t *testing.T) (c *client, s *cloudtest.Service, lossy *atomic.Value) {
	t.Helper()
	var denies atomic.Bool
	lossy = &atomic.Value{}
	s = &cloudtest.Service{Rotate: true, Fault: func(c cloudtest.Call) *cloudtest.Fault {
		switch {
		case denies.Load():
			return &cloudtest.Fault{Status: 401}
		case c.Op == "RenewAPIKey" && c.Header.Get(keyHeader) == lossy.Load():
			return &cloudtest.Fault{DropAfter: true}
		}
		return nil
	}}
	c = keyed(t, "", s)
	postTicket(t, c, "T-0")
	postTicket(t, c, "T-1")
	denies.Store(true)
	if a := postTicket(t, c, "T-2"); a.Class != noKey {
		t.Fatalf("%+v", a)
	}
	denies.Store(false)
	<-time.After(20 * time.Minute)
	return c, s, lossy
}

// When both keys look refused, and work again, one renewal whose answer is lost must not be followed by the other's.
func TestALostAnswerIsNotFollowedByTheOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, lossy := denied(t)
		lossy.Store(otherKey)
		if c.keys.Recover(t.Context(), c.keys.changeCount()) || s.Count("RenewAPIKey") != 3 { // of which two were refused
			t.Errorf("revived, with %d renewals", s.Count("RenewAPIKey"))
		}
		if c.keys.dead(Secondary) {
			t.Error("what has perhaps made a renewal still counts as refused, and is renewed at once")
		}
		if a := postTicket(t, c, "T-2"); a.Class != stored || carried(s, "RenewAPIKey") != ",,secondary" {
			t.Errorf("locked out: %+v, renewed with %q", a, carried(s, "RenewAPIKey"))
		}
		lossy.Store("")
		if _, err := c.keys.renewUnlessTooSoon(t.Context(), Primary); err != nil {
			t.Errorf("the renewal that was lost cannot be repeated: %v", err)
		}
	})
}

// The worker does not renew the secondary at once, as a refused one, when it has perhaps renewed the primary.
func TestTheWorkerWaitsAfterALostAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, lossy := denied(t)
		lossy.Store(otherKey)
		s.Adjust(func(s *cloudtest.Service) { s.Grace = time.Hour }) // the old primary works meanwhile
		running(t, c, func() {
			<-time.After(time.Minute)
			postTicket(t, c, "T-2")
			<-time.After(time.Hour / 2)
		})
		if a := postTicket(t, c, "T-3"); a.Class != stored {
			t.Errorf("locked out: %+v", a)
		}
		for _, call := range s.Calls() {
			if call.Op == "RenewAPIKey" && call.Key != "" && call.Path != "/v1/apikey/primary/renew" {
				t.Errorf("%s was called beside a renewal in doubt", call.Path)
			}
		}
	})
}

// The secondary is refused for good, the primary was by mistake: it renews the other one, never itself.
func TestAKeyThatSeemedRefusedDoesNotRenewItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, lossy := denied(t)
		lossy.Store(testKey)
		s.SetKey("secondary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
		c.keys.Recover(t.Context(), c.keys.changeCount())
		if a := postTicket(t, c, "T-2"); a.Class != stored {
			t.Errorf("locked out: %+v", a)
		}
		renewals := s.Calls()
		if last := renewals[len(renewals)-2]; last.Path != "/v1/apikey/secondary/renew" || last.Key != "primary" {
			t.Errorf("renewed %s with the %s key", last.Path, last.Key)
		}
	})
}

// A login is tried although the answer of a renewal was lost: it takes no key away.
func TestALostAnswerIsFollowedByTheLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, lossy := denied(t)
		lossy.Store(otherKey)
		s.Adjust(func(s *cloudtest.Service) { s.LoginKey, s.Users = "login-key", []cloudtest.User{{UserName: "pat"}} })
		c.LoginWith("pat", "login-key")
		if !c.keys.Recover(t.Context(), c.keys.changeCount()) || s.Count("Authenticate") != 1 {
			t.Errorf("after %d logins there is no key", s.Count("Authenticate"))
		}
		if st := c.keys.Status(); st[0].Source != "login" || st[0].Fingerprint != Secret(s.Keys()[0].Value).Fingerprint() {
			t.Errorf("%+v, the service has %+v", st, s.Keys())
		}
	})
}

// What the service gave is not crowded out by what people give, although nothing was stored with it yet.
func TestARenewedKeyOutlivesWrongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Rotate: true}
		c := keyed(t, "", s)
		postTicket(t, c, "T-0")
		postTicket(t, c, "T-1")
		if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
			t.Fatal(err)
		}
		wrong(t, c, Primary, 40)
		s.Adjust(func(s *cloudtest.Service) { s.RefuseSecondary = true })
		if a := postTicket(t, c, "T-2"); a.Class != stored {
			t.Errorf("the renewed key is forgotten: %+v", a)
		}
		if st := c.keys.Status(); len(st) != candidatesPer+1 {
			t.Errorf("%d values, want %d of the primary and one of the secondary key", len(st), candidatesPer)
		}
	})
}

// An answer that cannot be read says all the same that the key in its header is accepted.
func TestARenewalWithoutReadableAnswerProvesItsHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, _ := denied(t)
		s.Next(cloudtest.Fault{Status: 200, Body: "[]"})
		if _, err := c.keys.Renew(t.Context(), Primary); err == nil || !strings.Contains(err.Error(), "not the JSON object") {
			t.Errorf("%v", err)
		}
		if c.keys.dead(Secondary) || !c.keys.dead(Primary) {
			t.Errorf("%+v", c.keys.Status())
		}
	})
}

// The only key that works renews itself when the service has said that it does not renew the other one, and not before.
func TestTheOnlyKeyRenewsItselfLast(t *testing.T) {
	s := &cloudtest.Service{Rotate: true, Fault: func(c cloudtest.Call) *cloudtest.Fault {
		if strings.Contains(c.Path, "secondary/renew") {
			return &cloudtest.Fault{Status: 404}
		}
		return nil
	}}
	c := keyed(t, "", s)
	postTicket(t, c, "T-0")
	s.SetKey("secondary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
	for range 2 {
		if _, err := c.keys.Renew(t.Context(), Primary); !errors.Is(err, errOtherFirst) {
			t.Errorf("renewed with itself: %v", err)
		}
	}
	if _, err := c.keys.Renew(t.Context(), Secondary); err == nil {
		t.Error("the service renewed the secondary key")
	}
	if _, err := c.keys.Renew(t.Context(), Primary); err != nil || !strings.HasSuffix(carried(s, "RenewAPIKey"), "primary") {
		t.Errorf("%v, renewed with %q", err, carried(s, "RenewAPIKey"))
	}
}

// Of two keys that look refused the one in doubt is renewed first: its old value may end any moment.
func TestTheKeyInDoubtIsRenewedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, _ := denied(t)
		c.keys.state.Slots[Secondary].Doubt = time.Now()
		before := len(s.Calls())
		if !c.keys.Recover(t.Context(), c.keys.changeCount()) {
			t.Error("not revived")
		}
		if call := s.Calls()[before]; call.Path != "/v1/apikey/secondary/renew" || call.Key != "primary" {
			t.Errorf("%s with the %s key went first", call.Path, call.Key)
		}
	})
}

// A key that the service fails to renew, in the place of another, is not asked for over and over.
func TestTheOtherKeyIsNotAskedForInACircle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Rotate: true, Fault: func(c cloudtest.Call) *cloudtest.Fault {
			if strings.Contains(c.Path, "primary/renew") {
				return &cloudtest.Fault{Status: 500}
			}
			return nil
		}}
		c := keyed(t, "", s)
		c.keys.state.Slots[Secondary].Doubt = time.Now()
		s.SetKey("primary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
		running(t, c, func() { <-time.After(time.Hour) })
		if n := s.Count("RenewAPIKey"); n < 2 || n > 40 {
			t.Errorf("%d requests in an hour", n)
		}
	})
}

// The worker finds in the renewal of one key that the other is refused for good, and renews that one with it at once.
func TestTheOtherKeyFollowsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Rotate: true}
		c := keyed(t, "", s)
		c.keys.state.Slots[Secondary].Doubt = time.Now() // a request that never arrived
		s.SetKey("primary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
		running(t, c, func() { <-time.After(5 * time.Minute) })
		if got, want := carried(s, "RenewAPIKey"), ",secondary,primary"; got != want {
			t.Errorf("renewed with %q, want %q", got, want)
		}
		if st := c.keys.Status(); st[0].Renewed.IsZero() || st[len(st)-1].Renewed.IsZero() {
			t.Errorf("%+v", st)
		}
	})
}

// The service has replaced the primary key, and a person gives a wrong one, which is too young to count as refused. Nor does
// the secondary renew itself then: the answer is lost, and nothing would be left that works.
func TestAYoungCandidateDoesNotHideARefusedKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &cloudtest.Service{Rotate: true, Fault: func(c cloudtest.Call) *cloudtest.Fault {
			if strings.Contains(c.Path, "secondary/renew") && c.Header.Get(keyHeader) == otherKey {
				return &cloudtest.Fault{DropAfter: true}
			}
			return nil
		}}
		c := keyed(t, "", s)
		postTicket(t, c, "T-0")
		postTicket(t, c, "T-1")
		c.keys.state.Slots[Secondary].Doubt = time.Now() // a request that never arrived
		s.SetKey("primary", "replaced-at-the-portal", time.Now().AddDate(0, 6, 0))
		if err := c.keys.Set(Primary, "mistyped"); err != nil {
			t.Fatal(err)
		}
		running(t, c, func() { <-time.After(3 * time.Hour) })
		if a := postTicket(t, c, "T-2"); a.Class != stored {
			t.Errorf("locked out: %+v", a)
		}
		if st := c.keys.Status(); st[0].Source != "renewal" || st[0].Renewed.IsZero() {
			t.Errorf("the secondary key did not renew the primary: %+v", st)
		}
	})
}

// The power goes off before a renewed key is written, and the file is damaged: the one before it says too that a renewal is
// under way, else the other key would be renewed with this one while the service still takes it.
func TestADamagedFileHidesNoRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := newDisk()
		disk.off = func() { disk.left = 0 } // it stays off
		s := &cloudtest.Service{PrimaryKey: testKey, SecondaryKey: otherKey, Rotate: true, Grace: 24 * time.Hour}
		s.Fault = func(c cloudtest.Call) *cloudtest.Fault {
			if c.Op == "RenewAPIKey" {
				disk.left = 0
			}
			return nil
		}
		ring := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
		c := clientOf(t, ring, s)
		postTicket(t, c, "T-0")
		if _, err := c.RenewAPIKey(t.Context(), Primary); err != nil {
			t.Fatal(err)
		}
		disk.left, disk.files["keys"] = -1, []byte("damaged")
		again := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
		if !again.inDoubt(Primary) || again.inDoubt(Secondary) {
			t.Errorf("%+v", again.Status())
		}
		if slot, wait := again.nextDue(time.Now(), [2]time.Time{}); slot != Primary || wait != 0 {
			t.Errorf("the %s key is renewed in %s", slot, wait)
		}
		if err := again.tooSoon(Secondary, time.Now()); err == nil {
			t.Error("the secondary key may be renewed with what may end")
		}
	})
}

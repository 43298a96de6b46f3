package keys

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
)

// Both keys look refused. That the service does not know a renewal of the primary is followed by the secondary's; that it allows
// this key none is not, since the same keys would ask for it.
func TestWhichAnswerIsFollowedByTheOtherRenewal(t *testing.T) {
	for status, want := range map[int]string{404: "[primary secondary]", 403: "[primary]"} {
		synctest.Test(t, func(t *testing.T) {
			c, s, _ := denied(t)
			before := len(s.Calls())
			s.Next(cloudtest.Fault{Status: status})
			revived := c.keys.Recover(t.Context(), c.keys.changeCount())
			var asked []string
			for _, call := range s.Calls()[before:] {
				for _, slot := range []string{"primary", "secondary"} {
					if call.Path == "/v1/apikey/"+slot+"/renew" {
						asked = append(asked, slot)
					}
				}
			}
			if got := fmt.Sprint(asked); got != want || revived != (status == 404) {
				t.Errorf("after %d renewals of %s, revived %v; want %s", status, got, revived, want)
			}
		})
	}
}

// What may make a refused ring work again does not cancel out: after a new seed, a renewal and a login the ring is another.
func TestChangesDoNotCancelOut(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{testKey, otherKey})
	login := func() error { return r.Adopt(Grant{Key: "of-a-login"}, Grant{}) }
	seed := func() error { return r.Set(Secondary, "of-a-person") }
	renewal := func() error {
		_, err := r.keepGrant(Primary, Key{Secondary, otherKey}, Reply{Outcome: Renewed, Grant: Grant{Key: "of-a-renewal"}})
		return err
	}
	for i, pair := range [][2]func() error{{seed, login}, {renewal, login}, {seed, renewal}} {
		before := r.changeCount()
		for _, change := range pair {
			if err := change(); err != nil {
				t.Fatal(err)
			}
		}
		if r.changeCount() == before {
			t.Errorf("pair %d: two changes look like none", i)
		}
	}
}

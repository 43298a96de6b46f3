package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/eventrules"
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
		{cloudtest.Fault{Status: 200, Body: `{"error":"no"}`}, "in doubt"}, {cloudtest.Fault{Status: 200, Body: `null`}, "in doubt"},
		{cloudtest.Fault{Status: 200, Body: `{}`}, "in doubt"}, {cloudtest.Fault{Status: 200, Body: `{"subscriptionKey":"","expirationDate":null}`}, "in doubt"},
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

// only is a service that renews with one key.
type only struct{ asked []Secret }

func (o *only) Renew(_ context.Context, _ Slot, with Secret, _ func() time.Time) Reply {
	o.asked = append(o.asked, with)
	return Reply{Outcome: Renewed, Grant: Grant{Key: "renewed-key"}}
}

func (o *only) Login(context.Context) (Grant, Grant, error) { return Grant{}, Grant{}, ErrNoLogin }

// One key in both places renews either, since there is no other that could go first.
func TestOneKeyInBothPlacesIsRenewedAllTheSame(t *testing.T) {
	for _, slot := range []Slot{Primary, Secondary} {
		r, via := openFile(keyFile{}, time.Now, Seeds{testKey, testKey}), &only{}
		r.Bind(via, time.Hour)
		if _, err := r.Renew(t.Context(), slot); err != nil || len(via.asked) != 1 {
			t.Errorf("%s: %v, asked with %d keys", slot, err, len(via.asked))
		}
	}
}

// mirror is a service that answers a renewal with the key that asks for it.
type mirror struct{}

func (mirror) Renew(_ context.Context, _ Slot, with Secret, _ func() time.Time) Reply {
	return Reply{Outcome: Renewed, Grant: Grant{Key: with}}
}

func (mirror) Login(context.Context) (Grant, Grant, error) { return Grant{}, Grant{}, ErrNoLogin }

// The key of one place is not taken for the other one: its end would stop everything. A renewal that brings it is told.
func TestTheOtherPlacesKeyIsNotTaken(t *testing.T) {
	r := openFile(keyFile{}, time.Now, Seeds{testKey, otherKey})
	r.Bind(mirror{}, time.Hour)
	var told []Note
	r.Notify = func(n Note) { told = append(told, n) }
	_, err := r.Renew(t.Context(), Primary)
	r.reportRenewal(Primary, err)
	if all := r.Status(); !errors.Is(err, errOthersKey) || len(all) != 2 || all[0].Fingerprint != Secret(testKey).Fingerprint() || all[0].Renewed.IsZero() || len(told) != 1 {
		t.Errorf("%v; %+v; told %+v", err, all, told)
	}
}

// A key file that could not be written is tried again every minute until it is, and then nothing is told of it any more.
func TestAKeyFileIsWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &ramDisk{files: map[string][]byte{}, left: -1, off: func() {}}
		r := openFile(keyFile{"keys", disk}, time.Now, Seeds{testKey, otherKey})
		r.Bind(&only{}, 24*time.Hour)
		var told []Note
		r.Notify = func(n Note) {
			if n.Rule == eventrules.KeyFile {
				told = append(told, n)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		go r.Run(ctx)
		synctest.Wait()
		power := func(left int) {
			disk.mu.Lock()
			disk.left = left
			disk.mu.Unlock()
		}
		power(0)
		if err := r.Set(Primary, "another-key-0123"); err == nil {
			t.Error("the key was written to a disk that is off")
		}
		<-time.After(10 * time.Minute)
		power(-1)
		if len(told) != 1 || !told[0].Ongoing {
			t.Errorf("while the disk is off: %+v", told)
		}
		<-time.After(2 * time.Minute)
		if len(told) != 2 || told[1].Ongoing {
			t.Errorf("two minutes after it is back: %+v", told)
		}
		stop()
		synctest.Wait()
	})
}

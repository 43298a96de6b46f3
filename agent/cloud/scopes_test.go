package cloud

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

// denying is a client of a service that answers 401 to the operations that deny names, and what the key ring tells.
func denying(t *testing.T, deny ...string) (c *Client, s *cloudtest.Service, denied *atomic.Pointer[[]string], told *atomic.Int32) {
	denied, told = &atomic.Pointer[[]string]{}, &atomic.Int32{}
	denied.Store(&deny)
	s = &cloudtest.Service{Rotate: true, Grace: 1000 * time.Hour}
	s.Fault = func(call cloudtest.Call) *cloudtest.Fault {
		for _, op := range *denied.Load() {
			if op == call.Op || op == "all" {
				return &cloudtest.Fault{Status: 401}
			}
		}
		return nil
	}
	c = keyed(t, "", s)
	c.ring.Notify = func(keys.Note) { told.Add(1) }
	return c, s, denied, told
}

func (c *Client) askedElsewhere(t *testing.T) error {
	t.Helper()
	_, err := c.QueryDevices(t.Context(), DeviceQuery{})
	return err
}

// blamed says whether the ring holds any refusal against a key.
func (c *Client) blamed() bool {
	for _, k := range c.ring.Status() {
		if k.State == "refused" {
			return true
		}
	}
	return false
}

// An operation that no key may do, while others take the keys, costs one renewal, which shows that they work, and no key is blamed.
func TestAnOperationThatTheKeysMayNotDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, denied, told := denying(t, "SaveRunTickets")
		if err := c.askedElsewhere(t); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		for i := range 40 {
			a := postTicket(t, c, "T-1")
			if a.Class != Unauthorized || a.Status != 401 || !a.Lacking || !strings.Contains(a.Message, "the same keys were taken for ") {
				t.Fatalf("try %d: %+v", i, a)
			}
			<-time.After(40 * time.Minute)
			if err := c.askedElsewhere(t); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.Count("RenewAPIKey"); n != 1 || told.Load() != 0 || c.blamed() {
			t.Errorf("%d renewals, %d notes, keys %+v", n, told.Load(), c.ring.Status())
		}
		denied.Store(&[]string{})
		if a := postTicket(t, c, "T-1"); a.Class != Stored || a.Lacking {
			t.Errorf("once it may: %+v", a)
		}
	})
}

// Where the renewal is refused too the keys look dead until something takes them again; then no more is said of them.
func TestAnOperationAndTheRenewalThatTheKeysMayNotDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s, _, told := denying(t, "SaveRunTickets", "RenewAPIKey")
		if a := postTicket(t, c, "T-1"); a.Class != Unauthorized || a.Lacking || told.Load() == 0 {
			t.Fatalf("nothing shows that the keys work: %+v, %d notes", a, told.Load())
		}
		if err := c.askedElsewhere(t); err != nil {
			t.Fatal(err)
		}
		renewals, notes := s.Count("RenewAPIKey"), told.Load()
		for range 10 {
			<-time.After(time.Hour)
			if a := postTicket(t, c, "T-1"); !a.Lacking {
				t.Fatalf("%+v", a)
			}
		}
		if s.Count("RenewAPIKey") != renewals || told.Load() != notes || c.ring.Status()[0].State != "proven" && c.ring.Status()[1].State != "proven" {
			t.Errorf("%d renewals and %d notes more, keys %+v", s.Count("RenewAPIKey")-renewals, told.Load()-notes, c.ring.Status())
		}
	})
}

// Keys that die while an operation was refused anyway are dead keys, and are told as such by whatever is refused first.
func TestKeysThatDieBesideAnOperationThatTheyMayNotDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, denied, told := denying(t, "SaveRunTickets")
		if a := postTicket(t, c, "T-1"); !a.Lacking {
			t.Fatalf("%+v", a)
		}
		<-time.After(time.Hour)
		denied.Store(&[]string{"all"})
		if err := c.askedElsewhere(t); err == nil || told.Load() == 0 {
			t.Errorf("%v, %d notes", err, told.Load())
		}
		if a := postTicket(t, c, "T-1"); a.Lacking || !c.blamed() {
			t.Errorf("%+v, keys %+v", a, c.ring.Status())
		}
	})
}

package cloud

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"gauger/agent/cloud/cloudtest"
	"gauger/agent/cloud/keys"
)

const otherKey = "secondary-0123456789abcdef"

// keyed is a client and its service, which knows both keys, in one process.
func keyed(t *testing.T, path string, s *cloudtest.Service, change ...func(*Options)) *Client {
	t.Helper()
	if s.PrimaryKey == "" {
		s.PrimaryKey, s.SecondaryKey = testKey, otherKey
	}
	ring, err := keys.Open(path, keys.Seeds{Primary: testKey, Secondary: otherKey})
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, "https://api.example.com", append([]func(*Options){func(o *Options) { o.Keys, o.Transport = ring, s }}, change...)...)
}

func postTicket(t *testing.T, c *Client, number string) Answer {
	t.Helper()
	ticket := someTicket()
	ticket.Number = number
	b, err := c.wire.EncodeRunTicket(ticket)
	if err != nil {
		t.Fatal(err)
	}
	return c.Post(t.Context(), SaveRunTickets, "", [][]byte{b}, 0, 0)
}

// carried lists whose key each call of an operation carried ("" for one that was refused).
func carried(s *cloudtest.Service, op string) string {
	var keys []string
	for _, c := range s.Calls() {
		if c.Op == op {
			keys = append(keys, c.Key)
		}
	}
	return strings.Join(keys, ",")
}

func TestOtherKeyAtOnce(t *testing.T) {
	s := &cloudtest.Service{RefusePrimary: true}
	c := keyed(t, "", s)
	for _, number := range []string{"T-1", "T-2"} {
		if a := postTicket(t, c, number); a.Class != Stored {
			t.Fatalf("%s: %+v", number, a)
		}
	}
	if got := carried(s, "SaveRunTickets"); got != ",secondary,secondary" {
		t.Errorf("keys of the requests: %q", got)
	}
	if s.Count("RenewAPIKey") != 0 || s.Count("Authenticate") != 0 {
		t.Error("a renewal or login was made although one key works")
	}
	st := c.ring.Status()
	if st[0].State != "refused" || st[1].State != "proven" {
		t.Errorf("%+v", st)
	}
}

// Without any key nothing goes to the network.
func TestNoKeyAtAll(t *testing.T) {
	ring, err := keys.Open("", keys.Seeds{})
	if err != nil {
		t.Fatal(err)
	}
	c := clientOf(t, "https://api.example.com", func(o *Options) {
		o.Keys = ring
		o.Transport = tripper(func(*http.Request) (*http.Response, error) { return nil, errors.New("reached the network") })
	})
	if a := post(t, c); a.Class != Unauthorized || !strings.Contains(a.Message, "primary_key") {
		t.Errorf("%+v", a)
	}
}

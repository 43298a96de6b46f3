package keys

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"gauger/agent/cloud/cloudtest"
)

// The tests of the ring speak to the reference service through the client of the room above, as the program does. This package
// cannot import it: above_test.go, of the same test program, makes it. A keyed client is one with its service, which knows both
// keys, in one process; a box has a clock that can be set and a disk in memory (box_test.go).

const (
	testKey   = "primary-0123456789abcdef"
	otherKey  = "secondary-0123456789abcdef"
	keyHeader = "Ocp-Apim-Subscription-Key"
)

// The classes of answers that the tests tell apart.
const (
	stored = "stored"
	noKey  = "key"
)

// Answer is the client's, as far as these tests look at it.
type Answer struct {
	Class, Message string
	Status         int
}

// Above is the client above.
type Above interface {
	RenewAPIKey(context.Context, Slot) (Grant, error)
	PostTicket(ctx context.Context, number string) (Answer, error)
	PostMemo(context.Context) Answer
	LoginWith(user string, key Secret)
}

// NewAbove makes the client above.
var NewAbove func(*Ring, http.RoundTripper) (Above, error)

// client is a ring with the client above.
type client struct {
	Above
	keys *Ring
}

func clientOf(t *testing.T, ring *Ring, way http.RoundTripper) *client {
	t.Helper()
	above, err := NewAbove(ring, way)
	if err != nil {
		t.Fatal(err)
	}
	return &client{above, ring}
}

func keyed(t *testing.T, path string, s *cloudtest.Service) *client {
	t.Helper()
	if s.PrimaryKey == "" {
		s.PrimaryKey, s.SecondaryKey = testKey, otherKey
	}
	ring, err := Open(path, Seeds{testKey, otherKey})
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, ring, s)
}

func postTicket(t *testing.T, c *client, number string) Answer {
	t.Helper()
	a, err := c.PostTicket(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	return a
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

// tripper is a way to a service that is a function.
type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

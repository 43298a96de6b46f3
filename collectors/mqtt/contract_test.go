package mqtt

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
)

// TestWhatEveryCollectorDoes runs the common suite over a broker that is there and one that is not.
func TestWhatEveryCollectorDoes(t *testing.T) {
	away := at("mqtt://away", "field/tk9")
	away.Name = "away"
	subject := func(t *testing.T) collectors.Collector {
		b := newBroker(t)
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "away:1883" {
				return nil, errors.New("no route to host")
			}
			return b.dial(ctx, network, address)
		}
		sessions, err := newSessions([]Device{at(address, "field/tk1", "field/tk2"), away}, Session{Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			s.committer.grace = 0
		}
		publishing(t, b)
		return sessions
	}
	collectorstest.Run(t, collectorstest.Subject{
		New:     subject,
		Live:    []collectors.Point{"radio/field-tk1", "radio/field-tk2"},
		Absent:  []collectors.Point{"away/field-tk9"},
		Source:  "away",
		Listens: true, Patience: patienceOfTests,
	})
}

// publishing sends values until the test ends.
func publishing(t *testing.T, b *broker) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		beat := time.NewTicker(5 * time.Millisecond)
		defer beat.Stop()
		for {
			select {
			case <-beat.C:
				b.publish(t, "field/tk1", "120")
				b.publish(t, "field/tk2", "121")
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
}

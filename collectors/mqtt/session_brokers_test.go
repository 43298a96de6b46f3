package mqtt

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"

	"gauger/collectors"
)

// TestBrokersAreTriedInTurn: the second serves while the first is away, and after a loss the first is tried first.
func TestBrokersAreTriedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, h := newBroker(t), newBroker(t), newMemo()
		first.down()
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == "one:1883" {
				return first.dial(ctx, network, address)
			}
			return second.dial(ctx, network, address)
		}
		d := at("mqtt://one", "field/tk1")
		d.Brokers = append(d.Brokers, "mqtt://two")
		start(t, h, collect(t, Session{Dial: dial}, d))
		momentarily()
		second.publish(t, "field/tk1", "1")
		h.values(t, "radio/field-tk1", 1)
		first.up(t)
		later(time.Hour)
		if first.attempts() != 1 {
			t.Errorf("the first broker was dialled %d times although the second serves, want 1", first.attempts())
		}
		second.down()
		later(2 * time.Minute)
		first.publish(t, "field/tk1", "2")
		h.values(t, "radio/field-tk1", 2)
		if got := h.goods("radio/field-tk1"); !slices.Equal(got, []float64{1, 2}) {
			t.Errorf("values %v, want 1 and 2", got)
		}
		if n := h.noticed("comm-loss"); len(n) != 0 {
			t.Errorf("a broker was there all the time, and yet: %v", n)
		}
	})
}

// TestEveryBrokerIsAway: the notice names them all, and why each was not had.
func TestEveryBrokerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		b.down()
		d := at("mqtt://one", "field/tk1")
		d.Brokers = append(d.Brokers, "mqtts://two")
		start(t, h, collect(t, Session{Dial: b.dial}, d))
		later(time.Minute)
		n := h.noticed("comm-loss")
		if len(n) != 1 {
			t.Fatalf("%d notices, want 1: %v", len(n), n)
		}
		for _, want := range []string{"mqtt://one:1883 or mqtts://two:8883", "connect to mqtt://one:1883: ", "connect to mqtts://two:8883: "} {
			if !strings.Contains(n[0].Note, want) {
				t.Errorf("%q does not say %q", n[0].Note, want)
			}
		}
	})
}

// TestPresenceIsRetained: online while the session is connected, offline after an orderly end and after a broken link.
func TestPresenceIsRetained(t *testing.T) {
	m := newMosquitto(t, "allow_anonymous true")
	d := at(m.url("mqtt"), "field/tk1")
	d.Status = "field/gauger/status"
	words := make(chan string, 16)
	onlooker := publisher(t, m.url("mqtt"))
	waitFor(t, onlooker.Subscribe(d.Status, 1, func(_ paho.Client, p paho.Message) { words <- string(p.Payload()) }))
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-words:
			if got != want {
				t.Errorf("%q, want %q", got, want)
			}
		case <-time.After(patienceOfTests):
			t.Fatalf("nobody said %q", want)
		}
	}
	stop := start(t, newMemo(), collect(t, Session{}, d))
	expect(online)
	stop()
	expect(offline)

	var conn net.Conn
	dialled := make(chan struct{}, 16)
	h := newMemo()
	start(t, h, collect(t, Session{Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := tcpDial(ctx, network, address)
		if conn == nil {
			conn = c
		}
		dialled <- struct{}{}
		return c, err
	}}, d))
	<-dialled
	expect(online)
	if err := conn.(*net.TCPConn).CloseRead(); err != nil { // the network is gone, and nobody could say goodbye
		t.Fatal(err)
	}
	expect(offline)
	expect(online)
}

// TestConnectionBreaksBeforeAnAnswer: nobody waits then for an answer that cannot come any more.
func TestConnectionBreaksBeforeAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		broken := false
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			if broken {
				return b.dial(ctx, network, address)
			}
			broken = true
			near, far := net.Pipe()
			go answerTwice(t, far)
			return near, nil
		}
		d := at(address, "field/tk1")
		d.Status = "field/status"
		start(t, h, collect(t, Session{Dial: dial}, d))
		later(2 * time.Second)
		b.publish(t, "field/tk1", "7")
		momentarily()
		if got := h.goods("radio/field-tk1"); !slices.Equal(got, []float64{7}) {
			t.Errorf("values two seconds later: %v, want 7", got)
		}
	})
}

// answerTwice is a broker that takes a connection and a subscription and closes at what comes then.
func answerTwice(t *testing.T, conn net.Conn) {
	defer conn.Close()
	packet := make([]byte, 512)
	for i := range 3 {
		if _, err := conn.Read(packet); err != nil {
			t.Errorf("packet %d: %v", i, err)
		}
		answer := [][]byte{{connackPacket << 4, 2, 0, 0}, {subackPacket << 4, 3, packet[2], packet[3], 1}, nil}[i]
		if _, err := conn.Write(answer); err != nil {
			t.Errorf("answer %d: %v", i, err)
		}
	}
}

// A broker that is stopped soon after it let us in has thrown nobody out.
func TestABrokerThatStopsSoonIsNoSecondClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := b.dial(ctx, network, address)
			if err != nil { // as a person reads it, which is how a real one comes
				err = errors.New("connection refused")
			}
			return conn, err
		}
		start(t, h, collect(t, Session{Dial: dial}, at(address, "field/tk1")))
		later(8 * time.Second)
		b.down()
		later(10 * time.Minute)
		n := h.noticed("comm-loss")
		if len(n) == 0 || slices.ContainsFunc(n, func(x collectors.Notice) bool { return strings.Contains(x.Note, "another program") }) {
			t.Errorf("told: %+v", n)
		}
	})
}

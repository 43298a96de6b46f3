package mqtt

// The words of this room's tests: broker is a real broker in this process, mosquitto one in another; script plays a broker
// packet by packet; memo is the host in memory; bare and handed are messages that never crossed a network, wire the network
// of one that has; spBench is a session with one Sparkplug node, and edge a node that foreign code encodes for.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	paho "github.com/eclipse/paho.mqtt.golang"
	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/packets"
)

// broker is a real MQTT broker in this process, reached through pipes: no socket, so virtual time goes on.
type broker struct {
	mu     sync.Mutex
	server *mochi.Server // nil while the broker is away
	dials  int
	conns  []net.Conn
	work   sync.WaitGroup
	forbid string // topics that begin with this are refused
}

// permission is the broker's access control.
type permission struct {
	mochi.HookBase
	b *broker
}

func (p *permission) Provides(b byte) bool {
	return b == mochi.OnConnectAuthenticate || b == mochi.OnACLCheck
}

func (p *permission) OnConnectAuthenticate(*mochi.Client, packets.Packet) bool { return true }

func (p *permission) OnACLCheck(_ *mochi.Client, topic string, _ bool) bool {
	p.b.mu.Lock()
	defer p.b.mu.Unlock()
	return p.b.forbid == "" || !strings.HasPrefix(topic, p.b.forbid)
}

func newBroker(t testing.TB) *broker {
	b := &broker{}
	b.up(t)
	t.Cleanup(b.down)
	return b
}

// up starts the broker with no memory of earlier sessions.
func (b *broker) up(t testing.TB) {
	s := mochi.New(&mochi.Options{InlineClient: true, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := s.AddHook(&permission{b: b}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.server = s
}

// down ends the broker and what it remembers.
func (b *broker) down() {
	b.mu.Lock()
	s := b.server
	b.server = nil
	b.mu.Unlock()
	if s == nil {
		return
	}
	b.cut()
	_ = s.Close()
	b.work.Wait()
}

// cut breaks every connection; the broker keeps the sessions.
func (b *broker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.conns {
		_ = c.Close()
	}
	b.conns = nil
}

// dial stands in for the network.
func (b *broker) dial(context.Context, string, string) (net.Conn, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dials++
	if b.server == nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	near, far := net.Pipe()
	b.conns = append(b.conns, far)
	s := b.server
	b.work.Go(func() { _ = s.EstablishConnection("pipe", far) })
	return near, nil
}

// attempts counts the dials.
func (b *broker) attempts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.dials
}

// publish sends a message through the broker.
func (b *broker) publish(t testing.TB, topic, payload string) {
	t.Helper()
	b.mu.Lock()
	s := b.server
	b.mu.Unlock()
	if err := s.Publish(topic, []byte(payload), false, 1); err != nil {
		t.Error(err)
	}
}

// publisher is a client that sends to a broker on the network.
func publisher(t testing.TB, address string) paho.Client {
	t.Helper()
	c := paho.NewClient(paho.NewClientOptions().AddBroker(address).SetClientID(fmt.Sprintf("publisher-%p", t)).SetConnectRetry(false))
	waitFor(t, c.Connect())
	t.Cleanup(func() { c.Disconnect(100) })
	return c
}

// waitFor waits for the end of an exchange with a broker.
func waitFor(t testing.TB, token paho.Token) {
	t.Helper()
	if !token.WaitTimeout(patienceOfTests) || token.Error() != nil {
		t.Fatalf("exchange with the broker: %v", token.Error())
	}
}

// at is a device with one plain point per topic at a broker.
func at(address string, topics ...string) Device {
	d := Device{Name: "radio", Brokers: Brokers{address}, ClientID: "gauger-test"}
	for _, topic := range topics {
		u := url.PathEscape(strings.ReplaceAll(topic, "/", "-"))
		d.Points = append(d.Points, Point{Name: u, Topic: topic, Unit: "in"})
	}
	return d
}

package mqtt

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// websocketBroker is a broker in memory: it has answer ready as soon as it has been asked, with the right key for the request.
type websocketBroker struct {
	net.Conn
	answer func(key string) io.Reader
	asked  bytes.Buffer
	out    io.Reader
	served int // bytes that were taken from it
}

func (b *websocketBroker) Write(p []byte) (int, error) { return b.asked.Write(p) }

func (b *websocketBroker) Read(p []byte) (int, error) {
	if b.out == nil {
		key := ""
		for line := range strings.Lines(b.asked.String()) {
			if name, value, _ := strings.Cut(line, ":"); strings.EqualFold(name, "Sec-WebSocket-Key") {
				sum := sha1.Sum([]byte(strings.TrimSpace(value) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
				key = base64.StdEncoding.EncodeToString(sum[:])
			}
		}
		b.out = b.answer(key)
	}
	n, err := b.out.Read(p)
	b.served += n
	return n, err
}

func (b *websocketBroker) Close() error                     { return nil }
func (b *websocketBroker) SetDeadline(time.Time) error      { return nil }
func (b *websocketBroker) SetReadDeadline(time.Time) error  { return nil }
func (b *websocketBroker) SetWriteDeadline(time.Time) error { return nil }

// open makes the connection through the broker.
func (b *websocketBroker) open(ctx context.Context) (net.Conn, error) {
	return dialWebsocket(ctx, &url.URL{Scheme: "ws", Host: "broker:80"}, nil, func(context.Context, string, string) (net.Conn, error) { return b, nil })
}

// upgraded is the head of an answer that takes up the websocket.
func upgraded(key string) string {
	return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Accept: " + key + "\r\n"
}

// endless repeats a text for ever.
type endless struct {
	text string
	at   int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		k := copy(p[n:], e.text[e.at:])
		n, e.at = n+k, (e.at+k)%len(e.text)
	}
	return n, nil
}

// TestWhatComesBeforeAWebsocketHasALimit: a broker that never ends its answer's head once filled the memory in seconds.
func TestWhatComesBeforeAWebsocketHasALimit(t *testing.T) {
	for name, answer := range map[string]func(string) io.Reader{
		"headers": func(key string) io.Reader {
			return io.MultiReader(strings.NewReader(upgraded(key)), &endless{text: "X: y\r\n"})
		},
		"one header": func(key string) io.Reader {
			return io.MultiReader(strings.NewReader(upgraded(key)), &endless{text: "X"})
		},
		"a status line": func(string) io.Reader { return &endless{text: "HTTP/1.1 101 "} },
	} {
		b := &websocketBroker{answer: answer}
		if _, err := b.open(t.Context()); !errors.Is(err, errUpgrade) || b.served > upgradeLimit {
			t.Errorf("%s: %v after %d bytes", name, err, b.served)
		}
	}
	b := &websocketBroker{answer: func(string) io.Reader { return strings.NewReader("HTTP/1.1 404 Not Found\r\n\r\n") }}
	if _, err := b.open(t.Context()); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("a broker that refuses: %v", err)
	}
}

// TestAnOpenWebsocketHasNoLimitOfAllItsBytes: the limit is the upgrade's alone.
func TestAnOpenWebsocketHasNoLimitOfAllItsBytes(t *testing.T) {
	const each, count = 100, 2000
	frame := string([]byte{0x82, each}) + strings.Repeat("7", each)
	b := &websocketBroker{answer: func(key string) io.Reader {
		return strings.NewReader(upgraded(key) + "\r\n" + strings.Repeat(frame, count))
	}}
	conn, err := b.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, conn, each*count); err != nil || n <= upgradeLimit {
		t.Errorf("%d bytes, then %v", n, err)
	}
}

// FuzzWebsocket gives any bytes for a broker's answer, and for what follows an upgrade. Nothing is taken beyond the limits.
func FuzzWebsocket(f *testing.F) {
	f.Add(false, []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add(false, []byte("HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"))
	f.Add(true, append([]byte("\r\n\x82\x04"), 0x20, 2, 0, 0))
	f.Add(true, append([]byte("\r\n\x82\x7f\xff\xff\xff\xff\xff\xff\xff\xff"), 0x20, 2, 0, 0))
	f.Add(true, []byte("\r\n\x89\x00\x02\x02\x20\x02\x80\x02\x00\x00"))
	f.Add(true, []byte("Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover\r\n\r\n\xc2\x02\x00\x00"))
	f.Fuzz(func(t *testing.T, open bool, said []byte) {
		b := &websocketBroker{answer: func(key string) io.Reader {
			if open {
				return io.MultiReader(strings.NewReader(upgraded(key)), bytes.NewReader(said))
			}
			return bytes.NewReader(said)
		}}
		conn, err := b.open(t.Context())
		if err != nil {
			return
		}
		g := newPacketConn(conn, minPacket, func(m *message, _ time.Time, _ int) error {
			if len(m.payload) > minPacket {
				t.Fatalf("a payload of %d bytes passed the limit of %d", len(m.payload), minPacket)
			}
			return nil
		})
		for {
			if _, err := packets.ReadPacket(g); err != nil {
				return
			}
		}
	})
}

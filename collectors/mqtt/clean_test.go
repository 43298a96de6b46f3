package mqtt

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/listeners"

	"gauger/collectors"
	"gauger/collectors/addresstest"
)

// Who only looks on beside a running daemon leaves nothing at the broker.
func TestACleanSessionLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, h := newBroker(t), newMemo()
		if err := b.server.Publish("field/tk1", []byte("7"), true, 1); err != nil {
			t.Fatal(err)
		}
		c := collect(t, Session{Dial: b.dial, Clean: true}, at(address, "field/tk1", "field/tk2"))
		stop := start(t, h, c)
		connected(t, c)
		b.publish(t, "field/tk2", "8")
		h.until(t, "both readings", func() bool { return len(h.readings("")) == 2 })
		for _, r := range h.all("") {
			retained := r.Quality == collectors.Uncertain && r.Value == 7
			if live := r.Quality == collectors.Good && r.Value == 8; !retained && !live {
				t.Errorf("%+v", r)
			}
		}
		stop()
		momentarily()
		if n := len(b.server.Clients.GetAll()); n > 1 { // the broker's own
			t.Errorf("%d clients stay behind", n)
		}
	})
}

// Nor does it wait for a broker that may only be restarting.
func TestACleanSessionTellsAtOnceOfABrokerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.down()
		begin := time.Now()
		if r := firstReading(t, Session{Dial: b.dial}, at(address, "field/tk1")); r.Quality != collectors.Bad || !strings.Contains(r.Err.Error(), "connection refused") {
			t.Errorf("%+v", r)
		}
		if took := time.Since(begin); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

func TestWebsockets(t *testing.T) {
	dir := t.TempDir()
	authority := certify(t, dir, "ca", nil)
	certify(t, dir, "server", authority)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key"))
	if err != nil {
		t.Fatal(err)
	}
	for scheme, config := range map[string]*tls.Config{"ws": nil, "wss": {Certificates: []tls.Certificate{pair}}} {
		t.Run(scheme, func(t *testing.T) {
			b := newBroker(t)
			port := addresstest.Port(t)
			if err := b.server.AddListener(listeners.NewWebsocket(listeners.Config{ID: "ws", Address: "127.0.0.1:" + port, TLSConfig: config})); err != nil {
				t.Fatal(err)
			}
			if err := b.server.Serve(); err != nil {
				t.Fatal(err)
			}
			device := at(scheme+"://127.0.0.1:"+port+"/mqtt", "field/tk1")
			if config != nil {
				device.CAFile = filepath.Join(dir, "ca.pem")
			}
			c := collect(t, Session{}, device)
			h := newMemo()
			start(t, h, c)
			connected(t, c)
			b.publish(t, "field/tk1", "12")
			if got := h.values(t, "radio/field-tk1", 1); got[0] != 12 {
				t.Errorf("%v", got)
			}
		})
	}
}

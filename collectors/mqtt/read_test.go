package mqtt

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mochi-mqtt/server/v2/listeners"

	"gauger/collectors"
)

func TestReadReturnsWithTheLastPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		if err := b.server.Publish("field/tk1", []byte("7"), true, 1); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		time.AfterFunc(time.Minute, func() { b.publish(t, "field/tk2", "8") })
		got, err := Read(t.Context(), []Device{at(address, "field/tk1", "field/tk2")}, Session{Dial: b.dial})
		if err != nil || len(got) != 2 {
			t.Fatal(got, err)
		}
		if r := got[0]; r.Value != 7 || r.Quality != collectors.Uncertain {
			t.Errorf("retained without a time: %+v", r)
		}
		if r := got[1]; r.Value != 8 || r.Quality != collectors.Good {
			t.Errorf("live: %+v", r)
		}
		if took := time.Since(begin); took > time.Minute+2*disconnectTimeout {
			t.Errorf("took %s", took)
		}
		momentarily()
		if n := len(b.server.Clients.GetAll()); n > 1 { // the broker's own
			t.Errorf("%d clients stay behind", n)
		}
	})
}

func TestReadOfASilentPointEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		got, err := Read(ctx, []Device{at(address, "field/tk1")}, Session{Dial: b.dial})
		if err != nil || len(got) != 1 || got[0].Quality != collectors.Bad || !strings.Contains(got[0].Err.Error(), "no message on topic field/tk1 within 10") {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

func TestReadIsNotHeldUpByABrokerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(t)
		b.down()
		begin := time.Now()
		got, err := Read(t.Context(), []Device{at(address, "field/tk1")}, Session{Dial: b.dial})
		if err != nil || got[0].Err == nil || !strings.Contains(got[0].Err.Error(), "connection refused") {
			t.Errorf("%+v, %v", got, err)
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
			port := freePort(t)
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

// freePort is a port that nobody listened to a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	return port
}

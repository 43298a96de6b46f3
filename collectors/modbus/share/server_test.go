package share

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
)

func TestASharedAddressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{address: "x:1", caches: map[byte]*Cache{}}
		for name, sends := range map[string][]byte{
			"nothing": nil, "half a request": {0, 1, 0, 0, 0, 6, 1}, "no Modbus": []byte("GET / HTTP/1.1\r\n\r\n"), "a length of nothing": {0, 1, 0, 0, 0, 1, 1, 3},
		} {
			near, far := net.Pipe()
			start, ended := time.Now(), make(chan bool)
			go func() {
				s.answerMaster(t.Context(), far)
				close(ended)
			}()
			if len(sends) > 0 {
				_, _ = near.Write(sends) // it may be closed before it has all
			}
			<-ended
			if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v, want the end of the connection", name, err)
			}
			if took := time.Since(start); took > idleTimeout {
				t.Errorf("%s: closed after %s", name, took)
			}
		}
	})
}

func TestAnAddressInUseIsANotice(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	s := &server{address: taken.Addr().String()}
	host := &collectorstest.Host{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, host) }()
	patient, done := context.WithTimeout(t.Context(), linetest.Patience)
	defer done()
	if !host.Await(patient, func() bool { return len(host.Notices()) > 0 }) {
		t.Fatal("nobody was told")
	}
	if n := host.Notices()[0]; n.Rule != "share-down" || !strings.Contains(n.Note, "in use") || !n.Until.IsZero() {
		t.Errorf("%+v", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package share

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
)

// guest is a listener that one connection comes to.
type guest struct {
	ctx context.Context
	net.Conn
	comes chan net.Conn
}

func oneGuest(ctx context.Context, c net.Conn) net.Listener {
	comes := make(chan net.Conn, 1)
	comes <- c
	return guest{ctx, c, comes}
}

func (g guest) Addr() net.Addr { return g.LocalAddr() }
func (g guest) Close() error   { return nil }

func (g guest) Accept() (net.Conn, error) {
	select {
	case c := <-g.comes:
		return c, nil
	case <-g.ctx.Done():
		return nil, net.ErrClosed
	}
}

func TestASharedAddressIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{address: "x:1", caches: map[byte]*Cache{}}
		for name, sends := range map[string][]byte{
			"nothing": nil, "half a request": {0, 1, 0, 0, 0, 6, 1}, "no Modbus": []byte("GET / HTTP/1.1\r\n\r\n"), "a length of nothing": {0, 1, 0, 0, 0, 1, 1, 3},
		} {
			near, far := net.Pipe()
			start, ended := time.Now(), make(chan bool)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				s.serve(ctx, oneGuest(ctx, far))
				close(ended)
			}()
			if len(sends) > 0 {
				_, _ = near.Write(sends) // it may be closed before it has all
			}
			if _, err := near.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("%s: %v, want the end of the connection", name, err)
			}
			if took := time.Since(start); took > idleTimeout {
				t.Errorf("%s: closed after %s", name, took)
			}
			cancel()
			<-ended
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

// far is a connection of a master, by its address.
type far struct {
	net.Conn
	from string
}

func (f far) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(f.from), 4711))
}

// A master that takes all the seats it can, asks as fast as it can and does not read leaves the others theirs.
func TestAMasterThatMisbehavesLeavesTheOthersTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{address: "x:1", caches: map[byte]*Cache{}, masters: []netip.Prefix{netip.MustParsePrefix("10.20.0.0/24"), netip.MustParsePrefix("::1/128")}}
		ctx, cancel := context.WithCancel(t.Context())
		street := guest{ctx, nil, make(chan net.Conn)}
		ended := make(chan bool)
		go func() {
			s.serve(ctx, street)
			close(ended)
		}()
		come := func(from string) net.Conn {
			near, conn := net.Pipe()
			street.comes <- far{conn, from}
			return near
		}
		request := []byte{0, 9, 0, 0, 0, 6, 1, 3, 0, 104, 0, 1}
		ask := func(c net.Conn) error {
			_ = c.SetDeadline(time.Now().Add(time.Minute)) // a pipe takes every deadline
			if _, err := c.Write(request); err != nil {
				return err
			}
			_, err := io.ReadFull(c, make([]byte, 9))
			return err
		}
		let := 0
		for range 100 {
			c := come("10.20.0.66")
			synctest.Wait()
			if ask(c) == nil {
				let++
				_, _ = c.Write(request) // and never reads
			}
			<-time.After(time.Second / 20)
		}
		if let < maxOfMaster {
			t.Errorf("one master was let in %d times, want at least %d", let, maxOfMaster)
		}
		second := come("10.20.0.8")
		start := time.Now()
		for range 100 {
			if err := ask(second); err != nil {
				t.Fatalf("a second master: %v", err)
			}
		}
		if took := time.Since(start); took > 0 {
			t.Errorf("it had to wait for %s", took)
		}
		for range 2 * requestsOfMaster.Burst {
			if err := ask(second); err != nil {
				t.Fatalf("a second master that asks often: %v", err)
			}
		}
		if took, least := time.Since(start), time.Duration(requestsOfMaster.Burst)*requestsOfMaster.Every; took < least {
			t.Errorf("%d requests were answered within %s, want at least %s", 100+2*requestsOfMaster.Burst, took, least)
		}
		for from, want := range map[string]bool{"10.20.0.9": true, "::ffff:10.20.0.10": true, "::1": true, "10.20.1.9": false, "127.0.0.1": false} {
			if err := ask(come(from)); (err == nil) != want {
				t.Errorf("a master at %s: %v", from, err)
			}
		}
		cancel()
		<-ended
	})
}

package doors

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// street is a listener in memory, where peers come by name.
type street struct {
	comes chan net.Conn
	shut  chan struct{}
	in    chan *Conn
}

// walker is a connection of somebody.
type walker struct {
	net.Conn
	name string
}

func newStreet(t *testing.T, limits Limits) *street {
	s := &street{comes: make(chan net.Conn), shut: make(chan struct{}), in: make(chan *Conn, 1)}
	limits.Peer = func(c net.Conn) string { return c.(walker).name }
	l := Listen(s, limits)
	t.Cleanup(func() { close(s.shut) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.in <- c.(*Conn)
		}
	}()
	return s
}

func (s *street) Addr() net.Addr { return nil }
func (s *street) Close() error   { return nil }

func (s *street) Accept() (net.Conn, error) {
	select {
	case c := <-s.comes:
		return c, nil
	case <-s.shut:
		return nil, net.ErrClosed
	}
}

// knock comes as somebody; in is nil for one who is turned away.
func (s *street) knock(name string) (near net.Conn, in *Conn) {
	near, far := net.Pipe()
	s.comes <- walker{far, name}
	synctest.Wait()
	select {
	case in = <-s.in:
	default:
	}
	return near, in
}

// hears is what a peer reads until the end.
func hears(t *testing.T, c net.Conn) string {
	t.Helper()
	b, err := io.ReadAll(c)
	if err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestWhoGivesWayAndWhoIsTurnedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, Limits{All: 3, Each: 2, Silence: 10 * time.Second, Refuse: func(c net.Conn, full string) { _, _ = c.Write([]byte(full)) }})
		a, first := s.knock("ann")
		<-time.After(time.Second)
		b, second := s.knock("ann")
		c, third := s.knock("bob")
		if first == nil || second == nil || third == nil {
			t.Fatal("with free seats somebody was turned away")
		}
		if x, in := s.knock("ann"); in != nil || hears(t, x) != ThePeer {
			t.Error("ann has a third seat")
		}
		if x, in := s.knock("cid"); in != nil || hears(t, x) != Everybody {
			t.Error("there are four seats")
		}
		<-time.After(9 * time.Second) // the first has waited for 10 s
		third.Working(true)
		d, fourth := s.knock("dan")
		if fourth == nil || hears(t, a) != "" {
			t.Fatal("nobody gave way")
		}
		first.Close() // its owner notices; the seat is given back once
		for _, in := range []*Conn{second, fourth} {
			in.Working(true)
		}
		<-time.After(time.Hour)
		if x, in := s.knock("eve"); in != nil || hears(t, x) != Everybody {
			t.Error("somebody at work gave way")
		}
		second.Close()
		if _, in := s.knock("eve"); in == nil {
			t.Error("a seat that became free was not given")
		}
		for _, near := range []net.Conn{b, c, d} {
			near.Close()
		}
	})
}

// A peer that does not take its answer gives way after a while, though it is at work; but one that waits does before it.
func TestAPeerThatDoesNotReadGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, Limits{All: 2, Write: time.Minute})
		_, stuck := s.knock("")
		stuck.Working(true)
		wrote := make(chan error, 1)
		go func() {
			_, err := stuck.Write(make([]byte, 100))
			wrote <- err
		}()
		<-time.After(stuckAfter - 1)
		waits, _ := s.knock("")
		_, works := s.knock("")
		if works == nil || hears(t, waits) != "" {
			t.Fatal("the one that waited did not give way")
		}
		works.Working(true)
		if _, in := s.knock(""); in != nil {
			t.Error("a peer gave way before it had its time to read")
		}
		<-time.After(time.Second)
		if _, in := s.knock(""); in == nil {
			t.Error("a peer that does not read keeps its seat")
		}
		if err := <-wrote; err == nil {
			t.Error("its answer went somewhere")
		}
	})
}

func TestASlowPeerHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStreet(t, Limits{All: 2, Write: 30 * time.Second})
		near, in := s.knock("")
		wrote := make(chan error, 2)
		write := func() {
			_, err := in.Write(make([]byte, 5*piece))
			wrote <- err
		}
		go write()
		for range 5 { // 100 s in all
			<-time.After(20 * time.Second)
			if _, err := io.ReadFull(near, make([]byte, piece)); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-wrote; err != nil {
			t.Errorf("a slow peer: %v", err)
		}
		start := time.Now()
		go write()
		if err := <-wrote; err == nil || time.Since(start) != 30*time.Second {
			t.Errorf("a peer that takes nothing was given %s, %v", time.Since(start), err)
		}
	})
}

// A flood of those who are turned away costs a few goroutines.
func TestFewAreToldAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		s := newStreet(t, Limits{Refuse: func(c net.Conn, _ string) {
			asked++
			_, err := c.Read(make([]byte, 1)) // which never comes
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Error(err)
			}
		}})
		var flood []net.Conn
		for range 10 * refusals {
			near, _ := s.knock("")
			flood = append(flood, near)
		}
		if asked != refusals {
			t.Errorf("%d are told at the same time, want %d", asked, refusals)
		}
		start := time.Now()
		for _, near := range flood {
			hears(t, near)
		}
		if took := time.Since(start); took != refusalLasts {
			t.Errorf("it took %s until all were gone", took)
		}
	})
}

func TestAMeterKeepsEverybodyToARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMeter(Rate{Every: time.Second, Burst: 3})
		var waits []time.Duration
		for range 4 {
			waits = append(waits, m.Take("ann"))
		}
		if want := []time.Duration{0, 0, 0, time.Second}; !slices.Equal(waits, want) || m.Take("bob") != 0 || m.Take("") != 0 {
			t.Errorf("ann waits %v", waits)
		}
		for i := range 10 * remembered {
			m.Take(string(rune('A' + i)))
			<-time.After(10 * time.Millisecond)
		}
		if m.Take("ann") != 0 {
			t.Error("ann still waits")
		}
		if len(m.full) > 4*remembered {
			t.Errorf("%d are remembered", len(m.full))
		}
	})
}

func TestAPeerIsItsAddress(t *testing.T) {
	for address, want := range map[string]string{
		"10.20.0.9:502": "10.20.0.9", "[::ffff:10.20.0.9]:1": "10.20.0.9", "127.0.0.9:1": "", "[::1]:1": "",
		"[2001:db8:1:2:3::9]:1": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64",
	} {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil && address != "[fe80::1%eth0]:1" {
			t.Fatal(err)
		}
		if a == nil {
			a = &net.TCPAddr{IP: net.ParseIP("fe80::1"), Zone: "eth0"}
		}
		if got := PeerAddress(a); got != want {
			t.Errorf("%s is %q, want %q", address, got, want)
		}
	}
	if got := PeerAddress(&net.UnixAddr{Name: "x"}); got != "" {
		t.Errorf("a socket's peer is %q", got)
	}
}

// TestAFloodOfAddressesIsNotRememberedWhole: a meter forgets somebody before it knows too many.
func TestAFloodOfAddressesIsNotRememberedWhole(t *testing.T) {
	m := NewMeter(Rate{Every: time.Hour, Burst: 1})
	for i := range 3 * mostRemembered {
		if wait := m.Take(fmt.Sprint(i)); wait != 0 {
			t.Fatalf("address %d waits for %s", i, wait)
		}
	}
	if len(m.full) > mostRemembered {
		t.Errorf("%d are remembered", len(m.full))
	}
	if last := fmt.Sprint(3*mostRemembered - 1); m.Take(last) == 0 {
		t.Error("the newest is forgotten")
	}
}

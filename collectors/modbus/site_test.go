package modbus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus/modbustest"
)

// transports are the ways to a slave, each started as the site would have it.
var transports = map[string]func(t *testing.T, s *modbustest.Slave) (url string){
	"tcp":       func(t *testing.T, s *modbustest.Slave) string { return "tcp://" + listen(t, s, modbustest.TCP) },
	"rtu+tcp":   func(t *testing.T, s *modbustest.Slave) string { return "rtu+tcp://" + listen(t, s, modbustest.RTU) },
	"ascii+tcp": func(t *testing.T, s *modbustest.Slave) string { return "ascii+tcp://" + listen(t, s, modbustest.ASCII) },
	"tls":       tlsSlave,
	"rtu":       func(t *testing.T, s *modbustest.Slave) string { return "rtu://" + serialSlave(t, s, modbustest.RTU) },
	"ascii": func(t *testing.T, s *modbustest.Slave) string {
		return "ascii://" + serialSlave(t, s, modbustest.ASCII)
	},
}

// serialSlave is the path and the settings of a port with a slave behind it.
func serialSlave(t *testing.T, s *modbustest.Slave, framing modbustest.Framing) string {
	pty, err := modbustest.OpenPty()
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	servePty(t, s, pty, framing)
	return pty.Path + "?baud=115200&parity=N"
}

func listen(t *testing.T, s *modbustest.Slave, framing modbustest.Framing) string {
	t.Helper()
	server, err := s.Start("127.0.0.1:0", framing)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("slave: %v", err)
		}
	})
	return server.Addr
}

func servePty(t *testing.T, s *modbustest.Slave, pty *modbustest.Pty, framing modbustest.Framing) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStream(ctx, pty, framing) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("slave: %v", err)
		}
	})
}

// pipeLines are lines to slaves that live in memory, for tests in virtual time. dial may refuse.
func pipeLines(t *testing.T, slave func(url string) (*modbustest.Slave, error)) *Lines {
	lines := &Lines{Dial: func(ctx context.Context, url string) (Stream, error) {
		s, err := slave(url)
		if err != nil {
			return nil, err
		}
		near, far := modbustest.Pipe()
		master, served := Stream(near), io.ReadWriteCloser(far)
		if strings.HasPrefix(url, "tls:") {
			master, served = pipeTLS(near, far)
		}
		go func() {
			if err := s.ServeStream(t.Context(), served, framingOf(url)); err != nil {
				t.Errorf("slave: %v", err)
			}
		}()
		return master, nil
	}}
	return lines
}

// framingOf is how a slave behind a URL has to talk.
func framingOf(url string) modbustest.Framing {
	switch {
	case strings.HasPrefix(url, "rtu"):
		return modbustest.RTU
	case strings.HasPrefix(url, "ascii"):
		return modbustest.ASCII
	}
	return modbustest.TCP
}

// only is a site with one slave behind every URL.
func only(s *modbustest.Slave) func(string) (*modbustest.Slave, error) {
	return func(string) (*modbustest.Slave, error) { return s, nil }
}

func closeLines(t *testing.T, lines *Lines) {
	t.Helper()
	if err := lines.Close(); err != nil {
		t.Errorf("close lines: %v", err)
	}
}

func openLine(t *testing.T, lines *Lines, url string) *Line {
	t.Helper()
	l, err := lines.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// readings asks once and indexes the answer by point.
func readings(t *testing.T, lines *Lines, devices ...Device) map[collectors.Point]collectors.Reading {
	t.Helper()
	all, err := Read(t.Context(), lines, devices)
	if err != nil {
		t.Fatal(err)
	}
	return byPoint(all)
}

func byPoint(batch []collectors.Reading) map[collectors.Point]collectors.Reading {
	found := map[collectors.Point]collectors.Reading{}
	for _, r := range batch {
		found[r.Point] = r
	}
	return found
}

// sound is an error when a reading breaks the rules that hold for every one.
func sound(r collectors.Reading) error {
	switch {
	case r.Quality == collectors.Good && r.Err != nil:
		return fmt.Errorf("%s is good, and wrong: %v", r.Point, r.Err)
	case r.Quality != collectors.Good && r.Err == nil:
		return fmt.Errorf("%s is %s without a reason", r.Point, r.Quality)
	case r.Quality == collectors.Bad && !math.IsNaN(r.Value):
		return fmt.Errorf("%s is bad, and %v", r.Point, r.Value)
	case r.At.IsZero():
		return errors.New("no time")
	}
	return nil
}

func holding(name string, address int, more ...func(*Point)) Point {
	p := Point{Name: name, Holding: new(address)}
	for _, m := range more {
		m(&p)
	}
	return p
}

func typed(kind, order string) func(*Point) {
	return func(p *Point) { p.Type, p.Order = kind, order }
}

const patience = 5 * time.Second

var testTime = time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

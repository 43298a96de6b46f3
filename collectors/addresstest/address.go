// Package addresstest finds addresses for what a test or a bench starts.
package addresstest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
)

// Ports that a system gives to nobody who does not name them: Linux takes those of outgoing connections, and of
// listeners that ask for any, from 32768 on.
const (
	leastNamedPort = 10000
	firstGivenPort = 32768
)

// Listen listens at a loopback address that no connection takes as its own end, also while nobody listens there. A port that was just
// closed may be held for a moment by a child that is being started: who listens itself begins with this.
func Listen() (net.Listener, error) {
	var err error
	for range 100 {
		var l net.Listener
		port := leastNamedPort + rand.IntN(firstGivenPort-leastNamedPort)
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return l, nil
		}
	}
	return nil, fmt.Errorf("look for a free address: %w", err)
}

// Free is such an address, at which something that is told it may listen in a moment.
func Free() (string, error) {
	l, err := Listen()
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// New is the same for a test, which ends where there is none.
func New(t testing.TB) string {
	t.Helper()
	address, err := Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Port is the port of such an address.
func Port(t testing.TB) string {
	t.Helper()
	return strings.TrimPrefix(New(t), "127.0.0.1:")
}

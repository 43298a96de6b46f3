package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud/cloudtest"
	"gauger/collectors/addresstest"
)

// The parts of the road: each is a process of its own, or what stands behind a socket.

const roadMosquitto = "/usr/sbin/mosquitto"

// roadPython is an interpreter that has pymodbus.
func roadPython(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		path, err := exec.LookPath(name)
		if err == nil && exec.Command(path, "-c", "import pymodbus.server, pymodbus.datastore").Run() == nil {
			return path
		}
	}
	t.Skip("no Python with pymodbus here; install python3-pymodbus to run this test")
	return ""
}

// process is a program that ends with the test, and everything that it said.
type process struct {
	*exec.Cmd
	ended chan struct{}
	mu    sync.Mutex
	text  strings.Builder
}

// Write takes what the program says.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// launch starts a program; in may be nil.
func launch(t *testing.T, in *os.File, program string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.Stdout, p.Stderr = p, p
	if in != nil {
		p.Stdin = in
	}
	p.WaitDelay = time.Second
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(func() {
		p.stop(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(program), p.said())
		}
	})
	return p
}

// stop sends a signal and waits for the end.
func (p *process) stop(s syscall.Signal) {
	_ = p.Process.Signal(s) // it may have ended already
	<-p.ended
}

func listens(address string) bool {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// newBroker starts a Mosquitto that keeps what comes while its reader is away.
func newBroker(t *testing.T) (address string, broker *process) {
	t.Helper()
	address = addresstest.New(t)
	_, port, _ := net.SplitHostPort(address)
	file := filepath.Join(t.TempDir(), "mosquitto.conf")
	text := fmt.Sprintf("listener %s 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nlog_type subscribe\nlog_type error\nlog_type warning\nlog_dest stderr\n", port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return address, launch(t, nil, roadMosquitto, "-c", file)
}

// gateway is a radio gateway: it publishes with QoS 1, one message at a time, and repeats none.
type gateway struct {
	conn net.Conn
	in   *bufio.Reader
	id   uint16
}

func newGateway(address string) (*gateway, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	g := &gateway{conn: conn, in: bufio.NewReader(conn)}
	hello := append([]byte{0, 4, 'M', 'Q', 'T', 'T', 4, 2, 0, 0, 0, 5}, "radio"...)
	answer, err := g.exchange(append([]byte{0x10, byte(len(hello))}, hello...))
	if err == nil && (answer[0] != 0x20 || answer[3] != 0) {
		err = fmt.Errorf("the broker answered % x to a CONNECT", answer)
	}
	return g, err
}

// publish returns when the broker has taken the message. It is shorter than 120 bytes.
func (g *gateway) publish(topic, payload string) error {
	g.id++
	packet := binary.BigEndian.AppendUint16([]byte{0x32, byte(2 + len(topic) + 2 + len(payload))}, uint16(len(topic)))
	packet = binary.BigEndian.AppendUint16(append(packet, topic...), g.id)
	answer, err := g.exchange(append(packet, payload...))
	if err == nil && (answer[0] != 0x40 || binary.BigEndian.Uint16(answer[2:]) != g.id) {
		err = fmt.Errorf("the broker answered % x to a PUBLISH", answer)
	}
	return err
}

// exchange sends a packet and reads one of four bytes.
func (g *gateway) exchange(packet []byte) ([]byte, error) {
	answer := make([]byte, 4)
	if _, err := g.conn.Write(packet); err != nil {
		return answer, err
	}
	_, err := io.ReadFull(g.in, answer)
	return answer, err
}

// office is the reference service behind a socket that can be taken away.
type office struct {
	store   *cloudtest.Service
	address string
	server  *http.Server
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{store: &cloudtest.Service{PrimaryKey: primaryKey, SecondaryKey: secondaryKey}}
	if err := o.open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.server.Close(); err != nil {
			t.Errorf("close the service: %v", err)
		}
	})
	return o
}

// listenAgain listens at an address that was left, or at a new one.
func listenAgain(address string) (net.Listener, error) {
	if address == "" {
		return addresstest.Listen()
	}
	return net.Listen("tcp", address)
}

// open listens, again at the same address after close.
func (o *office) open() error {
	l, err := listenAgain(o.address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: o.store}
	o.address, o.server = l.Addr().String(), server
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			panic(err)
		}
	}()
	return nil
}

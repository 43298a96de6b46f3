package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors/addresstest"
)

// What is stopped reads a PLC and a broker that take connections and say nothing.
const stopYAML = `site: Stopped battery
id: STOP
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: America/Chicago
service:
  url: http://SERVICE
  primary_key: {file: KEY}
store: {path: STORE, max_bytes: 2MiB}
link: {rate: off}
devices:
  - name: plc
    modbus: tcp://DEAD
    every: 100ms
    timeout: 60s
    points: [{name: level, holding: 100, type: float32, unit: in}]
  - name: radio
    mqtt: mqtt://DEAD
    points: [{name: level, topic: t, unit: in}]
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, strapping: [[0, 0], [240, 480]], purchaser: Acme Crude}
`

// stopMost that a test waits for an end; that it comes within 5 s is printed, and fails nobody's slow machine.
const stopMost = time.Minute

// stopped is a site that is told to stop while something is stuck.
type stopped struct {
	t                       *testing.T
	program, config, socket string
	dead                    string
	agent                   *process
	memos                   []string // whose command ended well
}

func newStopped(t *testing.T, service string) *stopped {
	t.Helper()
	program, err := exec.LookPath("gauger") // this test binary, by the name under which it is gauger
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := &stopped{t: t, program: program, config: filepath.Join(dir, "gauger.yaml"), socket: filepath.Join(dir, "s")}
	if err := os.WriteFile(s.config+".key", []byte(primaryKey), 0o600); err != nil {
		t.Fatal(err)
	}
	s.dead, _ = answering(t, silent)
	s.point(service)
	return s
}

// point writes the configuration with a service.
func (s *stopped) point(service string) {
	s.t.Helper()
	text := strings.NewReplacer("SERVICE", service, "DEAD", s.dead, "STORE", filepath.Join(filepath.Dir(s.config), "store"), "KEY", s.config+".key").Replace(stopYAML)
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// start starts gauger, under another program where one is given.
func (s *stopped) start(under ...string) {
	s.t.Helper()
	words := append(under, s.program, "run", "-c", s.config, "--strict", "--socket", s.socket)
	s.agent = launch(s.t, nil, words[0], words[1:]...)
}

func (s *stopped) atWork() {
	s.t.Helper()
	wait(s.t, "gauger is at work", func() bool { return strings.Contains(s.agent.said(), "gauger is at work") })
}

// memo types a memo; what ended well must arrive.
func (s *stopped) memo(text string) error {
	client, err := console.Dial(s.socket)
	if err != nil {
		return err
	}
	body, err := cloud.DefaultWire().EncodeMemo(cloud.Memo{Text: text})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopMost)
	defer cancel()
	return client.Call(ctx, "queue", control.QueueArgs{Stream: ledger.Memos, Address: "4711", Body: body}, nil)
}

func (s *stopped) memosTyped(n int) {
	s.t.Helper()
	for i := range n {
		text := fmt.Sprintf("memo %d", i)
		if err := s.memo(text); err != nil {
			s.t.Fatal(err)
		}
		s.memos = append(s.memos, text)
	}
}

// stop sends a signal and waits for the end.
func (s *stopped) stop(signals ...syscall.Signal) {
	s.t.Helper()
	began := time.Now()
	for _, one := range signals {
		if err := s.agent.Process.Signal(one); err != nil && !errors.Is(err, os.ErrProcessDone) {
			s.t.Fatal(err)
		}
	}
	select {
	case <-s.agent.ended:
	case <-time.After(stopMost):
		s.t.Fatalf("gauger still runs %s after the signal", stopMost)
	}
	s.t.Logf("ended %s after the signal: %s", time.Since(began).Round(time.Millisecond), s.agent.ProcessState)
	if code := s.agent.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("ended with status %d, want 0", code)
	}
}

// arrives starts gauger again with a service that is well, and waits for what was typed.
func (s *stopped) arrives() {
	s.t.Helper()
	office := newOffice(s.t)
	s.point(office.address)
	s.start()
	wait(s.t, "every memo is at the service", func() bool {
		have := map[string]bool{}
		for _, m := range office.store.Memos() {
			have[m.Text] = true
		}
		for _, text := range s.memos {
			if !have[text] {
				return false
			}
		}
		return true
	})
	s.stop(syscall.SIGTERM)
}

// answering listens, and lets serve do with each connection what it likes. called is closed by the first.
func answering(t *testing.T, serve func(net.Conn)) (address string, called <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	first := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n == 0 {
				close(first)
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().String(), first
}

// silent reads and says nothing.
func silent(c net.Conn) { _, _ = io.Copy(io.Discard, c) } // until the other side has had enough

// dawdling answers a byte a second.
func dawdling(c net.Conn) {
	go silent(c)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for _, b := range []byte("HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + strings.Repeat(" ", 2000)) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
		<-tick.C
	}
}

// Whatever the service does with a request, and with dead devices and a dead broker besides, gauger stops when it is told
// to, and loses nothing.
func TestStopsWithADeadService(t *testing.T) {
	for name, serve := range map[string]func(net.Conn){
		"silent": silent, "slow": dawdling, "hangs up": func(net.Conn) {}, "nobody": nil, "asked twice": silent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, called := addresstest.New(t), (<-chan struct{})(nil)
			if serve != nil {
				address, called = answering(t, serve)
			}
			s := newStopped(t, address)
			s.start()
			s.atWork()
			s.memosTyped(3)
			if called != nil {
				<-called // a request is on its way
			}
			if name == "asked twice" {
				s.stop(syscall.SIGTERM, syscall.SIGINT)
			} else {
				s.stop(syscall.SIGTERM)
			}
			s.arrives()
		})
	}
}

// holdUp lets every flush of the running gauger take half a minute.
func (s *stopped) holdUp() *process {
	s.t.Helper()
	program, err := exec.LookPath("strace")
	if err != nil {
		s.t.Skip("no strace here; install it to run this test")
	}
	strace := launch(s.t, nil, program, "-f", "-o", os.DevNull, "-e", "inject=fdatasync:delay_enter=30000000", "-p", fmt.Sprint(s.agent.Process.Pid))
	wait(s.t, "strace looks on or may not", func() bool { return strings.Contains(strace.said(), "trace") })
	if !strings.Contains(strace.said(), "attached") {
		s.t.Skipf("strace may not look on here: %s", strace.said())
	}
	return strace
}

// A disk that takes half a minute for a flush is not waited for.
func TestStopsWithAHangingDisk(t *testing.T) {
	t.Parallel()
	s := newStopped(t, addresstest.New(t))
	s.start()
	s.atWork()
	s.memosTyped(3)
	strace := s.holdUp()
	typed := make(chan error, 1)
	go func() { typed <- s.memo("never acknowledged") }()
	select {
	case err := <-typed:
		t.Fatalf("a memo was answered while the disk hangs: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	began := time.Now()
	if err := s.agent.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wait(t, "gauger gives up on the disk", func() bool { return strings.Contains(s.agent.said(), "gauger ends") })
	t.Logf("given up after %s", time.Since(began).Round(time.Millisecond))
	strace.stop(syscall.SIGKILL) // what it holds up cannot end while it does
	s.stop(syscall.SIGTERM)
	s.arrives()
}

// A start that takes its time, here because the file is not to be had, ends when it is told to.
func TestStopsWhileItStarts(t *testing.T) {
	t.Parallel()
	s := newStopped(t, addresstest.New(t))
	s.start()
	s.atWork()
	s.memosTyped(3)
	s.stop(syscall.SIGTERM)
	file := filepath.Join(filepath.Dir(s.config), "store", "outbox.db")
	other, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := syscall.Flock(int(other.Fd()), syscall.LOCK_SH); err != nil { // bbolt waits for it
		t.Fatal(err)
	}
	s.start()
	wait(t, "gauger is about to open the file", func() bool { return held(t, file+".lock") })
	s.stop(syscall.SIGTERM)
	other.Close()
	s.arrives()
}

// held says whether a process has a lock on the file.
func held(t *testing.T, file string) bool {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

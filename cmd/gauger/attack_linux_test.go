package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/collectors/addresstest"
)

// Bounds of the unit (systemd/gauger.service) that an attack must leave whole.
const (
	unitMemory = 64 << 10 // kB
	unitTasks  = 64
)

// attacked is a running gauger, and what its listeners are reached at. ATTACK=3000 makes the attacks as large as they were when
// they killed it, and ATTACKED names another program to be attacked.
type attacked struct {
	t     *testing.T
	site  *siteWithoutStore
	share string
	agent *process
	n     int
	mu    sync.Mutex
	conns []net.Conn
}

func newAttacked(t *testing.T) *attacked {
	t.Helper()
	a := &attacked{t: t, site: newShutSite(t), share: addresstest.New(t), n: 300}
	if n, err := strconv.Atoi(os.Getenv("ATTACK")); err == nil {
		a.n = n
	}
	t.Setenv("GOMEMLIMIT", "40MiB") // as the unit sets it
	program := os.Getenv("ATTACKED")
	if program == "" {
		var err error
		if program, err = exec.LookPath("gauger"); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.NewReplacer("SERVICE", a.site.testSite.address, "PLC\n", a.site.plc.Addr+"\n    share: "+a.share+"\n", "BROKER", a.site.broker,
		"max_bytes: 2MiB", "max_bytes: 32MiB", "path: store", "path: "+filepath.Join(t.TempDir(), "store")).Replace(siteYAML) + "http: {listen: " + a.site.address + "}\n"
	if err := os.WriteFile(a.site.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.agent = launch(t, nil, "prlimit", "--nofile=1024", program, "run", "-c", a.site.config, "--strict", "--socket", a.site.socket)
	t.Cleanup(a.leave)
	wait(t, "the shared unit answers", func() bool { return a.master("127.0.0.1", 0) == nil })
	return a
}

// leave closes the attackers' connections.
func (a *attacked) leave() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conns {
		c.Close()
	}
	a.conns = nil
}

// attack opens n connections, says something on each, and leaves them open without ever reading.
func (a *attacked) attack(n int, network, address string, says []byte) {
	var all sync.WaitGroup
	gate := make(chan struct{}, 200)
	for range n {
		gate <- struct{}{}
		all.Go(func() {
			defer func() { <-gate }()
			c, err := net.DialTimeout(network, address, 5*time.Second)
			if err != nil {
				return // turned away, or nobody is there any more
			}
			a.mu.Lock()
			a.conns = append(a.conns, c)
			a.mu.Unlock()
			_ = c.SetWriteDeadline(time.Now().Add(5 * time.Second)) // an attacker that cannot say more has done what it can
			_, _ = c.Write(says)
		})
	}
	all.Wait()
}

// figure reads one figure of the agent's /proc/PID/status.
func (a *attacked) figure(name string) int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.agent.Process.Pid))
	if err != nil {
		return -1 // it is no more
	}
	m := regexp.MustCompile(name + `:\s+(\d+)`).FindSubmatch(b)
	if m == nil {
		return -1
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		a.t.Fatal(err)
	}
	return n
}

// page is what a second browser gets.
func (a *attacked) page() error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	r, err := client.Get("http://" + a.site.address + "/")
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && (r.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("</html>"))) {
		err = fmt.Errorf("%s: %s", r.Status, body)
	}
	return err
}

// technician asks for the status on the socket.
func (a *attacked) technician() error {
	c, err := console.Dial(a.site.socket)
	if err != nil {
		return err
	}
	return c.Call(a.t.Context(), "status", control.None{}, &control.Status{})
}

// master polls the share n times on one connection that comes from an address of the box.
func (a *attacked) master(from string, n int) error {
	c, err := (&net.Dialer{Timeout: 5 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).Dial("tcp", a.share)
	if err != nil {
		return err
	}
	defer c.Close()
	for range n + 1 {
		_ = c.SetDeadline(time.Now().Add(5 * time.Second)) // a connection that takes none fails below
		if _, err := c.Write([]byte{0, 9, 0, 0, 0, 6, 1, 3, 0, 102, 0, 1}); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, make([]byte, 11)); err != nil {
			return err
		}
	}
	return nil
}

// attacks by name: what is done, and who else must be served meanwhile.
var attacks = []struct {
	name  string
	begin func(a *attacked)
	other func(a *attacked) error
}{
	{"idle keep-alives at the page", func(a *attacked) {
		a.attack(a.n, "tcp", a.site.address, []byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"))
	}, (*attacked).page},
	{"half headers at the page", func(a *attacked) { a.attack(a.n, "tcp", a.site.address, []byte("GET / HTTP/1.1\r\nHost:")) }, (*attacked).page},
	{"bodies at the page that never come", func(a *attacked) {
		a.attack(a.n, "tcp", a.site.address, []byte("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"))
	}, (*attacked).page},
	{"pipelining clients that do not read", func(a *attacked) {
		a.attack(a.n/2, "tcp", a.site.address, bytes.Repeat([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 2000))
	}, (*attacked).page},
	{"watchers at the socket", func(a *attacked) {
		a.attack(a.n, "unix", a.site.socket, []byte("GET /watch HTTP/1.1\r\nHost: g\r\n\r\n"))
	}, (*attacked).technician},
	{"silent connections at the socket", func(a *attacked) { a.attack(a.n, "unix", a.site.socket, nil) }, (*attacked).technician},
	{"long requests at the socket", func(a *attacked) { a.attack(max(11, a.n/100), "unix", a.site.socket, longRequest("")) }, (*attacked).technician},
	{"long requests that do not end", func(a *attacked) { a.attack(max(11, a.n/100), "unix", a.site.socket, longRequest("x")) }, (*attacked).technician},
	{"long answers at the socket that nobody reads", func(a *attacked) {
		a.fillOutbox(100, 40<<10)
		a.attack(a.n/10, "unix", a.site.socket, []byte("POST /outbox.list HTTP/1.1\r\nHost: g\r\nContent-Length: 28\r\n\r\n{\"limit\":1000,\"whole\":false}"))
	}, (*attacked).technician},
	{"silent masters", func(a *attacked) { a.attack(a.n, "tcp", a.share, nil) }, func(a *attacked) error { return a.master("127.0.0.2", 3) }},
	{"masters that do not read", func(a *attacked) {
		a.attack(a.n/10, "tcp", a.share, bytes.Repeat([]byte{0, 9, 0, 0, 0, 6, 1, 3, 0, 102, 0, 1}, 20000))
	}, func(a *attacked) error { return a.master("127.0.0.2", 3) }},
}

// fillOutbox leaves so many memos of so many bytes waiting, since the service is away.
func (a *attacked) fillOutbox(n, size int) {
	if err := a.site.server.Close(); err != nil {
		a.t.Fatal(err)
	}
	body, err := cloud.DefaultWire().EncodeMemo(cloud.Memo{Text: strings.Repeat("a", size)})
	if err != nil {
		a.t.Fatal(err)
	}
	for range n {
		c, err := console.Dial(a.site.socket)
		if err == nil {
			err = c.Call(a.t.Context(), "queue", control.QueueArgs{Stream: "memos", Address: "1", Body: body}, nil)
		}
		if err != nil {
			a.t.Fatal(err)
		}
	}
}

// longRequest queues a memo of 4 MB; lacking is what its end lacks.
func longRequest(lacking string) []byte {
	body, err := json.Marshal(control.QueueArgs{Stream: "memos", Address: "1", Body: json.RawMessage(`{"memo":"` + strings.Repeat("a", 4<<20-200) + `"}`)})
	if err != nil {
		panic(err)
	}
	head := fmt.Sprintf("POST /queue HTTP/1.1\r\nHost: g\r\nContent-Length: %d\r\n\r\n", len(body)+len(lacking))
	return append([]byte(head), body...)
}

// Whatever comes in through a listener, the agent stays alive within the bounds of its unit, and others are served, if need be
// when those who came first have had their time.
func TestAttacksOnTheListeners(t *testing.T) {
	for _, attack := range attacks {
		t.Run(attack.name, func(t *testing.T) {
			a := newAttacked(t)
			before := a.figure("VmRSS")
			attack.begin(a)
			tries, began := 0, time.Now()
			wait(t, "somebody else is served", func() bool {
				tries++
				err := attack.other(a)
				if err != nil && tries == 1 {
					t.Logf("the first try: %v", err)
				}
				select {
				case <-a.agent.ended:
					t.Fatalf("it has ended: %s", a.agent.ProcessState)
				default:
				}
				return err == nil
			})
			t.Logf("%5d kB before, %5d kB at most, %2d threads; served after %v at try %d", before, a.figure("VmHWM"), a.figure("Threads"), time.Since(began).Round(time.Millisecond), tries)
			if peak := a.figure("VmHWM"); peak < 0 || peak > unitMemory {
				t.Errorf("it took %d kB, of %d that it may", peak, unitMemory)
			}
			if threads := a.figure("Threads"); threads < 0 || threads > unitTasks {
				t.Errorf("it has %d threads, of %d that it may", threads, unitTasks)
			}
			a.leave()
			for who, other := range map[string]func() error{"a browser": a.page, "a technician": a.technician} {
				wait(t, who+" is served when the attack is over", func() bool { return other() == nil })
			}
		})
	}
}

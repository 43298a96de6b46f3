package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/collectors/addresstest"
)

// shutStores are stores that cannot be opened: how one is made, and how its disk comes back. Each is given the folder in
// which the store is to be.
var shutStores = map[string]struct {
	make, mend func(dir string) error
	says       string
}{
	"a read-only card": {
		func(dir string) error { return unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, "size=16m") },
		func(dir string) error { return unix.Mount("none", dir, "", unix.MS_REMOUNT, "size=16m") },
		"mounted read-only",
	},
	"a full disk": {
		func(dir string) error {
			if err := unix.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "others"), make([]byte, 1<<20), 0o600)
		},
		func(dir string) error {
			return unix.Mount("none", dir, "", unix.MS_REMOUNT, "size=16m")
		},
		"the disk is full",
	},
	"a file in its place": {
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "store"), nil, 0o600) },
		func(dir string) error { return os.Remove(filepath.Join(dir, "store")) },
		"no folder",
	},
}

// The store cannot be opened. The site is read, socket and page say what is wrong, systemd is told that gauger is ready,
// nothing is acknowledged; and when the disk is back gauger goes on by itself, with everything that the broker has kept.
func TestASiteWithoutAStoreIsRead(t *testing.T) {
	for name, store := range shutStores {
		t.Run(name, func(t *testing.T) {
			dir, site := t.TempDir(), newShutSite(t)
			if err := store.make(dir); err != nil {
				t.Skipf("no such disk here: %v", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) }) // where it is one
			ready := supervised(t)
			p := site.start(dir)
			if said := ready(); !strings.HasPrefix(said, "READY=1\n") || !strings.Contains(said, "nothing is stored") {
				t.Errorf("systemd was told %q", said)
			}
			var s control.Status
			wait(t, "the site is read", func() bool {
				s = site.status()
				return len(s.Tanks) == 1 && s.Tanks[0].Quality == "good"
			})
			if s.Shut == "" || s.Tanks[0].Gauge != "14-03-1" {
				t.Errorf("the status gives %q for why the outbox is shut, and the gauge %s", s.Shut, s.Tanks[0].Gauge)
			}
			if len(s.Problems) != 1 || !strings.Contains(s.Problems[0], store.says) {
				t.Errorf("the status tells of %q, want one problem with %q", s.Problems, store.says)
			}
			if page := site.page("/", http.StatusOK); !strings.Contains(page, "NOTHING IS STORED: no tickets are made and nothing is sent") || !strings.Contains(page, "not watched for loads") || !strings.Contains(page, store.says) || strings.Contains(page, "None yet") {
				t.Errorf("the page is %s", page)
			}
			site.page("/healthz", http.StatusOK) // it goes on by itself
			if said := site.page("/readyz", http.StatusServiceUnavailable); !strings.Contains(said, store.says) {
				t.Errorf("whoever asks what is needed is told %s", said)
			}
			if out := site.command("tickets", "list"); !strings.Contains(out, "the outbox cannot be opened") {
				t.Errorf("tickets list says %q", out)
			}
			if out := site.command("status"); !strings.Contains(out, "NOT STORING AND NOT SENDING") || strings.Contains(out, "no ticket has left yet") {
				t.Errorf("status says %q", out)
			}
			site.refusesToAnswer()
			site.published(30)
			if err := store.mend(dir); err != nil {
				t.Fatal(err)
			}
			wait(t, "everything that was published meanwhile is at the service", func() bool { return len(site.store.TagValues()) >= 30 })
			if s = site.status(); s.Shut != "" || !strings.Contains(fmt.Sprint(site.store.Events()), "outbox-shut") {
				t.Errorf("status is %+v, the events are %v", s, site.store.Events())
			}
			p.stop(syscall.SIGTERM)
			if p.ProcessState.ExitCode() != 0 {
				t.Errorf("it ended with %s", p.ProcessState)
			}
		})
	}
}

// supervised makes this test systemd; the function waits for the first thing that it is told.
func supervised(t *testing.T) func() string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return func() string {
		buf := make([]byte, 4096)
		if err := c.SetReadDeadline(time.Now().Add(stopMost)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

// A site without a store stops when it is told to, with status 0.
func TestASiteWithoutAStoreStops(t *testing.T) {
	site, dir := newShutSite(t), t.TempDir()
	if err := shutStores["a file in its place"].make(dir); err != nil {
		t.Fatal(err)
	}
	p := site.start(dir)
	wait(t, "it says so", func() bool { return strings.Contains(p.said(), "the outbox cannot be opened") })
	p.stop(syscall.SIGTERM)
	if p.ProcessState.ExitCode() != 0 {
		t.Errorf("it ended with %s", p.ProcessState)
	}
}

// The outbox opens and its disk takes no write any more: the site is shown, with the reason.
func TestASiteWhoseDiskTakesNothingIsRead(t *testing.T) {
	limited, err := exec.LookPath("prlimit")
	if err != nil {
		t.Skip("no program here that makes every write fail")
	}
	site, dir := newShutSite(t), t.TempDir()
	p := site.start(dir)
	wait(t, "it works", func() bool { return site.status().Site != "" && site.status().Shut == "" })
	p.stop(syscall.SIGTERM)
	p = site.start(dir, limited, "--fsize=4096")
	var s control.Status
	wait(t, "the site is read", func() bool {
		s = site.status()
		return len(s.Tanks) == 1 && s.Tanks[0].Quality == "good"
	})
	if !strings.Contains(s.Shut, "file too large") || len(s.Problems) != 1 {
		t.Errorf("status %+v", s)
	}
	p.stop(syscall.SIGTERM)
	if p.ProcessState.ExitCode() != 0 {
		t.Errorf("it ended with %s", p.ProcessState)
	}
}

// Others fill the disk under a gauger that runs. The outbox has its own blocks and works on, so that nothing but the disk
// itself tells: status, page and /readyz tell of it with the cure, until there is room again.
func TestADiskThatIsFilledUnderARunningGaugerIsTold(t *testing.T) {
	site, dir := newShutSite(t), t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("no such disk here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	p := site.start(dir)
	wait(t, "it works", func() bool { return site.status().Site != "" && site.status().Shut == "" })
	const cure = "the disk is full: make room on it"
	if said := fmt.Sprint(site.status().Problems); strings.Contains(said, cure) {
		t.Errorf("before: %s", said)
	}
	site.page("/healthz", http.StatusOK)
	others := filepath.Join(dir, "others")
	if err := os.WriteFile(others, make([]byte, 32<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	if said := site.command("status"); !strings.Contains(said, "! "+cure) {
		t.Errorf("status says %s", said)
	}
	wait(t, "the page tells it", func() bool { return strings.Contains(site.page("/", http.StatusOK), cure) }) // it is made for two seconds
	if said := site.page("/readyz", http.StatusServiceUnavailable); !strings.Contains(said, cure) {
		t.Errorf("whoever asks what is needed is told %s", said)
	}
	site.page("/healthz", http.StatusOK) // a restart makes no room
	if err := os.Remove(others); err != nil {
		t.Fatal(err)
	}
	wait(t, "it is well again", func() bool { return !strings.Contains(fmt.Sprint(site.status().Problems), cure) })
	site.page("/healthz", http.StatusOK)
	p.stop(syscall.SIGTERM)
}

// siteWithoutStore is a testSite and a gauger with a page.
type siteWithoutStore struct {
	*testSite
	t                       *testing.T
	config, socket, address string
}

func newShutSite(t *testing.T) *siteWithoutStore {
	t.Helper()
	site, err := newTestSite()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(site.close)
	dir := t.TempDir()
	t.Setenv("GAUGER_PRIMARY_KEY", primaryKey)
	t.Setenv("GAUGER_SECONDARY_KEY", secondaryKey)
	return &siteWithoutStore{site, t, filepath.Join(dir, "gauger.yaml"), filepath.Join(dir, "s"), addresstest.New(t)}
}

// start runs gauger with a store in a folder, under another program where one is given.
func (s *siteWithoutStore) start(dir string, under ...string) *process {
	s.t.Helper()
	text := strings.NewReplacer("SERVICE", s.testSite.address, "PLC", s.plc.Addr, "BROKER", s.broker, "path: store", "path: "+filepath.Join(dir, "store")).Replace(siteYAML) + `
http: {listen: ` + s.address + `}
link: {rate: off}
wells:
  - id: 3fa85f64-5717-4562-b3fc-2c963f66afa6
    tag_values: [{code: Production Target Oil, point: radio/level, every: 0s}]
`
	if err := os.WriteFile(s.config, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	program, err := exec.LookPath("gauger")
	if err != nil {
		s.t.Fatal(err)
	}
	words := append(under, program, "run", "-c", s.config, "--strict", "--socket", s.socket)
	return launch(s.t, nil, words[0], words[1:]...)
}

// status asks through the socket; nothing is known before it is there.
func (s *siteWithoutStore) status() (out control.Status) {
	client, err := console.Dial(s.socket)
	if err != nil {
		return out
	}
	if err := client.Call(s.t.Context(), "status", control.None{}, &out); err != nil {
		s.t.Error(err)
	}
	return out
}

// page gets one of the pages.
func (s *siteWithoutStore) page(path string, status int) string {
	s.t.Helper()
	r, err := http.Get("http://" + s.address + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		s.t.Errorf("%s answers %d, %v", path, r.StatusCode, err)
	}
	return string(b)
}

// command runs gauger beside the one that runs, and gives all that it says.
func (s *siteWithoutStore) command(args ...string) string {
	var out strings.Builder
	m := &call{in: strings.NewReader(""), out: &out, err: &out, getenv: os.Getenv}
	execute(context.Background(), m, append(args, "-c", s.config, "--socket", s.socket))
	return out.String()
}

// refusesToAnswer runs what would have to look into the outbox, or change it: all of it says why it cannot, with status 1.
func (s *siteWithoutStore) refusesToAnswer() {
	s.t.Helper()
	for _, line := range []string{
		"outbox list", "outbox list tickets", "outbox list --format json", "outbox list --format csv", "outbox list --state all", "outbox dead", "outbox show tickets/1",
		"outbox retry tickets", "outbox drop tickets/1 --why wrong", "outbox confirm tickets/1 --why seen", "outbox export", "tickets list", "tickets list --format csv", "tickets show 1", "tickets explain 1",
		"tickets explain 14:30 TK-1002", "tickets match 1 --hauler 2 --barrels 3", "tickets edit 1 --gravity 0.8", "tickets hold 1", "tickets release 1", "tickets reject 1 --why wrong",
		"tanks list", "tanks inhibit TK-1002 2h --why paint", "tanks allow TK-1002", "book", "proof", "keys show", "keys renew primary", "clock trust",
		"login", "devices query", "memo add 3fa85f64-5717-4562-b3fc-2c963f66afa6 hello", "backtest --against sent",
	} {
		var out, told strings.Builder
		m := &call{in: strings.NewReader(""), out: &out, err: &told, getenv: os.Getenv}
		code := execute(s.t.Context(), m, append(strings.Fields(line), "-c", s.config, "--socket", s.socket))
		if code != 1 || out.String() != "" || !strings.Contains(told.String(), "the outbox cannot be opened") {
			s.t.Errorf("%s: status %d, %q, %q", line, code, out.String(), told.String())
		}
	}
}

// published lets a device publish readings, each with its time.
func (s *siteWithoutStore) published(n int) {
	s.t.Helper()
	for i := range n {
		at := time.Now().UTC().Add(time.Duration(i-n) * time.Second).Format(time.RFC3339)
		if err := s.mqtt.Publish("field/tk2", fmt.Appendf(nil, `{"level":{"in":%d},"ts":%q}`, 60+i, at), false, 1); err != nil {
			s.t.Fatal(err)
		}
	}
}

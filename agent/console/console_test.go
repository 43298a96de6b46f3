package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/control"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/outbox"
)

const guid = "6f9619ff-8b86-d011-b42d-00c04fc964ff"

// newDesk is a site with one tank on a box of its own.
func newDesk(t testing.TB) *control.Server {
	t.Helper()
	site := ledger.Site{
		Name: `The <"best"> & only site`, ID: "TEST", Object: guid, Zone: time.UTC, Refusals: flash.Limits{Messages: 2000, Bytes: 4e6, Day: 5e6}, Wire: cloud.DefaultWire(),
		Tanks: []ledger.Tank{{
			Tank:  tank.Tank{ID: "TK-1", Height: 240, Table: tank.Cylinder(144, 240), Loads: tank.DefaultLoads()},
			Level: "plc/level", Purchaser: "Acme",
		}},
	}
	box, err := outbox.Open(filepath.Join(t.TempDir(), "outbox.db"), outbox.Options{MaxBytes: 1 << 20, Streams: []outbox.Stream{
		{Name: ledger.Tickets}, {Name: ledger.Events}, {Name: ledger.TagValues}, {Name: ledger.Targets}, {Name: ledger.Memos}, {Name: ledger.Refused, Held: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	keys, err := keys.Open("", keys.Seeds{Primary: "a-key-that-must-not-show"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := cloud.New(cloud.Options{URL: "http://127.0.0.1:9", Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	clock := clock.New(time.Now(), time.Time{}, time.Minute, nil)
	siteLedger, err := ledger.New(site, box, clock, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	return (&control.Server{Ledger: siteLedger, Box: box, Client: client, Clock: clock, Site: site, Version: "1.2", Began: time.Now(), Daemon: true}).Open()
}

// reads hands the ledger one level.
func reads(t *testing.T, d *control.Server, level float64) {
	t.Helper()
	err := d.Ledger.Host("plc").Emit(t.Context(), []collectors.Reading{
		{Point: "plc/level", Value: level, Unit: "in", Quality: collectors.Good, At: time.Now()},
		{Point: "plc/status", Text: "<script>alert(1)</script>", Quality: collectors.Bad, At: time.Now(), Err: errors.New("a & b")},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// served is a server behind its socket.
func served(t *testing.T, d *control.Server) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gauger.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, Control(d)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACommandAsksTheDaemonThroughItsSocket(t *testing.T) {
	d := newDesk(t)
	reads(t, d, 171.25)
	c := served(t, d)
	var s control.Status
	if err := c.Call(t.Context(), "status", control.None{}, &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Tanks) != 1 || s.Tanks[0].Gauge != "14-03-1" || s.Version != "1.2" {
		t.Errorf("status %+v", s)
	}
	if err := c.Call(t.Context(), "no.such", control.None{}, nil); err == nil || !strings.Contains(err.Error(), "no.such") {
		t.Errorf("an unknown request answered %v", err)
	}
}

func TestTheSocketIsTheGroupsAndSaysWhoAsks(t *testing.T) {
	d := newDesk(t)
	d.Register("who", control.Look, control.RequestOf(func(ctx context.Context, _ control.None) (string, error) { return control.Person(ctx), nil }))
	c := served(t, d)
	info, err := os.Stat(c.path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("the socket has mode %v (%v), want 0660", info.Mode().Perm(), err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	if err := c.Call(t.Context(), "who", control.None{}, &name); err != nil || name != me.Username {
		t.Errorf("the peer is %q (%v), want %q", name, err, me.Username)
	}
}

func TestASecondDaemonIsRefusedAndAStaleSocketReplaced(t *testing.T) {
	c := served(t, newDesk(t))
	if _, err := Listen(c.path); err == nil {
		t.Error("two daemons listen on one socket")
	}
	stale := filepath.Join(t.TempDir(), "stale.sock")
	left, err := net.Listen("unix", stale)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false) // as after a crash
	left.Close()
	l, err := Listen(stale)
	if err != nil {
		t.Fatalf("a socket that nobody answers on was not replaced: %v", err)
	}
	l.Close()
	if _, err := Dial(filepath.Join(t.TempDir(), "none")); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("without a daemon: %v", err)
	}
}

// A --socket that was mistyped costs nobody a file, a folder, or what a link leads to.
func TestOnlySocketsAreReplaced(t *testing.T) {
	dir := t.TempDir()
	file, folder, link, socket := filepath.Join(dir, "file"), filepath.Join(dir, "folder"), filepath.Join(dir, "link"), filepath.Join(dir, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := errors.Join(l.Close(), os.WriteFile(file, []byte("a"), 0o600), os.Mkdir(folder, 0o700), os.Symlink(socket, link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, folder, link} {
		before, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := Listen(path); err == nil || !strings.Contains(err.Error(), path+": what is there is no socket, and stays") {
			t.Errorf("%s: listens on %v, %v", path, l, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was replaced: %v", path, err)
		}
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("what the link leads to: %v", err)
	}
}

func TestWatchGivesReadingsAsTheyArrive(t *testing.T) {
	d := newDesk(t)
	c := served(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := make(chan control.PointReading, 1)
	ended := make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, []string{"plc/level"}, func(s control.PointReading) error {
			select {
			case seen <- s:
			default:
			}
			return nil
		})
	}()
	for {
		reads(t, d, 100) // until the watcher is there
		select {
		case s := <-seen:
			if s.Point != "plc/level" || string(s.Value) != "100" || s.Quality != "good" {
				t.Errorf("watched %+v", s)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("watching ended with %v", err)
			}
			return
		case err := <-ended:
			t.Fatalf("watching ended early: %v", err)
		default:
		}
	}
}

func TestAFeedGivesThingsAsTheyComeAndItsError(t *testing.T) {
	d := newDesk(t)
	left := make(chan struct{})
	d.RegisterLive("count", control.Look, control.LiveStreamOf(func(ctx context.Context, to int, see func(any) error) error {
		for i := range to {
			if err := see(i); err != nil {
				return err
			}
		}
		if to == 2 {
			return errors.New("no more than two")
		}
		return nil
	}))
	d.RegisterLive("endless", control.Look, control.LiveStreamOf(func(ctx context.Context, _ control.None, see func(any) error) error {
		defer close(left)
		err := see("begun")
		<-ctx.Done()
		return err
	}))
	c := served(t, d)
	for to, want := range map[int]string{0: "", 2: "no more than two", 3: ""} {
		var seen []string
		err := c.Follow(t.Context(), "count", to, func(raw json.RawMessage) error { seen = append(seen, string(raw)); return nil })
		if got := strings.Join(seen, ""); got != "012"[:to] || (err != nil) != (want != "") || err != nil && err.Error() != want {
			t.Errorf("%d: saw %q, %v", to, got, err)
		}
	}
	enough := errors.New("enough")
	if err := c.Follow(t.Context(), "endless", control.None{}, func(json.RawMessage) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("whoever has seen enough got %v", err)
	}
	<-left // the feed ends when nobody follows it
	if err := c.Follow(t.Context(), "no.such", control.None{}, nil); err == nil || !strings.Contains(err.Error(), "no.such") {
		t.Errorf("an unknown feed: %v", err)
	}
}

// get asks the page's door.
func get(t *testing.T, d *control.Server, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost:8480"
	Page(d, front, false, "127.0.0.1:8480").ServeHTTP(w, r)
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(b)
}

// front stands for the page.
var front = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" && r.URL.Path != "/healthz" {
		http.NotFound(w, r)
		return
	}
	fmt.Fprint(w, "TK-1")
})

// A daemon that ends says so to whoever has asked it for something, and not in the words of Go.
func TestADaemonThatEndsSaysSo(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(ended, http.MethodPost, "/keys.renew", strings.NewReader(`{"slot":"primary"}`))
	Control(newDesk(t)).ServeHTTP(w, r)
	if want := `{"error":"the running gauger is ending; ask again when it runs"}`; strings.TrimSpace(w.Body.String()) != want {
		t.Errorf("answered %s, want %s", w.Body, want)
	}
	if got := said(t.Context(), fmt.Errorf("read: %w", context.Canceled)); got != "read: stopped before it was done" {
		t.Errorf("while it runs: %s", got)
	}
	if got := said(ended, errors.New("no such tank")); got != "no such tank" {
		t.Errorf("what it is about got lost: %s", got)
	}
}

// A daemon that is stopped takes calls, since the kernel does, and answers none: whoever asks is told, and does not wait for ever.
func TestADaemonThatIsStoppedIsNotWaitedForForEver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stopped.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = dial(path, time.Millisecond)
	if err == nil || errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), "the gauger on "+path+" was called and has not answered for 1ms: it is stopped or hangs, or it works and has no file descriptor left for an answer; `systemctl status gauger`") {
		t.Errorf("says %v", err)
	}
}

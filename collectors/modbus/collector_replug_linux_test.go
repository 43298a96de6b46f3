package modbus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// adapter is a serial adapter behind a link that stays, as udev keeps one in /dev/serial/by-id. Each time that it is
// put in, its port has another name.
type adapter struct {
	*testing.T
	scheme string
	link   string
	slave  *modbustest.Slave
	pty    *modbustest.Pty
	stop   context.CancelFunc
	ended  chan error
}

// put plugs it in under a port's name: first the port is there, then the link.
func (a *adapter) put(pty *modbustest.Pty) {
	a.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a.pty, a.stop, a.ended = pty, cancel, make(chan error, 1)
	go func() { a.ended <- a.slave.ServeStream(ctx, pty, linetest.FramingOf(a.scheme)) }()
	if err := os.Symlink(pty.Path, a.link); err != nil {
		a.Fatal(err)
	}
}

// pull takes it out in the middle of whatever goes on.
func (a *adapter) pull() {
	a.Helper()
	if err := os.Remove(a.link); err != nil {
		a.Fatal(err)
	}
	a.stop()
	if err := <-a.ended; err != nil {
		a.Errorf("slave: %v", err)
	}
}

// replugs of the adapter: 20, or GAUGER_REPLUGS.
func replugs(t *testing.T) int {
	if s := os.Getenv("GAUGER_REPLUGS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 20
}

// footprint of the process, in which a leak would show.
type footprint struct{ goroutines, files, heap int }

func footprintNow(t *testing.T) footprint {
	t.Helper()
	files, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), len(files), int(m.HeapAlloc)}
}

// TestAnAdapterPulledAndPutBackManyTimes reads from it each time again, and leaves nothing behind. It is polled so
// often that it is pulled in the middle of a request now and then, and tried every few ms instead of every second,
// for the test's sake.
func TestAnAdapterPulledAndPutBackManyTimes(t *testing.T) {
	for _, scheme := range []string{"rtu", "ascii"} {
		t.Run(scheme, func(t *testing.T) {
			a := &adapter{T: t, scheme: scheme, link: t.TempDir() + "/usb-adapter", slave: modbustest.NewSlave()}
			a.slave.Unit(1)
			a.put(linetest.OpenPty(t))
			defer a.pull()
			lines := &line.Lines{Retry: 5 * time.Millisecond}
			all, err := New(lines, []Device{{Name: "d", URL: scheme + "://" + a.link + "?baud=115200", Every: 10 * time.Millisecond, Points: []Point{holding("p", 0)}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			host := &newest{readings: make(chan collectors.Reading, 1)}
			ended := make(chan error, 1)
			go func() { ended <- all[0].Run(ctx, host) }()
			a.cycle(host)
			cancel()
			if err := errors.Join(<-ended, lines.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// cycle pulls and puts back, and compares what the program holds after the first few times with the end.
func (a *adapter) cycle(host *newest) {
	n := replugs(a.T)
	var early footprint
	for i := range n {
		if i == min(10, n/2) {
			early = footprintNow(a.T)
		}
		next := linetest.OpenPty(a.T) // while the old one is there, so that its name is another
		if next.Path == a.pty.Path {
			a.Fatalf("%s again", next.Path)
		}
		a.pull()
		a.slave.Unit(1).Set(modbustest.Holding, 0, uint16(i+1))
		a.put(next)
		if err := host.await(uint16(i + 1)); err != nil {
			a.Fatalf("pulled for the %d. time: %v", i+1, err)
		}
	}
	late := footprintNow(a.T)
	if late.goroutines > early.goroutines+2 || late.files > early.files+2 || late.heap > early.heap+1<<20 {
		a.Errorf("after %d times %+v, before %+v", n, late, early)
	}
	a.Logf("pulled %d times: %+v, then %+v", n, early, late)
}

// newest is a host that keeps the newest reading and nothing else, so that what grows is the collector's.
type newest struct {
	collectorstest.Host
	readings chan collectors.Reading
}

func (h *newest) Emit(_ context.Context, batch []collectors.Reading) error {
	select {
	case <-h.readings:
	default:
	}
	h.readings <- batch[0]
	return nil
}

func (h *newest) Notice(context.Context, collectors.Notice) error { return nil }

// await returns when a good reading has the value, or fails after a while.
func (h *newest) await(value uint16) error {
	late := time.NewTimer(linetest.Patience)
	defer late.Stop()
	var last collectors.Reading
	for {
		select {
		case last = <-h.readings:
			if last.Quality == collectors.Good && last.Value == float64(value) {
				return nil
			}
		case <-late.C:
			return fmt.Errorf("not read within %s; last %+v", linetest.Patience, last)
		}
	}
}

// TestUnplugging pulls the port out while an answer is awaited, and puts it in again at the same path.
func TestUnplugging(t *testing.T) {
	pty := linetest.OpenPty(t)
	link := t.TempDir() + "/adapter"
	if err := os.Symlink(pty.Path, link); err != nil {
		t.Fatal(err)
	}
	lines := &line.Lines{}
	defer linetest.Close(t, lines)
	all, err := New(lines, []Device{{Name: "d", URL: "rtu://" + link + "?parity=N", Every: 10 * time.Millisecond, Timeout: 30 * time.Second, Points: []Point{holding("p", 0)}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	host := &collectorstest.Host{}
	ended := make(chan error, 1)
	go func() { ended <- all[0].Run(ctx, host) }()
	request := make([]byte, 8)
	if _, err := pty.Read(request); err != nil { // the first request is on its way, and nobody answers
		t.Fatal(err)
	}
	if err := pty.Close(); err != nil {
		t.Fatal(err)
	}
	patience, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	if !host.Await(patience, func() bool { return len(host.Batches()) > 0 }) {
		t.Fatal("no reading after the port was pulled out: the request still waits for its 30 seconds")
	}
	if r, _ := host.Last("d/p"); r.Quality != collectors.Bad {
		t.Errorf("%+v", r)
	}
	again := linetest.OpenPty(t)
	slave := modbustest.NewSlave()
	slave.Unit(1).Set(modbustest.Holding, 0, 42)
	linetest.ServePty(t, slave, again, modbustest.RTU)
	if err := errors.Join(os.Remove(link), os.Symlink(again.Path, link)); err != nil {
		t.Fatal(err)
	}
	back := func() bool { r, _ := host.Last("d/p"); return r.Quality == collectors.Good && r.Value == 42 }
	if !host.Await(patience, back) {
		r, _ := host.Last("d/p")
		t.Errorf("not read again: %+v", r)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

package modbus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Frame is one thing that happened on a line, as Lines.Trace shows it: bytes that were sent or heard, or an event
// such as silence or a new connection.
type Frame struct {
	At    time.Time
	URL   string
	Sent  bool   // by us
	Bytes []byte // as on the wire; behind TLS as they are inside it; nil: an event
	Words string // what it means
}

// Trace calls see with everything that is on any of the lines from now on, until stop is called. see is called from
// the goroutine that has the line, which it holds up: it must not wait for anything slow.
func (ls *Lines) Trace(see func(Frame)) (stop func()) {
	t := &ls.trace
	watcher := &see
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = map[*func(Frame)]bool{}
	}
	t.watchers[watcher] = true
	t.on.Store(true)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, watcher)
		t.on.Store(len(t.watchers) > 0)
	}
}

// trace is who looks on. While nobody does it costs a glance at one flag for each read and write.
type trace struct {
	on       atomic.Bool
	mu       sync.Mutex
	watchers map[*func(Frame)]bool
}

func (t *trace) show(f Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for see := range t.watchers {
		(*see)(f)
	}
}

// around makes the streams of a dialer ones that can be looked at.
func (t *trace) around(at *endpoint, dial func(context.Context) (Stream, error)) func(context.Context) (Stream, error) {
	return func(ctx context.Context) (Stream, error) {
		s, err := dial(ctx)
		if err != nil {
			if t.on.Load() {
				t.show(Frame{At: time.Now(), URL: at.String(), Words: "cannot be opened: " + err.Error()})
			}
			return nil, err
		}
		made := &traced{Stream: s, at: at, trace: t}
		made.event("opened")
		return made, nil
	}
}

// traced is a stream that shows what goes through it. Whoever has the line uses it, so one goroutine at a time.
type traced struct {
	Stream
	at    *endpoint
	trace *trace

	asked *pending  // the request that is not answered yet
	blind bool      // the last request went out while nobody looked
	in    []byte    // what was heard and is no whole frame yet
	began time.Time // when the first byte of it was heard
	last  time.Time // and the last one
}

// pending is a request on its way.
type pending struct {
	envelope
	frame []byte
	at    time.Time
}

// tracedMost is how many bytes that are no frame are gathered before they are shown: more than four of the longest.
const tracedMost = 1100

func (t *traced) event(format string, args ...any) {
	if t.trace.on.Load() {
		t.trace.show(Frame{At: time.Now(), URL: t.at.String(), Words: fmt.Sprintf(format, args...)})
	}
}

// Write shows the request.
func (t *traced) Write(b []byte) (int, error) {
	t.blind = !t.trace.on.Load()
	if t.blind {
		t.asked, t.in = nil, nil
		return t.Stream.Write(b)
	}
	return t.show(b)
}

// show is Write while somebody looks on.
func (t *traced) show(b []byte) (int, error) {
	t.flush()
	f := Frame{At: time.Now(), URL: t.at.String(), Sent: true, Bytes: slices.Clone(b)}
	n, err := t.Stream.Write(b)
	opened := openEnvelope(*t.at, f.Bytes)
	f.Words = opened.request()
	if err != nil {
		f.Words += ", which could not be sent: " + err.Error()
	} else {
		t.asked = &pending{opened, f.Bytes, f.At}
	}
	t.trace.show(f)
	return n, err
}

// Read shows what comes, or that nothing does.
func (t *traced) Read(b []byte) (int, error) {
	n, err := t.Stream.Read(b)
	t.heard(b[:n], err)
	return n, err
}

// Close shows the end.
func (t *traced) Close() error {
	t.flush()
	t.event("closed")
	return t.Stream.Close()
}

// heard takes what a read gave. Frames are shown when they are whole; what never becomes one is shown when the line
// falls silent.
func (t *traced) heard(b []byte, err error) {
	if !t.trace.on.Load() {
		return
	}
	now := time.Now()
	if len(b) > 0 {
		if len(t.in) == 0 {
			t.began = now
		}
		t.last = now
		t.in = append(t.in, b...)
		t.frames()
	}
	if len(t.in) > tracedMost {
		t.flush()
	}
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrDeadlineExceeded):
		t.flush()
		t.event("the connection is lost: %v", err)
	case now.Sub(t.last) >= t.at.silence():
		t.flush()
		if t.asked != nil {
			t.event("no answer from unit %d within %s", t.asked.unit, spent(now.Sub(t.asked.at)))
			t.asked = nil
		}
	}
}

// frames shows the whole frames of what was heard, and what stands before them.
func (t *traced) frames() {
	for {
		start, end := nextFrame(*t.at, t.in)
		if end == 0 {
			return
		}
		if start > 0 {
			t.strange(t.in[:start])
			t.began = t.last
		}
		t.frame(t.in[start:end])
		t.in = slices.Clone(t.in[end:])
		t.began = t.last
	}
}

// frame shows one whole frame, and whose answer it is.
func (t *traced) frame(b []byte) {
	opened := openEnvelope(*t.at, b)
	f := Frame{At: t.began, URL: t.at.String(), Bytes: slices.Clone(b), Words: opened.answer()}
	switch {
	case t.blind:
		t.blind = false
		f.Words = "to a request from before: " + f.Words
	case t.asked == nil:
		f.Words = "late, or answering nobody: " + f.Words
	case opened.id != t.asked.id:
		f.Words = fmt.Sprintf("late, since it belongs to transaction %d: %s", opened.id, f.Words)
	case opened.unit != t.asked.unit:
		f.Words = "from another unit: " + f.Words
	case !opened.answers(t.asked.envelope):
		f.Words = "no answer to this request: " + f.Words
	default:
		f.Words = fmt.Sprintf("%s later: %s", spent(t.last.Sub(t.asked.at)), f.Words)
		t.asked = nil
	}
	t.trace.show(f)
}

// flush shows what was heard and is no frame.
func (t *traced) flush() {
	if len(t.in) > 0 {
		t.strange(t.in)
		t.in = nil
	}
}

// strange shows bytes that are no answer.
func (t *traced) strange(b []byte) {
	f := Frame{At: t.began, URL: t.at.String(), Bytes: slices.Clone(b)}
	switch r, asks := otherMaster(*t.at, b); {
	case t.asked != nil && bytes.Equal(b, t.asked.frame):
		f.Words = "an echo of our own request: the adapter hears what it sends"
	case asks:
		f.Words = "another master asks " + r.request()
	default:
		f.Words = "damaged: " + damage(*t.at, b)
	}
	t.trace.show(f)
}

// silence is how long nothing must have come for a frame to be over: the gap of a serial line.
func (e endpoint) silence() time.Duration {
	if !e.serialLine() {
		return 0
	}
	return e.serial.gap()
}

// spent is a time for a person: 17 ms, 1.2 s.
func spent(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	if d < time.Second {
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

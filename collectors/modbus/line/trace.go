package line

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
	t := &ls.tracer
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

// tracer is who looks on. While nobody does it costs a glance at one flag for each read and write.
type tracer struct {
	on       atomic.Bool
	mu       sync.Mutex
	watchers map[*func(Frame)]bool
}

func (t *tracer) publish(f Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for see := range t.watchers {
		(*see)(f)
	}
}

// wrap makes the streams of a dialer ones that can be looked at.
func (t *tracer) wrap(at *Endpoint, dial func(context.Context) (Stream, error)) func(context.Context) (Stream, error) {
	return func(ctx context.Context) (Stream, error) {
		s, err := dial(ctx)
		if err != nil {
			if t.on.Load() {
				t.publish(Frame{At: time.Now(), URL: at.String(), Words: "cannot be opened: " + err.Error()})
			}
			return nil, err
		}
		made := &tracedStream{Stream: s, at: at, tracer: t}
		made.event("opened")
		return made, nil
	}
}

// tracedStream is a stream that shows what goes through it. Whoever has the line uses it, so one goroutine at a time.
type tracedStream struct {
	Stream
	at     *Endpoint
	tracer *tracer

	pending       *tracedRequest // the request that is not answered yet
	missedRequest bool           // the last request went out while nobody looked
	unframed      []byte         // what was heard and is no whole frame yet
	firstByte     time.Time      // when the first byte of it was heard
	lastByte      time.Time      // and the last one
}

// tracedRequest is a request on its way.
type tracedRequest struct {
	decodedFrame
	bytes []byte
	at    time.Time
}

// maxUnframed bytes that are no frame are gathered before they are shown: more than four of the longest.
const maxUnframed = 1100

func (t *tracedStream) event(format string, args ...any) {
	if t.tracer.on.Load() {
		t.tracer.publish(Frame{At: time.Now(), URL: t.at.String(), Words: fmt.Sprintf(format, args...)})
	}
}

// Write shows the request.
func (t *tracedStream) Write(b []byte) (int, error) {
	t.missedRequest = !t.tracer.on.Load()
	if t.missedRequest {
		t.pending, t.unframed = nil, nil
		return t.Stream.Write(b)
	}
	return t.writeTraced(b)
}

// writeTraced is Write while somebody looks on.
func (t *tracedStream) writeTraced(b []byte) (int, error) {
	t.flush()
	f := Frame{At: time.Now(), URL: t.at.String(), Sent: true, Bytes: slices.Clone(b)}
	n, err := t.Stream.Write(b)
	opened := decodeFrame(*t.at, f.Bytes)
	f.Words = opened.describeRequest()
	if err != nil {
		f.Words += ", which could not be sent: " + err.Error()
	} else {
		t.pending = &tracedRequest{opened, f.Bytes, f.At}
	}
	t.tracer.publish(f)
	return n, err
}

// Read shows what comes, or that nothing does.
func (t *tracedStream) Read(b []byte) (int, error) {
	n, err := t.Stream.Read(b)
	t.observe(b[:n], err)
	return n, err
}

// Close shows the end.
func (t *tracedStream) Close() error {
	t.flush()
	t.event("closed")
	return t.Stream.Close()
}

// observe takes what a read gave. Frames are shown when they are whole; what never becomes one is shown when the line
// falls silent.
func (t *tracedStream) observe(b []byte, err error) {
	if !t.tracer.on.Load() {
		return
	}
	now := time.Now()
	if len(b) > 0 {
		if len(t.unframed) == 0 {
			t.firstByte = now
		}
		t.lastByte = now
		t.unframed = append(t.unframed, b...)
		t.showFrames()
	}
	if len(t.unframed) > maxUnframed {
		t.flush()
	}
	switch {
	case err == nil:
	case !errors.Is(err, os.ErrDeadlineExceeded):
		t.flush()
		t.event("the connection is lost: %v", err)
	case now.Sub(t.lastByte) >= t.at.FrameGap():
		t.flush()
		if t.pending != nil {
			t.event("no answer from unit %d within %s", t.pending.unit, duration(now.Sub(t.pending.at)))
			t.pending = nil
		}
	}
}

// showFrames shows the whole frames of what was heard, and what stands before them.
func (t *tracedStream) showFrames() {
	for {
		start, end := findFrame(*t.at, t.unframed)
		if end == 0 {
			return
		}
		if start > 0 {
			t.showUnframed(t.unframed[:start])
			t.firstByte = t.lastByte
		}
		t.showFrame(t.unframed[start:end])
		t.unframed = slices.Clone(t.unframed[end:])
		t.firstByte = t.lastByte
	}
}

// showFrame shows one whole frame, and whose answer it is.
func (t *tracedStream) showFrame(b []byte) {
	opened := decodeFrame(*t.at, b)
	f := Frame{At: t.firstByte, URL: t.at.String(), Bytes: slices.Clone(b), Words: opened.describeAnswer()}
	switch {
	case t.missedRequest:
		t.missedRequest = false
		f.Words = "to a request from before: " + f.Words
	case t.pending == nil:
		f.Words = "late, or answering nobody: " + f.Words
	case opened.id != t.pending.id:
		f.Words = fmt.Sprintf("late, since it belongs to transaction %d: %s", opened.id, f.Words)
	case opened.unit != t.pending.unit:
		f.Words = "from another unit: " + f.Words
	case !opened.answers(t.pending.decodedFrame):
		f.Words = "no answer to this request: " + f.Words
	default:
		f.Words = fmt.Sprintf("%s later: %s", duration(t.lastByte.Sub(t.pending.at)), f.Words)
		t.pending = nil
	}
	t.tracer.publish(f)
}

// flush shows what was heard and is no frame.
func (t *tracedStream) flush() {
	if len(t.unframed) > 0 {
		t.showUnframed(t.unframed)
		t.unframed = nil
	}
}

// showUnframed shows bytes that are no answer.
func (t *tracedStream) showUnframed(b []byte) {
	f := Frame{At: t.firstByte, URL: t.at.String(), Bytes: slices.Clone(b)}
	switch r, asks := requestOfOtherMaster(*t.at, b); {
	case t.pending != nil && bytes.Equal(b, t.pending.bytes):
		f.Words = "an echo of our own request: the adapter hears what it sends"
	case asks:
		f.Words = "another master asks " + r.describeRequest()
	default:
		f.Words = "damaged: " + explainDamage(*t.at, b)
	}
	t.tracer.publish(f)
}

// duration is a time for a person: 17 ms, 1.2 s.
func duration(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	}
	if d < time.Second {
		return fmt.Sprintf("%.0f ms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

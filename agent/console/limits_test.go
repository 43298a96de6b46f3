package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/agent/control"
)

// said by somebody at the socket who does not use our client.
func speak(t *testing.T, path, says string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_, _ = io.WriteString(c, says) // who is turned away cannot say all
	return c
}

// Who watches and follows takes no seat from those who ask.
func TestStreamsAreFew(t *testing.T) {
	d := newDesk(t)
	begun := make(chan bool)
	d.RegisterLive("endless", control.Look, control.LiveStreamOf(func(ctx context.Context, _ control.None, see func(any) error) error {
		begun <- true
		<-ctx.Done()
		return ctx.Err()
	}))
	c := served(t, d)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 4)
	for range 4 {
		go func() { ended <- c.Follow(ctx, "endless", control.None{}, nil) }()
	}
	for range 4 {
		select {
		case <-begun:
		case err := <-ended:
			t.Fatal(err)
		}
	}
	if err := c.Follow(t.Context(), "endless", control.None{}, nil); err == nil || err.Error() != errStreams.Error() {
		t.Errorf("a fifth stream: %v", err)
	}
	if err := c.Watch(t.Context(), nil, func(control.PointReading) error { return nil }); err == nil || err.Error() != errStreams.Error() {
		t.Errorf("a fifth that watches: %v", err)
	}
	if err := c.Call(t.Context(), "status", control.None{}, nil); err != nil {
		t.Errorf("beside the streams: %v", err)
	}
	cancel()
	for range 4 {
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("a stream ended with %v", err)
		}
	}
}

// Who takes all seats with silence or half requests keeps nobody out, and who is turned away is told.
func TestTheSocketHasRoom(t *testing.T) {
	d := newDesk(t)
	hang, hung := make(chan struct{}), make(chan bool, 20)
	d.Register("hang", control.Look, control.RequestOf(func(ctx context.Context, _ control.None) (control.None, error) {
		hung <- true
		<-hang
		return control.None{}, nil
	}))
	c := served(t, d)
	half := "POST /status HTTP/1.1\r\nHost: g\r\nContent-Length: 100\r\n\r\n{"
	for i := range 40 {
		speak(t, c.path, []string{"", "GET /wa", half}[i%3])
		if err := c.Call(t.Context(), "status", control.None{}, nil); err != nil {
			t.Fatalf("beside %d silent ones: %v", i+1, err)
		}
	}
	for i := range 20 { // and whose body belongs to nothing, and never comes
		speak(t, c.path, "POST /no/such/path HTTP/1.1\r\nHost: g\r\nContent-Length: 10\r\n\r\n")
		if err := c.Call(t.Context(), "status", control.None{}, nil); err != nil {
			t.Fatalf("beside %d without their bodies: %v", i+1, err)
		}
	}
	for at := 0; at < socketLimits.Each; {
		one, away := speak(t, c.path, "POST /hang HTTP/1.1\r\nHost: g\r\nContent-Length: 2\r\n\r\n{}"), make(chan bool, 1)
		go func() {
			_, _ = io.ReadAll(one)
			away <- true
		}()
		select {
		case <-hung:
			at++
		case <-away: // the one before has its answer, and its seat for a moment still
		}
	}
	err := c.Call(t.Context(), "status", control.None{}, nil)
	if err == nil || !strings.Contains(err.Error(), "as many commands of this user as it takes") {
		t.Errorf("beside %d at work: %v", socketLimits.Each, err)
	}
	close(hang)
}

func TestARequestHasABound(t *testing.T) {
	d := newDesk(t)
	d.Register("length", control.Look, control.RequestOf(func(_ context.Context, s string) (int, error) { return len(s), nil }))
	d.RegisterLive("length", control.Look, control.LiveStreamOf(func(_ context.Context, s string, see func(any) error) error { return see(len(s)) }))
	c := served(t, d)
	for _, n := range []int{0, 1, plainBody - 3, plainBody - 2, plainBody - 1, plainBody, 1 << 20, longestBody - 2} {
		var got int
		if err := c.Call(t.Context(), "length", strings.Repeat("x", n), &got); err != nil || got != n {
			t.Errorf("a request of %d bytes: %d, %v", n, got, err)
		}
	}
	if err := c.Call(t.Context(), "length", strings.Repeat("x", longestBody), nil); err == nil {
		t.Error("a longer one was read")
	}
	if err := c.Follow(t.Context(), "length", strings.Repeat("x", plainBody), func(json.RawMessage) error { return nil }); err == nil {
		t.Error("a stream was asked for at length")
	}
	if err := c.Call(t.Context(), "length", strings.Repeat("x", plainBody), new(int)); err != nil {
		t.Errorf("a long request after those: %v", err)
	}
	chunked := speak(t, c.path, fmt.Sprintf("POST /length HTTP/1.1\r\nHost: g\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", plainBody+2, `"`+strings.Repeat("x", plainBody)+`"`))
	if b, err := io.ReadAll(chunked); err != nil || !bytes.Contains(b, []byte(fmt.Sprintf(`{"result":%d}`, plainBody))) {
		t.Errorf("a request that does not say its length: %s, %v", b, err)
	}
}

// endless is an answer that never ends, and says how much of it was read.
type endless struct {
	begin string
	read  int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(b); i++ {
		b[i] = 'x'
	}
	e.read += len(b)
	return len(b), nil
}

func TestNoAnswerIsReadWithoutALimit(t *testing.T) {
	e := &endless{begin: `{"result":1}{"over":true}{"error":"`}
	answers := readAnswers(e)
	for range 2 {
		if err := answers.next(&Answer{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := answers.next(&Answer{}); err == nil || !strings.Contains(err.Error(), "which no gauger says") || e.read > mostAnswer+1<<20 {
		t.Errorf("an endless answer: %v, after %d bytes", err, e.read)
	}
}

func TestOneLongRequestIsReadAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSeats()
		if err := s.takeLong(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := s.takeLong(t.Context()); err == nil || !strings.Contains(err.Error(), "only one may be") || time.Since(start) != longTime {
			t.Errorf("a second one: %v after %s", err, time.Since(start))
		}
		go func() {
			<-time.After(time.Second)
			<-s.long
		}()
		if err := s.takeLong(t.Context()); err != nil {
			t.Errorf("after the first: %v", err)
		}
	})
}

// Whoever is at the socket and hangs up is there: the command must not open the store itself.
func TestOneThatHangsUpIsNotTakenForNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	if _, err := Dial(path); err == nil || errors.Is(err, ErrNoDaemon) || !strings.Contains(err.Error(), "hung up") {
		t.Errorf("says %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial(path); !errors.Is(err, ErrNoDaemon) {
		t.Errorf("when it has ended: %v", err)
	}
}

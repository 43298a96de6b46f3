package cloud

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// silent is a service that takes a request and then says nothing, or says only the status.
type silent struct {
	status int // 0: not even that
	closed int // how often the idle connections were closed
	waited []time.Duration
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return nil, err
		}
	}
	if s.status != 0 {
		return &http.Response{StatusCode: s.status, Header: http.Header{}, Body: stuck{r.Context()}}, nil
	}
	began := time.Now()
	<-r.Context().Done()
	s.waited = append(s.waited, time.Since(began))
	return nil, r.Context().Err()
}

func (s *silent) CloseIdleConnections() { s.closed++ }

// stuck is a body that never comes.
type stuck struct{ ctx context.Context }

func (b stuck) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func (b stuck) Close() error { return nil }

func TestTimeLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{}
		c := clientOf(t, "https://api.example.com", func(o *Options) { o.Transport = s })
		body := [][]byte{make([]byte, 10<<10-2)} // with the array's brackets 10 KB
		for late := range 4 {
			a := c.Post(t.Context(), SaveRunTickets, "", body, 9, late)
			if a.Class != Ambiguous || !a.Late || !strings.Contains(a.Message, "no answer in time") {
				t.Fatalf("%+v", a)
			}
		}
		// 30 s and 10 s for 10 KB, doubled twice by those that were late, and not by those whose answer was cut off.
		want := []time.Duration{40, 80, 160, 160}
		for i, w := range want {
			if s.waited[i] != w*time.Second {
				t.Errorf("attempt %d waited %v, want %ds", i, s.waited[i], w)
			}
		}
		if s.closed != len(want) {
			t.Errorf("idle connections were closed %d times after %d time-outs", s.closed, len(want))
		}
	})
}

// TestAStatusIsNotEnough answers with a status whose body never comes: nobody knows what it would have said, and nobody waits longer
// than for any answer; an error's needs none.
func TestAStatusIsNotEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &silent{status: 200}
		c := clientOf(t, "https://api.example.com", func(o *Options) { o.Transport = s })
		began := time.Now()
		if a := post(t, c); a.Class != Ambiguous || a.Status != 200 {
			t.Errorf("%+v", a)
		}
		if took := time.Since(began); took.Round(time.Second) != 30*time.Second {
			t.Errorf("it took %v", took)
		}
		if _, err := c.QueryDevices(t.Context(), DeviceQuery{}); err == nil || !strings.Contains(err.Error(), "reading the answer") {
			t.Errorf("a page without body: %v", err)
		}
		if took := time.Since(began); took.Round(time.Second) != 30*time.Second+158*time.Second {
			t.Errorf("the query ended after %v", took)
		}
		began, s.status = time.Now(), 503
		if a := post(t, c); a.Class != Wait || time.Since(began) != bodyTime {
			t.Errorf("after %v %+v", time.Since(began), a)
		}
	})
}

func TestStopIsNotATimeOut(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := clientOf(t, "https://api.example.com", func(o *Options) {
		o.Transport = tripper(func(r *http.Request) (*http.Response, error) {
			cancel()
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			return nil, r.Context().Err()
		})
	})
	a := c.Post(ctx, SaveRunTickets, "", [][]byte{[]byte("{}")}, 0, 0)
	if a.Class != Ambiguous || !strings.Contains(a.Message, "stopped before an answer came") {
		t.Errorf("%+v", a)
	}
}

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAnswersThatUnfold: an answer is as long as what it unfolds to.
func TestAnswersThatUnfold(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(append([]byte{'['}, bytes.Repeat([]byte{' '}, 256<<20)...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		if _, err := w.Write(packed.Bytes()); err != nil {
			return // the client has enough
		}
	}))
	defer s.Close()
	c := clientOf(t, s.URL)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if a := post(t, c); a.Class != WrongAddress || !a.Foreign {
		t.Errorf("save: %s", a.Class)
	}
	if _, err := c.QueryDevices(t.Context(), DeviceQuery{}); err == nil || !strings.Contains(err.Error(), "larger than 4096 KB") {
		t.Errorf("query: %v", err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d bytes for answers of %d", took, packed.Len())
	}
}

// The service gets a certificate of another authority, and its file is exchanged: who fails by the old one reads the new one. Who is asked
// to reads it again at once, and believes the old authority no more.
func TestAuthoritiesAreReadAgain(t *testing.T) {
	first, second := newAuthority(t), newAuthority(t)
	serve := func(a authority) *httptest.Server {
		return a.serve(t, "127.0.0.1", time.Now().Add(-time.Hour), time.Now().Add(time.Hour), func(http.ResponseWriter, *http.Request) {})
	}
	old, now := serve(first), serve(second)
	file := filepath.Join(t.TempDir(), "ca.pem")
	exchange := func(by authority) {
		text, err := os.ReadFile(by.file)
		if err == nil {
			err = os.WriteFile(file, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	exchange(first)
	c := clientOf(t, old.URL, func(o *Options) { o.CAFile = file })
	says := func(of *httptest.Server, want Class) {
		t.Helper()
		c.base, _ = url.Parse(of.URL)
		if got := post(t, c); got.Class != want || want == Wait && !strings.Contains(got.Message, "unknown authority") {
			t.Errorf("%+v, want %v", got, want)
		}
	}
	says(old, Stored)
	says(now, Wait)
	exchange(second)
	says(now, Stored)
	exchange(first)
	c.Reread()
	says(now, Wait)
	says(old, Stored)
}

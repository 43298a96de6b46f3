package cloudtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"syscall"
	"time"
)

// Fault spoils one request. The zero value does not.
type Fault struct {
	// Refuse ends the attempt before anything of the request was read: as if nothing listened.
	Refuse bool
	// DropBefore cuts the connection when the request was read, before anything was stored.
	DropBefore bool
	// DropAfter cuts it when everything was stored: the answer is lost.
	DropAfter bool
	// Delay passes before the answer; what is to be stored is stored before it.
	Delay time.Duration
	// Status is answered instead of carrying the request out. 0: carry it out.
	Status int
	// Store carries the request out although Status is answered.
	Store bool
	// RetryAfter and Location are headers of the answer.
	RetryAfter, Location string
	// Header is further headers of the answer.
	Header http.Header
	// Body is answered instead of the service's own. Empty: the error body of Status, or the result.
	Body string
}

// Next queues faults for the next requests, one each, before Fault is asked.
func (s *Service) Next(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, faults...)
}

func (s *Service) faultOf(c Call) Fault {
	s.mu.Lock()
	if len(s.queue) > 0 {
		f := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		return f
	}
	ask := s.Fault
	s.mu.Unlock()
	if ask != nil {
		if f := ask(c); f != nil {
			return *f
		}
	}
	return Fault{}
}

// exchange serves one call with its fault; ok is false when the connection is to be cut.
func (s *Service) exchange(ctx context.Context, c Call, f Fault) (a response, ok bool) {
	if f.DropBefore {
		s.remember(c, 0)
		return a, false
	}
	if f.Status == 0 || f.Store {
		a = s.process(&c)
	}
	if f.Status != 0 {
		s.mu.Lock()
		a = s.errorAnswer(f.Status, "fault")
		s.mu.Unlock()
	}
	f.dress(&a)
	status := a.status
	if f.DropAfter {
		status = 0
	}
	s.remember(c, status)
	if f.Delay > 0 {
		t := time.NewTimer(f.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return a, false
		}
	}
	return a, !f.DropAfter
}

// dress puts the fault's headers and body on an answer.
func (f Fault) dress(a *response) {
	for name, values := range f.Header {
		a.header[http.CanonicalHeaderKey(name)] = values
	}
	if f.RetryAfter != "" {
		a.header.Set("Retry-After", f.RetryAfter)
	}
	if f.Location != "" {
		a.header.Set("Location", f.Location)
	}
	if f.Body != "" {
		a.body = []byte(f.Body)
	}
}

// ServeHTTP serves over a socket. A cut connection is an aborted handler.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, err := s.receive(r)
	if err != nil {
		panic(http.ErrAbortHandler) // the client went away while it was sending
	}
	f := s.faultOf(c)
	if f.Refuse {
		f.DropBefore = true // what was accepted can no longer be refused
	}
	a, ok := s.exchange(r.Context(), c, f)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.status)
	if a.status < 200 || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		return // these have no body
	}
	if _, err := w.Write(a.body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// RoundTrip serves within the process, with the trace hooks and the errors of a transport over a socket.
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	f := s.faultOf(s.outline(r))
	if f.Refuse {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
		if trace.WroteHeaders != nil {
			trace.WroteHeaders()
		}
		if trace.WroteRequest != nil {
			defer trace.WroteRequest(httptrace.WroteRequestInfo{})
		}
	}
	c, err := s.receive(r)
	if err != nil {
		return nil, err
	}
	a, ok := s.exchange(r.Context(), c, f)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if !ok {
		return nil, io.ErrUnexpectedEOF
	}
	a.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.status, http.StatusText(a.status)), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: a.header, Request: r,
		Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)),
	}, nil
}

// outline is a call of which only the head is known.
func (s *Service) outline(r *http.Request) Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), At: time.Now()}
	if found, _, ok := s.find(c.Path); ok {
		c.Op = found.op
	}
	return c
}

// String says what goes wrong, for a test's message.
func (f Fault) String() string {
	switch {
	case f.Refuse:
		return "refuse"
	case f.DropBefore:
		return "drop before"
	case f.DropAfter:
		return "drop after"
	case f.Status != 0:
		return "status " + strconv.Itoa(f.Status)
	case f.Delay > 0:
		return "delay " + f.Delay.String()
	}
	return "none"
}

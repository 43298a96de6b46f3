// Package cloudtest is the reference service: all nine operations of the interface specification, kept in
// memory, and strict about every rule that the specification states. It decodes with rules of its own, so that a
// client that misspells a field fails here. What the specification does not show is a field of Service.
//
// service.go takes a request, query.go reads it as the specification says; ticket.go, event.go, value.go, key.go and device.go
// are the operations; fault.go spoils one.
//
// It serves tests, the demonstration and benchmarks, over a socket (http.Handler) or within the process
// (http.RoundTripper). Within the process it sleeps only on timers, so that it works under testing/synctest.
package cloudtest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Service is the reference service. The zero value is ready: it takes any key, and no user can log in.
// Set fields before use, or within Adjust.
type Service struct {
	// Alpha and Beta are the two literal path segments. Empty: vAlpha and vBeta.
	Alpha, Beta string

	// PrimaryKey and SecondaryKey are the two subscription keys. Both empty: every key is taken.
	PrimaryKey, SecondaryKey string
	// LoginKey is a subscription key that is good for Authenticate only. Empty: there is none.
	LoginKey string
	// KeyLife is counted for the first two keys from the first request on. 0: six months.
	KeyLife time.Duration
	// Rotate makes a renewal give a new value. The old one lives on for Grace, the new one works after Activation.
	Rotate            bool
	Grace, Activation time.Duration
	// ExpiryLayout is the layout of expirations. Empty: RFC 3339.
	ExpiryLayout string
	// Users may log in.
	Users []User

	// Conflict answers 409 to a ticket number that was stored before. Else it is stored again, and Duplicates
	// shows it.
	Conflict bool
	// MemoText and MemoEmail are the names of a memo's properties. Empty: text and email.
	MemoText, MemoEmail string
	// ListName is the member that holds the list of devices or events. Empty: the answer is the list itself.
	ListName string
	// DevicesPerPage is the page size of devices when none is asked for. 0: 100.
	DevicesPerPage int
	// MaxPage is the largest page given, whatever is asked for. 0: no limit.
	MaxPage int
	// MaxBody is the largest request body in bytes; above it the answer is 413. 0: 4 MiB.
	MaxBody int64

	// RefusePrimary and RefuseSecondary answer 401 to every value of that key.
	RefusePrimary, RefuseSecondary bool
	// Fault is asked before each request; nil, or a nil answer, is no fault. It is called without a lock.
	Fault func(Call) *Fault

	mu      sync.Mutex
	queue   []Fault
	keys    [2][]keyValue
	opened  bool
	serial  int
	counts  map[string]int
	calls   []Call
	tickets []Ticket
	events  []Event
	values  []Value
	targets []Value
	devices []Device
	memos   []Memo
}

// Call is one request as it arrived.
type Call struct {
	Op     string // the operation's name in the specification; empty: no such path
	Method string
	Path   string // escaped
	Query  url.Values
	Header http.Header
	Body   []byte
	Key    string // primary, secondary, login or any: whose key it carried; empty: none that is accepted
	At     time.Time
	Status int // what was answered; 0 when the connection was cut
}

const mostCalls = 1000

// Adjust runs fn while no request is served, so that fields may be changed in the middle of a test.
func (s *Service) Adjust(fn func(*Service)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(s)
}

// route is one operation.
type route struct {
	op, method string
	path       []string // segments; {} stands for any one
	serve      func(*Service, *Call, []string) (any, error)
}

// routes follow the table of the specification's section 1.
func (s *Service) routes() []route {
	alpha, beta := s.Alpha, s.Beta
	alpha = cmp.Or(alpha, "vAlpha")
	beta = cmp.Or(beta, "vBeta")
	return []route{
		{"Authenticate", http.MethodPost, []string{alpha, "authenticate"}, (*Service).authenticate},
		{"RenewAPIKey", http.MethodGet, []string{"v1", "apikey", "{}", "renew"}, (*Service).renew},
		{"SaveRunTickets", http.MethodPost, []string{alpha, "runtickets"}, (*Service).saveTickets},
		{"SaveDiagnosticEvents", http.MethodPost, []string{beta, "events", "diagnostic", "save"}, (*Service).saveEvents},
		{"SaveObjectTagValues", http.MethodPost, []string{"v1", "object", "tagvalues"}, (*Service).saveValues},
		{"SaveProductionTargets", http.MethodPost, []string{"v1", "production-targets"}, (*Service).saveTargets},
		{"QueryDevices", http.MethodGet, []string{"v1", "query-devices"}, (*Service).queryDevices},
		{"AddDeviceMemo", http.MethodPost, []string{"v1", "devices", "{}", "memos"}, (*Service).addMemo},
		{"GetEvents", http.MethodGet, []string{alpha, "{}", "events"}, (*Service).getEvents},
	}
}

// find gives the operation of a path and the parts that stood for {}.
func (s *Service) find(escaped string) (route, []string, bool) {
	parts := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	for _, r := range s.routes() {
		if args, ok := match(r.path, parts); ok {
			return r, args, true
		}
	}
	return route{}, nil, false
}

func match(want, have []string) (args []string, ok bool) {
	if len(want) != len(have) {
		return nil, false
	}
	for i, w := range want {
		part, err := url.PathUnescape(have[i])
		switch {
		case err != nil:
			return nil, false
		case w == "{}" && part != "":
			args = append(args, part)
		case w != part:
			return nil, false
		}
	}
	return args, true
}

// refusal is an answer other than 200.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error { return refuse(http.StatusBadRequest, format, args...) }

type response struct {
	status int
	header http.Header
	body   []byte
}

// process carries one call out, under the lock.
func (s *Service) process(c *Call) response {
	s.mu.Lock()
	defer s.mu.Unlock()
	result, err := s.carryOut(c)
	if err == nil {
		b, err := json.Marshal(result)
		if err == nil {
			return response{http.StatusOK, http.Header{"Content-Type": {"application/json"}}, b}
		}
		return s.errorAnswer(http.StatusInternalServerError, err.Error())
	}
	if r, ok := errors.AsType[*refusal](err); ok {
		return s.errorAnswer(r.status, r.message)
	}
	return s.errorAnswer(http.StatusBadRequest, err.Error())
}

func (s *Service) carryOut(c *Call) (any, error) {
	r, args, found := s.find(c.Path)
	if !found {
		return nil, refuse(http.StatusNotFound, "there is no %s", c.Path)
	}
	if c.Method != r.method {
		return nil, refuse(http.StatusMethodNotAllowed, "%s wants %s", r.op, r.method)
	}
	if c.Key = s.whose(c.Header.Values(keyHeader), r.op); c.Key == "" {
		return nil, refuse(http.StatusUnauthorized, "Unauthorized")
	}
	if err := s.checkRequest(c, r); err != nil {
		return nil, err
	}
	return r.serve(s, c, args)
}

// checkRequest holds the common rules of section 4.
func (s *Service) checkRequest(c *Call, r route) error {
	most := cmp.Or(s.MaxBody, 4<<20)
	if int64(len(c.Body)) > most {
		return refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", most)
	}
	if r.method == http.MethodGet {
		if len(c.Body) > 0 {
			return invalid("%s has no body", r.op)
		}
		return nil
	}
	if len(c.Query) > 0 {
		return invalid("%s has no query", r.op)
	}
	if t := c.Header.Get("Content-Type"); t != "" {
		media, params, err := mime.ParseMediaType(t)
		if charset := params["charset"]; err != nil || media != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
			return refuse(http.StatusUnsupportedMediaType, "content type %q is not application/json", t)
		}
	}
	return nil
}

// errorAnswer has the error body of section 2.10; a success has none.
func (s *Service) errorAnswer(status int, message string) response {
	s.serial++
	if status < http.StatusMultipleChoices {
		return response{status, http.Header{}, nil}
	}
	b, err := json.Marshal(map[string]any{
		"httpStatusCode": status, "message": message, "errorCode": status * 100, "errorDescription": http.StatusText(status),
		"correlationId": fmt.Sprintf("c-%06d", s.serial), "timestamp": time.Now().UTC().Format(time.RFC3339),
	})
	if err != nil {
		b = []byte(`{}`) // strings and numbers always marshal
	}
	return response{status, http.Header{"Content-Type": {"application/json"}}, b}
}

// receive makes a call of a request. The body is read whole, up to a limit that only an attack reaches.
func (s *Service) receive(r *http.Request) (Call, error) {
	c := Call{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), At: time.Now()}
	if r.Body != nil {
		b, err := io.ReadAll(io.LimitReader(r.Body, 64<<20))
		if err != nil {
			return c, fmt.Errorf("reading the request: %w", err)
		}
		c.Body = bytes.Clone(b)
	}
	s.mu.Lock()
	if found, _, ok := s.find(c.Path); ok {
		c.Op = found.op
	}
	s.mu.Unlock()
	return c, nil
}

func (s *Service) remember(c Call, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Status = status
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	s.counts[c.Op]++
	if len(s.calls) >= mostCalls {
		s.calls = slices.Delete(s.calls, 0, mostCalls/2)
	}
	s.calls = append(s.calls, c)
}

// Calls gives the latest requests, at most a thousand, oldest first.
func (s *Service) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.calls)
	for i := range out {
		out[i].Header, out[i].Body = out[i].Header.Clone(), bytes.Clone(out[i].Body)
	}
	return out
}

// Count counts the requests of an operation, refused ones too; the empty name stands for unknown paths.
func (s *Service) Count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[op]
}

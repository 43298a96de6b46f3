package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/collectors/doors"
)

// pageHeaders tell a browser that the page is nobody's frame, takes script, style and pictures from files of its own alone, and is
// kept nowhere. Browsers say where a form comes from only to whom they say where a link comes from: same-origin.
var pageHeaders = map[string]string{
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options":        "DENY",
	"Referrer-Policy":        "same-origin",
	"Cache-Control":          "no-store",
}

// policy of a page's content, but for where its forms may go.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action "

// guard lets only those ask that use a name of this box, with GET and HEAD, and where the page takes forms with POST from pages of its
// own. A strange name is how a web site of somebody else reads the page in a visitor's browser, which takes the site's name for
// the box (DNS rebinding).
func guard(names []string, forms bool, denied func(host string), page http.Handler) http.Handler {
	action, methods, own := "'none'", "GET, HEAD", http.NewCrossOriginProtection()
	if forms {
		action, methods = "'self'", "GET, HEAD, POST"
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range pageHeaders {
			w.Header().Set(name, value)
		}
		w.Header().Set("Content-Security-Policy", policy+action)
		post := forms && r.Method == http.MethodPost
		switch {
		case r.Method != http.MethodGet && r.Method != http.MethodHead && !post:
			w.Header().Set("Allow", methods)
			http.Error(w, "The status page does not take this: ask with "+methods+".", http.StatusMethodNotAllowed)
			return
		case !knows(names, r.Host):
			denied(hostOf(r.Host))
			http.Error(w, fmt.Sprintf("Nobody has said that this box is called %q. Ask by its IP address, or write the name to http.hosts in the configuration.", r.Host), http.StatusMisdirectedRequest)
			return
		case !post:
		case own.Check(r) != nil:
			http.Error(w, "This form comes from another site; nothing was done. Open the status page itself.", http.StatusForbidden)
			return
		default:
			if err := readForm(w, r); err != nil {
				http.Error(w, "The form could not be read, and nothing was done: "+err.Error(), http.StatusBadRequest)
				return
			}
		}
		page.ServeHTTP(w, r)
	})
}

// formBytes are the most that a form of the page may be long.
const formBytes = 16 << 10

// readForm reads what is posted, within the time that a request's head may take.
func readForm(w http.ResponseWriter, r *http.Request) error {
	defer comes(r)()
	conn := http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Now().Add(headTime)) // a connection that takes none is closed, and says so when it is read
	r.Body = http.MaxBytesReader(w, r.Body, formBytes)
	err := r.ParseForm()
	_ = conn.SetReadDeadline(time.Time{})
	return err
}

// pageNames are the names of the box: the configuration's, that under which it listens, and its own, which nobody outside of the
// local network can have.
func pageNames(listen string, hosts []string) []string {
	names := append([]string{"localhost"}, hosts...)
	if host, _, err := net.SplitHostPort(listen); err == nil {
		names = append(names, host)
	}
	if own, err := os.Hostname(); err == nil {
		names = append(names, own, own+".local")
	}
	return names
}

// knows says whether a Host header is an IP address or one of the names; one who sends none is no browser.
func knows(names []string, host string) bool {
	host = hostOf(host)
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil || host == "" {
		return true
	}
	return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(strings.TrimSuffix(name, "."), host) })
}

// hostOf is the name in a Host header, without port and final dot.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(host, ".")
}

const (
	headTime    = 10 * time.Second // that the head of a request may take, and then its body
	answerTime  = 30 * time.Second // that 16 kB of an answer may take: some radios need them
	headBytes   = 16 << 10
	plainBody   = 64 << 10         // bytes of a request's body; longer ones come one at a time
	longestBody = 4 << 20          // bytes
	longTime    = 20 * time.Second // that a long request waits for the one before it
	pagesAtWork = 4
	pageTurn    = 3 * time.Second // until which a page must have its turn; it is a few ms at work
)

// pageLimits count a household behind one address as one peer: a browser has up to six connections.
var pageLimits = doors.Limits{All: 32, Each: 8, Write: answerTime, Refuse: func(c net.Conn, full string) {
	refuse(c, "text/plain; charset=utf-8", fmt.Appendf(nil, "The status page has as many %s as it takes. Try again in a moment.\n", full))
}}

// socketLimits know the users of the box as peers.
var socketLimits = doors.Limits{All: 32, Each: 16, Write: answerTime, Peer: func(c net.Conn) string { return peer(c).Name }, Refuse: func(c net.Conn, full string) {
	who := "the running gauger has as many commands as it takes"
	if full == doors.ThePeer {
		who = "the running gauger has as many commands of this user as it takes"
	}
	body, _ := json.Marshal(Answer{Error: who + "; end those that nobody needs, or try again in a moment"}) // text always marshals
	refuse(c, "application/json", body)
}}

// refuse answers a request that is not looked at. What has come of it is taken: a connection that is closed before loses its answer.
func refuse(c net.Conn, kind string, body []byte) {
	if _, err := c.Read(make([]byte, headBytes)); err == nil {
		fmt.Fprintf(c, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: %s\r\nContent-Length: %d\r\nRetry-After: 1\r\nConnection: close\r\n\r\n%s", kind, len(body), body)
	}
}

// Serve answers on l until ctx ends: one request a connection, so that none is idle and nobody asks without reading.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	limits := pageLimits
	if l.Addr().Network() == "unix" {
		limits = socketLimits
	}
	s := &http.Server{
		Handler: unreadBodiesStay(h), ReadHeaderTimeout: headTime, MaxHeaderBytes: headBytes,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return control.WithCaller(context.WithValue(ctx, comingOn{}, c), peer(c.(*doors.Conn).Conn))
		},
		ConnState: func(c net.Conn, s http.ConnState) { c.(*doors.Conn).Working(s == http.StateActive) },
	}
	s.SetKeepAlivesEnabled(false)
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if err := s.Serve(doors.Listen(l, limits)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", l.Addr(), err)
	}
	return nil
}

// unreadBodiesStay closes a connection of whose request nobody has read all, where net/http would wait for the rest for ever.
func unreadBodiesStay(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // a connection that takes none is closed
	})
}

// comingOn is the key of the connection that a request comes on.
type comingOn struct{}

// comes says that a request is still coming, until it is there: who has not said all that he asks gives way.
func comes(r *http.Request) (there func()) {
	c, ok := r.Context().Value(comingOn{}).(*doors.Conn)
	if !ok {
		return func() {}
	}
	c.Working(false)
	return func() { c.Working(true) }
}

// seats are what there is little of behind the socket.
type seats struct {
	streams doors.Seats   // for what goes on for a while
	long    chan struct{} // for a request of more than plainBody bytes
}

func newSeats() *seats {
	return &seats{streams: doors.Seats{All: 8, Each: 4}, long: make(chan struct{}, 1)}
}

// errStreams says that there are no more seats for streams.
var errStreams = errors.New("as many are watching and following as there may be (8 in all, 4 of one user); end one of those commands, and try again")

// body reads the body of a request; done is called when nobody holds it any more. Eleven long ones at once would be more memory
// than the agent has.
func (s *seats) body(w http.ResponseWriter, r *http.Request) (body []byte, done func(), err error) {
	done = func() {}
	defer comes(r)()
	conn := http.NewResponseController(w)
	read := func(b *bytes.Buffer, from io.Reader) error {
		_ = conn.SetReadDeadline(time.Now().Add(headTime)) // a connection that takes none is closed, and says so when it is read
		_, err := io.Copy(b, from)
		return err
	}
	var b bytes.Buffer
	if err = read(&b, io.LimitReader(r.Body, plainBody)); err == nil && b.Len() == plainBody {
		if err = s.takeLong(r.Context()); err != nil {
			return nil, done, err
		}
		done = func() { <-s.long }
		b.Grow(int(min(max(r.ContentLength, plainBody), longestBody)) - plainBody)
		err = read(&b, http.MaxBytesReader(w, r.Body, longestBody-plainBody))
	}
	_ = conn.SetReadDeadline(time.Time{}) // net/http goes on reading, to see whether the client leaves
	return b.Bytes(), done, err
}

func (s *seats) takeLong(ctx context.Context) error {
	limit := time.NewTimer(longTime)
	defer limit.Stop()
	select {
	case s.long <- struct{}{}:
		return nil
	case <-limit.C:
		return fmt.Errorf("another request of more than %d kB is at work, and only one may be; try again in a moment", plainBody>>10)
	case <-ctx.Done():
		return ctx.Err()
	}
}

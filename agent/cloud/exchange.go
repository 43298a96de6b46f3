package cloud

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"gauger/agent/cloud/keys"
)

// request is one call of one operation, before a key is chosen.
type request struct {
	op      Operation
	arg     string // the part of the path that the caller gives
	query   url.Values
	body    []byte
	records int // how many records body holds
	attempt int // how many ambiguous attempts came before
	late    int // how many of the last ones had no answer in time
}

// reply is of a request with one key: a status, or err.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	bodyErr error // the status arrived, the body did not arrive whole
	err     error
	sent    bool   // something of the request may have reached the service
	page    bool   // what could count as stored came with a web page: who answered is not the service
	foreign bool   // a 2xx to what was to be stored came with a script, an image, 64 KB of no JSON or a megabyte: the same
	refused bool   // a 2xx came with an error and nothing else in its body
	unclear string // of a 2xx to what was to be stored, whose body may have meant anything: what is wrong with it, behind "whose body"

	elsewhere string // of a 401: what was being done when the service took one of the keys since it refuses this; empty: it took none
}

// ok says that the service did what it was asked.
func (p reply) ok() bool {
	return p.status >= 200 && p.status <= 299 && !p.page && !p.foreign && !p.refused && p.unclear == ""
}

// bodyTime bounds the body of an answer once its status is known, when nothing depends on it.
const bodyTime = 10 * time.Second

// exchange makes one HTTP request with the given key and reads the answer within the limits.
func (c *Client) exchange(ctx context.Context, r request, key keys.Secret) reply {
	ctx, cancel := context.WithTimeout(ctx, c.timeLimit(r.op, len(r.body), r.late))
	defer cancel()
	var sent atomic.Bool
	req, err := c.build(ctx, r, key, &sent)
	if err != nil {
		return reply{err: err}
	}
	transport, err := c.roundTripper()
	if err != nil {
		return reply{err: err}
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		if timedOut(err) || ctx.Err() != nil {
			c.Close() // a connection that went silent must not be used again
		}
		if _, doubted := errors.AsType[*tls.CertificateVerificationError](err); doubted {
			c.Reread()
		}
		if date := certificateDate(err, time.Now()); c.Heard != nil && !date.IsZero() {
			c.Heard(time.Now(), date, false)
		}
		return reply{err: err, sent: sent.Load()}
	}
	defer resp.Body.Close()
	out, came := reply{status: resp.StatusCode, header: resp.Header, sent: true}, time.Now()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return out // what follows is the raw connection, which no context ends; nobody asked for it
	}
	if !out.ok() && r.op.stores() {
		defer time.AfterFunc(bodyTime, cancel).Stop()
	}
	out.body, out.bodyErr = readBody(resp.Body, r.op, out.ok())
	if out.bodyErr != nil && timedOut(out.bodyErr) {
		c.Close()
	}
	if good := out.ok() || out.status == http.StatusConflict; good && !c.wire.AcceptHTML && webPage(out.header, out.body) {
		out.page = true
	} else if date, err := http.ParseTime(resp.Header.Get("Date")); c.Heard != nil && err == nil { // the clock of a gateway is not the service's
		c.Heard(came, date, resp.TLS != nil && len(resp.TLS.VerifiedChains) > 0)
	}
	var saved []byte
	if r.op.stores() {
		saved = r.body
	}
	out.refused = out.ok() && reportsError(out.body, saved)
	if out.ok() && r.op.stores() {
		foreign, begun, broken := readSaved(out.header, out.body)
		tooLong := errors.Is(out.bodyErr, ErrShape)
		out.foreign = !c.wire.AcceptHTML && (foreign || tooLong)
		// Where no length is said, an end of TLS without its farewell is usual, and a whole object is whole.
		whole := out.bodyErr == nil || resp.ContentLength < 0 && len(resp.TransferEncoding) == 0 && len(out.body) > 0 && errors.Is(out.bodyErr, io.ErrUnexpectedEOF)
		switch {
		case out.foreign || tooLong:
		case !whole || begun:
			out.unclear = "was cut off"
		case broken && !c.wire.AcceptHTML:
			out.unclear = "should be JSON and is none"
		}
	}
	return out
}

// build makes the HTTP request. sent is set as soon as the transport begins to write it.
func (c *Client) build(ctx context.Context, r request, key keys.Secret, sent *atomic.Bool) (*http.Request, error) {
	if err := key.Usable(); err != nil {
		return nil, fmt.Errorf("the subscription key cannot be sent: %w", err)
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
		WroteRequest: func(httptrace.WroteRequestInfo) { sent.Store(true) },
	})
	req, err := http.NewRequestWithContext(ctx, routes[r.op].method, c.target(r), nil)
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		open := func() (io.ReadCloser, error) { return &sentBody{bytes.NewReader(r.body), sent}, nil }
		req.Body, _ = open() // open never fails
		req.GetBody, req.ContentLength = open, int64(len(r.body))
	}
	if req.Method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.userAgent)
	req.Header.Set(keyHeader, string(key))
	return req, c.addHeaders(req.Header)
}

// addHeaders adds the configured headers; one that needs the login's token waits until there is one.
func (c *Client) addHeaders(h http.Header) error {
	if c.options.SecretHeaders != nil {
		secret, err := c.options.SecretHeaders()
		if err != nil {
			return err
		}
		c.mu.Lock()
		c.headers = slices.Collect(maps.Values(secret))
		c.mu.Unlock()
		for name, value := range secret {
			if value == "" || !headerValue(string(value)) {
				return fmt.Errorf("service.secret_headers.%s cannot be sent: it is empty, or holds a control character", name)
			}
			h.Set(name, string(value))
		}
	}
	c.mu.Lock()
	token := string(c.idToken)
	c.mu.Unlock()
	for name, value := range c.wire.Headers {
		if strings.Contains(value, "{idToken}") {
			if token == "" {
				continue
			}
			value = strings.ReplaceAll(value, "{idToken}", token)
		}
		h.Set(name, value)
	}
	return nil
}

// sentBody notes that a transport began to read the body, which it does only to write it.
type sentBody struct {
	*bytes.Reader
	sent *atomic.Bool
}

// Read reads on, and notes it.
func (b *sentBody) Read(p []byte) (int, error) {
	b.sent.Store(true)
	return b.Reader.Read(p)
}

// WriteTo does the same for transports that prefer it.
func (b *sentBody) WriteTo(w io.Writer) (int64, error) {
	b.sent.Store(true)
	return b.Reader.WriteTo(w)
}

// Close does nothing: the bytes belong to the caller.
func (b *sentBody) Close() error { return nil }

// timeLimit is the configured limit and a second for each KB that is sent or may be fetched; a page comes at
// 32 KB a second or is not worth waiting for. Each attempt before that had no answer in time doubles it, since the service may be slow, to
// four times at most: whatever waits behind it waits too, and most that is silent stays so. An answer that was cut off was not late.
func (c *Client) timeLimit(op Operation, size, late int) time.Duration {
	limit := c.wire.RequestTimeout + time.Duration(size)*time.Second/1024
	if op == QueryDevices || op == GetEvents {
		limit += pageLimit / (32 << 10) * time.Second
	}
	return limit << min(late, 2)
}

// Longest is more time than a request of these records takes, with another key and a login on the way.
func (c *Client) Longest(size, late int) time.Duration {
	return 4*c.Patience(size, late) + time.Minute
}

// Patience is how long the answer to a request with so many bytes of records is awaited.
func (c *Client) Patience(size, late int) time.Duration {
	return c.timeLimit(SaveRunTickets, size, late)
}

// readBody reads at most the operation's limit. More than that is an error only where the body matters. What is no page of
// what was asked for has no need of a page's limit.
func readBody(from io.Reader, op Operation, done bool) ([]byte, error) {
	limit := int64(saveLimit)
	switch {
	case done && (op == QueryDevices || op == GetEvents):
		limit = pageLimit
	case done && op.stores():
		limit = echoLimit
	}
	b, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err == nil && int64(len(b)) > limit {
		return b[:limit], fmt.Errorf("%w: it is larger than %d KB; ask for smaller pages", ErrShape, limit>>10)
	}
	return b, err
}

func timedOut(err error) bool {
	if n, ok := errors.AsType[net.Error](err); ok && n.Timeout() {
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// certificateUntimely says that a certificate is too young or too old for this box's clock.
func certificateUntimely(err error) bool {
	e, ok := errors.AsType[x509.CertificateInvalidError](err)
	return ok && e.Reason == x509.Expired
}

// certificateDate is a date that an untimely certificate allows, whole days from now, so that it is as far from each try of a day; zero: it
// allows this one, or a day on.
func certificateDate(err error, now time.Time) (at time.Time) {
	if e, _ := errors.AsType[x509.CertificateInvalidError](err); certificateUntimely(err) {
		if at = e.Cert.NotAfter; now.Before(e.Cert.NotBefore) {
			at = e.Cert.NotBefore
		}
		days := at.Sub(now).Truncate(24 * time.Hour)
		if at = now.Add(days); days == 0 {
			at = time.Time{}
		}
	}
	return at
}

// explain says what a failed exchange means for a person. Go's own texts name neither the clock nor the remedy.
func explain(err error, now time.Time) string {
	if certificateUntimely(err) {
		return fmt.Sprintf("the service's certificate is not yet valid or has expired; this box's clock says %s: set the clock if that is wrong, else the service must renew its certificate",
			now.UTC().Format("2006-01-02 15:04 MST"))
	}
	if e, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "the service's certificate is signed by an unknown authority; set service.ca_file, or update the system's certificates, which a running gauger reads at its next start: " + clean(e.Error())
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the service's certificate is not accepted: " + clean(e.Err.Error())
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "the other side does not speak TLS; check service.url and what stands between"
	}
	if errors.Is(err, context.Canceled) {
		return "stopped before an answer came"
	}
	if timedOut(err) {
		return "no answer in time: " + clean(err.Error())
	}
	return clean(err.Error())
}

// call makes a request with the keys in turn, and once more when all were refused and new ones could be had.
// A refused request was not carried out, so that repeating it at once doubles nothing. Where other operations take the keys it is
// this one that they may not do, and nothing is held against them.
func (c *Client) call(ctx context.Context, r request) reply {
	p, refused, seen := c.tryKeys(ctx, r)
	if p.denied() && ctx.Err() == nil && c.scopes.elsewhere(r.op, "") == "" && c.ring.Recover(ctx, seen) {
		var more []keys.Suspicion
		p, more, _ = c.tryKeys(ctx, r)
		refused = append(refused, more...)
	}
	if p.denied() {
		p.elsewhere = c.scopes.elsewhere(r.op, "")
	}
	for i := range refused {
		if of := refused[len(refused)-1-i]; p.elsewhere != "" {
			c.ring.Cleared(of)
		} else {
			c.scopes.forget(of.Value)
			c.ring.Confirmed(refused[i])
		}
	}
	return p
}

// denied says that no key was taken, or that there is none.
func (p *reply) denied() bool {
	return p.status == http.StatusUnauthorized || errors.Is(p.err, keys.ErrNoKey)
}

// tryKeys goes through the keys until one is not refused. A 403 is tried with the other keys too, but it says
// nothing against the key: the right may be missing, or the quota used up.
func (c *Client) tryKeys(ctx context.Context, r request) (p reply, refused []keys.Suspicion, seen uint64) {
	inOrder, seen := c.ring.Order(true)
	p = reply{err: keys.ErrNoKey}
	var forbidden *reply
	for _, k := range inOrder {
		p = c.exchange(ctx, r, k.Value)
		switch {
		case p.status == http.StatusUnauthorized:
			c.scopes.note(r.op, k.Value, false)
			if c.scopes.elsewhere(r.op, k.Value) == "" {
				refused = append(refused, c.ring.Suspected(k))
			}
		case p.status == http.StatusForbidden:
			forbidden = new(p)
		default:
			if p.ok() {
				c.scopes.note(r.op, k.Value, true)
				c.ring.Accepted(k, true)
			}
			return p, refused, seen
		}
	}
	if forbidden != nil {
		return *forbidden, refused, seen
	}
	return p, refused, seen
}

// fetch makes a request whose answer matters, and gives its body; with ErrShape the web page or the error that came instead.
func (c *Client) fetch(ctx context.Context, r request) ([]byte, error) {
	p := c.call(ctx, r)
	if p.page || p.refused {
		return p.body, c.failure(r, p)
	}
	if !p.ok() {
		return nil, c.failure(r, p)
	}
	if p.bodyErr != nil {
		return nil, fmt.Errorf("%s: reading the answer: %w", routes[r.op].doing, p.bodyErr)
	}
	return p.body, nil
}

// mostShown is the largest answer, in bytes, that is shown as it came: more than anybody reads.
const mostShown = 256 << 10

// Shown is an answer as people get to see it when its shape was not understood: JSON as it came, a long one or another text
// shortened and as a JSON string.
func (c *Client) Shown(answer []byte) json.RawMessage {
	text := Scrub(string(answer[:min(len(answer), mostShown)]), c.secrets())
	if len(answer) <= mostShown && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, err := encode(excerpt(text))
	if err != nil {
		return nil // a valid text always has a JSON form
	}
	return b
}

package cloud

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"gauger/agent/cloud/keys"
)

// Post sends records that were encoded earlier as one request and says what became of it; it never changes
// their bytes, but for joining value sets of one code. address is the well's id for tag values and targets, the device's id for a memo, else "".
// attempt counts the ambiguous attempts with the same records before this one, and late the last of them that had no answer in time: each
// of those doubles the time limit.
//
// All records share the answer: what of a refused batch is to blame, only smaller batches can tell.
func (c *Client) Post(ctx context.Context, op Operation, address string, bodies [][]byte, attempt, late int) Answer {
	r, problem := join(op, address, bodies, attempt)
	r.late = late
	if problem != nil {
		return *problem
	}
	return c.answerOf(r, c.call(ctx, r))
}

// join makes the request of the records: an array, or an envelope around it with the well's id.
func join(op Operation, address string, bodies [][]byte, attempt int) (request, *Answer) {
	r := request{op: op, records: len(bodies), attempt: attempt}
	refuse := func(class Class, message string) (request, *Answer) {
		return r, &Answer{Class: class, Message: message}
	}
	if len(bodies) == 0 {
		return refuse(Poison, "there is no record to send")
	}
	if needsAddress := op != SaveRunTickets && op != SaveDiagnosticEvents; needsAddress && address == "" {
		return refuse(Poison, "the record has no well's or device's id")
	}
	var err error
	switch op {
	case SaveRunTickets, SaveDiagnosticEvents:
		r.body = array(bodies)
	case SaveObjectTagValues:
		r.body, err = envelope(address, "tagValues", bodies, property{"objectType", []byte(`"Well"`)})
	case SaveProductionTargets:
		r.body, err = envelope(address, "targets", bodies)
	case AddDeviceMemo:
		if len(bodies) > 1 {
			return refuse(TooLarge, "memos go one to a request")
		}
		if strings.Trim(address, ".") == "" {
			return refuse(Poison, fmt.Sprintf("%q is no device's id", address))
		}
		r.arg, r.body = address, bodies[0]
	default:
		return refuse(WrongAddress, op.String()+" saves nothing")
	}
	if err != nil {
		return refuse(Poison, err.Error())
	}
	return r, nil
}

// envelope is {"objectId": well, ...more, list: [sets]}, with one set of each code.
func envelope(well, list string, sets [][]byte, more ...property) ([]byte, error) {
	id, err := encode(well)
	if err != nil {
		return nil, fmt.Errorf("the well's id: %w", err)
	}
	members := append([]property{{"objectId", id}}, more...)
	return object(append(members, property{list, array(setPerCode(sets))})...)
}

// answerOf turns a reply into what it means.
func (c *Client) answerOf(r request, p reply) Answer {
	secrets := c.secrets()
	if p.err != nil {
		a := Answer{Class: Wait, Message: Scrub(explain(p.err, time.Now()), secrets), ClockDoubt: certificateUntimely(p.err)}
		if errors.Is(p.err, keys.ErrNoKey) {
			a.Class = Unauthorized
		} else if p.sent {
			a.Class, a.Late = Ambiguous, timedOut(p.err)
			if r.op.stores() || r.op == RenewAPIKey {
				a.Message += "; the service may have it"
			}
		}
		return a
	}
	detail := parseErrorBody(p.body).scrubbed(secrets)
	a := Answer{
		Class:         classify(r.op, p.status, r.records, r.attempt),
		Status:        p.status,
		CorrelationID: clean(cmp.Or(detail.Correlation, Scrub(p.header.Get("X-Correlation-Id"), secrets))),
		Message:       detail.sentence(p.status),
		Body:          excerpt(Scrub(string(p.body[:min(len(p.body), 2*loggedBody)]), secrets)),
	}
	switch {
	case a.Class != Stored:
	case p.unclear != "":
		a.Late = timedOut(p.bodyErr)
		a.Class, a.Message = Ambiguous, fmt.Sprintf("%d %s whose body %s (%d bytes came), so that nobody knows what it said; the service may have it",
			p.status, http.StatusText(p.status), p.unclear, len(p.body))
	case p.page, p.foreign:
		a.Class, a.Message, a.Foreign = WrongAddress, Scrub(aboutPage(p), secrets), true
	case p.refused:
		a.Class, a.Message, a.Foreign = WrongAddress, detail.inSuccess(p.status), true
	}
	if a.Class == Stored {
		return a
	}
	if said := clean(a.Body); (!a.Foreign || p.refused) && p.unclear == "" && detail.Message == "" && detail.Description == "" && said != "" && said[0] != '<' {
		a.Message += ": " + cut(said, quotedBody)
	}
	if p.elsewhere != "" {
		a.Message += "; the same keys were taken for " + p.elsewhere
		a.Lacking = true
	}
	a.RetryAfter = retryAfter(p.header, time.Now())
	if where := p.header.Get("Location"); where != "" && p.status/100 == 3 {
		a.Message += ": redirected to " + clean(Scrub(where, secrets)) + ", which is not followed; check service.url"
	}
	return a
}

const loggedBody = 2 << 10 // bytes of an answer that the log keeps

// quotedBody, in characters, bounds the part of an answer that counts as the service's words though it is no error body;
// a page for a browser is never.
const quotedBody = 400

// excerpt cuts a body for the log.
func excerpt(s string) string {
	s = s[:min(len(s), loggedBody)]
	return strings.ToValidUTF8(s, "")
}

// secrets are all values that must not show in a text.
func (c *Client) secrets() []keys.Secret {
	all := c.ring.Secrets()
	c.mu.Lock()
	defer c.mu.Unlock()
	all = append(append(all, c.idToken), c.headers...)
	for name, value := range c.wire.Headers {
		if SecretHeader(name, value) {
			all = append(all, keys.Secret(value))
		}
	}
	if l := c.login; l != nil {
		all = append(all, l.SubscriptionKey, l.PasswordHash, l.Token, l.APIKey)
	}
	return all
}

// failure makes an error of a reply that did not do what was asked.
func (c *Client) failure(r request, p reply) *Error {
	e := &Error{Op: r.op, Answer: c.answerOf(r, p), Cause: p.err}
	if e.Foreign {
		e.Cause = ErrShape
	}
	why := ""
	if e.Class == Wait || e.Class == WrongAddress || e.Class == Ambiguous {
		why = routes[r.op].doing + " at " + c.base.String() + ": " + e.Message
	}
	c.Silence.Store(why)
	return e
}

// Preview gives the request that Post makes of one record, but for its headers: method, address and body.
func (c *Client) Preview(op Operation, address string, body []byte) (method, url string, wire []byte, err error) {
	r, problem := join(op, address, [][]byte{body}, 0)
	if problem != nil {
		return "", "", nil, errors.New(problem.Message)
	}
	return routes[op].method, c.target(r), r.body, nil
}

// ReadTime reads a time of an event as the service shows it, or as it was sent: without an offset it is in the zone that
// Wire.EventZone names. ok is false for a text that is no time.
func (w Wire) ReadTime(text string) (at time.Time, ok bool) {
	zone := time.UTC
	if w.EventZone == "site" {
		zone = w.zone()
	}
	for _, layout := range keys.TimeLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, true
		}
	}
	e := keys.ParseExpiry(text, time.Time{})
	return e.At, text != "" && !e.Assumed
}

package cloud

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"gauger/agent/cloud/keys"
)

// call makes a request with the keys in turn, and once more when all were refused and new ones could be had.
// A refused request was not carried out, so that repeating it at once doubles nothing.
func (c *Client) call(ctx context.Context, r request) reply {
	p, seen := c.tryKeys(ctx, r)
	if p.status != http.StatusUnauthorized && !errors.Is(p.err, keys.ErrNoKey) || ctx.Err() != nil {
		return p
	}
	if !c.ring.Recover(ctx, seen) {
		return p
	}
	p, _ = c.tryKeys(ctx, r)
	return p
}

// tryKeys goes through the keys until one is not refused. A 403 is tried with the other keys too, but it says
// nothing against the key: the right may be missing, or the quota used up.
func (c *Client) tryKeys(ctx context.Context, r request) (p reply, seen uint64) {
	inOrder, seen := c.ring.Order(true)
	p = reply{err: keys.ErrNoKey}
	var forbidden *reply
	for _, k := range inOrder {
		p = c.exchange(ctx, r, k.Value)
		switch {
		case p.status == http.StatusUnauthorized:
			c.ring.Rejected(k)
		case p.status == http.StatusForbidden:
			forbidden = new(p)
		default:
			if p.ok() {
				c.ring.Accepted(k, true)
			}
			return p, seen
		}
	}
	if forbidden != nil {
		return *forbidden, seen
	}
	return p, seen
}

// saveRecords encodes records one by one, posts them and makes an error of everything but stored.
func saveRecords[R any](ctx context.Context, c *Client, op Operation, address string, encode func(R) ([]byte, error), records []R) (Answer, error) {
	bodies := make([][]byte, 0, len(records))
	for _, record := range records {
		b, err := encode(record)
		if err != nil {
			return Answer{Class: Poison, Message: err.Error()}, err
		}
		bodies = append(bodies, b)
	}
	a := c.Post(ctx, op, address, bodies, 0)
	if a.Class != Stored {
		return a, &Error{Op: op, Answer: a}
	}
	return a, nil
}

// SaveRunTickets posts tickets in one request. The error is an *Error, or says what cannot be encoded.
func (c *Client) SaveRunTickets(ctx context.Context, tickets ...RunTicket) (Answer, error) {
	return saveRecords(ctx, c, SaveRunTickets, "", c.wire.EncodeRunTicket, tickets)
}

// SaveDiagnosticEvents posts events in one request. The error is an *Error, or says what cannot be encoded.
func (c *Client) SaveDiagnosticEvents(ctx context.Context, events ...DiagnosticEvent) (Answer, error) {
	return saveRecords(ctx, c, SaveDiagnosticEvents, "", c.wire.EncodeEvent, events)
}

// SaveObjectTagValues posts the tag values of one well. The error is an *Error, or says what cannot be encoded.
func (c *Client) SaveObjectTagValues(ctx context.Context, v TagValues) (Answer, error) {
	return saveRecords(ctx, c, SaveObjectTagValues, v.WellID, c.wire.EncodeTagValues, v.Sets)
}

// SaveProductionTargets posts the targets of one well. warnings names codes that the service may not know. The
// error is an *Error, or says what cannot be encoded.
func (c *Client) SaveProductionTargets(ctx context.Context, t ProductionTargets) (a Answer, warnings []string, err error) {
	a, err = saveRecords(ctx, c, SaveProductionTargets, t.WellID, func(s ValueSet) ([]byte, error) {
		b, warning, err := c.wire.EncodeTargets(s)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		return b, err
	}, t.Sets)
	return a, warnings, err
}

// AddDeviceMemo adds a memo to a device. The error is an *Error, or says what cannot be encoded.
func (c *Client) AddDeviceMemo(ctx context.Context, deviceID string, m Memo) (Answer, error) {
	return saveRecords(ctx, c, AddDeviceMemo, deviceID, c.wire.EncodeMemo, []Memo{m})
}

// fetch makes a request whose answer matters, and gives its body; with ErrShape the web page that came instead.
func (c *Client) fetch(ctx context.Context, r request) ([]byte, error) {
	p := c.call(ctx, r)
	if p.page {
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

// Shown is an answer as people get to see it when its shape was not understood: JSON as it came, another text shortened
// and as a JSON string.
func (c *Client) Shown(answer []byte) json.RawMessage {
	text := scrub(string(answer), c.secrets())
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	b, err := encode(excerpt(text))
	if err != nil {
		return nil // a valid text always has a JSON form
	}
	return b
}

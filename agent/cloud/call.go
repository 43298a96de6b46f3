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

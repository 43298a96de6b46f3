package agent

import (
	"context"
	"encoding/json"
	"fmt"
)

// Feed is something to be looked at while it goes on: JSON in, and see is called with each thing that marshals, until
// it is over, ctx ends or see fails.
type Feed func(ctx context.Context, args json.RawMessage, see func(any) error) error

// OfferFeed adds a feed, as Offer does a verb.
func (d *Desk) OfferFeed(name string, f Feed) { d.feeds[name] = f }

// Follow looks at one feed.
func (d *Desk) Follow(ctx context.Context, name string, args json.RawMessage, see func(any) error) error {
	f, ok := d.feeds[name]
	if !ok {
		return d.unknownVerb(name)
	}
	return f(ctx, args, see)
}

// Following makes a feed of a function with arguments of its own type.
func Following[A any](f func(ctx context.Context, args A, see func(any) error) error) Feed {
	return func(ctx context.Context, raw json.RawMessage, see func(any) error) error {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("read the request: %w", err)
		}
		return f(ctx, args, see)
	}
}

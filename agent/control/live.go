package control

import (
	"context"
	"encoding/json"
	"fmt"
)

// LiveStream is something to be looked at while it goes on: JSON in, and see is called with each thing that marshals, until
// it is over, ctx ends or see fails.
type LiveStream func(ctx context.Context, args json.RawMessage, see func(any) error) error

// RegisterLive adds a feed, as Register does a request.
func (d *Server) RegisterLive(name string, f LiveStream) { d.live[name] = f }

// Follow looks at one feed.
func (d *Server) Follow(ctx context.Context, name string, args json.RawMessage, see func(any) error) error {
	f, ok := d.live[name]
	if !ok {
		return d.unknownRequest(name)
	}
	return f(ctx, args, see)
}

// LiveStreamOf makes a feed of a function with arguments of its own type.
func LiveStreamOf[A any](f func(ctx context.Context, args A, see func(any) error) error) LiveStream {
	return func(ctx context.Context, raw json.RawMessage, see func(any) error) error {
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return fmt.Errorf("read the request: %w", err)
		}
		return f(ctx, args, see)
	}
}

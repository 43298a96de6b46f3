package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent"
	"gauger/agent/console"
	"gauger/config"
)

// desk is where a command asks for things: the running daemon's, or one of its own when none runs.
type desk struct {
	remote *console.Client
	local  *agent.Desk
	close  func() error
}

// desk finds the daemon; without one it opens the store itself, which needs the configuration.
func (m *Main) desk(c *common) (*desk, error) {
	remote, err := console.Dial(c.socket)
	if err == nil {
		return &desk{remote: remote, close: func() error { return nil }}, nil
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return nil, err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return nil, err
	}
	d, err := assemble(cfg, zerolog.New(io.Discard))
	if err != nil {
		return nil, err
	}
	d.desk.Daemon = false
	return &desk{local: d.desk, close: func() error { d.close(); return nil }}, nil
}

// call asks for a verb and reads the result into result, which may be nil.
func (d *desk) call(ctx context.Context, verb string, args, result any) error {
	if d.remote != nil {
		return d.remote.Call(ctx, verb, args, result)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("write down the request: %w", err)
	}
	got, err := d.local.Call(ctx, verb, raw)
	if err != nil || result == nil {
		return err
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write down the answer: %w", err)
	}
	return json.Unmarshal(b, result)
}

// patience is how long a command that writes waits for the service before it leaves the rest to the daemon.
const patience = 15 * time.Second

// send queues a record and sees it off. It says what became of it: delivered, refused, or still waiting. A record that
// waits is not a failure: it leaves when the service is there again.
func (d *desk) send(ctx context.Context, w io.Writer, q agent.Queued) error {
	if d.local != nil {
		stop := d.drain(ctx, q.Stream)
		defer stop()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		var e agent.Entry
		err := d.call(ctx, "outbox.show", agent.Which{Stream: q.Stream, Seqs: []uint64{q.Seq}}, &e)
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case e.State == "delivered":
			fmt.Fprintf(w, "delivered: %s/%d, status %d\n", q.Stream, q.Seq, e.Status)
			return nil
		case e.State == "dead":
			return fmt.Errorf("the service refused it (status %d): %s; it is kept as %s/%d, see `gauger outbox show %s/%d`",
				e.Status, e.Reason, q.Stream, q.Seq, q.Stream, q.Seq)
		}
		select {
		case <-ctx.Done():
			fmt.Fprintf(w, "queued: %s/%d; it leaves by itself when the service can be reached and gauger runs\n", q.Stream, q.Seq)
			return nil
		case <-tick.C:
		}
	}
}

// drain sends a stream while there is no daemon to do it; the returned function ends that.
func (d *desk) drain(ctx context.Context, stream string) func() {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- d.local.Box.Drain(ctx, stream, agent.Sender{Client: d.local.Client, Clock: d.local.Clock})
	}()
	return func() {
		cancel()
		<-done // what could not be sent is still queued, and send has said so
	}
}

// person is the local user, for what a command does without a daemon.
func (m *Main) person() string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := m.Getenv(name); v != "" {
			return v
		}
	}
	return "unknown"
}

// sortedNames are the names of a set, in order.
func sortedNames[V any](set map[string]V) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

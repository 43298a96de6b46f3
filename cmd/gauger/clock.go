package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/agent"
	"gauger/agent/console"
)

// clockTrust is a person's word that the box's clock is right. Only the running gauger has use for it: a step of the
// clock takes it back, and so does a boot of the box.
func (m *Main) clockTrust(ctx context.Context, args []string) error {
	f, c := m.flags("clock trust")
	if rest, err := parse(f, c, args); err != nil || len(rest) > 0 {
		return orUsage(err, "clock trust takes no arguments")
	}
	daemon, err := console.Dial(c.socket)
	if errors.Is(err, console.ErrNoDaemon) {
		return fmt.Errorf("%w; trust is given to the running one: start it first (`systemctl start gauger`)", err)
	}
	if err != nil {
		return err
	}
	if err := daemon.Call(ctx, "clock.trust", agent.None{}, nil); err != nil {
		return err
	}
	now := time.Now()
	if c.json() {
		return printJSON(m.Out, map[string]any{"clock": agent.Trusted.String(), "now": now})
	}
	_, err = fmt.Fprintf(m.Out, "the clock is trusted from now on: %s\n", now.In(m.around(c).zone()).Format("2006-01-02 15:04:05 MST"))
	return err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/clock"
	"gauger/agent/console"
	"gauger/agent/control"
)

func clockTrustCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "trust", "say that the box's clock is right", runClockTrust), 0, "clock trust takes no arguments")
}

// runClockTrust is a person's word that the box's clock is right. Only the running gauger has use for it: a step of the
// clock takes it back, and so does a boot of the box.
func runClockTrust(ctx context.Context, c *call, _ []string) error {
	daemon, err := c.dial()
	if errors.Is(err, console.ErrNoDaemon) {
		return fmt.Errorf("%w; trust is given to the running one: start it first (`systemctl start gauger`)", err)
	}
	if err != nil {
		return err
	}
	if err := daemon.Call(ctx, "clock.trust", control.None{}, nil); err != nil {
		return err
	}
	now := time.Now()
	return c.show(map[string]any{"clock": clock.Trusted.String(), "now": now}, func() error {
		return printf(c.out, "the clock is trusted from now on: %s\n", now.In(findSite(c).zone()).Format("2006-01-02 15:04:05 MST"))
	})
}

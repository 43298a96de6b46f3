package main

import (
	"context"
	"fmt"
	"strings"

	"gauger/agent/control"

	"github.com/spf13/cobra"
)

type ticketsReleaseOptions struct {
	wait waitOptions
}

func ticketsReleaseCommand(c *call) *cobra.Command {
	o := &ticketsReleaseOptions{}
	cmd := newCommand(c, "release NUMBER", "let a held ticket go", o.run)
	takes(cmd, 1, "tickets release wants the number of a held ticket; `gauger tickets list` shows them")
	addWaitFlags(cmd.Flags(), &o.wait)
	return cmd
}

// run lets a held ticket go.
func (o *ticketsReleaseOptions) run(ctx context.Context, c *call, args []string) error {
	return withConnection(c, func(d *connection) error {
		number, err := d.heldNumber(ctx, args[0])
		if err != nil {
			return err
		}
		args = []string{number}
		if err := d.request(ctx, "tickets.release", control.TicketArgs{Number: number}, nil); err != nil {
			return err
		}
		queued, err := d.ticketDeliveries(ctx, args)
		if err != nil { // it is marked, but has not become a record yet
			_, err = fmt.Fprintf(c.out, "released: %s; it leaves as soon as gauger runs and the box's clock can be believed\n", args[0])
			return err
		}
		if err := d.awaitDelivery(ctx, queued, o.wait); err != nil {
			return err
		}
		return printDeliveries(c, d, queued)
	})
}

type ticketsRejectOptions struct {
	why  string
	left bool
}

func ticketsRejectCommand(c *call) *cobra.Command {
	o := &ticketsRejectOptions{}
	cmd := newCommand(c, "reject NUMBER --why TEXT", "forget a held ticket, with an event", o.run)
	cmd.Flags().StringVar(&o.why, "why", "", "`TEXT` of the reason, which is kept")
	cmd.Flags().BoolVar(&o.left, "left", false, "void one that has left: the service keeps it, gauger counts it no more")
	return cmd
}

// run forgets a held ticket; the reason is kept, and goes to the service as an event.
func (o *ticketsRejectOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) != 1:
		return usageError{"tickets reject wants the number of a held ticket; `gauger tickets list` shows them"}
	case strings.TrimSpace(o.why) == "":
		return usageError{"say why with --why: a rejected ticket never leaves, and the reason is kept"}
	}
	return withConnection(c, func(d *connection) error {
		number, err := d.heldNumber(ctx, args[0])
		if err != nil {
			return err
		}
		if err := d.request(ctx, "tickets.reject", control.TicketArgs{Number: number, Why: o.why, Left: o.left}, nil); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, map[string]string{"number": number, "state": "rejected"})
		}
		if _, err = fmt.Fprintf(c.out, "rejected: %s\n", number); err != nil || !o.left {
			return err
		}
		return voidedText(c, number)
	})
}

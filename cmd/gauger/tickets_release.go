package main

import (
	"context"
	"fmt"
	"strings"

	"gauger/agent"
)

// runTicketsRelease lets a held ticket go.
func runTicketsRelease(ctx context.Context, c *call, args []string) error {
	f := flags(c, "tickets release")
	var w waitOptions
	addWaitFlags(f, &w)
	rest, err := parse(f, c, args)
	if err != nil || len(rest) != 1 {
		return orUsage(err, "tickets release wants the number of a held ticket; `gauger tickets list` shows them")
	}
	return withConnection(c, func(d *connection) error {
		number, err := d.heldNumber(ctx, rest[0])
		if err != nil {
			return err
		}
		rest = []string{number}
		if err := d.call(ctx, "tickets.release", agent.TicketArgs{Number: number}, nil); err != nil {
			return err
		}
		queued, err := d.ticketFates(ctx, rest)
		if err != nil { // it is marked, but has not become a record yet
			_, err = fmt.Fprintf(c.out, "released: %s; it leaves as soon as gauger runs and the box's clock can be believed\n", rest[0])
			return err
		}
		if err := d.awaitDelivery(ctx, queued, w); err != nil {
			return err
		}
		return printFates(c, d, queued)
	})
}

// runTicketsReject forgets a held ticket; the reason is kept, and goes to the service as an event.
func runTicketsReject(ctx context.Context, c *call, args []string) error {
	f := flags(c, "tickets reject")
	why := f.String("why", "", "`TEXT` of the reason, which is kept")
	rest, err := parse(f, c, args)
	switch {
	case err != nil:
		return err
	case len(rest) != 1:
		return usage{"tickets reject wants the number of a held ticket; `gauger tickets list` shows them"}
	case strings.TrimSpace(*why) == "":
		return usage{"say why with --why: a rejected ticket never leaves, and the reason is kept"}
	}
	return withConnection(c, func(d *connection) error {
		number, err := d.heldNumber(ctx, rest[0])
		if err != nil {
			return err
		}
		if err := d.call(ctx, "tickets.reject", agent.TicketArgs{Number: number, Why: *why}, nil); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, map[string]string{"number": number, "state": "rejected"})
		}
		_, err = fmt.Fprintf(c.out, "rejected: %s\n", number)
		return err
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

// editFlags name the fields of a held ticket that a person may change.
var editFlags = []struct{ flag, field, about string }{
	{"gravity", "gravity", "`GRAVITY` at 60 degF, or in the tank where wire.gravity is observed: a specific gravity such as 0.83, or degrees API as in \"39.0 API\""},
	{"bsw", "bsw", "sediment and water, `PERCENT`"},
	{"top-temperature", "top_temperature", "top temperature of the oil, `DEGREES` Fahrenheit"},
	{"bottom-temperature", "bottom_temperature", "bottom temperature, `DEGREES` Fahrenheit"},
	{"seal-off", "seal_off", "`TEXT` of the seal that was taken off"},
	{"seal-on", "seal_on", "`TEXT` of the seal that was put on"},
	{"purchaser", "purchaser", "`NAME` of the buyer"},
	{"comments", "comments", "`TEXT` in place of the tank's own, before the evidence"},
}

type ticketsEditOptions struct {
	changes     map[string]string
	why, anyway string
}

func ticketsEditCommand(c *call) *cobra.Command {
	o := &ticketsEditOptions{changes: map[string]string{}}
	cmd := newCommand(c, "edit NUMBER [--gravity G] ...", "change figures of a held ticket", o.run)
	takes(cmd, 1, "tickets edit wants the number of a held ticket; `gauger tickets list` shows them")
	f := cmd.Flags()
	for _, e := range editFlags {
		f.Func(e.flag, e.about, func(text string) (err error) {
			o.changes[e.field], err = ledger.EditValue(e.field, text)
			return err
		})
	}
	f.StringVar(&o.why, "why", "", "`TEXT` of the reason; kept in ticket and audit trail")
	f.StringVar(&o.anyway, "anyway", "", "`TEXT`: why a figure is right though hardly any oil has it, or a purchaser though nobody knows the name; kept in ticket and audit trail")
	for _, name := range []string{"open", "close", "start", "end"} {
		f.Func(name, "cannot be edited: levels and times are as gauged", func(string) error {
			return errors.New("levels and times are as gauged; who disagrees rejects the ticket with `gauger tickets reject` and writes another with `gauger tickets add`")
		})
	}
	return cmd
}

// run changes figures of a held ticket. Levels and times are as gauged and have no flag.
func (o *ticketsEditOptions) run(ctx context.Context, c *call, args []string) error {
	if len(o.changes) == 0 {
		return usageError{"say what to change, such as --gravity 0.83 or --seal-on 4712; `gauger tickets edit -h` lists what can be"}
	}
	return withHeld(ctx, c, args[0], func(d *connection, number string) error {
		var made []ledger.Edit
		if err := d.request(ctx, "tickets.edit", ledger.EditArgs{Number: number, Set: o.changes, Why: o.why, Anyway: o.anyway}, &made); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, map[string]any{"number": number, "edits": made})
		}
		for _, e := range made {
			if err := printf(c.out, "edited: %s: %s\n", number, e); err != nil {
				return err
			}
		}
		return nil
	})
}

type ticketsHoldOptions struct {
	until   string
	request control.HoldArgs
}

func ticketsHoldCommand(c *call) *cobra.Command {
	o := &ticketsHoldOptions{}
	cmd := newCommand(c, "hold NUMBER [--for 4h]", "keep a held ticket from leaving", o.run)
	takes(cmd, 1, "tickets hold wants the number of a held ticket; `gauger tickets list` shows them")
	f := cmd.Flags()
	f.StringVar(&o.until, "until", "", "`TIME` at which it leaves by itself: \"2026-03-02 17:00\", or 17:00")
	f.Func("for", "`DURATION` after which it leaves by itself: 4h, 2d", func(text string) error {
		d, ok := parseSpan(text)
		if !ok || d == 0 {
			return errors.New("want a time such as 4h or 2d")
		}
		o.request.For = d
		return nil
	})
	f.StringVar(&o.request.Why, "why", "", "`TEXT` of the reason")
	return cmd
}

func (o *ticketsHoldOptions) run(ctx context.Context, c *call, args []string) error {
	if o.until != "" && o.request.For > 0 {
		return usageError{"give --for or --until, not both"}
	}
	h := findSite(c)
	if o.until != "" {
		var err error
		if o.request.Until, err = parseComingTime(o.until, h.zone(), time.Now()); err != nil {
			return usageError{"--until: " + err.Error()}
		}
	}
	return withHeld(ctx, c, args[0], func(d *connection, number string) error {
		o.request.Number = number
		var got control.HoldResult
		if err := d.request(ctx, "tickets.hold", o.request, &got); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, struct {
				Number string `json:"number"`
				control.HoldResult
			}{number, got})
		}
		asked := either(o.request.For > 0, "--for", either(o.until != "", "--until", ""))
		release := "`gauger tickets release " + number + "`; " + when(asked != "", asked+" does not let it go, since it is doubtful and tickets.review is hold; ") + "an event tells of it every day"
		leaves := either(got.Leaves.IsZero(), release, timeText(got.Leaves, h.zone())+", then it leaves by itself")
		return printf(c.out, "on hold: %s until %s\n", number, leaves)
	})
}

// withHeld does something about a held ticket that a person names.
func withHeld(ctx context.Context, c *call, given string, do func(d *connection, number string) error) error {
	return withConnection(c, func(d *connection) error {
		number, err := d.heldNumber(ctx, given)
		if err != nil {
			return err
		}
		return do(d, number)
	})
}

// heldNumber finds a ticket by its number, or by what it is called until it has one. One that is held no more is left
// to the ledger, which knows what became of it.
func (d *connection) heldNumber(ctx context.Context, given string) (string, error) {
	var all []ledger.TicketRecord
	if err := d.request(ctx, "tickets.list", control.None{}, &all); err != nil {
		return "", err
	}
	var held []string
	for _, b := range all {
		if strings.EqualFold(b.Number, given) || strings.EqualFold(b.Handle, given) && b.Handle != "" {
			return b.Name(), nil
		}
		if !b.Left() && b.Rejected == "" {
			held = append(held, b.Name())
		}
	}
	hint := didYouMean(given, held)
	if hint == "" && len(held) > 0 && len(held) <= 3 {
		hint = " (held: " + strings.Join(held, ", ") + ")"
	}
	return "", fmt.Errorf("%w among those held: %s%s; `gauger tickets list` shows them all", ledger.ErrNoTicket, given, hint)
}

type ticketsReleaseOptions struct{ wait waitOptions }

func ticketsReleaseCommand(c *call) *cobra.Command {
	o := &ticketsReleaseOptions{}
	cmd := newCommand(c, "release NUMBER", "let a held ticket go", o.run)
	takes(cmd, 1, "tickets release wants the number of a held ticket; `gauger tickets list` shows them")
	addWaitFlags(cmd.Flags(), &o.wait)
	return cmd
}

func (o *ticketsReleaseOptions) run(ctx context.Context, c *call, args []string) error {
	return withHeld(ctx, c, args[0], func(d *connection, number string) error {
		if err := d.request(ctx, "tickets.release", control.TicketArgs{Number: number}, nil); err != nil {
			return err
		}
		queued, err := d.ticketDeliveries(ctx, []string{number})
		if err != nil { // it is marked, but has not become a record yet
			return printf(c.out, "released: %s; it leaves as soon as gauger runs and the box's clock can be believed\n", number)
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
	takes(cmd, 1, "tickets reject wants the number of a held ticket; `gauger tickets list` shows them")
	cmd.Flags().StringVar(&o.why, "why", "", "`TEXT` of the reason, which is kept")
	cmd.Flags().BoolVar(&o.left, "left", false, "void one that has left: the service keeps it, gauger counts it no more")
	return cmd
}

// run forgets a held ticket; the reason is kept, and goes to the service as an event.
func (o *ticketsRejectOptions) run(ctx context.Context, c *call, args []string) error {
	if strings.TrimSpace(o.why) == "" {
		return usageError{"say why with --why: a rejected ticket never leaves, and the reason is kept"}
	}
	return withHeld(ctx, c, args[0], func(d *connection, number string) error {
		if err := d.request(ctx, "tickets.reject", control.TicketArgs{Number: number, Why: o.why, Left: o.left}, nil); err != nil {
			return err
		}
		if c.json() {
			return printJSON(c.out, map[string]string{"number": number, "state": "rejected"})
		}
		if err := printf(c.out, "%s: %s\n", either(o.left, "void", "rejected"), number); err != nil || !o.left {
			return err
		}
		return voidedText(c, number)
	})
}

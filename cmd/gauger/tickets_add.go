package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// handTicket is a ticket as the flags have it: times and gauges as a person writes them.
type handTicket struct {
	ledger.ManualTicket
	start, end, open, closing string
}

func addTicketFlags(f *pflag.FlagSet) *handTicket {
	t := &handTicket{}
	for _, x := range []struct {
		into        *string
		name, about string
	}{
		{&t.Tank, "tank", "`ID` of the tank, as in the configuration"},
		{&t.start, "start", "`TIME` at which the load began"},
		{&t.end, "end", "`TIME` at which it ended"},
		{&t.open, "open", "opening `GAUGE`: 14'3 1/4\", 14-03-1 (feet-inches-quarters) or 171.25in"},
		{&t.closing, "close", "closing `GAUGE`"},
		{&t.Purchaser, "purchaser", "`NAME`; default the tank's"},
		{&t.SealOff, "seal-off", "`TEXT` of the seal that was taken off; default as configured"},
		{&t.SealOn, "seal-on", "`TEXT` of the seal that was put on; default as configured"},
		{&t.Comments, "comments", "`TEXT`"},
		{&t.Number, "number", "`NUMBER` of A-Z 0-9 and -; default one made of site, tank and start"},
	} {
		f.StringVar(x.into, x.name, "", x.about)
	}
	optional(f, &t.TopTemperature, "top-temperature", "top temperature of the oil, `DEGREES` Fahrenheit")
	optional(f, &t.BottomTemperature, "bottom-temperature", "bottom temperature, `DEGREES` Fahrenheit")
	optional(f, &t.SpecificGravity, "specific-gravity", "specific `GRAVITY`, such as 0.83")
	optional(f, &t.BSW, "bsw", "sediment and water, `PERCENT`")
	return t
}

// anyGiven says that any flag of the ticket was set.
func (t *handTicket) anyGiven() bool {
	w := t.ManualTicket
	figures := w.TopTemperature != nil || w.BottomTemperature != nil || w.SpecificGravity != nil || w.BSW != nil
	return figures || t.start+t.end+t.open+t.closing+w.Tank+w.Purchaser+w.SealOn+w.SealOff+w.Comments+w.Number != ""
}

// manualTicket reads times and gauges.
func (t *handTicket) manualTicket(zone *time.Location) (ledger.ManualTicket, error) {
	for _, x := range [][2]string{{"--tank", t.Tank}, {"--start", t.start}, {"--end", t.end}, {"--open", t.open}, {"--close", t.closing}} {
		if x[1] == "" {
			return t.ManualTicket, usageError{"tickets add wants " + x[0] + "; --tank, --start, --end, --open and --close are always needed"}
		}
	}
	at, w := siteTimes(zone), t.ManualTicket
	w.Start, w.End = at.parse("start", t.start, time.Time{}), at.parse("end", t.end, time.Time{})
	open, err1 := tank.ParseLength(t.open)
	closing, err2 := tank.ParseLength(t.closing)
	w.Open, w.Close = float64(open), float64(closing)
	return w, errors.Join(at.err, err1, err2)
}

type ticketsAddOptions struct {
	ticket *handTicket
	queue  *queueFlags
}

func ticketsAddCommand(c *call) *cobra.Command {
	o := &ticketsAddOptions{}
	cmd := newCommand(c, "add --tank ID ...", "queue a ticket that a person writes", o.run)
	f := cmd.Flags()
	o.ticket = addTicketFlags(f)
	o.queue = addQueueFlags(f)
	return cmd
}

// run queues tickets that a person writes.
func (o *ticketsAddOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) > 0:
		return usageError{fmt.Sprintf("tickets add takes flags only, not %q; put texts with blanks in quotes", args)}
	case o.queue.file != "" && o.ticket.anyGiven():
		return usageError{"--file has everything in it; leave the other flags out"}
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	var all []ledger.ManualTicket
	if o.queue.file != "" {
		all, err = readTicketFile(c, cfg, o.queue.file)
	} else {
		all = make([]ledger.ManualTicket, 1)
		all[0], err = o.ticket.manualTicket(cfg.Zone)
	}
	if err == nil {
		err = checkTickets(c, cfg, o.queue.file, all)
	}
	if err != nil {
		return asUsageError(err)
	}
	return withConnection(c, func(d *connection) error { return addTickets(ctx, c, d, o.queue, cfg, all) })
}

// addTickets queues tickets that have been checked, and sees them off.
func addTickets(ctx context.Context, c *call, d *connection, s *queueFlags, cfg *config.Config, all []ledger.ManualTicket) error {
	if err := d.checkNumbersUnused(ctx, all); err != nil {
		return err
	}
	var numbers []string
	for _, w := range all {
		var q control.QueuedRecord
		if err := d.request(ctx, "tickets.add", w, &q); err != nil {
			return fmt.Errorf("%w%s", err, queuedBefore(numbers))
		}
		if q.Warning != "" {
			fmt.Fprintln(c.err, "warning: "+q.Warning)
		}
		numbers = append(numbers, q.Number)
	}
	queued, err := d.ticketDeliveries(ctx, numbers)
	if err != nil {
		return err
	}
	for i, w := range all {
		queued[i].What = numbers[i] + ": " + manualTicketText(cfg, w)
	}
	if err := d.awaitDelivery(ctx, queued, s.waitOptions); err != nil {
		return err
	}
	return printDeliveries(c, d, queued)
}

// queuedBefore names the tickets that were queued before something went wrong.
func queuedBefore(numbers []string) string {
	if len(numbers) == 0 {
		return ""
	}
	return "; queued before that: " + strings.Join(numbers, ", ")
}

// checkNumbersUnused sees to it that none of the tickets fails for its number after others have been queued.
func (d *connection) checkNumbersUnused(ctx context.Context, all []ledger.ManualTicket) error {
	var known []ledger.TicketRecord
	if err := d.request(ctx, "tickets.list", control.None{}, &known); err != nil {
		return err
	}
	taken := map[string]bool{}
	for _, b := range known {
		taken[b.Number] = true
	}
	for _, w := range all {
		if w.Number != "" && taken[w.Number] {
			return usageError{fmt.Sprintf("ticket number %s is in use; a ticket that has left cannot be changed", w.Number)}
		}
		taken[w.Number] = true
	}
	return nil
}

// ticketDeliveries finds the records of tickets.
func (d *connection) ticketDeliveries(ctx context.Context, numbers []string) ([]sentRecord, error) {
	var known []ledger.TicketRecord
	if err := d.request(ctx, "tickets.list", control.None{}, &known); err != nil {
		return nil, err
	}
	var all []sentRecord
	for _, number := range numbers {
		i := slices.IndexFunc(known, func(b ledger.TicketRecord) bool { return b.Number == number && b.Ticket != nil })
		if i < 0 {
			return nil, fmt.Errorf("%w: %s", ledger.ErrNoTicket, number)
		}
		all = append(all, sentRecord{Stream: ledger.Tickets, Seq: known[i].Seq, State: "queued", Number: number, What: number})
	}
	return all, nil
}

// manualTicketText lets a person compare a ticket with the paper.
func manualTicketText(cfg *config.Config, w ledger.ManualTicket) string {
	text := fmt.Sprintf("%s from %s (%.2f in) to %s (%.2f in)", w.Tank, gaugeText(w.Open), w.Open, gaugeText(w.Close), w.Close)
	if bbl, ok := (site{cfg}).barrels(w.Tank, w.Open, w.Close); ok {
		text += fmt.Sprintf(", %.1f bbl", bbl)
	}
	return text
}

// checkTickets refuses what cannot be a run, before anything is queued. path is the file that they come from, if any.
func checkTickets(c *call, cfg *config.Config, path string, all []ledger.ManualTicket) error {
	for i, w := range all {
		if err := checkTicket(c, cfg, w); err != nil {
			if path == "" {
				return err
			}
			return fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
	}
	return nil
}

func checkTicket(c *call, cfg *config.Config, w ledger.ManualTicket) error {
	var ids []string
	for _, t := range cfg.Tanks {
		ids = append(ids, t.ID)
	}
	i := slices.Index(ids, w.Tank)
	if i < 0 {
		return fmt.Errorf("no tank %q is configured%s; the tanks are %s", w.Tank, didYouMean(w.Tank, ids), strings.Join(ids, ", "))
	}
	t := cfg.Tanks[i]
	switch {
	case !w.Start.Before(w.End):
		return errors.New("the load must end after it began")
	case w.Close < 0:
		return fmt.Errorf("the closing gauge %s is below the bottom of the tank", gaugeText(w.Close))
	case w.Open > float64(t.Height):
		return fmt.Errorf("the opening gauge %s is above the tank, which is %s high", gaugeText(w.Open), gaugeText(float64(t.Height)))
	case w.Open <= w.Close:
		return fmt.Errorf("the opening gauge %s is not above the closing gauge %s; a run takes the level down: are they swapped?", gaugeText(w.Open), gaugeText(w.Close))
	}
	if w.End.After(time.Now().Add(time.Hour)) {
		fmt.Fprintf(c.err, "warning: the load ends at %s, which has not come yet by this box's clock\n", timeText(w.End, cfg.Zone))
	}
	if err := checkFigures(w); err != nil {
		return err
	}
	_, err := cfg.Service.Wire.EncodeRunTicket(cloud.RunTicket{
		Number: cmp.Or(w.Number, "M"), TankID: w.Tank, OpeningLevel: w.Open, ClosingLevel: w.Close, Start: w.Start, End: w.End,
		TopTemperature: w.TopTemperature, BottomTemperature: w.BottomTemperature, SpecificGravity: w.SpecificGravity, BSW: w.BSW,
		Comments: w.Comments, Purchaser: cmp.Or(w.Purchaser, t.Purchaser),
	})
	return err
}

// checkFigures refuses figures in another unit than the ticket's.
func checkFigures(w ledger.ManualTicket) error {
	outside := func(v *float64, low, high float64) bool { return v != nil && !(*v >= low && *v <= high) }
	switch {
	case outside(w.SpecificGravity, 0.5, 1.2):
		return fmt.Errorf("specific gravity %g is no oil's; want a figure such as 0.83, not degrees API (SG = 141.5 / (131.5 + API))", *w.SpecificGravity)
	case outside(w.BSW, 0, 100):
		return fmt.Errorf("bsw %g is no percentage; want 0 to 100, such as 0.4", *w.BSW)
	case outside(w.TopTemperature, -60, 300):
		return fmt.Errorf("a top temperature of %g degF cannot be", *w.TopTemperature)
	case outside(w.BottomTemperature, -60, 300):
		return fmt.Errorf("a bottom temperature of %g degF cannot be", *w.BottomTemperature)
	}
	return nil
}

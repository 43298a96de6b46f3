package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		{&t.open, "open", "opening `GAUGE`: 14'3 1/4\", 14-03-1 (feet-inches-quarters), 171.25in or 14.27ft"},
		{&t.closing, "close", "closing `GAUGE`"},
		{&t.Purchaser, "purchaser", "`NAME`; default the tank's"},
		{&t.Comments, "comments", "`TEXT`"},
		{&t.Number, "number", "`NUMBER` of A-Z 0-9 and -; default one made of site, tank and start"},
		{&t.Replaces, "replaces", "`NUMBER` of a wrong ticket that has left, in whose place it is booked, with all of it that is not given here, and its barrels by the table at work now"},
		{&t.Why, "why", "`TEXT`: why that one is wrong"},
	} {
		f.StringVar(x.into, x.name, "", x.about)
	}
	seal := func(into *string) func(string) error {
		return func(text string) error {
			if *into = strings.TrimSpace(text); *into == "" {
				return errors.New("want the number of the seal; without the flag the ticket has what the configuration says (service.wire.seal_mode)")
			}
			return nil
		}
	}
	f.Func("seal-off", "`TEXT` of the seal that was taken off; default as configured", seal(&t.SealOff))
	f.Func("seal-on", "`TEXT` of the seal that was put on; default as configured", seal(&t.SealOn))
	optional(f, &t.TopTemperature, "top-temperature", "top temperature of the oil, `DEGREES` Fahrenheit")
	optional(f, &t.BottomTemperature, "bottom-temperature", "bottom temperature, `DEGREES` Fahrenheit")
	for _, name := range []string{"gravity", "specific-gravity"} { // the second is of the version before
		f.Func(name, "`GRAVITY` at 60 degF: specific, such as 0.83, or degrees API as in \"39.0 API\"", func(text string) error {
			text, err := ledger.EditValue("gravity", text)
			if err == nil {
				t.SpecificGravity = new(0.0)
				*t.SpecificGravity, err = strconv.ParseFloat(text, 64)
			}
			return err
		})
	}
	_ = f.MarkHidden("specific-gravity")
	optional(f, &t.BSW, "bsw", "sediment and water, `PERCENT`")
	return t
}

func (t *handTicket) manualTicket(c *call, cfg *config.Config) (ledger.ManualTicket, error) {
	for _, x := range [][2]string{{"--tank", t.Tank}, {"--start", t.start}, {"--end", t.end}, {"--open", t.open}, {"--close", t.closing}} {
		if x[1] == "" {
			why := either(t.Replaces == "", "--tank, --start, --end, --open and --close are always needed, but with --replaces NUMBER", t.Replaces+" has none that could be taken over")
			return t.ManualTicket, usageError{"tickets add wants " + x[0] + "; " + why}
		}
	}
	at, w := siteTimes(cfg.Zone), t.ManualTicket
	w.Start, w.End = at.parse("start", t.start), at.parse("end", t.end)
	open, err1 := tank.ParseLength(t.open)
	closing, err2 := tank.ParseLength(t.closing)
	w.Open, w.Close = float64(open), float64(closing)
	err := errors.Join(at.err, err1, err2)
	for _, x := range []struct {
		flag, text string
		at         time.Time
	}{{"--start", t.start, w.Start}, {"--end", t.end, w.End}} {
		if once := onceOnly(x.text, x.at); err == nil && once != nil {
			err = usageError{x.flag + ": " + once.Error()}
		}
	}
	if err == nil && (bareNumber(t.open) || bareNumber(t.closing)) {
		if err = t.refuseFeet(w, cfg); err == nil {
			fmt.Fprintf(c.err, "a gauge without a unit is in inches: %s\n", manualTicketText(cfg, w))
		}
	}
	return w, err
}

// takeOver fills in what is not given from the ticket in whose place this one is booked. Of another tank's the gauges are wanted again.
func (t *handTicket) takeOver(ctx context.Context, c *call, site *ledger.Site) (known []ledger.TicketRecord, err error) {
	if err := ask(ctx, c, "tickets.list", control.None{}, &known); err != nil {
		return nil, err
	}
	old, gauged, ok := site.Retyped(t.Replaces, known)
	if !ok {
		all := make([]ledger.ManualTicket, 1)
		all[0].Replaces = t.Replaces
		return nil, ask(ctx, c, "tickets.check", all, nil) // it says what became of that one
	}
	t.Tank, t.Replaces = cmp.Or(t.Tank, old.Tank), old.Replaces
	if !old.Start.IsZero() {
		t.start, t.end = cmp.Or(t.start, old.Start.Format(time.RFC3339Nano)), cmp.Or(t.end, old.End.Format(time.RFC3339Nano))
	}
	if gauged && t.Tank == old.Tank {
		inches := func(in float64) string { return strconv.FormatFloat(in, 'f', -1, 64) + "in" }
		t.open, t.closing = cmp.Or(t.open, inches(old.Open)), cmp.Or(t.closing, inches(old.Close))
	}
	return known, nil
}

// sayTakenOver says what a ticket has from the one in whose place it is booked, and refuses one that is in nothing another.
func sayTakenOver(c *call, site *ledger.Site, w ledger.ManualTicket, known []ledger.TicketRecord) error {
	old, _, _ := site.Retyped(w.Replaces, known)
	same, edits, table := site.Differences(old, w, known)
	if edits == nil && table == "" {
		return usageError{"ticket " + w.Replaces + " says the same already: give what is wrong with it, such as --close 3-06-0; the rest is taken over"}
	}
	var changed []string
	for _, e := range edits {
		changed = append(changed, e.String())
	}
	if table != "" {
		changed = append(changed, "barrels "+table+": right if the table was corrected; if the tank itself is another since, the table of then counts")
	}
	return printf(c.err, "from %s: %s; changed: %s\n", w.Replaces, strings.Join(same, ", "), strings.Join(changed, "; "))
}

// bareNumber says that a gauge has no unit. Zero needs none.
func bareNumber(gauge string) bool {
	v, err := strconv.ParseFloat(strings.TrimSpace(gauge), 64)
	return err == nil && v != 0
}

// refuseFeet refuses a bare number that may be meant in feet, since both would fit the tank: the ticket would be a twelfth of the load.
func (t *handTicket) refuseFeet(w ledger.ManualTicket, cfg *config.Config) error {
	most := w.Open // a closing gauge is below the opening one
	for _, x := range []struct {
		flag, text string
		inches     float64
	}{{"open", t.open, w.Open}, {"close", t.closing, w.Close}} {
		if !bareNumber(x.text) {
			continue
		}
		if x.flag == "open" {
			if of := cfg.Tank(w.Tank); of != nil {
				most = float64(of.Height)
			}
		} else if bareNumber(t.open) {
			continue // both are in the same unit, and that of the greater one is known
		}
		if x.inches*12 <= most {
			return fmt.Errorf("--%s %s can be inches (%s) or feet (%s); write %sin or %sft", x.flag, x.text, gaugeText(x.inches), gaugeText(x.inches*12), x.text, x.text)
		}
	}
	return nil
}

type ticketsAddOptions struct {
	ticket *handTicket
	queue  *queueFlags
	anyway string
}

func ticketsAddCommand(c *call) *cobra.Command {
	o := &ticketsAddOptions{}
	cmd := newCommand(c, "add --tank ID ...", "queue a ticket that a person writes", o.run)
	f := cmd.Flags()
	o.ticket = addTicketFlags(f)
	o.queue = addQueueFlags(f)
	f.StringVar(&o.anyway, "anyway", "", "`TEXT`: why it is right though something speaks against it, such as an overlap; kept in ticket and audit trail")
	return cmd
}

func (o *ticketsAddOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) > 0:
		return usageError{fmt.Sprintf("tickets add takes flags only, not %q; put texts with blanks in quotes", args)}
	case o.queue.file != "" && *o.ticket != (handTicket{}):
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
		var known []ledger.TicketRecord
		agentSite := newAgentSite(cfg)
		if o.ticket.Replaces != "" {
			if known, err = o.ticket.takeOver(ctx, c, &agentSite); err != nil {
				return err
			}
		}
		all = make([]ledger.ManualTicket, 1)
		if all[0], err = o.ticket.manualTicket(c, cfg); err == nil && o.ticket.Replaces != "" {
			err = sayTakenOver(c, &agentSite, all[0], known)
		}
	}
	if err == nil {
		err = checkTickets(cfg, o.queue.file, all)
	}
	if err != nil {
		return asUsageError(err)
	}
	for i := range all {
		all[i].Anyway = o.anyway
	}
	return withConnection(c, func(d *connection) error { return addTickets(ctx, c, d, o.queue, cfg, all) })
}

// addTickets queues tickets that have been checked, and sees them off.
func addTickets(ctx context.Context, c *call, d *connection, s *queueFlags, cfg *config.Config, all []ledger.ManualTicket) error {
	var doubts []string
	err := d.request(ctx, "tickets.check", all, &doubts)
	switch {
	case err != nil && s.file != "":
		return fmt.Errorf("%s: %w; nothing was queued", s.file, err)
	case err != nil:
		return err
	case len(doubts) > 0 && strings.TrimSpace(all[0].Anyway) == "":
		return fmt.Errorf("%s. Nothing was queued: correct it, or if it is right all the same, say why with --anyway \"TEXT\"; --replaces NUMBER books it in the place of a wrong ticket that has left", strings.Join(doubts, "; "))
	}
	var numbers []string
	for _, w := range all {
		var q control.QueuedRecord
		if err := d.request(ctx, "tickets.add", w, &q); err != nil {
			return fmt.Errorf("%w%s", err, behind("; queued before that: ", strings.Join(numbers, ", ")))
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
	if err := printDeliveries(c, d, queued); err != nil || all[0].Replaces == "" {
		return err
	}
	return voidedText(c, all[0].Replaces)
}

// voidedText says what gauger cannot do about a ticket that the service has.
func voidedText(c *call, number string) error {
	return printf(c.err, "%s counts no more in gauger's lists and sums. The service takes no ticket back: an event there says so; have it voided in the accounting, at the purchaser's too\n", strings.ToUpper(number))
}

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

// checkTickets refuses what cannot be a run, before anything is asked. path is the file that they come from, if any.
func checkTickets(cfg *config.Config, path string, all []ledger.ManualTicket) error {
	agentSite := newAgentSite(cfg)
	for i, w := range all {
		err := cmp.Or((site{cfg}).checkTank(w.Tank), agentSite.CheckManual(w))
		switch {
		case err != nil && path != "":
			return fmt.Errorf("%s: record %d: %w", path, i+1, err)
		case err != nil:
			return err
		}
	}
	return nil
}

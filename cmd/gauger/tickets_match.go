package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"gauger/agent/ledger"
)

// basisWords are the bases of a hauler's volume as people read them.
var basisWords = map[string]string{ledger.AsObserved: "as observed", ledger.AsGross: "gross at 60 degF", ledger.AsNet: "net at 60 degF"}

// basisOf says what the barrels on a truck's ticket are.
func basisOf(basis string, metered bool) string {
	return when(metered, "by the truck's meter, ") + basisWords[basis]
}

type ticketsMatchOptions struct {
	gross, net bool
	request    ledger.MatchArgs
}

func ticketsMatchCommand(c *call) *cobra.Command {
	o := &ticketsMatchOptions{}
	cmd := newCommand(c, "match NUMBER --hauler NUMBER --barrels BBL", "record what the truck's own ticket says", o.run)
	takes(cmd, 1, "tickets match wants one ticket number of gauger's; `gauger tickets list` shows them, and `gauger tickets explain TIME TANK` finds one")
	f := cmd.Flags()
	f.StringVar(&o.request.Hauler, "hauler", "", "`NUMBER` of the truck's ticket")
	f.Float64Var(&o.request.Bbl, "barrels", 0, "`BBL` on the truck's ticket, as observed unless --gross or --net says otherwise")
	f.BoolVar(&o.gross, "gross", false, "they are gross barrels at 60 degF")
	f.BoolVar(&o.net, "net", false, "they are net barrels at 60 degF, without sediment and water")
	f.BoolVar(&o.request.Meter, "metered", false, "a meter on the truck has them: what flowed into the tank meanwhile counts too; else they are by the tank's gauges")
	f.StringVar(&o.request.By, "by", "", "`NAME` of the person for whom you record it")
	f.BoolVar(&o.request.Remove, "remove", false, "take a wrong one back; that it was there is kept")
	f.StringVar(&o.request.Why, "why", "", "`TEXT` of why it is taken back")
	f.StringVar(&o.request.Anyway, "anyway", "", "`TEXT` of why it is right though something speaks against it")
	return cmd
}

func (o *ticketsMatchOptions) run(ctx context.Context, c *call, args []string) error {
	o.request.Hauler = strings.TrimSpace(o.request.Hauler)
	switch {
	case o.request.Hauler == "":
		return usageError{"tickets match wants the number on the truck's ticket: --hauler NUMBER"}
	case o.gross && o.net:
		return usageError{"--gross and --net exclude each other"}
	case !o.request.Remove && o.request.Bbl <= 0:
		return usageError{"tickets match wants what the truck's ticket says: --barrels 180.25"}
	}
	o.request.Basis = either(o.gross, ledger.AsGross, either(o.net, ledger.AsNet, ledger.AsObserved))
	return withConnection(c, func(d *connection) error {
		rows, err := d.tickets(ctx)
		if err != nil {
			return err
		}
		row, err := byNumber(rows, args[0])
		if err != nil {
			return err
		}
		o.request.Number = row.Name()
		var got ledger.MatchResult
		if err := d.request(ctx, "tickets.match", o.request, &got); err != nil {
			return err
		}
		if got.Warning != "" {
			fmt.Fprintln(c.err, "warning: "+got.Warning)
		}
		return printMatch(c, got.Ticket)
	})
}

func printMatch(c *call, b *ledger.TicketRecord) error {
	h := b.TruckTotals()
	if c.json() {
		return printJSON(c.out, map[string]any{"number": b.Number, "hauled": h, "matches": b.Matches})
	}
	if h == nil {
		return printf(c.out, "%s: no truck's ticket is recorded any more\n", b.Number)
	}
	return printf(c.out, "%s: truck's ticket %s, %.2f bbl %s; %s\n", b.Number, strings.Join(h.Numbers, " and "), h.Bbl, basisOf(h.Basis, h.Metered), differenceOf(h, b))
}

// noVolume says why there is nothing to compare a truck's gross or net barrels with, and what to do.
func noVolume(h *ledger.TruckTotals, b *ledger.TicketRecord) string {
	if b.Volumes == nil || h.Basis == ledger.AsObserved {
		return "gauger has no volume on that basis, so no difference"
	}
	keys := either(h.Basis == ledger.AsNet, "specific_gravity, top_temperature and bsw", "specific_gravity and top_temperature")
	return fmt.Sprintf("gauger has no %s barrels of it (no %s), so no difference; match the observed ones, and for the next tickets write %s of %s into the configuration",
		h.Basis, strings.Join(b.Volumes.Missing, ", "), keys, b.Tank)
}

// differenceOf is the truck's volume beside ours, in words.
func differenceOf(h *ledger.TruckTotals, b *ledger.TicketRecord) string {
	if h.Difference == nil {
		return noVolume(h, b)
	}
	l := b.Load
	text := fmt.Sprintf("%s has %.2f, ", either(l == nil, "the ticket", "gauger"), *h.Ours)
	inflow := 0.0
	if in := b.Inflow(); in != nil && *in >= 0.05 {
		inflow = *in
	}
	text += when(inflow > 0 && h.Metered, fmt.Sprintf("with the %.1f bbl that flowed in meanwhile, ", inflow)) +
		fmt.Sprintf("so the truck has %.2f bbl", math.Abs(*h.Difference))
	if h.Percent != nil {
		text += fmt.Sprintf(" (%.2f %%)", math.Abs(*h.Percent))
	}
	text += either(*h.Difference < 0, " less", " more")
	if h.Within != nil {
		e := ledger.OwnError(l, h.Metered)
		text += fmt.Sprintf(", %s gauger's own error of %.1f", inside(*h.Within), e) + when(e > l.ErrorBbl, " (the inflow's is in it)")
	}
	return text + fmt.Sprintf(", %s 0.5 %% or 1 bbl", inside(*h.Close)) +
		when(inflow > 0 && !h.Metered, fmt.Sprintf("; %.1f bbl flowed in meanwhile, which only a meter on the truck has (--metered)", inflow))
}

func inside(yes bool) string { return either(yes, "within", "beyond") }

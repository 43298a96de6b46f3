package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"

	"github.com/spf13/cobra"
)

// ledgerProof is all that `gauger proof` says. Tickets are those whose load ended in the stretch.
type ledgerProof struct {
	control.Proof
	Tickets []ticketRow `json:"tickets"`
}

type proofOptions struct{ from, to, of string }

func proofCommand(c *call) *cobra.Command {
	o := &proofOptions{of: "streams"}
	cmd := newCommand(c, "proof [--from DAY] [--to DAY] [--format csv]", "where every record is, and whether the service's events agree", o.run)
	takes(cmd, 0, "proof takes flags only, such as --from 2026-03-01 --to 2026-03-31")
	f := cmd.Flags()
	withCSV(cmd)
	f.StringVar(&o.from, "from", "7d", "begin with this production `DAY`, this time (the site's), or so long ago")
	f.StringVar(&o.to, "to", "now", "up to and with this production `DAY`, or before this time")
	word(cmd, &o.of, "of", "what a csv is of, default streams", "streams", "tickets", "events")
	return cmd
}

// run prints where every record is, and fails when one is nowhere.
func (o *proofOptions) run(ctx context.Context, c *call, _ []string) error {
	h := findSite(c)
	p := ledgerProof{Tickets: []ticketRow{}}
	stretch, err := h.proofPeriod(o.from, o.to)
	if err != nil {
		return err
	}
	err = withConnection(c, func(d *connection) error {
		rows, err := d.tickets(ctx)
		p.Tickets = append(p.Tickets, slices.DeleteFunc(rows, func(r ticketRow) bool {
			return r.End.Before(stretch.From) || !r.End.Before(stretch.To)
		})...)
		return errors.Join(err, d.request(ctx, "proof", stretch, &p.Proof))
	})
	if err != nil {
		return err
	}
	if c.format == "csv" {
		err = csv.NewWriter(c.out).WriteAll(p.csvLines(o.of, h))
	} else {
		err = c.show(p, func() error { return printProof(c, h, p) })
	}
	if err == nil && (!p.Holds || p.lost() != "") {
		fmt.Fprintln(c.err, p.failureText())
		return errQuiet
	}
	return err
}

func (p *ledgerProof) failureText() string {
	for _, s := range p.Streams {
		if !s.Holds && !onlyLossUnknown(s) {
			return "THE LEDGER DOES NOT HOLD: a record is nowhere, or here without having been accepted; keep the store's folder as it is, and ask for help"
		}
	}
	if lost := p.lost(); p.Holds {
		return "RECORDS ARE LOST: " + lost + ". They were accepted here, and the outbox file was damaged, deleted or replaced by an older one before the service said that it has them; " +
			"compare the service's tickets with the paper of those days, and write what is missing with `gauger tickets add`; `gauger status` says for a week what was found"
	}
	return "WHETHER THE LEDGER HOLDS IS NOT KNOWN: the outbox was damaged, its counts too; what was accepted before that, compare with the service"
}

// lost says how many records of which streams are known to be lost; empty: none.
func (p *ledgerProof) lost() string {
	var all []string
	for _, s := range p.Streams {
		if s.Whole.Lost > 0 {
			all = append(all, fmt.Sprintf("%d of the %s", s.Whole.Lost, control.StreamName(s.Stream)))
		}
	}
	return strings.Join(all, ", ")
}

func printProof(c *call, h site, p ledgerProof) error {
	t := newTable(c.out)
	t.printf("from %s to before %s\n\n", timeText(p.From, h.zone()), timeText(p.To, h.zone()))
	t.printf("RECORDS\tACCEPTED\tDELIVERED\tWAIT\tREFUSED\tGAVE WAY\tDROPPED\tLOST\t\n") // 80 columns: the first is the sum of the others
	for _, s := range p.Streams {
		ends := "" // that every one is accounted for is said of all below
		switch {
		case !s.Holds && !onlyLossUnknown(s):
			ends = fmt.Sprintf("DOES NOT HOLD: counted one by one %d wait and %d are refused", s.Queued, s.Letters)
		case !s.Holds:
			ends = "NOT KNOWN: the outbox was damaged, its counts too; more may have been accepted, and lost, than is counted here"
		case s.Whole.Lost > 0:
			ends = fmt.Sprintf("%d LOST, every other one accounted for", s.Whole.Lost)
		}
		t.printf("%s\t%s\t%s\n", control.StreamName(s.Stream), countsRow(s.Whole), ends)
		ends = when(s.NoReceipt > 0, fmt.Sprintf(" + %s without a receipt", countText(int(s.NoReceipt), "record"))) +
			when(s.Before > 0, fmt.Sprintf(" (before them %s whose time is no longer known)", countText(int(s.Before), "record"))) +
			when(!s.Since.IsZero(), " (receipts are kept since "+timeText(s.Since, h.zone())+")") +
			when(s.Moved, " (counted a moment after the row above: records came or went meanwhile)")
		t.printf("  accepted then\t%s\t%s\n", countsRow(s.Within), strings.TrimSpace(ends))
	}
	if len(p.Unused) > 0 {
		t.printf("\nNOT USED: readings without a time of the device, which may have waited at the broker, so that nobody knows when they were true\nPOINT\tREADINGS\tFIRST\tLAST\n")
	}
	for _, u := range p.Unused {
		t.printf("%s\t%d\t%s\t%s\n", u.Point, u.Count, timeText(u.First, h.zone()), timeText(u.Last, h.zone()))
	}
	t.printf("\nTICKETS by the end of the load: %d\n", len(p.Tickets))
	for i, line := range p.ticketLines(h, time.DateTime) {
		if i > 0 || len(p.Tickets) > 0 {
			t.printf("%s\n", columns(line))
		}
	}
	p.eventsText(t)
	if p.Store != "" {
		t.printf("\n%s\n", p.Store)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	switch {
	case !p.Holds: // which is told beside it
	case len(p.Events.Missing) > 0:
		return printf(c.out, "\nThe ledger holds here, but the service has not all of the events that it said it took: ask there, and look for the tickets of that time too.\n")
	case !slices.ContainsFunc(p.Streams, func(s control.StreamProof) bool { return s.Whole.Accepted > 0 }):
		return printf(c.out, "\nNothing was accepted yet.\n")
	case p.lost() == "":
		return printf(c.out, "\nThe ledger holds: every record that was accepted is accounted for.\n")
	}
	return nil
}

func countsRow(n control.Tally) columns {
	out := columns{}
	for _, x := range []uint64{n.Accepted, n.Delivered, n.Waiting, n.Dead, n.Evicted, n.Dropped} {
		out = append(out, strconv.FormatUint(x, 10))
	}
	return append(out, n.Losses())
}

// onlyLossUnknown says that a stream's ledger fits its records, and only what damage took of it is not known.
func onlyLossUnknown(s control.StreamProof) bool {
	return s.Whole.LostUnknown && s.Queued == s.Whole.Waiting && s.Letters == s.Whole.Dead
}

func (p *ledgerProof) eventsText(t *table) {
	e := p.Events
	t.printf("\nDIAGNOSTIC EVENTS by their start: %d delivered", e.Delivered)
	if e.Compared {
		t.printf(", the service has %d: %d missing, %d doubled, %d not known here", e.Service, apart(e.Missing), apart(e.Doubled), apart(e.Unknown))
	}
	t.printf("\n")
	if e.Note != "" {
		t.printf("%s\n", e.Note)
	}
	if len(e.Unknown) > 0 {
		t.printf("what is not known here was sent from another store: another gauger with this object, this one's store of before, or another program\n")
	}
	for i, line := range p.eventLines() {
		if i > 0 || len(e.Missing)+len(e.Doubled)+len(e.Unknown) > 0 {
			t.printf("%s\n", columns(line))
		}
	}
}

// apart is how many events the two sides differ in.
func apart(all []control.EventCount) (n int) {
	for _, e := range all {
		n += max(e.Delivered-e.Service, e.Service-e.Delivered)
	}
	return n
}

func (p *ledgerProof) csvLines(of string, h site) [][]string {
	switch of {
	case "tickets":
		lines := p.ticketLines(h, time.RFC3339)
		for i := range p.Tickets {
			r := &p.Tickets[i]
			lines[i+1] = append(lines[i+1], strconv.FormatBool(r.Voided != ""), r.Replaces, r.ReplacedBy)
		}
		return withHeader("number,tank,start,end,state,answered,status,correlation_id,remark,void,replaces,replaced_by", lines)
	case "events":
		return withHeader("difference,rule,start,object,delivered,service", p.eventLines())
	}
	lines := [][]string{strings.Split("stream,stretch,accepted,delivered,waiting,dead,evicted,dropped,lost,no_receipt,holds", ",")}
	for _, s := range p.Streams {
		for _, x := range []struct {
			stretch   string
			n         control.Tally
			noReceipt uint64
		}{{"all", s.Whole, 0}, {"within", s.Within, s.NoReceipt}} {
			line := append([]string{s.Stream, x.stretch}, countsRow(x.n)...)
			lines = append(lines, append(line, strconv.FormatUint(x.noReceipt, 10), strconv.FormatBool(s.Holds)))
		}
	}
	return lines
}

// withHeader puts the names that a program reads over lines, in the place of a person's.
func withHeader(names string, lines [][]string) [][]string {
	lines[0] = strings.Split(names, ",")
	for _, line := range lines[1:] {
		for i := range line {
			line[i] = spreadsheetText(line[i])
		}
	}
	return lines
}

// ticketLines are the tickets by when they left and what the service said.
func (p *ledgerProof) ticketLines(h site, layout string) [][]string {
	lines := [][]string{{"NUMBER", "TANK", "START", "END", "STATE", "ANSWERED", "STATUS", "CORRELATION ID", "REMARK"}}
	at := func(t time.Time) string { return zonedText(t, h.zone(), layout) }
	for i := range p.Tickets {
		r := &p.Tickets[i]
		lines = append(lines, []string{r.Name(), r.Tank, at(r.Start), at(r.End), r.State, at(r.Answered), statusText(r.Status), r.Corr, r.proofRemark()})
	}
	return lines
}

// proofRemark is what a person should know of a ticket's record: that it counts no more, and what was out of the usual in sending it.
func (r *ticketRow) proofRemark() string {
	all := append(r.SendingRemarks(), r.Repeated()...)
	if r.Voided != "" {
		all = append([]string{"void"}, all...)
	}
	return strings.Join(all, "; ")
}

// eventLines are the events in which the service and the receipts differ.
func (p *ledgerProof) eventLines() [][]string {
	lines := [][]string{{"DIFFERENCE", "RULE", "START", "OBJECT", "DELIVERED", "SERVICE"}}
	for _, x := range []struct {
		what string
		all  []control.EventCount
	}{{"missing", p.Events.Missing}, {"doubled", p.Events.Doubled}, {"unknown", p.Events.Unknown}} {
		for _, e := range x.all {
			lines = append(lines, []string{x.what, e.Rule, e.Start, e.Object, strconv.Itoa(e.Delivered), strconv.Itoa(e.Service)})
		}
	}
	return lines
}

// proofPeriod reads the time of a proof. A date is a production day, the last one included.
func (h site) proofPeriod(from, to string) (a control.ProofArgs, err error) {
	for _, x := range []struct {
		name, text string
		days       int
		into       *time.Time
	}{{"--from", from, 0, &a.From}, {"--to", to, 1, &a.To}} {
		if day, err := time.Parse(time.DateOnly, x.text); err == nil {
			*x.into = h.productionDayStart(day.AddDate(0, 0, x.days))
			continue
		}
		if *x.into, err = parseTime(x.text, h.zone(), time.Now().Round(0)); err != nil {
			return a, usageError{x.name + ": " + err.Error()}
		}
	}
	if !a.From.Before(a.To) {
		return a, usageError{"--to must be later than --from"}
	}
	return a, nil
}

// productionDayStart of a date, in the site's zone.
func (h site) productionDayStart(day time.Time) time.Time {
	begin := 7 * time.Hour
	if h.cfg != nil {
		begin = time.Duration(h.cfg.ProductionDay)
	}
	return time.Date(day.Year(), day.Month(), day.Day(), int(begin.Hours()), int(begin.Minutes())%60, int(begin.Seconds())%60, 0, h.zone())
}

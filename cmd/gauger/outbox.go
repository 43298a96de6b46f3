package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/outbox"
	"gauger/outbox/disk"
)

// selection of records that a command is about.
type selection struct {
	stream   string // "": all
	states   []string
	from, to time.Time // when they were queued; zero: any time
	whole    bool      // with the requests that take them to the service
}

// allStates is every place that a record can be seen in, and the words for it.
var allStates = []string{"waiting", "dead", "delivered", "dropped"}

// selectionFlags are the flags of everything that lists records.
type selectionFlags struct {
	state  string
	within timeWindow
}

func (o *selectionFlags) add(cmd *cobra.Command) {
	word(cmd, &o.state, "state", "only records in this state", "waiting", "refused", "dead", "delivered", "dropped", "all")
	o.within.addFlags(cmd.Flags(), "only records that were queued from this `TIME` (the site's) on, or so long ago: 24h, 7d", "only records that were queued before this `TIME`")
}

// selection reads what the flags say; usual are the states that are shown when none is named.
func (o *selectionFlags) selection(c *call, args []string, usual []string) (selection, error) {
	if len(args) > 1 {
		return selection{}, usageError{c.command + " takes one stream, or none for all"}
	}
	s := selection{stream: strings.Join(args, ""), states: usual}
	switch o.state {
	case "":
	case "all":
		s.states = allStates
	case "refused":
		s.states = []string{"dead"}
	default:
		s.states = []string{o.state}
	}
	var err error
	s.from, s.to, err = o.within.readAtSite(c)
	return s, err
}

func (s selection) contains(e control.Entry) bool {
	return !e.At.Before(s.from) && (s.to.IsZero() || e.At.Before(s.to))
}

// selectRecords asks for the records of a selection, page by page, and gives each to see.
func (d *connection) selectRecords(ctx context.Context, s selection, see func(control.Entry) error) error {
	streams := []string{s.stream}
	if s.stream == "" {
		var status control.Status
		if err := d.request(ctx, "status", control.None{}, &status); err != nil {
			return err
		}
		if status.Shut != "" { // no stream is known, which is not to say that none has records
			return control.NoOutboxError(status.Shut)
		}
		streams = slices.Sorted(maps.Keys(status.Streams))
	}
	for _, state := range s.states {
		for _, name := range streams {
			err := d.eachPage(ctx, control.RecordQuery{Stream: name, State: state, Limit: 256, Whole: s.whole}, func(e control.Entry) error {
				if !s.contains(e) {
					return nil
				}
				return see(e)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eachPage asks for the records of one stream in one state.
func (d *connection) eachPage(ctx context.Context, which control.RecordQuery, see func(control.Entry) error) error {
	for {
		var page []control.Entry
		if err := d.request(ctx, "outbox.list", which, &page); err != nil {
			return err
		}
		if len(page) == 0 {
			return nil
		}
		for _, e := range page {
			which.After = e.Seq
			if err := see(e); err != nil {
				return err
			}
		}
	}
}

func eachRecord(ctx context.Context, c *call, selections []selection, see func(control.Entry) error) error {
	return withConnection(c, func(d *connection) error {
		for _, s := range selections {
			if err := d.selectRecords(ctx, s, see); err != nil {
				return err
			}
		}
		return nil
	})
}

// listPlace is where a record stands in a list: tickets that wait first, messages that could not be decoded last.
func listPlace(e *control.Entry) int {
	switch {
	case e.Stream == ledger.Tickets && e.State == "waiting":
		return 0
	case e.Stream == ledger.Refused:
		return 2
	}
	return 1
}

func printTable(w io.Writer, all []control.Entry, brief bool, zone *time.Location) error {
	if len(all) == 0 {
		return printf(w, "nothing\n")
	}
	of, seen := map[string]int{}, map[string]int{} // messages of each device
	for i := range all {
		if all[i].Stream == ledger.Refused {
			of[all[i].Address]++
		}
	}
	t := newTable(w)
	t.printf("RECORD\tSTATE\tSINCE\tWHAT\tWHY\n")
	for place := range 3 {
		for i := range all {
			e := &all[i]
			if listPlace(e) != place {
				continue
			}
			what, why := recordText(*e), reasonText(*e)
			if n := of[e.Address]; brief && e.Stream == ledger.Refused && n > 1 {
				if seen[e.Address]++; seen[e.Address] < n {
					continue // the newest stands for all
				}
				what, why = fmt.Sprintf("%d messages of %s", n, e.Address), "`gauger outbox dead refused` shows them; the newest: "+why
			}
			t.printf("%s/%d\t%s\t%s\t%s\t%s\n", e.Stream, e.Seq, stateWord(*e), timeText(cmp.Or(e.Since, e.At), zone), what, why)
		}
	}
	return t.Flush()
}

// stateWord is a record's state as people call it.
func stateWord(e control.Entry) string {
	_, _, _, unreadable := e.Message()
	return either(unreadable, "unreadable", strings.Replace(e.State, "dead", "refused", 1))
}

func recordText(e control.Entry) string {
	_, raw, _, unreadable := e.Message()
	return e.Label + behind(" for ", e.Address) + behind(": ", e.Says) + when(unreadable && e.Body != nil, fmt.Sprintf(": %.60q", raw))
}

func reasonText(e control.Entry) string {
	source, raw, reason, unreadable := e.Message()
	switch {
	case unreadable:
		return fmt.Sprintf("%s; %d bytes of %s", reason, len(raw), source)
	case e.Reason != "":
		return e.Reason
	case e.State == "delivered":
		return fmt.Sprintf("status %d", e.Status) + behind(", correlation id ", e.Corr)
	}
	return e.Waits
}

// listOptions are the flags of `outbox list` and `outbox dead`.
type listOptions struct {
	selectionFlags
	usual []string // states that are shown when none is named
	every bool
}

func outboxListCommand(c *call) *cobra.Command {
	return (&listOptions{usual: []string{"waiting", "dead"}}).command(c, "list [STREAM] [--state STATE]", "what waits and why, and what was refused")
}

func outboxDeadCommand(c *call) *cobra.Command {
	o := &listOptions{usual: []string{"dead"}}
	cmd := o.command(c, "dead [STREAM] [--all]", "what the service refused, or nobody could decode")
	cmd.Flags().BoolVar(&o.every, "all", false, fmt.Sprintf("every record, not the newest %d of a stream only", shownRefused))
	return cmd
}

func (o *listOptions) command(c *call, use, about string) *cobra.Command {
	cmd := newCommand(c, use, about, o.run)
	withCSV(cmd)
	o.add(cmd)
	return cmd
}

// run lists records. Among what was refused belongs what nobody could decode.
func (o *listOptions) run(ctx context.Context, c *call, args []string) error {
	s, err := o.selection(c, args, o.usual)
	if err != nil {
		return err
	}
	all := []selection{s}
	if unreadable := s; o.usual[0] == "dead" && (s.stream == "" || s.stream == ledger.Refused) {
		unreadable.stream, unreadable.states = ledger.Refused, []string{"waiting"}
		all = append(all, unreadable)
	}
	return o.printRecords(ctx, c, o.usual[0] == "waiting" && s.stream == "", all...)
}

// parseRecord reads STREAM/SEQ; the number may be left out where several records may be meant.
func parseRecord(text string, needSeq bool) (control.RecordQuery, error) {
	stream, number, ok := strings.Cut(text, "/")
	if !ok && !needSeq {
		return control.RecordQuery{Stream: stream}, nil
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return control.RecordQuery{}, usageError{fmt.Sprintf("%q is not a record; write STREAM/NUMBER such as tickets/12, as `gauger outbox list` shows it", text)}
	}
	return control.RecordQuery{Stream: stream, Seqs: []uint64{seq}}, nil
}

// changeRecords runs a command that names records, or a whole stream, and sends request with them.
func changeRecords(ctx context.Context, c *call, request, done string, with control.RecordQuery, rest []string, needSeq bool) error {
	if len(rest) == 0 {
		return usageError{c.command + " wants a record, as STREAM/NUMBER"}
	}
	var all []control.RecordQuery
	for _, text := range rest {
		which, err := parseRecord(text, needSeq)
		if err != nil {
			return err
		}
		which.Why, which.Absent = with.Why, with.Absent
		all = append(all, which)
	}
	total := 0
	told := withConnection(c, func(d *connection) error {
		var errs []error
		for i, which := range all {
			var n int
			if err := d.request(ctx, request, which, &n); err != nil {
				errs = append(errs, err) // the others are done all the same
				continue
			}
			switch total += n; {
			case c.json():
			case n == 0:
				fmt.Fprintf(c.out, "%s: nothing there was given up; what waits, refused before or not, is tried now\n", rest[i])
			default:
				fmt.Fprintf(c.out, "%s: %s %s\n", rest[i], countText(n, "record"), done)
				var e control.Entry
				if request == confirmRequest && d.request(ctx, "outbox.show", which, &e) == nil && e.Repeated() != "" {
					fmt.Fprintf(c.out, "  it was sent %s without a clear answer: %s, so look into its list whether it stands there once, and say so with another `outbox confirm`\n", countText(e.Unclear.Count, "time"), e.Repeated())
				}
			}
		}
		return errors.Join(errs...)
	})
	if c.json() {
		return errors.Join(told, printJSON(c.out, map[string]int{"records": total}))
	}
	return told
}

func outboxRetryCommand(c *call) *cobra.Command {
	with := control.RecordQuery{}
	cmd := newCommand(c, "retry STREAM[/SEQ]", "queue refused or parked records again; decode kept messages again", func(ctx context.Context, c *call, args []string) error {
		switch {
		case slices.ContainsFunc(args, isRefusedMessage):
			return decodeMessages(ctx, c, args)
		case with.Absent != (strings.TrimSpace(with.Why) != ""):
			return usageError{"--absent and --why go together, and only for a delivered ticket that you have not found at the service: the reason is kept"}
		}
		return changeRecords(ctx, c, "outbox.retry", "queued again", with, args, with.Absent)
	})
	cmd.Flags().BoolVar(&with.Absent, "absent", false, "also a delivered ticket: you have looked, and the service has it not")
	cmd.Flags().StringVar(&with.Why, "why", "", "`TEXT` of the reason, which is kept")
	return cmd
}

// confirmRequest asks that a record counts as delivered.
const confirmRequest = "outbox.confirm"

func outboxConfirmCommand(c *call) *cobra.Command {
	return newEndCommand(c, "confirm STREAM/SEQ --why TEXT", "the service has it: count a record as delivered and send it no more", confirmRequest, "confirmed",
		"say why with --why, such as where you have seen it: a confirmed record is not sent any more, and the reason is kept", nil)
}

func outboxDropCommand(c *call) *cobra.Command {
	absent := false
	cmd := newEndCommand(c, "drop STREAM/SEQ --why TEXT", "give a record up", "outbox.drop", "given up",
		"say why with --why: a dropped record is gone, and the reason is kept", &absent)
	cmd.Flags().BoolVar(&absent, "absent", false, "of a ticket that the service may have: you have looked there, and it has not")
	return cmd
}

func newEndCommand(c *call, use, about, request, done, missing string, absent *bool) *cobra.Command {
	why := ""
	cmd := newCommand(c, use, about, func(ctx context.Context, c *call, args []string) error {
		if strings.TrimSpace(why) == "" {
			return usageError{missing}
		}
		return changeRecords(ctx, c, request, done, control.RecordQuery{Why: why, Absent: absent != nil && *absent}, args, true)
	})
	cmd.Flags().StringVar(&why, "why", "", "`TEXT` of the reason, which is kept")
	return cmd
}

func outboxCheckCommand(c *call) *cobra.Command {
	cmd := newCommand(c, "check FILE", "examine an outbox file, without the daemon", runOutboxCheck)
	takes(cmd, 1, "outbox check wants the outbox file")
	cmd.ValidArgsFunction = fileNames
	return cmd
}

// runOutboxCheck examines a file. It is also what the daemon runs in a process of its own before it opens the outbox.
func runOutboxCheck(_ context.Context, c *call, args []string) error {
	r, err := outbox.Check(args[0])
	if errors.Is(err, disk.ErrNoFile) {
		err = fmt.Errorf("%w; give the file of an outbox: that of a site is outbox.db in the folder store.path", err)
	}
	if errors.Is(err, outbox.ErrHeld) {
		err = fmt.Errorf("%w: stop that one first (`sudo systemctl stop gauger`); what it holds `gauger outbox list` shows while it runs", err)
	}
	if c.json() {
		r.Problems = append([]string{}, r.Problems...)
		return cmp.Or(printJSON(c.out, r), err)
	}
	if r.Bytes > 0 {
		fmt.Fprintf(c.out, "%s: %d bytes, %d waiting, %d refused, %s\n", args[0], r.Bytes, r.Records, r.DeadLetters, countText(r.Bad, "problem"))
	}
	if r.LostUnknown {
		fmt.Fprintln(c.out, "  how many records are missing, or were lost in an earlier damage, is not known: the counts are damaged, or were")
	}
	for _, p := range r.Problems {
		fmt.Fprintln(c.out, "  "+p)
	}
	if errors.Is(err, outbox.ErrDamaged) && r.Records+r.DeadLetters+r.State == 0 {
		fmt.Fprintln(c.out, "  nothing of an outbox is in it: is it the right file? That of a site is outbox.db in the folder store.path")
	}
	return err
}

package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

func outboxShowCommand(c *call) *cobra.Command {
	return takes(newCommand(c, "show STREAM/SEQ", "one record: the request that takes it, why it waits, the answer", runOutboxShow), 1, "outbox show wants one record, as STREAM/NUMBER")
}

func runOutboxShow(ctx context.Context, c *call, args []string) error {
	which, err := parseRecord(args[0], true)
	if err != nil {
		return err
	}
	var e control.Entry
	if err := ask(ctx, c, "outbox.show", which, &e); err != nil {
		return err
	}
	return c.show(e, func() error { return showEntry(c.out, e, findSite(c).zone()) })
}

// showEntry prints one record for a person: where it is and why, the service's answer, and what goes over the wire.
func showEntry(w io.Writer, e control.Entry, zone *time.Location) error {
	t := newTable(w)
	for _, x := range [][2]string{
		{e.Stream + "/" + strconv.FormatUint(e.Seq, 10), strings.TrimSpace(stateWord(e) + " " + recordText(e))},
		{"queued", timeText(e.At, zone)}, {"start", e.Start}, {"object", e.Object},
		{strings.Replace(e.State, "dead", "refused", 1), timeText(e.Since, zone)}, {"last answer", statusText(e.Status)}, {"correlation id", e.Corr},
		{"why", e.Reason}, {"unclear", e.Unclear.Text(func(t time.Time) string { return timeText(t, zone) })}, {"why it waits", e.Waits},
	} {
		if x[1] != "" && x[1] != "-" {
			t.printf("%s\t%s\n", x[0], x[1])
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if source, raw, why, ok := e.Message(); ok {
		return printf(w, "%s sent %q: %s\n", source, raw, why)
	}
	switch {
	case e.Request != nil:
		fmt.Fprintf(w, "%s %s\n", e.Request.Method, e.Request.URL)
		return printJSON(verbatim(w), e.Request.Body)
	case e.Body != nil:
		return printJSON(verbatim(w), e.Body)
	case e.Raw != nil:
		return printf(w, "its bytes cannot be trusted: %q\n", e.Raw)
	}
	return printf(w, "its body is not kept any more\n")
}

// printRecords prints records; brief: for a person, with a line for each device whose messages could not be decoded.
func (o *listOptions) printRecords(ctx context.Context, c *call, brief bool, selections ...selection) error {
	if c.format == "csv" {
		_, err := exportRecords(ctx, c, c.out, selections...)
		return err
	}
	all := []control.Entry{}
	if err := eachRecord(ctx, c, selections, func(e control.Entry) error { all = append(all, e); return nil }); err != nil {
		return err
	}
	return o.print(c, all, brief)
}

// shownRefused are the newest of a stream that `outbox dead` shows a person.
const shownRefused = 20

// print prints records, of what was refused those of each stream that came last.
func (o *listOptions) print(c *call, all []control.Entry, brief bool) error {
	return c.show(all, func() error {
		older, seen := len(all), map[string]int{} // of each stream
		for i := len(all) - 1; i >= 0; i-- {
			n := seen[all[i].Stream]
			if seen[all[i].Stream] = n + 1; o.usual[0] != "dead" || o.every || n < shownRefused {
				older--
				all[older] = all[i]
			}
		}
		err := printTable(c.out, all[older:], brief, findSite(c).zone())
		if older > 0 {
			fmt.Fprintf(c.out, "and %d older: `gauger outbox dead --all`\n", older)
		}
		return err
	})
}

type outboxExportOptions struct {
	selectionFlags
	file string
}

func outboxExportCommand(c *call) *cobra.Command {
	o := &outboxExportOptions{}
	cmd := newCommand(c, "export [STREAM] [-o FILE]", "all records and receipts, for support or to be sent by hand", o.run)
	printsFormats(cmd, "output `FORMAT`: json (a line for each record, with the request that takes it to the service) or csv (default json)", "json", "csv")
	o.add(cmd)
	cmd.Flags().StringVarP(&o.file, "o", "o", "", "write to this `file` instead of standard output")
	return cmd
}

// run writes every record that is there, a line of JSON or csv each: what waits, what was refused, and the
// receipts. Nothing of a key is among it.
func (o *outboxExportOptions) run(ctx context.Context, c *call, args []string) error {
	s, err := o.selection(c, args, allStates)
	if err != nil {
		return err
	}
	s.whole = true
	if o.file == "" {
		_, err := exportRecords(ctx, c, c.out, s)
		return err
	}
	n := 0
	err = writeFile(o.file, "export the records", 0o600, func(out io.Writer) (err error) {
		n, err = exportRecords(ctx, c, out, s)
		return err
	})
	if err != nil {
		return err
	}
	return printf(c.err, "%s written to %s\n", countText(n, "record"), o.file)
}

// exportRecords writes the records of selections as lines of csv or JSON, and says how many.
func exportRecords(ctx context.Context, c *call, out io.Writer, selections ...selection) (n int, err error) {
	lines, rows, zone := json.NewEncoder(out), csv.NewWriter(out), findSite(c).zone()
	if !c.json() {
		err = rows.Write(strings.Split(entryColumns, ","))
	}
	err = errors.Join(err, eachRecord(ctx, c, selections, func(e control.Entry) error {
		n++
		if c.json() {
			return lines.Encode(e)
		}
		return rows.Write(entryRow(e, zone))
	}))
	if err != nil && n == 0 {
		return n, err // and no heading either, under which nothing would look like no records
	}
	rows.Flush()
	return n, errors.Join(err, rows.Error())
}

// entryColumns are those of records as csv; entryRow writes them in the same order.
const entryColumns = "stream,number,state,what,start,object,address,queued,since,status,correlation_id,why,body"

func entryRow(e control.Entry, zone *time.Location) []string {
	return []string{e.Stream, strconv.FormatUint(e.Seq, 10), stateWord(e), spreadsheetText(e.Label), e.Start, e.Object, spreadsheetText(e.Address),
		zonedText(e.At, zone, time.RFC3339), zonedText(e.Since, zone, time.RFC3339), statusText(e.Status), spreadsheetText(e.Corr), spreadsheetText(reasonText(e)), string(e.Body)}
}

// isRefusedMessage says that a person means messages that could not be decoded.
func isRefusedMessage(record string) bool {
	stream, _, _ := strings.Cut(record, "/")
	return stream == ledger.Refused
}

// decodeResult of messages that were decoded again, as JSON.
type decodeResult struct {
	Decoded int                    `json:"decoded"`
	Values  int                    `json:"values"`  // that were queued of them
	Dropped int                    `json:"dropped"` // messages that gave none, and are given up
	Left    []control.DecodeResult `json:"left"`    // still cannot be decoded
}

// decodeMessages decodes messages with the configuration of now: all that are kept, or those that are named.
func decodeMessages(ctx context.Context, c *call, rest []string) error {
	which := control.RecordQuery{Stream: ledger.Refused}
	for _, text := range rest {
		w, err := parseRecord(text, false)
		if err != nil {
			return err
		}
		if w.Stream != ledger.Refused || len(w.Seqs) == 0 && len(rest) > 1 {
			return usageError{"name messages by themselves, as refused/12, or say refused for all of them"}
		}
		which.Seqs = append(which.Seqs, w.Seqs...)
	}
	all := decodeResult{Left: []control.DecodeResult{}}
	err := withConnection(c, func(d *connection) error {
		for {
			var page []control.DecodeResult
			if err := d.request(ctx, "outbox.decode", which, &page); err != nil {
				return err
			}
			for _, x := range page {
				if which.After = x.Seq; x.Why != "" {
					all.Left = append(all.Left, x)
					continue
				}
				all.Decoded++
				if all.Values += x.Values; x.Values == 0 {
					all.Dropped++
				}
			}
			if len(page) == 0 || len(which.Seqs) > 0 {
				return nil
			}
		}
	})
	err = errors.Join(printDecoded(c, all), err) // an error may come after many were decoded
	if err == nil && len(all.Left) > 0 {
		return errQuiet
	}
	return err
}

// maxLeftShown of the messages that still cannot be decoded; the rest are counted.
const maxLeftShown = 20

func printDecoded(c *call, all decodeResult) error {
	if c.json() {
		return printJSON(c.out, all)
	}
	for _, x := range all.Left[:min(len(all.Left), maxLeftShown)] {
		if _, err := fmt.Fprintf(c.out, "%s/%d still cannot be decoded: %s\n", ledger.Refused, x.Seq, oneLine(x.Why)); err != nil {
			return err
		}
	}
	if more := len(all.Left) - maxLeftShown; more > 0 {
		fmt.Fprintf(c.out, "and %d more, as `gauger outbox dead %s --all` shows\n", more, ledger.Refused)
	}
	_, err := fmt.Fprintf(c.out, "%s decoded, %s queued%s\n", countText(all.Decoded, "message"), countText(all.Values, "value"), when(all.Dropped > 0, fmt.Sprintf("; %d gave none and are dropped", all.Dropped)))
	if all.Decoded > 0 && all.Values == 0 {
		fmt.Fprintln(c.err, "what is past goes to tag_values and targets only, and those points are in none: it makes no ticket and no event")
	}
	return err
}

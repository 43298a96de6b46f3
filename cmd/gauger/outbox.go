package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"gauger/agent"
	"gauger/outbox"
)

// listed asks for the records of one or all streams in one state, page by page, and gives each to see.
func (d *desk) listed(ctx context.Context, stream, state string, see func(agent.Entry) error) error {
	streams := []string{stream}
	if stream == "" {
		var s agent.Status
		if err := d.call(ctx, "status", agent.None{}, &s); err != nil {
			return err
		}
		streams = sortedNames(s.Streams)
	}
	for _, name := range streams {
		which := agent.Which{Stream: name, State: state, Limit: 256}
		for {
			var page []agent.Entry
			if err := d.call(ctx, "outbox.list", which, &page); err != nil {
				return err
			}
			if len(page) == 0 {
				break
			}
			for _, e := range page {
				which.After = e.Seq
				if err := see(e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// entries runs a command that shows the records that gather collects.
func (m *Main) entries(ctx context.Context, name string, args []string, gather func(d *desk, stream string, see func(agent.Entry) error) error) error {
	f, c := m.flags(name)
	rest, err := parse(f, c, args)
	if err != nil || len(rest) > 1 {
		return orUsage(err, name+" takes one stream, or none for all")
	}
	all := []agent.Entry{}
	err = m.with(c, func(d *desk) error {
		return gather(d, strings.Join(rest, ""), func(e agent.Entry) error { all = append(all, e); return nil })
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(m.Out, all)
	}
	return table(m.Out, all, m.around(c).zone())
}

// table prints records, a line each.
func table(w io.Writer, all []agent.Entry, zone *time.Location) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(w, "nothing")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "RECORD\tSTATE\tSINCE\tWHAT\tWHY")
	for _, e := range all {
		since, why := e.At, e.Reason
		if !e.Since.IsZero() {
			since = e.Since
		}
		state, what := strings.Replace(e.State, "dead", "refused", 1), e.Label
		if e.Address != "" {
			what += " for " + e.Address
		}
		if source, raw, reason, ok := e.Message(); ok {
			state, why = "unreadable", fmt.Sprintf("%s; %d bytes of %s", reason, len(raw), source)
		}
		if !e.Parked.IsZero() {
			why = "sent without an answer too often; waits until " + minute(e.Parked, zone)
		}
		fmt.Fprintf(t, "%s/%d\t%s\t%s\t%s\t%s\n", e.Stream, e.Seq, state, minute(since, zone), what, why)
	}
	return t.Flush()
}

// outboxList shows what waits, and what is kept because it was refused.
func (m *Main) outboxList(ctx context.Context, args []string) error {
	return m.entries(ctx, "outbox list", args, func(d *desk, stream string, see func(agent.Entry) error) error {
		for _, state := range []string{"waiting", "dead"} {
			if err := d.listed(ctx, stream, state, see); err != nil {
				return err
			}
		}
		return nil
	})
}

// outboxDead shows what the service refused, and what nobody could decode.
func (m *Main) outboxDead(ctx context.Context, args []string) error {
	return m.entries(ctx, "outbox dead", args, func(d *desk, stream string, see func(agent.Entry) error) error {
		if stream != agent.Refused {
			if err := d.listed(ctx, stream, "dead", see); err != nil {
				return err
			}
		}
		if stream == "" || stream == agent.Refused {
			return d.listed(ctx, agent.Refused, "waiting", see)
		}
		return nil
	})
}

// recordOf reads STREAM/SEQ; the number may be left out where several records may be meant.
func recordOf(text string, needSeq bool) (agent.Which, error) {
	stream, number, ok := strings.Cut(text, "/")
	if !ok && !needSeq {
		return agent.Which{Stream: stream}, nil
	}
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return agent.Which{}, usage{fmt.Sprintf("%q is not a record; write STREAM/NUMBER such as tickets/12, as `gauger outbox list` shows it", text)}
	}
	return agent.Which{Stream: stream, Seqs: []uint64{seq}}, nil
}

// onRecords runs a command that names records, or a whole stream, and does verb with them.
func (m *Main) onRecords(ctx context.Context, c *common, verb, done, why string, rest []string, needSeq bool) error {
	if len(rest) == 0 {
		return usage{c.command + " wants a record, as STREAM/NUMBER"}
	}
	var all []agent.Which
	for _, text := range rest {
		which, err := recordOf(text, needSeq)
		if err != nil {
			return err
		}
		which.Why = why
		all = append(all, which)
	}
	total := 0
	err := m.with(c, func(d *desk) error {
		for _, which := range all {
			var n int
			if err := d.call(ctx, verb, which, &n); err != nil {
				return err
			}
			total += n
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(m.Out, map[string]int{"records": total})
	}
	_, err = fmt.Fprintf(m.Out, "%s %s\n", count(total, "record"), done)
	return err
}

func (m *Main) outboxRetry(ctx context.Context, args []string) error {
	f, c := m.flags("outbox retry")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	return m.onRecords(ctx, c, "outbox.retry", "queued again", "", rest, false)
}

func (m *Main) outboxDrop(ctx context.Context, args []string) error {
	f, c := m.flags("outbox drop")
	why := f.String("why", "", "`TEXT` of the reason, which is kept")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if strings.TrimSpace(*why) == "" {
		return usage{"say why with --why: a dropped record is gone, and the reason is kept"}
	}
	return m.onRecords(ctx, c, "outbox.drop", "given up", *why, rest, true)
}

// outboxShow prints one record whole.
func (m *Main) outboxShow(ctx context.Context, args []string) error {
	f, c := m.flags("outbox show")
	rest, err := parse(f, c, args)
	if err != nil || len(rest) != 1 {
		return orUsage(err, "outbox show wants one record, as STREAM/NUMBER")
	}
	which, err := recordOf(rest[0], true)
	if err != nil {
		return err
	}
	var e agent.Entry
	if err := m.with(c, func(d *desk) error { return d.call(ctx, "outbox.show", which, &e) }); err != nil {
		return err
	}
	if c.json() {
		return printJSON(m.Out, e)
	}
	return showEntry(m.Out, e, m.around(c).zone())
}

// showEntry prints one record for a person, its body as the service gets it.
func showEntry(w io.Writer, e agent.Entry, zone *time.Location) error {
	if err := table(w, []agent.Entry{e}, zone); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, x := range [][2]string{{"queued", minute(e.At, zone)}, {"service's own name for its answer", e.Corr}} {
		if x[1] != "" {
			fmt.Fprintf(t, "%s\t%s\n", x[0], x[1])
		}
	}
	if e.Status != 0 {
		fmt.Fprintf(t, "last answer\t%d\n", e.Status)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if source, raw, _, ok := e.Message(); ok {
		_, err := fmt.Fprintf(w, "%s sent %q\n", source, raw)
		return err
	}
	if e.Body == nil {
		_, err := fmt.Fprintln(w, "its body is not kept any more")
		return err
	}
	return printJSON(w, e.Body)
}

// outboxExport prints every record that is there, a line of JSON each: waiting, refused, and the receipts.
func (m *Main) outboxExport(ctx context.Context, args []string) error {
	f, c := m.flags("outbox export")
	rest, err := parse(f, c, args)
	if err != nil || len(rest) > 1 {
		return orUsage(err, "outbox export takes one stream, or none for all")
	}
	lines := json.NewEncoder(m.Out)
	return m.with(c, func(d *desk) error {
		for _, state := range []string{"waiting", "dead", "delivered", "dropped"} {
			if err := d.listed(ctx, strings.Join(rest, ""), state, func(e agent.Entry) error { return lines.Encode(e) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// checked is a report with the names that a program reads.
type checked struct {
	Bytes       int64    `json:"bytes"`
	Pages       uint64   `json:"pages"`
	Free        int      `json:"free_pages"`
	Records     int      `json:"waiting"`
	DeadLetters int      `json:"refused"`
	State       int      `json:"state"`
	Bad         int      `json:"bad"`
	Problems    []string `json:"problems"`
}

// outboxCheck examines a file. It is also what the daemon runs in a process of its own before it opens the outbox.
func (m *Main) outboxCheck(_ context.Context, args []string) error {
	f, c := m.flags("outbox check")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage{"outbox check wants the outbox file"}
	}
	r, err := outbox.Check(rest[0])
	if c.json() {
		r.Problems = append([]string{}, r.Problems...)
		if printed := printJSON(m.Out, checked(r)); printed != nil {
			return printed
		}
		return err
	}
	if r.Bytes > 0 {
		fmt.Fprintf(m.Out, "%s: %d bytes, %d waiting, %d refused, %s\n", rest[0], r.Bytes, r.Records, r.DeadLetters, count(r.Bad, "problem"))
	}
	for _, p := range r.Problems {
		fmt.Fprintln(m.Out, "  "+p)
	}
	return err
}

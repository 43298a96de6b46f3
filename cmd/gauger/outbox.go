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

// entries runs a command that shows records in the given states.
func (m *Main) entries(ctx context.Context, name string, args []string, states ...string) error {
	f, c := m.flags(name)
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) > 1 {
		return usage{name + " takes one stream, or none for all"}
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	stream := strings.Join(rest, "")
	all := []agent.Entry{}
	for _, state := range states {
		if err := d.listed(ctx, stream, state, func(e agent.Entry) error { all = append(all, e); return nil }); err != nil {
			return err
		}
	}
	if c.json() {
		return printJSON(m.Out, all)
	}
	return table(m.Out, all)
}

// table prints records, a line each.
func table(w io.Writer, all []agent.Entry) error {
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
		if source, raw, reason, ok := e.Message(); ok {
			why = fmt.Sprintf("%s; %d bytes of %s", reason, len(raw), source)
		}
		if !e.Parked.IsZero() {
			why = "sent without an answer too often; waits until " + e.Parked.Local().Format(time.DateTime)
		}
		fmt.Fprintf(t, "%s/%d\t%s\t%s\t%s\t%s\n", e.Stream, e.Seq, e.State, since.Local().Format(time.DateTime), e.Label, why)
	}
	return t.Flush()
}

func (m *Main) outboxList(ctx context.Context, args []string) error {
	return m.entries(ctx, "outbox list", args, "waiting", "dead")
}

// outboxDead shows what the service refused, and what nobody could decode.
func (m *Main) outboxDead(ctx context.Context, args []string) error {
	f, c := m.flags("outbox dead")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	all := []agent.Entry{}
	take := func(e agent.Entry) error { all = append(all, e); return nil }
	stream := strings.Join(rest, "")
	if stream != agent.Refused {
		err = d.listed(ctx, stream, "dead", take)
	}
	if err == nil && (stream == "" || stream == agent.Refused) {
		err = d.listed(ctx, agent.Refused, "waiting", take)
	}
	switch {
	case err != nil:
		return err
	case c.json():
		return printJSON(m.Out, all)
	}
	return table(m.Out, all)
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
func (m *Main) onRecords(ctx context.Context, name, verb, done string, args []string, needSeq bool) error {
	f, c := m.flags(name)
	why := f.String("why", "", "the reason, which is kept")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return usage{name + " wants a record, as STREAM/NUMBER"}
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	total := 0
	for _, text := range rest {
		which, err := recordOf(text, needSeq)
		if err != nil {
			return err
		}
		which.Why = *why
		var n int
		if err := d.call(ctx, verb, which, &n); err != nil {
			return err
		}
		total += n
	}
	if c.json() {
		return printJSON(m.Out, map[string]int{"records": total})
	}
	_, err = fmt.Fprintf(m.Out, "%s %s\n", count(total, "record"), done)
	return err
}

func (m *Main) outboxRetry(ctx context.Context, args []string) error {
	return m.onRecords(ctx, "outbox retry", "outbox.retry", "queued again", args, false)
}

func (m *Main) outboxDrop(ctx context.Context, args []string) error {
	return m.onRecords(ctx, "outbox drop", "outbox.drop", "given up", args, true)
}

// outboxShow prints one record whole.
func (m *Main) outboxShow(ctx context.Context, args []string) error {
	f, c := m.flags("outbox show")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usage{"outbox show wants one record, as STREAM/NUMBER"}
	}
	which, err := recordOf(rest[0], true)
	if err != nil {
		return err
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	var e agent.Entry
	if err := d.call(ctx, "outbox.show", which, &e); err != nil {
		return err
	}
	return printJSON(m.Out, e)
}

// outboxExport prints every record that is there, a line of JSON each: waiting, refused, and the receipts.
func (m *Main) outboxExport(ctx context.Context, args []string) error {
	f, c := m.flags("outbox export")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	lines := json.NewEncoder(m.Out)
	for _, state := range []string{"waiting", "dead", "delivered", "dropped"} {
		if err := d.listed(ctx, strings.Join(rest, ""), state, func(e agent.Entry) error { return lines.Encode(e) }); err != nil {
			return err
		}
	}
	return nil
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
		if printed := printJSON(m.Out, r); printed != nil {
			return printed
		}
		return err
	}
	fmt.Fprintf(m.Out, "%s: %d bytes, %d waiting records, %d dead letters, %d problems\n", rest[0], r.Bytes, r.Records, r.DeadLetters, r.Bad)
	for _, p := range r.Problems {
		fmt.Fprintln(m.Out, "  "+p)
	}
	return err
}

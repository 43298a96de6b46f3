package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"gauger/agent"
)

// showStatus answers in five seconds: is it reading, is it sending, when was the last ticket, what is wrong.
func (m *Main) showStatus(ctx context.Context, args []string) error {
	f, c := m.flags("status")
	if rest, err := parse(f, c, args); err != nil || len(rest) > 0 {
		return orUsage(err, "status takes no arguments")
	}
	d, err := m.desk(c)
	if err != nil {
		return err
	}
	defer d.close()
	var s agent.Status
	if err := d.call(ctx, "status", agent.None{}, &s); err != nil {
		return err
	}
	s.Daemon = d.remote != nil
	if c.json() {
		return printJSON(m.Out, s)
	}
	return m.statusText(s)
}

// orUsage is err, or a usage error with text.
func orUsage(err error, text string) error {
	if err != nil {
		return err
	}
	return usage{text}
}

func (m *Main) statusText(s agent.Status) error {
	t := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s (%s), gauger %s\n", s.Site, s.ID, s.Version)
	fmt.Fprintln(t, headline(s))
	for _, p := range s.Problems {
		fmt.Fprintln(t, "  ! "+p)
	}
	fmt.Fprintln(t)
	for _, k := range s.Tanks {
		level := "no level yet"
		if k.Level != nil {
			level = fmt.Sprintf("%s  (%.2f in)", k.Gauge, *k.Level)
		}
		if k.Barrels != nil {
			level += fmt.Sprintf("  %.1f bbl", *k.Barrels)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", k.ID, level, k.Quality, k.Phase)
	}
	if s.Last != nil {
		fmt.Fprintf(t, "\nlast ticket\t%s\t%s to %s\n", s.Last.Number, s.Last.Start.Local().Format("2006-01-02 15:04"), s.Last.End.Local().Format("15:04"))
	} else {
		fmt.Fprintln(t, "\nno ticket yet")
	}
	for _, h := range s.Held {
		fmt.Fprintf(t, "held\t%s\t%s to %s, leaves %s\n", h.Load.Tank, h.Load.Start.Local().Format("15:04"), h.Load.End.Local().Format("15:04"), h.Due.Local().Format("15:04"))
	}
	fmt.Fprintln(t, "\noutbox\twaiting\tdelivered\trefused\tgave way")
	for _, name := range sortedNames(s.Streams) {
		n := s.Streams[name]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\n", name, n.Waiting, n.Delivered, n.Dead, n.Evicted)
	}
	return t.Flush()
}

// headline says in one line whether the site is read and whether anything leaves.
func headline(s agent.Status) string {
	if !s.Daemon {
		return "gauger is NOT running: nothing is read and nothing is sent. `systemctl start gauger` starts it. The store holds:"
	}
	good, waiting := 0, uint64(0)
	for _, p := range s.Points {
		if p.Quality == "good" {
			good++
		}
	}
	for name, n := range s.Streams {
		if name != agent.Refused {
			waiting += n.Waiting
		}
	}
	parts := []string{fmt.Sprintf("running for %s", s.Now.Sub(s.Began).Round(time.Second)), fmt.Sprintf("reads %d of %d points", good, len(s.Points))}
	switch waiting {
	case 0:
		parts = append(parts, "everything is sent")
	default:
		parts = append(parts, count(int(waiting), "record")+" waiting to be sent")
	}
	return strings.Join(append(parts, "clock "+s.Clock), ", ")
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// ticketsExplain says in sentences why a ticket is a ticket.
func (m *Main) ticketsExplain(ctx context.Context, args []string) error {
	c, r, err := m.ticket(ctx, "tickets explain", args)
	if err != nil {
		return err
	}
	says := r.sentences(m.around(c))
	if c.json() {
		return printJSON(m.Out, says)
	}
	_, err = fmt.Fprintln(m.Out, strings.Join(says, "\n"))
	return err
}

// sentences is the story of a ticket.
func (r ticketRow) sentences(h here) []string {
	clock := func(t time.Time) string { return t.In(h.zone()).Format("15:04 on January 2") }
	last := "The ticket is " + r.standing(h) + "."
	l := r.Load
	if l == nil {
		g := r.figures(h)
		out := []string{fmt.Sprintf("Ticket %s was written by %s; gauger did not see the load by itself.", r.Number, r.Person)}
		if g.open != nil {
			out = append(out, fmt.Sprintf("It says that from %s to %s the level of %s fell from %s to %s.", clock(r.Start), clock(r.End), r.Tank,
				gauge(*g.open), gauge(*g.closing)))
		}
		if g.bbl != nil {
			out = append(out, fmt.Sprintf("By the tank's table that is %.1f bbl.", *g.bbl))
		}
		return append(out, last)
	}
	out := []string{
		fmt.Sprintf("From %s to %s the level of %s fell from %s to %s.", clock(l.Start), clock(l.End), l.Tank, gauge(l.Open), gauge(l.Close)),
		fmt.Sprintf("By the %s that is %.1f bbl, give or take %.1f; about %.1f bbl flowed in meanwhile, so %.1f bbl left the tank.",
			tableName(l.Table), l.GaugeBbl, l.ErrorBbl, l.InflowBbl, l.RemovedBbl),
		fmt.Sprintf("It left at %.1f bbl a minute, in %s, seen in %s.", l.Rate, count(l.Parts, "part"), count(l.Samples, "reading")),
		"It is a run and not something else: it is larger than a drain, faster than a leak, no other tank of the site rose with it, and the oil did not come back while gauger waited.",
	}
	if l.Group != "" {
		out = append(out, fmt.Sprintf("The tank stands in the group %s, joined by an open equaliser; the group lost %.1f bbl.", l.Group, l.GroupBbl))
	}
	if l.Gap > 0 {
		out = append(out, fmt.Sprintf("No reading came for %s of it.", l.Gap.Round(time.Second)))
	}
	if len(l.Remarks) > 0 {
		out = append(out, fmt.Sprintf("A reader should know: %s.", strings.Join(l.Remarks, ", ")))
	}
	if len(l.Review) > 0 {
		out = append(out, fmt.Sprintf("A person should look at it: %s.", strings.Join(l.Review, ", ")))
	} else {
		out = append(out, "Nothing makes it doubtful.")
	}
	out = append(out, fmt.Sprintf("gauger is %.0f %% sure of it.", 100*l.Confidence), last)
	if r.Rejected != "" {
		out = append(out, "It was rejected by "+r.Rejected+".")
	}
	return out
}

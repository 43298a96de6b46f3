package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gauger/agent/tank"
)

// ticketsExplain says in sentences why a ticket is a ticket.
func (m *Main) ticketsExplain(ctx context.Context, args []string) error {
	c, r, err := m.ticket(ctx, "tickets explain", args)
	if err != nil {
		return err
	}
	says := r.sentences()
	if c.json() {
		return printJSON(m.Out, says)
	}
	_, err = fmt.Fprintln(m.Out, strings.Join(says, "\n"))
	return err
}

// sentences is the story of a ticket.
func (r ticketRow) sentences() []string {
	clock := func(t time.Time) string { return t.Local().Format("15:04 on January 2") }
	l := r.Load
	if l == nil {
		return []string{fmt.Sprintf("Ticket %s of %s was written by %s for %s to %s; gauger did not see it by itself.", r.Number, r.Tank, r.Person,
			clock(r.Start), clock(r.End))}
	}
	out := []string{
		fmt.Sprintf("From %s to %s the level of %s fell from %s to %s.", clock(l.Start), clock(l.End), l.Tank,
			tank.Length(l.Open).Gauge(), tank.Length(l.Close).Gauge()),
		fmt.Sprintf("By the %s table that is %.1f bbl, give or take %.1f; about %.1f bbl flowed in meanwhile, so %.1f bbl left the tank.",
			l.Table, l.GaugeBbl, l.ErrorBbl, l.InflowBbl, l.RemovedBbl),
		fmt.Sprintf("It left at %.1f bbl a minute, in %s, seen in %s.", l.Rate, count(l.Parts, "part"), count(l.Samples, "reading")),
		"It is a run and not something else: it is larger than a drain, faster than a leak, no other tank of the site rose with it, and the oil did not come back while gauger waited.",
	}
	if l.Group != "" {
		out = append(out, fmt.Sprintf("The tank stands in the group %s, joined by an open equaliser; the group lost %.1f bbl.", l.Group, l.GroupBbl))
	}
	if l.Gap > 0 {
		out = append(out, fmt.Sprintf("No reading came for %s of it.", l.Gap.Round(time.Second)))
	}
	if len(l.Review) > 0 {
		out = append(out, fmt.Sprintf("A person should look at it: %s.", strings.Join(l.Review, ", ")))
	}
	out = append(out, fmt.Sprintf("The confidence is %.0f %%. The ticket is %s.", 100*l.Confidence, r.State))
	if r.Rejected != "" {
		out = append(out, "It was rejected by "+r.Rejected+".")
	}
	return out
}

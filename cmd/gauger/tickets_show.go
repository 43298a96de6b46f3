package main

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
)

// runTicketsShow prints all that is known of one ticket, with a picture of the level.
func runTicketsShow(ctx context.Context, c *call, args []string) error {
	f := flags(c, "tickets show")
	ascii := f.Bool("ascii", false, "draw the level in plain ASCII")
	rest, err := parse(f, c, args)
	if err != nil || len(rest) != 1 {
		return orUsage(err, "tickets show wants one ticket number; `gauger tickets list` shows them")
	}
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	r, err := byNumber(rows, rest[0])
	if err != nil {
		return err
	}
	if c.json() {
		return printJSON(c.out, r)
	}
	h := findSite(c)
	t := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	for _, line := range r.evidence(h) {
		fmt.Fprintf(t, "%s\t%s\n", line[0], line[1])
	}
	if err := t.Flush(); err != nil || r.Load == nil {
		return err
	}
	if drawing, ok := chartOf(r.Load, h.zone(), plainASCII(c, *ascii)); ok {
		_, err = fmt.Fprintln(c.out, "\n"+strings.Join(drawing.lines(), "\n"))
	}
	return err
}

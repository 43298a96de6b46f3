package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

type ticketsShowOptions struct {
	ascii bool
}

func ticketsShowCommand(c *call) *cobra.Command {
	o := &ticketsShowOptions{}
	cmd := newCommand(c, "show NUMBER", "one ticket with its evidence and the level drawn", o.run)
	takes(cmd, 1, "tickets show wants one ticket number; `gauger tickets list` shows them")
	cmd.Flags().BoolVar(&o.ascii, "ascii", false, "draw the level in plain ASCII")
	return cmd
}

// run prints all that is known of one ticket, with a picture of the level.
func (o *ticketsShowOptions) run(ctx context.Context, c *call, args []string) error {
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	r, err := byNumber(rows, args[0])
	if err != nil {
		return err
	}
	if c.json() {
		return printJSON(c.out, r)
	}
	h := findSite(c)
	t := newTable(c.out)
	for _, line := range r.evidence(h) {
		t.printf("%s\t%s\n", line[0], line[1])
	}
	if err := t.Flush(); err != nil || r.Load == nil {
		return err
	}
	if drawing, ok := chartOf(r.Load, h.zone(), plainASCII(c, o.ascii)); ok {
		_, err = fmt.Fprintln(c.out, "\n"+strings.Join(drawing.render(), "\n"))
	}
	return err
}

package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gauger/outbox"
)

// checkReport is a report with the names that a program reads.
type checkReport struct {
	Bytes       int64    `json:"bytes"`
	Pages       uint64   `json:"pages"`
	Free        int      `json:"free_pages"`
	Records     int      `json:"waiting"`
	DeadLetters int      `json:"refused"`
	State       int      `json:"state"`
	LostUnknown bool     `json:"lost_unknown"`
	Bad         int      `json:"bad"`
	Problems    []string `json:"problems"`
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
	if c.json() {
		r.Problems = append([]string{}, r.Problems...)
		if printed := printJSON(c.out, checkReport(r)); printed != nil {
			return printed
		}
		return err
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
	return err
}

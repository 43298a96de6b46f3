package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
)

// finding is one line of the table at the end.
type finding struct {
	row, what, figure, goal string
	missed                  bool
}

// atMost judges a figure whose goal is an upper limit.
func atMost(row, what string, figure, goal float64, unit string) finding {
	return finding{row: row, what: what, figure: fmt.Sprintf("%.4g%s", figure, unit),
		goal: fmt.Sprintf("<= %g%s", goal, unit), missed: figure > goal}
}

func printFindings(all []finding, tabs bool) {
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	w := io.Writer(table)
	if tabs {
		w = os.Stdout
	} else {
		fmt.Fprintln(w, "row\twhat\tfigure\tgoal\t")
	}
	for _, f := range all {
		verdict := "met"
		if f.missed {
			verdict = "MISSED"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.row, f.what, f.figure, f.goal, verdict)
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
}

// spread is the median of several measurements, and their ends.
type spread struct{ median, least, most float64 }

func spreadOf(all []float64) spread {
	all = slices.Sorted(slices.Values(all))
	return spread{median: all[len(all)/2], least: all[0], most: all[len(all)-1]}
}

func (s spread) String() string { return fmt.Sprintf("%.3g (%.3g-%.3g)", s.median, s.least, s.most) }

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// finding is one line of the table.
type finding struct {
	row      int
	what     string
	theory   string // what theory allows, or the yardstick of the same run
	measured string
	ratio    float64 // of the two, where that means something; 0: it does not
	goal     string
	judged   bool // a goal is set
	met      bool
}

func (f finding) unmet() bool { return f.judged && !f.met }

// verdict is the last column.
func (f finding) verdict() string {
	switch {
	case !f.judged:
		return "-"
	case f.met:
		return "met"
	}
	return "NOT MET"
}

func printTable(to io.Writer, all []finding) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\twhat\ttheory or yardstick\tmeasured\tratio\tgoal\t")
	for _, f := range all {
		ratio := ""
		if f.ratio != 0 {
			ratio = fmt.Sprintf("%.3f", f.ratio)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", f.row, f.what, f.theory, f.measured, ratio, f.goal, f.verdict())
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the table: %w", err)
	}
	return nil
}

// median is the middle one, or the mean of the two in the middle; 0 of none.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

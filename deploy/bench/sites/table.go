package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"
)

// report prints the goal table, the coverage, and a line for each kind.
func report(w io.Writer, all []outcome, o options) {
	var heaps [3][]outcome
	for _, x := range all {
		if x.held {
			heaps[1] = append(heaps[1], x)
		} else {
			heaps[0] = append(heaps[0], x)
		}
	}
	heaps[2] = all
	var f [3]figures
	for i := range heaps {
		f[i] = count(heaps[i])
	}
	goals(w, f)
	coverage(w, f)
	kinds(w, "kind (tuning)", heaps[0])
	if o.held {
		kinds(w, "kind (held out)", heaps[1])
	}
	if o.loads {
		for _, x := range all {
			if !x.held || o.held {
				each(w, x)
			}
		}
	}
}

// goal is a line of the table: a figure, its form, and what it should be.
type goal struct {
	name, form string
	value      func(figures) float64
	want       string
}

var goalLines = []goal{
	{"sites", "%.0f", func(f figures) float64 { return float64(f.sites) }, ""},
	{"loads", "%.0f", func(f figures) float64 { return float64(f.loads) }, ""},
	{"whole loads lost", "%.0f", func(f figures) float64 { return float64(f.lost) }, "0"},
	{"recall", "%.3f", func(f figures) float64 { return ratio(f.found, f.loads) }, "1.000"},
	{"recall without marked tickets", "%.3f", func(f figures) float64 { return ratio(f.found-f.markedLoads, f.loads) }, ""},
	{"precision", "%.3f", func(f figures) float64 { return ratio(f.found, f.found+f.false) }, "0.999"},
	{"precision, marked false ones forgiven", "%.3f", func(f figures) float64 { return ratio(f.found, f.found+f.false-f.falseMarked) }, ""},
	{"money-right (1 bbl or 1 %)", "%.1f %%", func(f figures) float64 { return 100 * ratio(f.right, f.hard) }, "94 %"},
	{"  an expert who knows the times", "%.1f %%", func(f figures) float64 { return 100 * ratio(f.expertRight, f.hard) }, ""},
	{"median error, bbl", "%.2f", func(f figures) float64 { return middle(f.errors) }, "0.2"},
	{"  an expert who knows the times", "%.2f", func(f figures) float64 { return middle(f.expert) }, ""},
	{"barrel error (lost and false with it)", "%.2f %%", func(f figures) float64 { return 100 * f.offBbl / f.trueBbl }, "0.35 %"},
	{"wrong tickets that ask for review", "%.0f %%", func(f figures) float64 { return 100 * ratio(f.wrongMarked, f.wrong) }, "85 %"},
	{"  of so many", "%.0f", func(f figures) float64 { return float64(f.wrong) }, ""},
	{"good tickets that ask for review", "%.1f %%", func(f figures) float64 { return 100 * ratio(f.goodMarked, f.good) }, "6 %"},
	{"err_bbl covers", "%.1f %%", func(f figures) float64 { s, _ := covered(f.claims, func(claim) bool { return true }); return 100 * s }, "93-98 %"},
	{"bias, bbl: mean", "%+.2f", func(f figures) float64 { return mean(f.offs) }, "0.05"},
	{"bias, bbl: median", "%+.2f", func(f figures) float64 { return middle(f.offs) }, "0.05"},
}

func goals(w io.Writer, f [3]figures) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\ttuning\theld out\tall\tgoal")
	for _, g := range goalLines {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", g.name, show(g.form, g.value(f[0])), show(g.form, g.value(f[1])), show(g.form, g.value(f[2])), g.want)
	}
	out.Flush()
}

func show(form string, x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return fmt.Sprintf(form, x)
}

// claimSizes are the sizes of a claim, bbl.
var claimSizes = []struct {
	name     string
	from, to float64
}{{"says less than 0.5", 0, 0.5}, {"0.5 to 1", 0.5, 1}, {"1 to 2", 1, 2}, {"2 and more", 2, math.Inf(1)}}

// coverage tells how often a ticket's own claim held, by class of sensor, size of the claim and the way of feeding.
func coverage(w io.Writer, f [3]figures) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nerr_bbl covers (loads)\ttuning\theld out\tall\tmedian err_bbl, all")
	lines := func(name string, of func(claim) bool) {
		fmt.Fprintf(out, "%s", name)
		for i := range f {
			share, n := covered(f[i].claims, of)
			fmt.Fprintf(out, "\t%s (%d)", show("%.0f %%", 100*share), n)
		}
		var said []float64
		for _, c := range f[2].claims {
			if of(c) {
				said = append(said, c.said)
			}
		}
		fmt.Fprintf(out, "\t%s\n", show("%.1f", middle(said)))
	}
	for _, sensor := range named(f[2].claims, func(c claim) string { return c.sensor }) {
		lines(sensor, func(c claim) bool { return c.sensor == sensor })
	}
	for _, size := range claimSizes {
		lines(size.name, func(c claim) bool { return c.said >= size.from && c.said < size.to })
	}
	for _, way := range named(f[2].claims, func(c claim) string { return c.feeding }) {
		lines("fed: "+way, func(c claim) bool { return c.feeding == way })
	}
	out.Flush()
}

func named(claims []claim, of func(claim) string) []string {
	var names []string
	for _, c := range claims {
		names = append(names, of(c))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func kinds(w io.Writer, title string, all []outcome) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "\n%s\tloads\tlost\tfalse\tmoney-right\tmedian error\tcovered\tmarked\texpert right\n", title)
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(o outcome) bool { return o.kind != all[0].kind })
		if n < 0 {
			n = len(all)
		}
		f := count(all[:n])
		share, _ := covered(f.claims, func(claim) bool { return true })
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%d\t%s\n", all[0].kind, f.loads, f.lost, f.false, show("%.0f %%", 100*ratio(f.right, f.hard)),
			show("%.2f", middle(f.errors)), show("%.0f %%", 100*share), f.markedLoads+f.falseMarked, show("%.0f %%", 100*ratio(f.expertRight, f.hard)))
		all = all[n:]
	}
	out.Flush()
}

func each(w io.Writer, o outcome) {
	for _, v := range o.loads {
		fmt.Fprintf(w, "%-44s %-6s %-10s %s %4.0f min  gauge %6.1f  left %6.1f  tol %5.2f  expert %+6.2f  found %-5v off %+7.2f  says %4.1f  marked %v%s\n", v.site, v.Class,
			v.Sensor, v.Start.Format("01-02 15:04"), v.End.Sub(v.Start).Minutes(), v.Gauge, v.Left, v.Tol, v.Expert-v.Gauge, v.found, v.off, v.said, v.marked, why(v))
	}
	for _, t := range o.false {
		fmt.Fprintf(w, "%-44s false  %s %4.0f min  %6.2f to %6.2f in, %.1f bbl; %s\n", t.site, t.Start.Format("01-02 15:04"), t.End.Sub(t.Start).Minutes(), t.OpeningLevel.Level, t.ClosingLevel.Level, t.bbl, t.Comments)
	}
}

// why a load's ticket asks for review, as far as it is known.
func why(v verdict) string {
	if v.load == nil || !v.marked {
		return ""
	}
	return "; " + review(*v.load)
}

package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"gauger/agent/tank"
)

// evidence is all that is known of a ticket, name and figure.
func (r ticketRow) evidence(h here) [][2]string {
	at := func(t time.Time) string { return t.In(h.zone()).Format("2006-01-02 15:04:05 MST") }
	lines := [][2]string{{"number", r.name()}, {"state", r.standing(h)}, {"tank", r.Tank}, {"start", at(r.Start)}, {"end", at(r.End)}}
	if r.Person != "" {
		lines = append(lines, [2]string{map[bool]string{true: "written by", false: "released by"}[r.Load == nil], r.Person})
	}
	if r.Rejected != "" {
		lines = append(lines, [2]string{"rejected by", r.Rejected})
	}
	g := r.figures(h)
	if g.open != nil {
		lines = append(lines, [2]string{"opening gauge", feet(*g.open)}, [2]string{"closing gauge", feet(*g.closing)})
	}
	switch {
	case r.Load != nil:
		lines = append(lines, measured(*r.Load)...)
	case g.bbl != nil:
		lines = append(lines, [2]string{"by gauge", shown(g.bbl, 1) + " bbl"})
	}
	lines = append(lines, r.touched(h)...)
	if r.Ticket != nil {
		lines = append(lines, [2]string{"as sent", string(r.Ticket)})
	}
	return lines
}

// feet is a level as a gauger writes it, and in inches.
func feet(inches float64) string { return fmt.Sprintf("%s (%.2f in)", gauge(inches), inches) }

// measured is what gauger saw of a load.
func measured(l tank.Load) [][2]string {
	lines := [][2]string{
		{"by gauge", fmt.Sprintf("%.1f bbl, give or take %.1f, by the %s", l.GaugeBbl, l.ErrorBbl, tableName(l.Table))},
		{"flowed in meanwhile", fmt.Sprintf("%.1f bbl", l.InflowBbl)},
		{"removed", fmt.Sprintf("%.1f bbl", l.RemovedBbl)},
		{"rate", fmt.Sprintf("%.1f bbl/min", l.Rate)},
		{"parts", strconv.Itoa(l.Parts)},
		{"readings", strconv.Itoa(l.Samples)},
	}
	for _, x := range []struct {
		name   string
		v      *float64
		format string
	}{
		{"top temperature", l.TopTemperature, "%.1f degF"}, {"bottom temperature", l.BottomTemperature, "%.1f degF"},
		{"specific gravity", l.Gravity, "%.4f"}, {"bsw", l.BSW, "%.2f %%"},
	} {
		if x.v != nil {
			lines = append(lines, [2]string{x.name, fmt.Sprintf(x.format, *x.v) + " (measured)"})
		}
	}
	lines = append(lines, [2]string{"confidence", fmt.Sprintf("%.0f %%", 100*l.Confidence)})
	if len(l.Review) > 0 {
		lines = append(lines, [2]string{"needs review", strings.Join(l.Review, ", ")})
	}
	if len(l.Remarks) > 0 {
		lines = append(lines, [2]string{"remarks", strings.Join(l.Remarks, ", ")})
	}
	return lines
}

// tableName says which table made barrels of inches.
func tableName(name string) string {
	if name == "geometry" {
		return "tank's diameter (there is no strapping table)"
	}
	return "strapping table"
}

// standing is the state of a ticket and what comes next.
func (r ticketRow) standing(h here) string {
	switch {
	case r.State == "held" && r.Stop != nil && r.Stop.Until.IsZero():
		return "held by " + r.Stop.Person + " until it is released: `gauger tickets release NUMBER`"
	case r.State == "held" && r.Load != nil && len(r.Load.Review) > 0 && h.cfg != nil && h.cfg.Tickets.Review == "hold":
		return "held until a person looks: `gauger tickets release NUMBER` or `gauger tickets reject NUMBER --why TEXT`"
	case r.State == "held":
		return "held, leaves at " + minute(r.Queued, h.zone())
	case r.State == "waiting":
		return "waiting for the service"
	case r.State == "left":
		return "left long ago; its receipt is not kept any more"
	case r.Reason != "":
		return r.State + ": " + r.Reason
	case r.Status != 0:
		return fmt.Sprintf("%s (status %d)", r.State, r.Status)
	}
	return r.State
}

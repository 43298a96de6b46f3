package main

import (
	"encoding/csv"
	"strings"
	"time"

	"gauger/agent"
)

// csvColumns are those of `tickets list --format csv`; csv writes their figures in the same order.
const csvColumns = "production_day,number,tank,purchaser,start,end,open_ft_in_q,open_in,close_ft_in_q,close_in,open_bbl,close_bbl,gauge_bbl," +
	"removed_bbl,inflow_bbl,error_bbl,open_degf,close_degf,specific_gravity,api60,bsw_percent,open_ctl,close_ctl,gross_bbl,net_bbl," +
	"hauler,hauler_bbl,hauler_basis,difference_bbl,state,review"

// csv is a ticket as an accountant imports it. A figure that is not known is empty.
func (r *ticketRow) csv(h site) []string {
	at := func(t time.Time) string { return t.In(h.zone()).Format(time.RFC3339) }
	f := r.figures(h)
	open, closing := "", ""
	if f.open != nil {
		open, closing = gauge(*f.open), gauge(*f.closing)
	}
	v := r.Volumes
	if v == nil {
		v = &agent.Volumes{}
	}
	var openBbl, closeBbl, removed, inflow, off *float64
	if r.Volumes != nil {
		openBbl, closeBbl = &v.OpenBbl, &v.CloseBbl
	}
	if r.Load != nil {
		removed, inflow, off = &r.Load.RemovedBbl, &r.Load.InflowBbl, &r.Load.ErrorBbl
	}
	line := []string{
		r.Day, plainText(r.Number), plainText(r.Tank), plainText(r.purchaser(h)), at(r.Start), at(r.End),
		open, shown(f.open, 2), closing, shown(f.closing, 2), shown(openBbl, 2), shown(closeBbl, 2), shown(f.bbl, 2),
		shown(removed, 2), shown(inflow, 2), shown(off, 2), shown(v.OpenDegF, 1), shown(v.CloseDegF, 1), shown(v.Gravity, 4), shown(v.API60, 1),
		shown(v.BSW, 2), shown(v.OpenCTL, 5), shown(v.CloseCTL, 5), shown(v.GrossBbl, 2), shown(v.NetBbl, 2),
	}
	if t := r.Hauled; t != nil {
		line = append(line, plainText(strings.Join(t.Numbers, " + ")), shown(&t.Bbl, 2), t.Basis, shown(t.Difference, 2))
	} else {
		line = append(line, "", "", "", "")
	}
	return append(line, r.State, plainText(r.review()))
}

// writeTicketsCSV writes a line for each ticket: times in the site's zone, gauges in inches, volumes in barrels.
func writeTicketsCSV(c *call, h site, rows []ticketRow) error {
	lines := [][]string{strings.Split(csvColumns, ",")}
	for i := range rows {
		lines = append(lines, rows[i].csv(h))
	}
	return csv.NewWriter(c.out).WriteAll(lines)
}

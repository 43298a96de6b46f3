package main

import (
	"encoding/csv"
	"strings"
	"time"

	"gauger/agent/ledger"
)

// csvColumns are those of `tickets list --format csv`; csv writes their figures in the same order.
const csvColumns = "production_day,number,tank,purchaser,start,end,open_ft_in_q,open_in,close_ft_in_q,close_in,open_bbl,close_bbl,gauge_bbl," +
	"removed_bbl,inflow_bbl,error_bbl,open_degf,close_degf,specific_gravity,api60,bsw_percent,open_ctl,close_ctl,gross_bbl,net_bbl," +
	"hauler,hauler_bbl,hauler_basis,difference_bbl,state,review,booked_bbl,booked_gross_bbl,booked_net_bbl"

// csvLine is a ticket as an accountant imports it. A figure that is not known is empty. The booked columns are those to add up: of a
// ticket that was rejected, dropped or voided they are 0.
func (r *ticketRow) csvLine(h site) []string {
	at := func(t time.Time) string { return t.In(h.zone()).Format(time.RFC3339) }
	f := r.figures(h)
	open, closing := "", ""
	if f.open != nil {
		open, closing = gaugeText(*f.open), gaugeText(*f.closing)
	}
	v := r.Volumes
	if v == nil {
		v = &ledger.Volumes{}
	}
	var openBbl, closeBbl, removed, inflow, off *float64
	if r.Volumes != nil {
		openBbl, closeBbl = &v.OpenBbl, &v.CloseBbl
	}
	if r.Load != nil {
		removed, inflow, off = &r.Load.RemovedBbl, &r.Load.InflowBbl, &r.Load.ErrorBbl
		if r.Load.Least() != "" {
			off = nil // there was more, and nobody knows how much
		}
	}
	line := []string{
		r.Day, spreadsheetText(r.Number), spreadsheetText(r.Tank), spreadsheetText(r.purchaser(h)), at(r.Start), at(r.End),
		open, figureText(f.open, 2), closing, figureText(f.closing, 2), figureText(openBbl, 2), figureText(closeBbl, 2), figureText(f.bbl, 2),
		figureText(removed, 2), figureText(inflow, 2), figureText(off, 2), figureText(v.OpenDegF, 1), figureText(v.CloseDegF, 1), figureText(v.Gravity, 4), figureText(v.API60, 1),
		figureText(v.BSW, 2), figureText(v.OpenCTL, 5), figureText(v.CloseCTL, 5), figureText(v.GrossBbl, 2), figureText(v.NetBbl, 2),
	}
	if t := r.Hauled; t != nil {
		basis := t.Basis
		if t.Metered {
			basis += " metered"
		}
		line = append(line, spreadsheetText(strings.Join(t.Numbers, " + ")), figureText(&t.Bbl, 2), basis, figureText(t.Difference, 2))
	} else {
		line = append(line, "", "", "", "")
	}
	line = append(line, r.State, spreadsheetText(r.reviewText()))
	for _, bbl := range []*float64{f.bbl, v.GrossBbl, v.NetBbl} {
		if !r.Booked() {
			bbl = new(0.0)
		}
		line = append(line, figureText(bbl, 2))
	}
	return line
}

// writeTicketsCSV writes a line for each ticket: times in the site's zone, gauges in inches, volumes in barrels.
func writeTicketsCSV(c *call, h site, rows []ticketRow) error {
	lines := [][]string{strings.Split(csvColumns, ",")}
	for i := range rows {
		lines = append(lines, rows[i].csvLine(h))
	}
	return csv.NewWriter(c.out).WriteAll(lines)
}

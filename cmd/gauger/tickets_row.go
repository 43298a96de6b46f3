package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/config"
)

// ticketRow is a ticket as the list shows it.
type ticketRow struct{ control.TicketRow }

// tickets asks for all tickets and where each stands, the oldest first.
func (d *connection) tickets(ctx context.Context) ([]ticketRow, error) {
	var all []ledger.TicketRecord
	if err := d.request(ctx, "tickets.list", control.None{}, &all); err != nil {
		return nil, err
	}
	at := map[uint64]control.Entry{}
	states := []string{"dropped", "delivered", "dead", "waiting"}
	err := d.selectRecords(ctx, selection{stream: ledger.Tickets, states: states}, func(e control.Entry) error { at[e.Seq] = e; return nil })
	if err != nil {
		return nil, err
	}
	rows := []ticketRow{}
	for _, b := range all {
		var of *control.Entry
		if e, known := at[b.Seq]; known {
			of = &e
		}
		rows = append(rows, ticketRow{control.TicketRowOf(b, of)})
	}
	return rows, nil
}

// byNumber finds one ticket; in a number capitals do not matter.
func byNumber(rows []ticketRow, number string) (*ticketRow, error) {
	var numbers []string
	for i := range rows {
		r := &rows[i]
		if name := r.Name(); name != "" && (strings.EqualFold(name, number) || strings.EqualFold(r.Handle, number)) {
			return r, nil
		}
		numbers = append(numbers, r.Name())
	}
	return nil, fmt.Errorf("%w: %s%s; `gauger tickets list` shows them", ledger.ErrNoTicket, number, didYouMean(number, numbers))
}

// standing is where a ticket stands, as the list shows it: a void one counts no more, wherever its record is.
func (r *ticketRow) standing() string {
	return either(r.Voided != "", "void", r.State)
}

// figures are a ticket's gauges in inches and its volume in barrels; nil where they are not known.
type figures struct{ open, closing, bbl *float64 }

// figures of a ticket that gauger saw come from the load, those of a person's from what was sent.
func (r *ticketRow) figures(h site) figures {
	if r.Load != nil {
		return figures{&r.Load.Open, &r.Load.Close, &r.Load.GaugeBbl}
	}
	if g := r.Gauged; len(g) == 2 && r.Volumes != nil {
		return figures{&g[0], &g[1], new(r.Volumes.OpenBbl - r.Volumes.CloseBbl)}
	}
	b := r.sentBody() // booked by a version that did not keep them: in the unit and by the table of today
	if b.Opening.Level == nil || b.Closing.Level == nil {
		return figures{}
	}
	open, closing := h.cloudWire().Inches(*b.Opening.Level), h.cloudWire().Inches(*b.Closing.Level)
	f := figures{open: &open, closing: &closing}
	if bbl, ok := h.barrels(r.Tank, open, closing); ok {
		f.bbl = &bbl
	}
	return f
}

// sentBody is the ticket's request; one that has not left has none yet.
func (r *ticketRow) sentBody() (b ticketBody) {
	if r.Ticket == nil || json.Unmarshal(r.Ticket, &b) != nil {
		return ticketBody{}
	}
	return b
}

// needsReview begins the remark of a ticket at which a person should look.
const needsReview = "needs review: "

// look says why it wants a person; nil where it wants none.
func (r *ticketRow) look() (why []string) {
	if why = r.ForReview(); why != nil {
		why[0] = needsReview + why[0]
	}
	return why
}

// remark is what the list says of a ticket: why it wants a person, and what a reader should know.
func (r *ticketRow) remark() string {
	return strings.TrimPrefix(strings.Join(append([]string{tank.JoinReasons(r.look())}, r.asides()...), "; "), "; ")
}

// asides are what calls for nobody: who wrote, rejected or voided it, what somebody has looked at, what was out of the usual in sending it, and
// what a reader should know.
func (r *ticketRow) asides() (all []string) {
	if r.Voided != "" {
		all = []string{"void, by " + r.Voided}
	}
	switch {
	case r.Rejected != "":
		return []string{"rejected by " + r.Rejected}
	case r.Rebuilt != "":
		all = append(all, r.Rebuilt)
	case r.Load == nil:
		if all = append(all, "written by "+r.Person); r.Anyway != "" {
			all = append(all, "anyway: "+r.Anyway)
		}
	default:
		look := r.ForReview()
		for _, why := range slices.Concat(r.Load.Review, r.Learned(), r.Repeated()) {
			if !slices.Contains(look, why) {
				all = append(all, why)
			}
		}
		if r.Stop != nil && r.State == "held" {
			all = append(all, "on hold by "+r.Stop.Person)
		}
	}
	all = append(all, r.SendingRemarks()...)
	if r.Load != nil {
		all = append(all, r.Load.Remarks...)
	}
	return all
}

// The service's shape of a run ticket. Levels, temperatures and sediment are in the units of the wire.
type (
	ticketBody struct {
		Number    string    `json:"ticketNumber"`
		Tank      tankBody  `json:"tank"`
		Opening   levelBody `json:"openingLevel"`
		Closing   levelBody `json:"closingLevel"`
		SealOn    string    `json:"sealOn"`
		SealOff   string    `json:"sealOff"`
		Top       *float64  `json:"topTemperature"`
		Bottom    *float64  `json:"bottomTemperature"`
		Gravity   *float64  `json:"specificGravity"`
		BSW       *float64  `json:"bsw"`
		Comments  string    `json:"comments"`
		Start     string    `json:"start"`
		End       string    `json:"end"`
		Purchaser string    `json:"purchaser"`
	}
	tankBody struct {
		ExternalID string `json:"externalID"`
	}
	levelBody struct {
		Level *float64 `json:"level"`
	}
)

func readTicketFile(c *call, cfg *config.Config, path string) ([]ledger.ManualTicket, error) {
	return convertRecords(c, path, func(b ticketBody) (ledger.ManualTicket, error) { return b.manualTicket(cfg.Service.Wire, cfg.Zone) })
}

// manualTicket turns a body round into the program's own units.
func (b ticketBody) manualTicket(wire cloud.Wire, zone *time.Location) (ledger.ManualTicket, error) {
	if b.Opening.Level == nil || b.Closing.Level == nil {
		return ledger.ManualTicket{}, errors.New("openingLevel.level and closingLevel.level are needed")
	}
	start, err := ticketTime(wire, b.Start, zone)
	if err != nil {
		return ledger.ManualTicket{}, fmt.Errorf("start: %w", err)
	}
	end, err := ticketTime(wire, b.End, zone)
	if err != nil {
		return ledger.ManualTicket{}, fmt.Errorf("end: %w", err)
	}
	return ledger.ManualTicket{
		Number: b.Number, Tank: b.Tank.ExternalID, Start: start, End: end,
		Open: wire.Inches(*b.Opening.Level), Close: wire.Inches(*b.Closing.Level), SealOn: b.SealOn, SealOff: b.SealOff,
		TopTemperature: degF(wire, b.Top), BottomTemperature: degF(wire, b.Bottom), SpecificGravity: b.Gravity, BSW: percent(wire, b.BSW),
		Comments: b.Comments, Purchaser: b.Purchaser,
	}, nil
}

// ticketTime reads a time in the wire's own layout, or as people write times.
func ticketTime(wire cloud.Wire, text string, zone *time.Location) (time.Time, error) {
	if wire.TimeZone == "utc" {
		zone = time.UTC
	}
	t, err := time.ParseInLocation(wire.TimeLayout, text, zone)
	if err != nil {
		t, err = parseTime(text, zone, time.Now())
	}
	if err == nil {
		err = onceOnly(text, t)
	}
	return t, err
}

func degF(wire cloud.Wire, v *float64) *float64 {
	if v == nil || wire.TemperatureUnit != "degC" {
		return v
	}
	return new(*v*1.8 + 32)
}

func percent(wire cloud.Wire, v *float64) *float64 {
	if v == nil || wire.BSW != "fraction" {
		return v
	}
	return new(*v * 100)
}

// csvColumns are those of `tickets list --format csv`; csv writes their figures in the same order.
const csvColumns = "production_day,number,tank,purchaser,start,end,open_ft_in_q,open_in,close_ft_in_q,close_in,open_bbl,close_bbl,gauge_bbl," +
	"removed_bbl,inflow_bbl,error_bbl,open_degf,close_degf,specific_gravity,api60,bsw_percent,open_ctl,close_ctl,gross_bbl,net_bbl," +
	"hauler,hauler_bbl,hauler_basis,difference_bbl,state,review,booked_bbl,booked_gross_bbl,booked_net_bbl,void,replaces,replaced_by,voided_at,voided_by,remarks," +
	"seal_off,seal_on,created_at,created_by,changed_at,unbooked_gauge_bbl"

// csvLine is a ticket as an accountant imports it. A figure that is not known is empty. So are the barrels of a ticket that was rejected,
// dropped or voided, whichever column somebody adds up: its gauges and the stocks at them stay, its booked columns are 0, and what it was of stands
// in a column of its own. Columns are added at the end alone: a spreadsheet of before still fits. created_at is when the ticket was given to the
// outbox or rejected, or its load found while it is held, changed_at when anything was said of it since.
func (r *ticketRow) csvLine(h site) []string {
	at := func(t time.Time) string { return zonedText(t, h.zone(), time.RFC3339) }
	buyer, sealOff, sealOn := r.labels(h)
	f := r.figures(h)
	open, closing := "", ""
	if f.open != nil {
		open, closing = gaugeText(*f.open), gaugeText(*f.closing)
	}
	v := cmp.Or(r.Volumes, &ledger.Volumes{})
	var openBbl, closeBbl, off *float64
	if r.Volumes != nil {
		openBbl, closeBbl = &v.OpenBbl, &v.CloseBbl
	}
	if r.Load != nil {
		off = &r.Load.ErrorBbl
		if r.Load.Least() != "" || *off <= 0 {
			off = nil // there was more, and nobody knows how much; or nobody knows the error
		}
	}
	gone := !r.Booked()
	sums, removed := func(bbl *float64) string { return when(!gone, figureText(bbl, 2)) }, r.RemovedBbl()
	if removed == nil { // at the least, as of a load whose inflow nobody knows: a sum without it would lack a truck that the book has
		removed = f.bbl
	}
	line := []string{
		r.Day, spreadsheetText(r.Number), spreadsheetText(r.Tank), spreadsheetText(buyer), at(r.Start), at(r.End),
		open, levelText(f.open), closing, levelText(f.closing), figureText(openBbl, 2), figureText(closeBbl, 2), sums(f.bbl),
		sums(removed), sums(r.Inflow()), sums(off), figureText(v.OpenDegF, 1), figureText(v.CloseDegF, 1), figureText(v.Gravity, 4), figureText(v.API60, 1),
		figureText(v.BSW, 2), figureText(v.OpenCTL, 5), figureText(v.CloseCTL, 5), sums(v.GrossBbl), sums(v.NetBbl),
	}
	if t := r.Hauled; t != nil {
		line = append(line, spreadsheetText(strings.Join(t.Numbers, " + ")), sums(&t.Bbl), t.Basis+when(t.Metered, " metered"), sums(t.Difference))
	} else {
		line = append(line, "", "", "", "")
	}
	line = append(line, r.standing(), spreadsheetText(tank.JoinReasons(r.look())))
	for _, bbl := range []*float64{f.bbl, v.GrossBbl, v.NetBbl} {
		if gone {
			bbl = new(0.0)
		}
		line = append(line, figureText(bbl, 2))
	}
	remarks, unbooked, by := r.asides(), "", "gauger"
	switch {
	case gone:
		unbooked = figureText(f.bbl, 2)
	case r.Volumes != nil && v.NetBbl == nil:
		remarks = append(remarks, "no net: "+strings.Join(v.Missing, ", ")+" not known")
	}
	if r.Load == nil {
		by = r.Person
	}
	return append(line, strconv.FormatBool(r.Voided != ""), spreadsheetText(r.Replaces), spreadsheetText(r.ReplacedBy), at(r.VoidedAt), spreadsheetText(r.Voided), spreadsheetText(strings.Join(remarks, "; ")),
		spreadsheetText(sealOff), spreadsheetText(sealOn), at(r.Written()), spreadsheetText(by), at(r.Changed()), unbooked)
}

// writeTicketsCSV writes a line for each ticket: times in the site's zone, gauges in inches, volumes in barrels. Beside it, not in it, stands of how
// many the net is missing, since a sum of that column does not say so.
func writeTicketsCSV(c *call, h site, rows []ticketRow) error {
	lines := [][]string{strings.Split(csvColumns, ",")}
	for i := range rows {
		lines = append(lines, rows[i].csvLine(h))
	}
	if _, all := sumsBy(rows, h, func(*ticketRow) string { return "" }); all[""] != nil && all[""].noNet > 0 {
		fmt.Fprintf(c.err, "net_bbl is empty for %d of %s, so a sum of it is short; remarks say what is not known\n", all[""].noNet, countText(all[""].n, "ticket"))
	}
	return csv.NewWriter(c.out).WriteAll(lines)
}

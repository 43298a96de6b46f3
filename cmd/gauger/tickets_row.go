package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
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
	if r.Voided != "" {
		return "void"
	}
	return r.State
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
	open, closing := inches(h.cloudWire(), *b.Opening.Level), inches(h.cloudWire(), *b.Closing.Level)
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

// reviewText tells the reasons for a review, who wrote or rejected the ticket, and what was out of the usual in sending it.
func (r *ticketRow) reviewText() string {
	var all []string
	switch {
	case r.Rejected != "":
		return "rejected by " + r.Rejected
	case r.Rebuilt != "":
		all = []string{r.Rebuilt}
	case r.Load == nil:
		all = []string{"written by " + r.Person}
		if r.Anyway != "" {
			all = append(all, "anyway: "+r.Anyway)
		}
	default:
		all = slices.Clone(r.Load.Review)
		if r.Stop != nil && r.State == "held" {
			all = append(all, "on hold by "+r.Stop.Person)
		}
		for _, f := range r.Found {
			all = append(all, "learned later: "+f.Note)
		}
	}
	if r.Voided != "" {
		all = append([]string{"void, by " + r.Voided}, all...)
	}
	return strings.Join(append(all, r.SendingRemarks()...), ", ")
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

// readTicketFile reads tickets from a file in the service's shape.
func readTicketFile(c *call, cfg *config.Config, path string) ([]ledger.ManualTicket, error) {
	bodies, err := recordsOf[ticketBody](c, path)
	if err != nil {
		return nil, err
	}
	var all []ledger.ManualTicket
	for i, b := range bodies {
		w, err := b.manualTicket(cfg.Service.Wire, cfg.Zone)
		if err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
		all = append(all, w)
	}
	return all, nil
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
		Open: inches(wire, *b.Opening.Level), Close: inches(wire, *b.Closing.Level), SealOn: b.SealOn, SealOff: b.SealOff,
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

func inches(wire cloud.Wire, v float64) float64 {
	switch wire.LevelUnit {
	case "ft":
		return v * 12
	case "m":
		return v / 0.0254
	case "cm":
		return v / 2.54
	}
	return v
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

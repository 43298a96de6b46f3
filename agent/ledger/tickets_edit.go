package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
)

// editField is a field of a ticket that a person may edit on a held one. Levels and times are none of them: they are what was
// gauged, and who disagrees rejects the ticket and writes another.
type editField struct {
	name   string
	parse  func(field, text string) (string, error) // what a person gives, as it will be kept
	figure func(*cloud.RunTicket) **float64         // its place on the wire ticket, of a number or
	text   func(*cloud.RunTicket) *string           // of a text; neither: comments, behind which the evidence follows
}

// editFields are in the order in which people read them.
var editFields = []editField{
	{name: "gravity", parse: parseGravity, figure: func(r *cloud.RunTicket) **float64 { return &r.SpecificGravity }},
	{name: "bsw", parse: parseFigure, figure: func(r *cloud.RunTicket) **float64 { return &r.BSW }},
	{name: "top_temperature", parse: parseFigure, figure: func(r *cloud.RunTicket) **float64 { return &r.TopTemperature }},
	{name: "bottom_temperature", parse: parseFigure, figure: func(r *cloud.RunTicket) **float64 { return &r.BottomTemperature }},
	{name: "seal_off", parse: parseLabel, text: func(r *cloud.RunTicket) *string { return &r.SealOff }},
	{name: "seal_on", parse: parseLabel, text: func(r *cloud.RunTicket) *string { return &r.SealOn }},
	{name: "purchaser", parse: parsePurchaser, text: func(r *cloud.RunTicket) *string { return &r.Purchaser }},
	{name: "comments", parse: func(field, text string) (string, error) { return plainText(field, text, textMost) }},
}

// EditValue reads what a person gives for a field, and returns it as it will be kept: a specific gravity 60/60 for a
// gravity in degrees API, a plain number for a figure.
func EditValue(field, text string) (string, error) {
	var names []string
	for _, f := range editFields {
		if f.name == field {
			return f.parse(field, strings.TrimSpace(text))
		}
		names = append(names, f.name)
	}
	return "", fmt.Errorf("%q of a ticket cannot be edited; what can is %s. Levels and times are as gauged: reject the ticket and write another with `gauger tickets add`",
		field, strings.Join(names, ", "))
}

// applyEdits writes what people have edited over a ticket; of a field's edits the last holds.
func applyEdits(r *cloud.RunTicket, edits []Edit) {
	for _, e := range edits {
		for _, f := range editFields {
			switch {
			case f.name != e.Field:
			case f.figure != nil:
				*f.figure(r) = nil // a text: it is not used as a number
				if v, err := strconv.ParseFloat(e.New, 64); err == nil {
					*f.figure(r) = &v
				}
			case f.text != nil:
				*f.text(r) = e.New
			}
		}
	}
}

// of is the field of a ticket as it would leave now; comments are a person's, or the configuration's.
func (f editField) of(r *cloud.RunTicket, comments string) string {
	switch {
	case f.text != nil:
		return *f.text(r)
	case f.figure == nil:
		return comments
	case *f.figure(r) == nil:
		return ""
	}
	return strconv.FormatFloat(**f.figure(r), 'f', -1, 64)
}

func parseLabel(field, text string) (string, error) { return plainText(field, text, labelMost) }

func parsePurchaser(field, text string) (string, error) {
	if text == "" {
		return "", errors.New("a ticket has a purchaser; give the name")
	}
	return parseLabel(field, text)
}

// parseGravity reads a specific gravity 60/60, or degrees API at 60 degF marked so.
func parseGravity(_, text string) (string, error) {
	number, isAPI := strings.CutSuffix(strings.ToLower(text), "api")
	v, err := strconv.ParseFloat(strings.TrimRight(number, " °"), 64)
	if err != nil || math.IsNaN(v) {
		return "", fmt.Errorf("%q is no gravity; want a specific gravity such as 0.83, or degrees API as in \"39.0 API\"%s", text, tank.DecimalPoint(strings.TrimRight(number, " °")))
	}
	switch {
	case isAPI && (v < -10 || v > 100):
		return "", fmt.Errorf("%g API is no crude oil's; want -10 to 100", v)
	case isAPI:
		v = math.Round(tank.SpecificGravity(v)*1e4) / 1e4
	}
	if figureOf("gravity").check(v) != nil {
		return "", fmt.Errorf("specific gravity %g is no oil's; want a figure such as 0.83, or degrees API as in \"39.0 API\"", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64), nil
}

// parseFigure reads a plain number. A comma is taken for nothing: 0,2 can be a fifth or a slip.
func parseFigure(field, text string) (string, error) {
	f := figureOf(field)
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", fmt.Errorf("%q is no %s; want %s%s", text, f.name, f.such, tank.DecimalPoint(text))
	}
	return strconv.FormatFloat(v, 'f', -1, 64), f.check(v)
}

// applyCorrection takes what the detector has learned of a load that it reported before: a held ticket is changed before it
// leaves, of one that has left an event tells.
func (tx *txn) applyCorrection(c tank.Correction) {
	if i := tx.held.ofLoad(c.Tank, c.Began); i >= 0 {
		tx.held.edit(i).correctLoad(c, tx.clockZeros(c.Tank))
		return
	}
	if c.Note == "" && !c.Settled {
		return // a clock that goes wrong for a while comes back
	}
	b := tx.ticketOfLoad(c)
	if b == nil || b.Ticket == nil {
		return // a rejected one concerns nobody
	}
	found := c.Note
	if found == "" {
		near := c.Start.Sub(b.Load.Start).Abs() <= timesOffMost && c.End.Sub(b.Load.End).Abs() <= timesOffMost
		n := len(b.Found)
		switch told := n > 0 && strings.HasPrefix(b.Found[n-1].Note, byTheClock); {
		case !near:
			found = fmt.Sprintf(byTheClock+" it went from %s to %s, not from %s to %s", tx.localTime(c.Start), tx.localTime(c.End),
				tx.localTime(b.Load.Start), tx.localTime(b.Load.End))
		case told:
			found = "the clock was set back: its times as sent are right"
		default:
			return
		}
	}
	b.Found = append(b.Found, Finding{tx.now.Round(0), found})
	tx.putJSON(ticketKey+b.Number, b)
	tx.queueDiagnosis(tank.Event{Rule: eventrules.TicketCorrection, Tank: c.Tank, Start: b.Start, End: tx.now.Round(0),
		Note: fmt.Sprintf("%s: ticket %s, %.2f to %.2f in as sent: %s", c.Tank, b.Number, b.Load.Open, b.Load.Close, found)})
}

// byTheClock begins the finding that a clock which was set gives other times than were sent.
const byTheClock = "by the clock that was set since"

// timesOffMost: times of a sent ticket that are off by more are told.
const timesOffMost = time.Minute

// localTime is an instant as the site's people write it.
func (tx *txn) localTime(t time.Time) string {
	return t.In(tx.l.site.Zone).Format("2006-01-02 15:04:05")
}

// ticketOfLoad finds the ticket of a load, by the number that its first start gives, else among all; nil when it never
// became one.
func (tx *txn) ticketOfLoad(c tank.Correction) *TicketRecord {
	is := func(b *TicketRecord) bool { return b.Tank == c.Tank && b.Load != nil && b.Load.Began.Equal(c.Began) }
	var b TicketRecord
	if err := tx.l.LoadState(ticketKey+tx.l.site.number("A", c.Tank, c.Began), &b); err == nil && is(&b) {
		return &b
	}
	all, err := tx.l.listTickets()
	if err != nil {
		tx.errs = append(tx.errs, fmt.Errorf("look for the ticket of %s from %s: %w", c.Tank, c.Began, err))
	}
	for i := range all {
		if is(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

const (
	leastPast = 3              // tickets of a tank tell what is usual of it
	tenfold   = 9.9            // times the usual sediment and water is a decimal point in another place
	dayBefore = 24 * time.Hour // may be before the first load that gauger saw there
	leastBSW  = 1.0            // percent, below which the usual may as well be so little
)

// unlikePast doubts what a tank's past tickets speak against: a run before the first that was seen there, as with a wrong month, and ten times its
// usual sediment and water.
func unlikePast(id string, start time.Time, bsw *float64, known []TicketRecord, zone *time.Location) (doubts []string) {
	var had []float64
	var first time.Time
	for i := range known {
		b := &known[i]
		if b.Tank != id || b.Off() {
			continue
		}
		if b.Load != nil && (first.IsZero() || b.Start.Before(first)) {
			first = b.Start
		}
		if b.Volumes != nil && b.Volumes.BSW != nil {
			had = append(had, *b.Volumes.BSW)
		}
	}
	if !start.IsZero() && start.Before(first.Add(-dayBefore)) {
		doubts = append(doubts, fmt.Sprintf("the load began on %s, before the first that was seen of %s, on %s: look at the month", start.In(zone).Format(time.DateOnly), id, first.In(zone).Format(time.DateOnly)))
	}
	if slices.Sort(had); len(had) >= leastPast && bsw != nil && *bsw >= leastBSW && *bsw >= tenfold*had[len(had)/2] {
		doubts = append(doubts, fmt.Sprintf("bsw %g is ten times what tickets of %s usually have, %g", *bsw, id, had[len(had)/2]))
	}
	return doubts
}

package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gauger/agent/tank"
)

// Bases of a hauler's volume.
const (
	AsObserved = "observed" // as it was in the tank or the truck
	AsGross    = "gross"    // at 60 degF
	AsNet      = "net"      // at 60 degF, without sediment and water
)

// MatchArgs records a truck's ticket with one of ours, or takes one back.
type MatchArgs struct {
	Number string  `json:"number"`
	Hauler string  `json:"hauler"`
	Bbl    float64 `json:"bbl,omitempty"`
	Basis  string  `json:"basis,omitempty"`
	Meter  bool    `json:"metered,omitempty"`
	By     string  `json:"by,omitempty"`
	Remove bool    `json:"remove,omitempty"`
	Why    string  `json:"why,omitempty"`
	Anyway string  `json:"anyway,omitempty"` // why it is right though something speaks against it
}

// MatchResult is a ticket after one of the hauler's was recorded with it.
type MatchResult struct {
	Ticket  *TicketRecord `json:"ticket"`
	Warning string        `json:"warning,omitempty"`
}

// TruckTotals sums all truck tickets of a load, beside ours.
type TruckTotals struct {
	Numbers    []string `json:"numbers"`
	Bbl        float64  `json:"bbl"`
	Basis      string   `json:"basis"`
	Metered    bool     `json:"metered,omitempty"`
	Ours       *float64 `json:"ours_bbl,omitempty"` // on the same basis; nil: it could not be computed
	Difference *float64 `json:"difference_bbl,omitempty"`
	Percent    *float64 `json:"difference_percent,omitempty"` // of ours
	Within     *bool    `json:"within_error,omitempty"`       // of our own error
	Close      *bool    `json:"within_tolerance,omitempty"`   // half a percent or one barrel, whichever is more
}

// TruckTotals sums the truck tickets; nil when there is none.
func (b *TicketRecord) TruckTotals() *TruckTotals {
	h := &TruckTotals{}
	for _, m := range b.Matches {
		if m.Removed == nil {
			h.Numbers, h.Bbl, h.Basis, h.Metered = append(h.Numbers, m.Hauler), h.Bbl+m.Bbl, m.Basis, m.Metered
		}
	}
	if h.Numbers == nil {
		return nil
	}
	h.Bbl = hundredths(h.Bbl)
	if h.Ours = b.volumeOn(h.Basis, h.Metered); h.Ours == nil {
		return h
	}
	d := hundredths(h.Bbl - *h.Ours)
	h.Difference = &d
	if *h.Ours > 0 {
		h.Percent = new(hundredths(100 * d / *h.Ours))
	}
	h.Close = new(math.Abs(d) <= max(1, 0.005**h.Ours))
	if e := OwnError(b.Load, h.Metered); e > 0 {
		h.Within = new(math.Abs(d) <= e)
	}
	return h
}

// OwnError is the error (bbl) of the volume that a truck's is compared with, 0 where it is not known: a meter's has the inflow in it,
// which has an error of its own.
func OwnError(l *tank.Load, metered bool) float64 {
	switch {
	case l == nil || l.ErrorBbl <= 0 || metered && l.InflowUnknown:
		return 0
	case metered:
		return math.Hypot(l.ErrorBbl, l.InflowErrorBbl)
	}
	return l.ErrorBbl
}

// ByDiameter is the name of the table of a tank that has none.
const ByDiameter = "geometry"

// ErrorText claims no more of a volume's error than was computed: it is the gauges', and what a diameter in the place of a table is off
// comes on top.
func ErrorText(l *tank.Load) (text string) {
	switch {
	case l.ErrorBbl <= 0:
		text = "its error is not known"
	case l.ErrorBbl < 0.1:
		text = "give or take less than 0.1"
	default:
		text = fmt.Sprintf("give or take %.1f", l.ErrorBbl)
	}
	return text + either(l.Table == ByDiameter, fmt.Sprintf(", and up to 1 %% (%.1f bbl) until it has a strapping table", l.GaugeBbl/100), "")
}

// InflowText tells of the oil that came while the tank was hauled.
func InflowText(l *tank.Load) string {
	switch {
	case !InflowKnown(l):
		return "not known"
	case l.InflowBbl < leastInflow:
		return "none that could be seen"
	}
	return fmt.Sprintf("%.1f bbl", l.InflowBbl) + either(l.InflowErrorBbl < 0.1, "", fmt.Sprintf(" (give or take %.1f)", l.InflowErrorBbl))
}

// Verdict says whether the trucks' tickets and the gauge agree, to half a percent or a barrel.
func (h *TruckTotals) Verdict() string {
	switch {
	case h == nil || h.Close == nil:
		return "not known"
	case *h.Close:
		return "agrees"
	}
	return "APART"
}

// String is what the trucks' tickets say, beside the gauge.
func (h *TruckTotals) String() string {
	if h == nil {
		return ""
	}
	text := fmt.Sprintf("truck's %s %.2f bbl %s", strings.Join(h.Numbers, "+"), h.Bbl, h.Basis)
	if h.Difference == nil {
		return text + ", which gauger has not"
	}
	return text + fmt.Sprintf(", gauge %.2f, %+.2f", *h.Ours, *h.Difference)
}

// volumeOn is the ticket's own volume on a basis, to the hundredth of a barrel. A hauler who gauges the tank has what lies between
// the two gauges, as we do. A meter on the truck has what left the tank, the oil that flowed in meanwhile included.
func (b *TicketRecord) volumeOn(basis string, metered bool) *float64 {
	v := b.Volumes
	switch {
	case basis == AsObserved && metered && b.RemovedBbl() != nil:
		return b.RemovedBbl()
	case basis == AsObserved && b.Load != nil:
		return new(hundredths(b.Load.GaugeBbl))
	case v == nil:
		return nil
	case basis == AsGross && metered:
		return b.withInflow(v.GrossBbl, 1)
	case basis == AsNet && metered && v.BSW != nil:
		return b.withInflow(v.NetBbl, 1-*v.BSW/100)
	case basis == AsGross:
		return v.GrossBbl
	case basis == AsNet:
		return v.NetBbl
	}
	return new(hundredths(v.OpenBbl - v.CloseBbl))
}

// withInflow adds what flowed in meanwhile to a volume at 60 degF; share is how much of it counts.
func (b *TicketRecord) withInflow(bbl *float64, share float64) *float64 {
	v, inflow := b.Volumes, b.Inflow()
	if bbl == nil || inflow == nil || v.OpenCTL == nil {
		return bbl
	}
	return new(hundredths(*bbl + *inflow*(*v.OpenCTL+*v.CloseCTL)/2*share))
}

// Match records what a truck's ticket says of one of ours, or takes that back. The warning names another ticket of
// ours that has the same number of the hauler's.
func (l *Ledger) Match(a MatchArgs, person string) (b *TicketRecord, warning string, err error) {
	_, err1 := plainText("the number on the truck's ticket", a.Hauler, labelMost)
	_, err2 := plainText("the name", a.By, labelMost)
	_, err3 := plainText("the reason", a.Why, textMost)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, "", err
	}
	err = l.update(func(tx *txn) error {
		b, warning, err = l.match(tx, a, person)
		return err
	})
	return b, warning, err
}

func (l *Ledger) match(tx *txn, a MatchArgs, person string) (b *TicketRecord, warning string, err error) {
	all, err := l.listTickets()
	if err != nil {
		return nil, "", err
	}
	for i := range all {
		if a.Number != "" && (strings.EqualFold(all[i].Number, a.Number) || strings.EqualFold(all[i].Handle, a.Number)) {
			b = &all[i]
		}
	}
	if b == nil {
		return nil, "", fmt.Errorf("%w: %s; `gauger tickets list` shows them", ErrNoTicket, a.Number)
	}
	m := TruckTicket{Hauler: a.Hauler, Bbl: a.Bbl, Basis: a.Basis, Metered: a.Meter, Person: person, By: a.By, At: tx.now.Round(0)}
	if a.Remove {
		b.Matches, err = removeTruckTicket(b.Matches, a.Hauler, Removal{person, tx.now.Round(0), a.Why})
	} else {
		b.Matches, err = addTruckTicket(b, m)
		if err == nil {
			warning, err = insisted(l.site.truckDoubts(b, m), a.Anyway)
		}
		if twice := l.site.duplicateTruckTicket(all, b, m); twice != "" {
			warning = strings.TrimPrefix(warning+"; "+twice, "; ")
		}
	}
	if err != nil {
		return nil, "", err
	}
	tx.putTruckTickets(b)
	return b, warning, nil
}

// addTruckTicket adds a truck's ticket to those of one of ours.
func addTruckTicket(b *TicketRecord, m TruckTicket) ([]TruckTicket, error) {
	switch {
	case strings.TrimSpace(m.Hauler) == "":
		return nil, errors.New("the number on the truck's ticket is missing")
	case math.IsNaN(m.Bbl) || m.Bbl <= 0 || m.Bbl > 10000:
		return nil, fmt.Errorf("%g bbl cannot be what a truck took", m.Bbl)
	case b.Off():
		return nil, fmt.Errorf("ticket %s was rejected by %s; a truck's ticket for it belongs to another one, `gauger tickets add` writes it", b.Number, b.Rejected+b.Voided)
	}
	for _, x := range b.Matches {
		switch {
		case x.Removed != nil:
		case strings.EqualFold(x.Hauler, m.Hauler):
			return nil, fmt.Errorf("the truck's ticket %s is with %s already, with %g bbl; take it back with --remove first", m.Hauler, b.Number, x.Bbl)
		case x.Basis != m.Basis:
			return nil, fmt.Errorf("the truck's ticket %s with %s is in %s barrels, and %s ones cannot be added to them; take it back with --remove first", x.Hauler, b.Number, x.Basis, m.Basis)
		case x.Metered != m.Metered:
			return nil, fmt.Errorf("a truck's meter and the tank's gauges do not have the same barrels: %s with %s and this one cannot be added; take one back with --remove", x.Hauler, b.Number)
		}
	}
	return append(slices.Clone(b.Matches), m), nil
}

// truckDoubts are what speaks against the truck's ticket m, which is the last of b's: more than a truck holds, more than has left
// the tank, or a small part of it. Half is no doubt: the ticket of another truck may follow.
func (s *Site) truckDoubts(b *TicketRecord, m TruckTicket) (doubts []string) {
	if t := s.tank(b.Tank); t != nil && t.Loads.TruckMax > 0 && m.Bbl > oneTruck*t.Loads.TruckMax {
		doubts = append(doubts, fmt.Sprintf("%.2f bbl are on the truck's ticket, and a truck holds %g (loads.truck_max)", m.Bbl, t.Loads.TruckMax))
	}
	h := b.TruckTotals()
	if h != nil && h.Ours != nil && h.Bbl < *h.Ours/5 {
		doubts = append(doubts, fmt.Sprintf("%.2f bbl are on the truck's ticket, and gauger has %.2f: a digit too few?", h.Bbl, *h.Ours))
	}
	if h != nil && h.Ours != nil && *h.Difference > max(5, *h.Ours/10) {
		doubts = append(doubts, fmt.Sprintf("the trucks' tickets with %s come to %.2f bbl, and gauger has %.2f: a digit too many, or another load's ticket?", b.Number, h.Bbl, *h.Ours))
	}
	return doubts
}

// removeTruckTicket marks a truck's ticket as taken back.
func removeTruckTicket(all []TruckTicket, hauler string, r Removal) ([]TruckTicket, error) {
	all = slices.Clone(all)
	var there []string
	for i, m := range all {
		if m.Removed != nil {
			continue
		}
		if strings.EqualFold(m.Hauler, hauler) {
			all[i].Removed = &r
			return all, nil
		}
		there = append(there, m.Hauler)
	}
	if there == nil {
		return nil, errors.New("no truck's ticket is recorded with it")
	}
	return nil, fmt.Errorf("no truck's ticket %s is recorded with it; there is %s", hauler, strings.Join(there, ", "))
}

// duplicateTruckTicket warns of a truck's ticket that stands with another of ours: the same oil would be booked twice, the more
// surely where both together are more than a truck holds.
func (s *Site) duplicateTruckTicket(all []TicketRecord, b *TicketRecord, m TruckTicket) string {
	sum, with := m.Bbl, ""
	for i := range all {
		for _, x := range all[i].Matches {
			if o := &all[i]; x.Removed == nil && strings.EqualFold(x.Hauler, m.Hauler) && b.sharesTruck(o, m.Hauler) {
				sum, with = sum+x.Bbl, o.Name()
			}
		}
	}
	if with == "" {
		return ""
	}
	text := fmt.Sprintf("the truck's ticket %s is recorded with %s too; one load may be booked twice", m.Hauler, with)
	if t := s.tank(b.Tank); t != nil && t.Loads.TruckMax > 0 && sum > oneTruck*t.Loads.TruckMax {
		text += fmt.Sprintf(", for together they are %.2f bbl, and a truck holds %g", sum, t.Loads.TruckMax)
	}
	return text
}

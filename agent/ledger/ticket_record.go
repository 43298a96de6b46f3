package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/tank"
)

// TicketRecord is kept, for ever, under a ticket's number.
type TicketRecord struct {
	Number     string          `json:"number"`
	Tank       string          `json:"tank"`
	Seq        uint64          `json:"seq,omitempty"`    // position in the outbox
	Queued     time.Time       `json:"queued"`           // or rejected
	Ticket     json.RawMessage `json:"ticket,omitempty"` // the bytes that the service gets
	Load       *tank.Load      `json:"load,omitempty"`   // what was seen; nil for a ticket that a person wrote
	Start      time.Time       `json:"start"`
	End        time.Time       `json:"end"`
	Person     string          `json:"person,omitempty"`   // who wrote or released it
	Rejected   string          `json:"rejected,omitempty"` // by whom and why
	Voided     string          `json:"voided,omitempty"`   // after it had left: by whom, on which day and why, and which ticket is booked in its place
	VoidedAt   time.Time       `json:"voided_at,omitzero"`
	ReplacedBy string          `json:"replaced_by,omitempty"` // the ticket that is booked in its place
	Replaces   string          `json:"replaces,omitempty"`    // the ticket in whose place it is booked: known where tickets are listed
	LoadOf     string          `json:"load_of,omitempty"`     // of one that a person wrote: gauger's own ticket of the same load
	InflowBbl  *float64        `json:"inflow_bbl,omitempty"`  // and what flowed in over it; both are known where tickets are listed
	Handle     string          `json:"handle,omitempty"`      // of a held ticket that has no number yet: commands take it in the number's place
	Stop       *HoldOrder      `json:"stop,omitempty"`        // a person's hold
	Made       time.Time       `json:"made,omitzero"`         // of a held one: when its load was found; known where tickets are listed
	ForPerson  bool            `json:"for_person,omitempty"`  // it is held until a person looks, whatever the hour: known where tickets are listed
	Edits      []Edit          `json:"edits,omitempty"`       // by people, before it left
	Found      []Finding       `json:"found,omitempty"`       // what was learned after it had left
	Volumes    *Volumes        `json:"volumes,omitempty"`     // by the tank's table and constants of then
	Matches    []TruckTicket   `json:"matches,omitempty"`     // what the truck's own tickets say
	TwiceWith  []string        `json:"twice_with,omitempty"`  // tickets of other loads that have one of its trucks' tickets too: known where tickets are listed
	Day        string          `json:"production_day,omitempty"`
	Gauged     []float64       `json:"gauged_in,omitempty"` // opening and closing of a ticket that a person wrote
	Anyway     string          `json:"anyway,omitempty"`    // why a person wrote it though something spoke against it
	Given      *Given          `json:"given,omitempty"`     // what that person gave beside the gauges, or took over from the ticket that it replaces
	Looked     string          `json:"looked,omitempty"`    // how often the service has it, by who has looked there, where it may have it more than once
	Rebuilt    string          `json:"rebuilt,omitempty"`   // from what, since a damaged outbox has lost its record; what was seen of it is gone

	share [2]float64 // from where to where its part of that load's inflow goes, of 1
}

// Left says that it was given to the outbox. One that was rebuilt from its receipt has no bytes any more.
func (b *TicketRecord) Left() bool { return b.Ticket != nil || b.Seq > 0 }

// Off says that nothing of it is booked here: it was rejected before it left, or voided since.
func (b *TicketRecord) Off() bool { return b.Rejected != "" || b.Voided != "" }

// Name is the ticket's number, or what it is called until that is fixed.
func (b *TicketRecord) Name() string { return cmp.Or(b.Number, b.Handle) }

// GaugesText is how far the level fell, as a gauger writes it; empty where a version did not keep it.
func (b *TicketRecord) GaugesText() string {
	gauges := b.gauges()
	if gauges == nil {
		return ""
	}
	return fmt.Sprintf("from %s to %s", tank.Length(gauges[0]).Gauge(), tank.Length(gauges[1]).Gauge())
}

// buyers are the names that it has had as its purchaser, besides the tank's of now.
func (b *TicketRecord) buyers() (names []string) {
	var sent struct{ Purchaser string }
	if json.Unmarshal(b.Ticket, &sent) == nil {
		names = append(names, sent.Purchaser)
	}
	for _, e := range b.Edits {
		if e.Field == "purchaser" {
			names = append(names, e.New)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// unknownBuyer doubts a purchaser's name that neither the configuration nor a ticket has: it would be a buyer of its own in every sum, and known
// from then on. It names what may be meant: what is a slip of the fingers from it or has it as a part, else whom the first tank sells to.
func unknownBuyer(tanks []Tank, given string, all []TicketRecord) (doubts []string) {
	var known []string
	for i := range tanks {
		known = append(known, tanks[i].Purchaser)
	}
	for i := range all {
		if b := &all[i]; !b.Off() {
			known = append(known, b.buyers()...)
		}
	}
	if slices.Contains(known, given) {
		return nil
	}
	name := strings.ToLower(given)
	k := slices.IndexFunc(known, func(other string) bool {
		other = strings.ToLower(other)
		return other != "" && (slipped(name, other) || strings.Contains(name, other) || strings.Contains(other, name))
	})
	doubt := fmt.Sprintf("no tank and no ticket has the purchaser %q", given)
	if k = max(k, 0); len(known) > k && known[k] != "" {
		doubt += fmt.Sprintf(", but %q", known[k])
	}
	return []string{doubt}
}

// slipped says that two names are the same but for one letter too many, too few or another one, or two of them swapped. Buyer 1 and Buyer 2,
// or A and B, are two.
func slipped(a, b string) bool {
	k := 0
	for k < min(len(a), len(b)) && a[k] == b[k] {
		k++
	}
	alone := func(s string) bool { // a word of one letter stands there
		return (k == 0 || s[k-1] == ' ') && (k+1 >= len(s) || s[k+1] == ' ')
	}
	if alone(a) && alone(b) {
		return false
	}
	for a, b = a[k:], b[k:]; a != "" && b != "" && a[len(a)-1] == b[len(b)-1]; {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	swapped := len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
	return (swapped || len(a) <= 1 && len(b) <= 1) && !strings.ContainsAny(a+b, "0123456789")
}

// gauges are the opening and the closing one; nil where a version did not keep them.
func (b *TicketRecord) gauges() []float64 {
	switch {
	case b.Load != nil:
		return []float64{b.Load.Open, b.Load.Close}
	case len(b.Gauged) == 2:
		return b.Gauged
	}
	return nil
}

// Written is when its figures were fixed, as it was given to the outbox or rejected; of a held one, whose are not yet, when its load was found.
func (b *TicketRecord) Written() time.Time {
	if b.Left() || b.Rejected != "" {
		return b.Queued
	}
	return b.Made
}

// Changed is when a person, or what gauger learned, last changed what is said of it; zero: never.
func (b *TicketRecord) Changed() time.Time {
	last := b.VoidedAt
	later := func(t time.Time) {
		if t.After(last) {
			last = t
		}
	}
	for i := range b.Edits {
		later(b.Edits[i].At)
	}
	for i := range b.Found {
		later(b.Found[i].At)
	}
	for i := range b.Matches {
		if m := &b.Matches[i]; m.Removed != nil {
			later(m.Removed.At)
		} else {
			later(m.At)
		}
	}
	return last
}

// leastInflow, in barrels, is the least that shows in a tenth.
const leastInflow = 0.05

// InflowKnown says whether anybody knows what flowed in while the tank was hauled. Where nobody does, no figure stands for it: 0 would be a
// claim. What left the tank is then what its gauges say, or more.
func InflowKnown(l *tank.Load) bool {
	return !l.InflowUnknown && (l.Hidden() == nil || l.InflowBbl >= leastInflow)
}

// Inflow is what flowed in over its load, barrels; nil where gauger saw no load, or not what flowed in.
func (b *TicketRecord) Inflow() *float64 {
	switch {
	case b.Load == nil:
		return b.InflowBbl
	case !InflowKnown(b.Load):
		return nil
	}
	return new(bookedInflow(b.Load))
}

// bookedInflow is what the book has of a load beside its gauges, to the hundredth of a barrel: nothing where it is not known.
func bookedInflow(l *tank.Load) float64 { return hundredths(l.RemovedBbl - l.GaugeBbl) }

// RemovedBbl is what left the tank with it: what lies between its gauges and what flowed in meanwhile; nil where that is not known.
func (b *TicketRecord) RemovedBbl() *float64 {
	switch {
	case b.Load != nil: // what its gauges say at the least, where nobody knows what flowed in: a sum without it would lack a truck
		return new(hundredths(b.Load.RemovedBbl))
	case b.InflowBbl == nil || b.Volumes == nil:
		return nil
	}
	return new(hundredths(b.Volumes.OpenBbl - b.Volumes.CloseBbl + *b.InflowBbl))
}

// Given is what a person's ticket has beside the gauges; what is nil or empty is the configuration's.
type Given struct {
	TopTemperature    *float64 `json:"top_temperature,omitempty"`
	BottomTemperature *float64 `json:"bottom_temperature,omitempty"`
	SpecificGravity   *float64 `json:"specific_gravity,omitempty"`
	BSW               *float64 `json:"bsw,omitempty"`
	SealOff           string   `json:"seal_off,omitempty"`
	SealOn            string   `json:"seal_on,omitempty"`
	Purchaser         string   `json:"purchaser,omitempty"`
	Comments          string   `json:"comments,omitempty"` // the person's own
}

// HoldOrder is a person's word that a held ticket must not leave yet.
type HoldOrder struct {
	Person string    `json:"person"`
	At     time.Time `json:"at"`
	Until  time.Time `json:"until,omitzero"` // when it leaves by itself; zero: when a person releases it
	Why    string    `json:"why,omitempty"`
}

// Edit is one figure of a held ticket that a person has changed. Both values are kept for ever, beside the load as it
// was seen.
type Edit struct {
	Field  string    `json:"field"` // as `gauger tickets edit` calls it
	Old    string    `json:"old"`   // empty: the ticket had none, or for a seal what the configuration says
	New    string    `json:"new"`
	Person string    `json:"person"` // the local user
	At     time.Time `json:"at"`
	Why    string    `json:"why,omitempty"`
	Anyway string    `json:"anyway,omitempty"` // why, though something speaks against the new value
}

// String is the field with both values.
func (e Edit) String() string {
	field := strings.ReplaceAll(e.Field, "_", " ")
	if e.New == "" {
		return fmt.Sprintf("%s %q taken back", field, e.Old)
	}
	return field + " " + e.New + ", " + either(e.Old == "", "which it had not", "was "+e.Old)
}

// TruckTicket is a truck's own ticket of a load. It is kept for ever, also when it was removed.
type TruckTicket struct {
	Hauler  string    `json:"hauler"` // the number on the truck's ticket
	Bbl     float64   `json:"bbl"`
	Basis   string    `json:"basis"`
	Metered bool      `json:"metered,omitempty"` // by a meter on the truck; else by the tank's gauges
	Person  string    `json:"person"`            // the local user who recorded it
	By      string    `json:"by,omitempty"`      // for whom
	At      time.Time `json:"at"`
	Removed *Removal  `json:"removed,omitempty"`
}

// Removal says who took something back.
type Removal struct {
	Person string    `json:"person"`
	At     time.Time `json:"at"`
	Why    string    `json:"why,omitempty"`
}

// Finding came up about a load after its ticket had left. The ticket stays as it was sent.
type Finding struct {
	At   time.Time `json:"at"`
	Note string    `json:"note"`
}

// bookedInstead ends the words of a void, behind the number of the ticket that took its place.
const bookedInstead = " is booked in its place"

// linkReplaced says of each ticket which one is booked in its place, and of that which one it replaces. The version before has said it
// in the words of the void alone.
func linkReplaced(all []TicketRecord) {
	at := map[string]int{}
	for i := range all {
		at[all[i].Number] = i
	}
	for i := range all {
		b := &all[i]
		if text, ok := strings.CutSuffix(b.Voided, bookedInstead); ok && b.ReplacedBy == "" {
			by := text[strings.LastIndex(text, " ")+1:]
			if _, known := at[by]; known && by != b.Number {
				b.ReplacedBy = by
			}
		}
		if k, known := at[b.ReplacedBy]; known && b.ReplacedBy != "" {
			all[k].Replaces = b.Number
		}
	}
}

// originOf is the place of the ticket that gauger made of a load and in whose place, or in whose place's, one of them is booked; -1: none.
func originOf(all []TicketRecord, i int) int {
	for range all { // a circle would have no end
		if i < 0 || all[i].Load != nil {
			return i
		}
		of := all[i].Replaces
		i = slices.IndexFunc(all, func(x TicketRecord) bool { return of != "" && x.Number == of })
	}
	return -1
}

// linkLoads says of the tickets that people wrote which load of those that gauger saw each is of, and what flowed in over it: the load of
// the ticket that it replaces, or one of the same time of which no other ticket is booked. What flows in does not ask who writes the
// ticket. Tickets that share a load share it by their barrels.
func linkLoads(all []TicketRecord, dropped func(TicketRecord) bool) {
	sum := map[string]float64{} // barrels by gauge of the booked tickets of a load
	for i := range all {
		b := &all[i]
		if b.Load != nil || b.Volumes == nil {
			continue
		}
		k := originOf(all, i)
		if k < 0 && !b.Off() {
			k = slices.IndexFunc(all, func(x TicketRecord) bool {
				return x.Tank == b.Tank && x.Load != nil && x.ReplacedBy == "" && x.Number != "" && x.Load.Start.Before(b.End) && b.Start.Before(x.Load.End) && (x.Off() || dropped(x))
			})
		}
		if k < 0 || all[k].Tank != b.Tank {
			continue
		}
		b.LoadOf, b.share = all[k].Number, [2]float64{0, 1}
		if InflowKnown(all[k].Load) {
			b.InflowBbl = new(hundredths(all[k].Load.InflowBbl))
		}
		if !b.Off() && !dropped(*b) {
			b.share[0] = sum[b.LoadOf]
			sum[b.LoadOf] += b.Volumes.OpenBbl - b.Volumes.CloseBbl
			b.share[1] = sum[b.LoadOf]
		}
	}
	for i := range all {
		if b := &all[i]; b.LoadOf != "" && sum[b.LoadOf] > 0 && b.share[1] != 1 {
			b.share[0], b.share[1] = b.share[0]/sum[b.LoadOf], b.share[1]/sum[b.LoadOf]
			if b.InflowBbl != nil {
				b.InflowBbl = new(hundredths(*b.InflowBbl*b.share[1]) - hundredths(*b.InflowBbl*b.share[0]))
			}
		}
	}
}

// sharesTruck says that two tickets have one truck's ticket, and may book the same oil. What a truck took from several tanks of an open
// equaliser at once is one load.
func (b *TicketRecord) sharesTruck(o *TicketRecord, hauler string) bool {
	if b.Name() == o.Name() || b.Off() || o.Off() || b.Load != nil && o.Load != nil && b.Load.Group != "" && b.Load.Group == o.Load.Group && b.Start.Before(o.End) && o.Start.Before(b.End) {
		return false
	}
	return slices.ContainsFunc(o.Matches, func(x TruckTicket) bool { return x.Removed == nil && strings.EqualFold(x.Hauler, hauler) })
}

// linkTrucks says of each ticket which others have one of its trucks' tickets too.
func linkTrucks(all []TicketRecord) {
	at := map[string][]*TicketRecord{}
	for i := range all {
		all[i].TwiceWith = nil // it may have been kept with the ticket
		for _, m := range all[i].Matches {
			if m.Removed == nil {
				key := strings.ToLower(m.Hauler)
				at[key] = append(at[key], &all[i])
			}
		}
	}
	for hauler, group := range at {
		for _, b := range group {
			for _, o := range group {
				if b.sharesTruck(o, hauler) && !slices.Contains(b.TwiceWith, o.Name()) {
					b.TwiceWith = append(b.TwiceWith, o.Name())
				}
			}
		}
	}
}

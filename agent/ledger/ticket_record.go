package ledger

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
)

// TicketRecord is kept, for ever, under a ticket's number.
type TicketRecord struct {
	Number   string          `json:"number"`
	Tank     string          `json:"tank"`
	Seq      uint64          `json:"seq,omitempty"`    // position in the outbox
	Queued   time.Time       `json:"queued"`           // or rejected
	Ticket   json.RawMessage `json:"ticket,omitempty"` // the bytes that the service gets
	Load     *tank.Load      `json:"load,omitempty"`   // what was seen; nil for a ticket that a person wrote
	Start    time.Time       `json:"start"`
	End      time.Time       `json:"end"`
	Person   string          `json:"person,omitempty"`   // who wrote or released it
	Rejected string          `json:"rejected,omitempty"` // by whom and why
	Handle   string          `json:"handle,omitempty"`   // of a held ticket that has no number yet: commands take it in the number's place
	Stop     *HoldOrder      `json:"stop,omitempty"`     // a person's hold
	Edits    []Edit          `json:"edits,omitempty"`    // by people, before it left
	Found    []Finding       `json:"found,omitempty"`    // what was learned after it had left
	Volumes  *Volumes        `json:"volumes,omitempty"`  // by the tank's table and constants of then
	Matches  []TruckTicket   `json:"matches,omitempty"`  // what the truck's own tickets say
	Day      string          `json:"production_day,omitempty"`
	Gauged   []float64       `json:"gauged_in,omitempty"` // opening and closing of a ticket that a person wrote
}

// ManualTicket is a ticket that a person writes.
type ManualTicket struct {
	Number, Tank, SealOn, SealOff, Comments, Purchaser string
	Open, Close                                        float64 // inches
	Start, End                                         time.Time
	TopTemperature, BottomTemperature                  *float64 // degrees Fahrenheit
	SpecificGravity, BSW                               *float64
}

// HeldTicket is a finished load whose ticket has not left yet: it waits for its time, for a clock that can be believed, or
// for a person.
type HeldTicket struct {
	Load   tank.Load
	Number string      // empty until the clock is good enough to fix it
	Due    time.Time   // when it leaves by itself
	Clocks *ClockZeros `json:",omitempty"` // at the end of the load; nil: held by a program that did not know them
	Person string      // who released it; a doubtful one waits for that when the site says so

	Handle string     `json:",omitempty"` // what it is called until it has a number
	Edits  []Edit     `json:",omitempty"` // by people, in order
	Stop   *HoldOrder `json:",omitempty"` // a person's hold
	Asked  time.Time  `json:",omitzero"`  // when it was first told that it waits for a person: the time of day of those that follow
	Told   time.Time  `json:",omitzero"`  // when it was last told
	Barred string     `json:",omitempty"` // the tank was inhibited, by whom and why: it is booked and no ticket is made

	Matches []TruckTicket `json:",omitempty"` // what the truck's own tickets say
}

// name for people: the number, or the handle until there is one.
func (h HeldTicket) name() string { return cmp.Or(h.Number, h.Handle) }

// waitsForPerson says that it waits for a person, and no hour will let it go.
func (h HeldTicket) waitsForPerson(s Site) bool {
	stopped := h.Stop != nil && h.Stop.Until.IsZero()
	return h.Person == "" && h.Barred == "" && (stopped || s.HoldDoubtful && len(h.Load.Review) > 0)
}

// ClockZeros are the wall clock's times at which the detector's own time was 0: by the box's clock, and by that of a tank's readings.
type ClockZeros struct{ Box, Own time.Time }

// shift is by how much the clock of a tank's readings was set between two looks.
func (then *ClockZeros) shift(now *ClockZeros) time.Duration {
	switch {
	case then.Box.IsZero() || then.Own.IsZero():
		return 0
	case then.Own.Sub(then.Box).Abs() < stampedAlike:
		return now.Box.Sub(then.Box)
	}
	return now.Own.Sub(then.Own)
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
	Field  string    `json:"field"` // one of EditFields
	Old    string    `json:"old"`   // empty: the ticket had none, or for a seal what the configuration says
	New    string    `json:"new"`
	Person string    `json:"person"` // the local user
	At     time.Time `json:"at"`
}

// applyEdits writes what people have edited over a ticket; of a field's edits the last holds.
func applyEdits(r *cloud.RunTicket, edits []Edit) {
	for _, e := range edits {
		v, err := strconv.ParseFloat(e.New, 64)
		number := &v
		if err != nil {
			number = nil // a text: it is not used as a number
		}
		switch e.Field {
		case "gravity":
			r.SpecificGravity = number
		case "bsw":
			r.BSW = number
		case "top_temperature":
			r.TopTemperature = number
		case "bottom_temperature":
			r.BottomTemperature = number
		case "seal_off":
			r.SealOff = e.New
		case "seal_on":
			r.SealOn = e.New
		case "purchaser":
			r.Purchaser = e.New
		}
	}
}

// TruckTicket is a truck's own ticket of a load. It is kept for ever, also when it was removed.
type TruckTicket struct {
	Hauler  string    `json:"hauler"` // the number on the truck's ticket
	Bbl     float64   `json:"bbl"`
	Basis   string    `json:"basis"`
	Person  string    `json:"person"`       // the local user who recorded it
	By      string    `json:"by,omitempty"` // for whom
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

// stampedAlike: a clock of a tank's readings that is no further from the box's is the same one.
const stampedAlike = 10 * time.Second

package ledger

import (
	"cmp"
	"encoding/json"
	"fmt"
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
	Person     string          `json:"person,omitempty"`      // who wrote or released it
	Rejected   string          `json:"rejected,omitempty"`    // by whom and why
	Voided     string          `json:"voided,omitempty"`      // after it had left: by whom and why, and which ticket is booked in its place
	ReplacedBy string          `json:"replaced_by,omitempty"` // the ticket that is booked in its place
	Replaces   string          `json:"replaces,omitempty"`    // the ticket in whose place it is booked: known where tickets are listed
	Handle     string          `json:"handle,omitempty"`      // of a held ticket that has no number yet: commands take it in the number's place
	Stop       *HoldOrder      `json:"stop,omitempty"`        // a person's hold
	Edits      []Edit          `json:"edits,omitempty"`       // by people, before it left
	Found      []Finding       `json:"found,omitempty"`       // what was learned after it had left
	Volumes    *Volumes        `json:"volumes,omitempty"`     // by the tank's table and constants of then
	Matches    []TruckTicket   `json:"matches,omitempty"`     // what the truck's own tickets say
	Day        string          `json:"production_day,omitempty"`
	Gauged     []float64       `json:"gauged_in,omitempty"` // opening and closing of a ticket that a person wrote
	Anyway     string          `json:"anyway,omitempty"`    // why a person wrote it though something spoke against it
	Rebuilt    string          `json:"rebuilt,omitempty"`   // from what, since a damaged outbox has lost its record; what was seen of it is gone
}

// Left says that it was given to the outbox. One that was rebuilt from its receipt has no bytes any more.
func (b *TicketRecord) Left() bool { return b.Ticket != nil || b.Seq > 0 }

// Off says that nothing of it is booked here: it was rejected before it left, or voided since.
func (b *TicketRecord) Off() bool { return b.Rejected != "" || b.Voided != "" }

// Name is the ticket's number, or what it is called until that is fixed.
func (b *TicketRecord) Name() string { return cmp.Or(b.Number, b.Handle) }

// GaugesText is how far the level fell, as a gauger writes it; empty where a version did not keep it.
func (b *TicketRecord) GaugesText() string {
	gauges := b.Gauged
	if b.Load != nil {
		gauges = []float64{b.Load.Open, b.Load.Close}
	}
	if len(gauges) != 2 {
		return ""
	}
	return fmt.Sprintf("from %s to %s", tank.Length(gauges[0]).Gauge(), tank.Length(gauges[1]).Gauge())
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
	Anyway string    `json:"anyway,omitempty"` // why, though something speaks against the new value
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

package control

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/ledger"
)

// TicketRow is a ticket and where it stands.
type TicketRow struct {
	ledger.TicketRecord
	// State is held, waiting, delivered, refused, dropped or rejected; left: it is in the outbox no more, and its receipt
	// is too old to be kept.
	State    string              `json:"state"`
	Status   int                 `json:"status,omitempty"` // of the service's last answer
	Corr     string              `json:"correlation_id,omitempty"`
	Answered time.Time           `json:"answered,omitzero"`
	Reason   string              `json:"reason,omitempty"` // why it was refused or dropped, or who has seen it at the service
	Waits    string              `json:"waits,omitempty"`  // what a person does, where it was sent without a clear answer too often; or behind what it waits, never sent
	Unclear  *UnclearSends       `json:"unclear,omitempty"`
	Hauled   *ledger.TruckTotals `json:"hauled,omitempty"` // what the truck's tickets say together
}

// TicketRowOf joins a ticket and its record; nil: the outbox has none of it.
func TicketRowOf(b ledger.TicketRecord, e *Entry) TicketRow {
	row := TicketRow{TicketRecord: b, State: "left", Hauled: b.TruckTotals()}
	switch {
	case b.Rejected != "":
		row.State, row.Person = "rejected", ""
	case !b.Left():
		row.State, row.Person = "held", ""
	case e != nil:
		row.State, row.Status, row.Reason = strings.Replace(e.State, "dead", "refused", 1), e.Status, e.Reason
		row.Corr, row.Answered, row.Unclear = e.Corr, e.Since, e.Unclear
		if !e.Parked.IsZero() || strings.HasPrefix(e.Waits, waitsBehind) {
			row.Waits = e.Waits
		}
	}
	return row
}

// Booked says that somebody will book the ticket: it was neither rejected, voided nor given up.
func (r *TicketRow) Booked() bool { return r.State != "rejected" && r.State != "dropped" && !r.Off() }

// ForReview are the reasons why a person should still look at it: nobody has released it, and no truck's ticket bears it out; or the truck's
// is further from it than the gauge's error, or is with another load's too. What was learned later nobody knew
// who released it, nor that it may be in the service's books more than once.
func (r *TicketRow) ForReview() (why []string) {
	if !r.Booked() {
		return nil
	}
	agrees := r.Hauled.Verdict() == "agrees"
	if r.Load != nil && r.Person == "" && !agrees {
		why = append(why, r.Load.Review...)
	}
	if !agrees {
		why = append(why, r.Learned()...)
	}
	why = append(why, r.Repeated()...) // a truck's ticket says nothing of copies
	if h := r.Hauled; h.Verdict() == "APART" && (h.Within == nil || !*h.Within) {
		why = append(why, h.String())
	}
	if r.TwiceWith != nil {
		why = append(why, "the truck's ticket is with "+strings.Join(r.TwiceWith, " and ")+" too")
	}
	return why
}

// touched is when it last ended, or was held against a truck's ticket.
func (r *TicketRow) touched() time.Time {
	at := r.End
	for _, m := range r.Matches {
		if m.At.After(at) {
			at = m.At
		}
	}
	return at
}

// Repeated says that a ticket was taken after sends without a clear answer, or seen there after several. The service gives no run ticket back
// and promises nothing of a number that comes again, so that only a person who sees its list can tell.
func (r *TicketRow) Repeated() []string {
	if text := r.Unclear.copies(r.State, r.Reason); text != "" && r.Looked == "" {
		return []string{text}
	}
	return nil
}

// Learned is what came up after it had left, each with the words that say so.
func (r *TicketRow) Learned() (all []string) {
	for _, f := range r.Found {
		all = append(all, "learned later: "+f.Note)
	}
	return all
}

// Paper is what the trucks' tickets of the last days say beside the gauge.
type Paper struct {
	Since   time.Time   `json:"since"`
	Tickets int         `json:"tickets"` // that have left since
	Matched []PaperLine `json:"matched"` // those with a truck's ticket
}

// String is the sum of it; empty where no truck's ticket is recorded.
func (p *Paper) String() string {
	if p == nil || len(p.Matched) == 0 {
		return ""
	}
	apart := 0
	for _, m := range p.Matched {
		if m.Trucks.Verdict() == "APART" {
			apart++
		}
	}
	return fmt.Sprintf("of %s in 7 days %d with the truck's, %d apart from the gauge", ledger.Plural(p.Tickets, "ticket"), len(p.Matched), apart)
}

// PaperLine is a ticket beside the truck's.
type PaperLine struct {
	Number string              `json:"number"`
	Trucks *ledger.TruckTotals `json:"truck"`
}

// paperBack is how long a ticket is compared in the status, and named where it left with a doubt to which nobody has said anything.
const paperBack = 7 * 24 * time.Hour

func paperOf(all []ledger.TicketRecord, now time.Time) Paper {
	p := Paper{Since: now.Add(-paperBack).Round(0), Matched: []PaperLine{}}
	for i := range all {
		b := &all[i]
		if b.Ticket == nil || b.Off() || b.End.Before(p.Since) {
			continue
		}
		p.Tickets++
		if h := b.TruckTotals(); h != nil {
			p.Matched = append(p.Matched, PaperLine{b.Number, h})
		}
	}
	return p
}

// Barrels are those of a ticket by its gauges; nil where they are not known.
func (r *TicketRow) Barrels() *float64 {
	switch {
	case r.Load != nil:
		return &r.Load.GaugeBbl
	case r.Volumes != nil:
		return new(r.Volumes.OpenBbl - r.Volumes.CloseBbl)
	}
	return nil
}

// StateText is the state of a ticket and what comes next; doubtfulWait: a doubtful one waits for a person; at writes a time down.
func (r *TicketRow) StateText(doubtfulWait bool, at func(time.Time) string) string {
	switch {
	case r.State == "held" && r.Stop != nil && r.Stop.Until.IsZero():
		return "held by " + r.Stop.Person + " until it is released: `gauger tickets release " + r.Name() + "`"
	case r.State == "held" && r.Load != nil && len(r.Load.Review) > 0 && doubtfulWait:
		return fmt.Sprintf("held until a person looks: `gauger tickets release %s` or `gauger tickets reject %[1]s --why TEXT`", r.Name())
	case r.State == "held" && r.Load != nil && !clock.WasSet(r.Load.Start):
		return "held until the clock is set, which will date it"
	case r.State == "held" && r.Load != nil && slices.ContainsFunc(r.Load.Review, func(why string) bool { return strings.HasSuffix(why, ledger.AnotherDay) }):
		return "held until the clock agrees with the service's: set it, or say `gauger clock trust` if it is right"
	case r.State == "held":
		return "held, leaves at " + at(r.Queued)
	case r.State == "waiting" && strings.HasPrefix(r.Waits, waitsBehind):
		return "waiting" + strings.TrimPrefix(r.Waits, "waits")
	case r.State == "waiting" && r.Waits != "":
		return "waiting for a person: " + r.Waits
	case r.State == "waiting":
		return "waiting for the service"
	case r.State == "left":
		return "has left; its receipt is not kept, since it is old, the disk was full or the receipts were damaged"
	case r.Reason != "":
		return r.State + ": " + r.Reason
	case r.Status != 0:
		return fmt.Sprintf("%s (status %d)", r.State, r.Status)
	}
	return r.State
}

// SendingRemarks are what is out of the usual in how a ticket reached the service: sends without a clear answer, each of which may
// have stored it, and that a person, not the service, says that it is there.
func (r *TicketRow) SendingRemarks() (all []string) {
	if r.State == "delivered" && r.Reason != "" {
		all = append(all, r.Reason)
	}
	if r.Unclear != nil {
		all = append(all, ledger.Plural(r.Unclear.Count, "send")+" without a clear answer")
	}
	if r.Looked != "" {
		all = append(all, r.Looked)
	}
	return all
}

// SentBody is a ticket's request in JSON, indented; empty for one that has not left.
func (r *TicketRow) SentBody() string {
	if r.Ticket == nil {
		return ""
	}
	b, err := json.MarshalIndent(r.Ticket, "", "  ")
	if err != nil {
		return string(r.Ticket)
	}
	return string(b)
}

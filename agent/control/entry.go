package control

import (
	"encoding/json"
	"fmt"
	"time"

	"gauger/agent/ledger"
	"gauger/outbox"
)

// Entry is a record of the outbox as commands show it.
type Entry struct {
	Stream  string          `json:"stream"`
	Seq     uint64          `json:"seq"`
	State   string          `json:"state"`
	Label   string          `json:"label"`            // ticket number, rule, code or source
	Start   string          `json:"start,omitempty"`  // of an event, as it was sent
	Object  string          `json:"object,omitempty"` // that an event names
	Address string          `json:"address,omitempty"`
	At      time.Time       `json:"at,omitzero"`    // when it was queued
	Since   time.Time       `json:"since,omitzero"` // when it was delivered, refused or dropped
	Parked  time.Time       `json:"parked_until,omitzero"`
	Attempt int             `json:"attempts_without_answer,omitempty"` // that may have stored it
	Status  int             `json:"status,omitempty"`                  // of the service's last answer
	Corr    string          `json:"correlation_id,omitempty"`
	Reason  string          `json:"reason,omitempty"` // the service's words, or a person's, who has dropped it or seen it at the service
	Unclear *UnclearSends   `json:"unclear,omitempty"`
	Waits   string          `json:"waits,omitempty"` // why it has not left, in a sentence
	Body    json.RawMessage `json:"body,omitempty"`
	Raw     []byte          `json:"raw,omitempty"`     // of a record that cannot be read
	Request *ServiceRequest `json:"request,omitempty"` // that takes it to the service; only where one record is shown
}

// UnclearSends are those of a record that ended without a clear answer: each may have stored it.
type UnclearSends struct {
	Count int       `json:"count"`
	First time.Time `json:"first,omitzero"` // zero of what has left: its receipt keeps the count only
	Last  time.Time `json:"last,omitzero"`
	Seen  string    `json:"seen,omitempty"` // at the last one
}

// Text says how many there were, when, and what was seen; empty: there were none. at writes a time down.
func (u *UnclearSends) Text(at func(time.Time) string) string {
	if u == nil {
		return ""
	}
	text := ledger.Plural(u.Count, "send") + " without a clear answer"
	switch {
	case u.First.IsZero():
	case u.Count == 1:
		text += " at " + at(u.Last)
	default:
		text += fmt.Sprintf(" from %s to %s", at(u.First), at(u.Last))
	}
	if u.Seen != "" {
		text += " (" + u.Seen + ")"
	}
	return text
}

// ServiceRequest goes over the wire for one record, without its headers.
type ServiceRequest struct {
	Method string          `json:"method"`
	URL    string          `json:"url"`
	Body   json.RawMessage `json:"body"`
}

// entryOf turns what the outbox knows into what is shown.
func entryOf(e outbox.Entry) Entry {
	out := Entry{
		Stream: e.Stream, Seq: e.Record.Seq, State: e.State.String(), Label: e.Label, Address: e.Record.Address, At: e.Record.At,
		Since: e.Since, Parked: e.Parked, Attempt: e.Record.Attempt, Status: e.Status, Corr: e.CorrelationID, Reason: e.Reason, Raw: e.Raw,
	}
	if u := e.Unclear; u.Count > 0 {
		out.Unclear = &UnclearSends{u.Count, u.First.Round(0), u.Last.Round(0), u.Seen}
	}
	if e.Confirmed != "" {
		out.Reason = e.Confirmed
	}
	if json.Valid(e.Record.Body) {
		out.Body = e.Record.Body
	}
	if e.State == outbox.Dropped {
		out.Label, out.Reason = "", e.Label
		return out
	}
	if out.Label == "" && out.Body != nil {
		out.Label = ledger.RecordLabel(e.Stream, e.Record)
	}
	if ref, ok := ledger.ReadEventRef(out.Label); ok {
		out.Label, out.Start, out.Object = ref.Rule, ref.Start, ref.Object
	}
	return out
}

// Message gives back what could not be decoded: the source, the bytes as they came, and the reason. ok is false when
// the record holds something else.
func (e Entry) Message() (source string, raw []byte, why string, ok bool) {
	var r ledger.Refusal
	if e.Stream != ledger.Refused || json.Unmarshal(e.Body, &r) != nil {
		return "", nil, "", false
	}
	return r.Source, r.Raw, r.Why, true
}

package control

import (
	"encoding/json"
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
	Reason  string          `json:"reason,omitempty"` // the service's words, or a person's
	Waits   string          `json:"waits,omitempty"`  // why it has not left, in a sentence
	Body    json.RawMessage `json:"body,omitempty"`
	Raw     []byte          `json:"raw,omitempty"`     // of a record that cannot be read
	Request *ServiceRequest `json:"request,omitempty"` // that takes it to the service; only where one record is shown
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

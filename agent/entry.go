package agent

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"gauger/outbox"
)

// Entry is a record of the outbox as commands show it.
type Entry struct {
	Stream  string          `json:"stream"`
	Seq     uint64          `json:"seq"`
	State   string          `json:"state"`
	Label   string          `json:"label"` // ticket number, rule, code or source
	Address string          `json:"address,omitempty"`
	At      time.Time       `json:"at,omitzero"`    // when it was queued
	Since   time.Time       `json:"since,omitzero"` // when it was delivered, refused or dropped
	Parked  time.Time       `json:"parked_until,omitzero"`
	Status  int             `json:"status,omitempty"` // of the service's last answer
	Corr    string          `json:"correlation_id,omitempty"`
	Reason  string          `json:"reason,omitempty"` // the service's words, or a person's
	Body    json.RawMessage `json:"body,omitempty"`
	Raw     []byte          `json:"raw,omitempty"` // of a record that cannot be read
}

// entryOf turns what the outbox knows into what is shown.
func entryOf(e outbox.Entry) Entry {
	out := Entry{
		Stream: e.Stream, Seq: e.Record.Seq, State: e.State.String(), Label: e.Label, Address: e.Record.Address, At: e.Record.At,
		Since: e.Since, Parked: e.Parked, Status: e.Status, Corr: e.CorrelationID, Reason: e.Reason, Raw: e.Raw,
	}
	if json.Valid(e.Record.Body) {
		out.Body = e.Record.Body
	}
	if out.Label == "" && out.Body != nil {
		out.Label = Label(e.Stream, e.Record)
	}
	return out
}

// Message gives back what could not be decoded: the source, the bytes as they came, and the reason. ok is false when
// the record holds something else.
func (e Entry) Message() (source string, raw []byte, why string, ok bool) {
	var r Refusal
	if e.Stream != Refused || json.Unmarshal(e.Body, &r) != nil {
		return "", nil, "", false
	}
	raw, err := base64.StdEncoding.DecodeString(r.Raw)
	return r.Source, raw, r.Why, err == nil
}

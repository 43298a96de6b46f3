package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// states are the places of a record, by the words that people use.
var states = map[string]outbox.State{
	"waiting": outbox.Waiting, "dead": outbox.Dead, "delivered": outbox.Delivered, "dropped": outbox.Dropped,
}

// listRecords gives at most Limit records of each stream and state asked for, those behind After.
func (d *Server) listRecords(_ context.Context, w RecordQuery) ([]Entry, error) {
	streams := []string{w.Stream}
	if w.Stream == "" {
		streams = slices.Sorted(maps.Keys(d.Box.Counts()))
	}
	asked := []outbox.State{outbox.Waiting, outbox.Dead}
	if w.State != "" {
		s, ok := states[w.State]
		if !ok {
			return nil, fmt.Errorf("a record is %s, not %q", strings.Join(slices.Sorted(maps.Keys(states)), ", "), w.State)
		}
		asked = []outbox.State{s}
	}
	if w.Limit <= 0 {
		w.Limit = 100
	}
	all := []Entry{}
	for _, stream := range streams {
		for _, state := range asked {
			found, err := d.Box.Entries(stream, state, w.After, w.Limit)
			if err != nil {
				return nil, err
			}
			for _, e := range found {
				one, err := d.view(e, w.Whole)
				if err != nil {
					return nil, err
				}
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// Record is one record, in whatever state it is.
func (d *Server) Record(w RecordQuery) (Entry, error) {
	if len(w.Seqs) != 1 {
		return Entry{}, errors.New("name one record, as STREAM/NUMBER")
	}
	e, err := d.Box.Entry(w.Stream, w.Seqs[0])
	if err != nil {
		return Entry{}, err
	}
	return d.view(e, true)
}

// retryRecords queues refused and parked records again, and tickets that count as delivered and that a person has not found at the service.
func (d *Server) retryRecords(ctx context.Context, w RecordQuery) (int, error) {
	if w.Absent && strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why, such as where you have looked: the service gets it again, and the reason is kept")
	}
	again := 0
	open, over := d.stillOpen(w, func(e *outbox.Entry) (bool, error) {
		if !w.Absent || w.Stream != ledger.Tickets || e.State != outbox.Delivered {
			return true, nil
		}
		err := d.Ledger.SendAgain(e.Label, e.Record.Seq, Person(ctx), w.Why)
		if err == nil {
			again++
		}
		return false, err
	})
	if len(open) == 0 && (over != nil || again > 0) {
		return again, over
	}
	n, err := d.Box.Retry(w.Stream, open...)
	d.Box.Kick(w.Stream)
	return again + n, errors.Join(over, err)
}

// stillOpen are the named records of which something can still become, and what is said of the others: those are delivered or
// dropped, or goes does not let them through, which is asked first.
func (d *Server) stillOpen(w RecordQuery, goes func(*outbox.Entry) (bool, error)) (open []uint64, over error) {
	for _, seq := range w.Seqs {
		e, err := d.Box.Entry(w.Stream, seq)
		if err == nil && goes != nil {
			if on, why := goes(&e); !on {
				over = errors.Join(over, why)
				continue
			}
		}
		if err == nil && (e.State == outbox.Delivered || e.State == outbox.Dropped) {
			next := ""
			if w.Stream == ledger.Tickets && e.State == outbox.Delivered {
				next = "; if you have looked and the service has it not, `gauger outbox retry %[1]s/%[2]d --absent --why TEXT` sends it again"
			}
			over = errors.Join(over, fmt.Errorf("record %s/%d is %s since %s: `gauger outbox show %[1]s/%[2]d` says how"+next, w.Stream, seq, e.State, d.localTime(e.Since)))
			continue
		}
		open = append(open, seq)
	}
	return open, over
}

func (d *Server) dropRecords(ctx context.Context, w RecordQuery) (int, error) {
	if strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why: a dropped record is gone, and the reason is kept")
	}
	open, over := d.stillOpen(w, func(e *outbox.Entry) (bool, error) {
		if w.Absent || w.Stream != ledger.Tickets || !e.MaybeStored() {
			return true, nil
		}
		return false, fmt.Errorf("%s/%d was sent without a clear answer: %s; if it has not, drop it with --absent", w.Stream, e.Record.Seq, ledger.MaybeThere(e.Record.Seq))
	})
	if len(open) == 0 && over != nil {
		return 0, over
	}
	n, err := d.Box.Drop(w.Stream, Person(ctx)+": "+w.Why, open...)
	if err = errors.Join(over, err); n == 0 {
		return n, err
	}
	now := time.Now().Round(0)
	return n, errors.Join(err, d.Ledger.QueueEvent(ledger.Event{Rule: eventrules.OutboxDropped, Start: now, End: now,
		Note: fmt.Sprintf("%s of %s (%v) dropped by %s: %s", ledger.Plural(n, "record"), w.Stream, w.Seqs, Person(ctx), w.Why)}))
}

// confirmRecords counts records as delivered that a person has seen at the service. Of tickets that count so already, and may be there more
// than once, it keeps what was found.
func (d *Server) confirmRecords(ctx context.Context, w RecordQuery) (int, error) {
	if strings.TrimSpace(w.Why) == "" {
		return 0, errors.New("say why with --why, such as where you have seen it: a confirmed record is not sent any more, and the reason is kept")
	}
	looked := 0
	open, over := d.stillOpen(w, func(e *outbox.Entry) (bool, error) {
		if w.Stream != ledger.Tickets || !(e.State == outbox.Delivered && mayBeTwice(e.Unclear.Count, e.Confirmed)) {
			return true, nil
		}
		looked++
		return false, d.Ledger.LookedFor(e.Label, "looked for at the service by "+Person(ctx)+" on "+time.Now().In(d.zone()).Format(time.DateOnly)+": "+w.Why)
	})
	n, err := d.Box.Confirm(w.Stream, "confirmed by "+Person(ctx)+": "+w.Why, open...)
	return looked + n, errors.Join(over, err)
}

// DecodeResult tells of one kept message that was decoded again.
type DecodeResult struct {
	Seq    uint64 `json:"seq"`
	Values int    `json:"values"`        // records that were made of it
	Why    string `json:"why,omitempty"` // it still cannot be decoded, and stays
}

// redecode decodes messages again that could not be before: those named, or the next page of all behind After. What can
// be decoded now leaves the stream in the transaction that stores its readings.
func (d *Server) redecode(_ context.Context, w RecordQuery) ([]DecodeResult, error) {
	found, err := d.keptMessages(w)
	if err != nil {
		return nil, err
	}
	if d.Clock.Grade(time.Now()) == clock.Unset {
		return nil, errors.New("the clock is not set, so that values of the past have no place: set it, then try again")
	}
	decoders := map[string]func(collectors.Refusal) ([]collectors.Reading, error){}
	for _, c := range d.Collectors {
		if x, ok := c.Collector.(collectors.Decoder); ok {
			decoders[c.Name] = x.Decoder()
		}
	}
	all := make([]DecodeResult, len(found))
	var good []ledger.DecodedMessage
	place := map[uint64]int{}
	for i, e := range found {
		all[i].Seq = e.Record.Seq
		if readings, err := readingsOf(e, decoders); err != nil {
			all[i].Why = err.Error()
		} else {
			good, place[e.Record.Seq] = append(good, ledger.DecodedMessage{Seq: e.Record.Seq, Readings: readings}), i
		}
	}
	err = d.Ledger.QueueDecoded(good)
	for _, m := range good {
		all[place[m.Seq]].Values = m.Values
	}
	return all, err
}

// keptMessages are those that are asked for.
func (d *Server) keptMessages(w RecordQuery) (found []outbox.Entry, err error) {
	if len(w.Seqs) == 0 {
		return d.Box.Entries(ledger.Refused, outbox.Waiting, w.After, w.Limit)
	}
	slices.Sort(w.Seqs)
	for _, seq := range slices.Compact(w.Seqs) {
		e, err := d.Box.Entry(ledger.Refused, seq)
		if err == nil && e.State != outbox.Waiting {
			err = fmt.Errorf("message %s/%d is %s already", ledger.Refused, seq, e.State)
		}
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return found, nil
}

// readingsOf decodes one kept message.
func readingsOf(e outbox.Entry, decoders map[string]func(collectors.Refusal) ([]collectors.Reading, error)) ([]collectors.Reading, error) {
	var r ledger.Refusal
	if err := json.Unmarshal(e.Record.Body, &r); err != nil {
		return nil, fmt.Errorf("read what was kept: %w", err)
	}
	decode := decoders[e.Record.Address]
	if decode == nil {
		return nil, fmt.Errorf("%s has nothing that could decode it again", e.Record.Address)
	}
	readings, err := decode(collectors.Refusal{Device: r.Device, Source: r.Source, Raw: r.Raw, At: e.Record.At, Old: r.Old, Given: r.Given})
	for _, x := range readings {
		if err == nil && !clock.WasSet(x.At) {
			err = errors.New("it came while the clock was not set, and nobody knows when that was")
		}
	}
	return readings, err
}

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
	Looked  string          `json:"looked,omitempty"` // how often the service has it, in the words of a person who has looked
	Waits   string          `json:"waits,omitempty"`  // why it has not left, in a sentence
	Says    string          `json:"says,omitempty"`   // the load, values or words that it has, of one that has not left
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

// mayBeTwice says that a delivered record may be at the service more than once, after so many sends without a clear answer.
func mayBeTwice(sends int, reason string) bool { return sends > 1 || sends == 1 && reason == "" }

// copies says how often the service may have a record that counts as delivered; empty: once. reason is that of a person who has seen it there:
// then none but those sends has brought it.
func (u *UnclearSends) copies(state, reason string) string {
	if u == nil || state != outbox.Delivered.String() || !mayBeTwice(u.Count, reason) {
		return ""
	}
	times := u.Count
	if reason == "" {
		times++
	}
	return fmt.Sprintf("the service may have it up to %d times", times)
}

// Repeated is what a record says that the service may have more than once; empty: it has it once, or not at all.
func (e *Entry) Repeated() string {
	if e.Looked != "" {
		return ""
	}
	return e.Unclear.copies(e.State, e.Reason)
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

package ledger

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/rs/zerolog"

	"gauger/agent/cloud"
	"gauger/outbox"
)

const (
	packed     = 0       // first byte of a packed piece of state; that of none that is not
	packFrom   = 8 << 10 // bytes; a smaller piece would save no page of the flash
	unpackMost = 64 << 20
)

// pack makes a large piece of state smaller: that of twenty tanks is stored hundreds of times a day.
func pack(state []byte) ([]byte, error) {
	if len(state) < packFrom {
		return state, nil
	}
	var b bytes.Buffer
	b.WriteByte(packed)
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(state)
		err = cmp.Or(err, w.Close())
	}
	if err != nil {
		return nil, fmt.Errorf("pack state: %w", err)
	}
	return b.Bytes(), nil
}

// unpack takes a stored piece of state, packed or not.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packed {
		return stored, nil
	}
	state, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(stored[1:])), unpackMost))
	if err != nil {
		return nil, fmt.Errorf("unpack state: %w", err)
	}
	return state, nil
}

// packedState is the state of something as it is stored.
func packedState(of encoding.BinaryMarshaler) ([]byte, error) {
	b, err := of.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return pack(b)
}

// loadPacked takes up what is stored under a name; absent leaves into alone. unread says that what is there cannot be read.
func loadPacked(box *outbox.Box, name string, into encoding.BinaryUnmarshaler) (unread bool, err error) {
	b, err := box.Get(name)
	if err != nil || b == nil {
		return false, err
	}
	if b, err = unpack(b); err == nil {
		err = into.UnmarshalBinary(b)
	}
	return err != nil, err
}

// smallState is what is kept beside the streams, by name.
type smallState struct {
	box *outbox.Box // nil: there is none, as NewWithoutOutbox says
	log zerolog.Logger
}

// LoadState reads a piece of state that was kept as JSON; absent leaves into alone.
func (k *smallState) LoadState(name string, into any) error {
	if k.box == nil {
		return nil
	}
	b, err := k.box.Get(stateName(name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if b != nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		k.log.Error().Str("state", name).Err(err).Msg("a stored piece of state cannot be read; going on without it")
	}
	return nil
}

// SaveState stores a piece of state as JSON.
func (k *smallState) SaveState(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write down %s: %w", name, err)
	}
	return k.box.Update(func(tx *outbox.Tx) error {
		tx.Put(name, b)
		return nil
	})
}

// longestStateName is the longest name under which the outbox keeps a piece of state, in bytes.
const longestStateName = 512

// stateName is the name of a piece of state, no longer than the outbox takes it: a name that somebody configured must not
// keep a whole batch from being stored.
func stateName(name string) string {
	if len(name) <= longestStateName {
		return name
	}
	hash := hashOf(name)
	return name[:longestStateName-len(hash)] + hash
}

// EventRef tells one event from another at the service.
type EventRef struct {
	Rule   string `json:"rule"`
	Start  string `json:"start"` // as it was sent
	Object string `json:"object"`
	Type   string `json:"object_type"`
}

// mostRule, in bytes: an event's receipt keeps no more of a rule's name, since the rest of its room is for start and object.
const mostRule = 46

// RecordLabel is the few words by which a delivered record is found again: a ticket's number; an event's rule, start, object
// and type of object with tabs between; a code.
func RecordLabel(stream string, r outbox.Record) string {
	if stream == TagValues || stream == Targets { // many, and of one form
		if code, ok := cloud.SetCode(r.Body); ok {
			return code
		}
	}
	var b struct {
		TicketNumber string `json:"ticketNumber"`
		Code         string `json:"dataClassificationCode"`
		RuleName     string `json:"ruleName"`
		Start        string `json:"startTimeString"`
		ObjectGUID   string `json:"objectGuid"`
		ObjectTypeID string `json:"objectTypeID"`
		ObjectID     string `json:"objectID"`
		ObjectType   string `json:"objectType"`
	}
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return stream
	}
	if stream == Events && b.RuleName != "" {
		return strings.Join([]string{
			ShortRule(b.RuleName), b.Start, cmp.Or(b.ObjectGUID, b.ObjectID), cmp.Or(b.ObjectTypeID, b.ObjectType),
		}, "\t")
	}
	return cmp.Or(b.TicketNumber, b.RuleName, b.Code, stream)
}

// ShortRule cuts a rule's name to the room that a receipt has for it.
func ShortRule(name string) string {
	name = strings.ReplaceAll(name, "\t", " ")
	if len(name) > mostRule {
		name = strings.ToValidUTF8(name[:mostRule], "")
	}
	return name
}

// ReadEventRef reads an event's label; false: it is another record's, or of a version that kept only the rule.
func ReadEventRef(label string) (EventRef, bool) {
	part := strings.Split(label, "\t")
	if len(part) != 4 {
		return EventRef{}, false
	}
	return EventRef{part[0], part[1], part[2], part[3]}, true
}

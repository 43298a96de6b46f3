package cloud

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// eventLayout is the shape of an event's times: no zone (interface specification 2.4a).
const eventLayout = "2006-01-02T15:04:05"

// DiagnosticEvent is the body of an event that gauger sends (interface specification 2.4a).
type DiagnosticEvent struct {
	ID         json.RawMessage // a text or a number that is sent as it is; none or null: what Wire.EventID says
	Start, End time.Time       // sent to the second, in the zone that Wire.EventZone names
	ObjectID   string          // GUID
	ObjectType string          // empty: Device
	Rule       string
	Note       string // cut at Wire.NoteMax
}

type eventBody struct {
	ID           json.RawMessage `json:"ID,omitempty"`
	Start        string          `json:"startTimeString"`
	End          string          `json:"endTimeString"`
	ObjectGUID   string          `json:"objectGuid,omitempty"`
	ObjectTypeID string          `json:"objectTypeID,omitempty"`
	ObjectID     string          `json:"objectID,omitempty"`
	ObjectType   string          `json:"objectType,omitempty"`
	RuleName     string          `json:"ruleName"`
	Note         string          `json:"note"`
}

// EncodeEvent gives one diagnostic event's JSON object. It refuses an event without rule, object or times.
func (w Wire) EncodeEvent(e DiagnosticEvent) ([]byte, error) {
	if err := checkEvent(e); err != nil {
		return nil, fmt.Errorf("encoding event %q: %w", e.Rule, err)
	}
	kind := cmp.Or(e.ObjectType, "Device")
	body := eventBody{Start: w.eventTime(e.Start), End: w.eventTime(e.End), RuleName: e.Rule, Note: cut(e.Note, w.NoteMax)}
	if w.EventNames != "sample" {
		body.ObjectGUID, body.ObjectTypeID = e.ObjectID, kind
	}
	if w.EventNames != "schema" {
		body.ObjectID, body.ObjectType = e.ObjectID, kind
	}
	var err error
	if body.ID, err = w.eventID(e, body.Start); err != nil {
		return nil, fmt.Errorf("encoding event %q: its ID: %w", e.Rule, err)
	}
	b, err := encode(body)
	if err != nil {
		return nil, fmt.Errorf("encoding event %q: %w", e.Rule, err)
	}
	return b, nil
}

func checkEvent(e DiagnosticEvent) error {
	var wrong []error
	add := func(bad bool, what string) {
		if bad {
			wrong = append(wrong, errors.New(what))
		}
	}
	add(strings.TrimSpace(e.Rule) == "", "it has no rule")
	add(!isGUID(e.ObjectID), fmt.Sprintf("its object %q is not a GUID", e.ObjectID))
	add(!validTime(e.Start), "its start is not set or not a year of four digits")
	add(!validTime(e.End), "its end is not set or not a year of four digits")
	return errors.Join(wrong...)
}

func (w Wire) eventTime(t time.Time) string {
	if w.EventZone == "site" {
		return t.In(w.zone()).Format(eventLayout)
	}
	return t.UTC().Format(eventLayout)
}

// eventID gives the caller's ID, null, or one that the same event always gets; nil: none is sent.
func (w Wire) eventID(e DiagnosticEvent, start string) (json.RawMessage, error) {
	given := bytes.TrimSpace(e.ID)
	none := len(given) == 0 || string(given) == "null"
	switch {
	case none && w.EventID == "omit":
		return nil, nil
	case none && w.EventID == "string":
		return encode(nameID(e, start))
	case none:
		return json.RawMessage("null"), nil
	case w.EventID == "omit":
		return nil, fmt.Errorf("%s would not be sent, since service.wire.event_id is omit; leave the ID out, or change the setting", given)
	case !json.Valid(given) || strings.ContainsRune("[{tf", rune(given[0])):
		return nil, fmt.Errorf("%s is neither a text nor a number", given)
	case w.EventID == "string" && given[0] != '"':
		return encode(string(given))
	}
	return given, nil
}

// nameID has the form of a name-based UUID.
func nameID(e DiagnosticEvent, start string) string {
	s := sha256.Sum256([]byte(strings.ToLower(e.ObjectID) + "\x00" + e.Rule + "\x00" + start))
	s[6] = s[6]&0x0f | 0x80 // version 8: made by a rule of our own (RFC 9562)
	s[8] = s[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", s[0:4], s[4:6], s[6:8], s[8:10], s[10:16])
}

// isGUID checks the form 8-4-4-4-12 of hex digits.
func isGUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)):
			return false
		}
	}
	return true
}

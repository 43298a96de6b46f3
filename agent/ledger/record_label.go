package ledger

import (
	"cmp"
	"encoding/json"
	"strings"

	"gauger/outbox"
)

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

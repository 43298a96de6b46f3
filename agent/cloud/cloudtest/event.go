package cloudtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Event is an alarm, a diagnostic or a data quality event as it was stored.
type Event struct {
	Type           string // Alarm, Diagnostic or DataQuality
	ID             string // the service's own
	ClientID       string // the ID that came with it, as JSON
	Start          time.Time
	End            time.Time
	Created        time.Time
	Modified       time.Time
	Acknowledged   time.Time // zero: not acknowledged
	ObjectID       string
	ObjectType     string
	OrganizationID string
	RuleName       string
	Note           string
	Raw            []byte // the exact bytes that it came in; nil for a seeded one
}

func (s *Service) saveEvents(c *Call, _ []string) (any, error) {
	list, err := elements(c.Body, "events")
	if err != nil {
		return nil, err
	}
	var got []Event
	for i, raw := range list {
		e, err := readEvent(raw, fmt.Sprintf("event %d", i))
		if err != nil {
			return nil, err
		}
		e.Created, e.Modified = c.At, c.At
		got = append(got, e)
	}
	for _, e := range got {
		s.addEvent(e)
	}
	return map[string]int{"saved": len(got)}, nil
}

// readEvent takes either spelling of the object's two fields, or both when they agree.
func readEvent(raw json.RawMessage, what string) (Event, error) {
	spellings := []string{"objectGuid", "objectTypeID", "objectID", "objectType"}
	fields, err := members(raw, what, []string{"ID", "startTimeString", "endTimeString", "ruleName", "note"}, spellings)
	if err != nil {
		return Event{}, err
	}
	r := reader{what: what, fields: fields}
	e := Event{
		Type: "Diagnostic", ClientID: string(fields["ID"]), Start: r.plainTime("startTimeString"), End: r.plainTime("endTimeString"),
		RuleName: r.filled("ruleName"), Note: r.text("note"), Raw: slices.Clone(raw),
	}
	if c := e.ClientID[0]; c == '{' || c == '[' || c == 't' || c == 'f' {
		r.wrong("ID", "null, a string or a number is expected")
	}
	_, schema := fields["objectGuid"]
	_, sample := fields["objectID"]
	if schema {
		e.ObjectID, e.ObjectType = r.guid("objectGuid"), r.filled("objectTypeID")
	}
	if sample {
		id, kind := r.guid("objectID"), r.filled("objectType")
		if schema && (id != e.ObjectID || kind != e.ObjectType) {
			r.wrong("objectID", "it differs from objectGuid")
		}
		e.ObjectID, e.ObjectType = id, kind
	}
	if !schema && !sample {
		r.wrong("objectGuid", "it is required")
	}
	for _, pair := range [][2]string{{"objectTypeID", "objectGuid"}, {"objectType", "objectID"}} {
		_, kind := fields[pair[0]]
		_, id := fields[pair[1]]
		if kind && !id {
			r.wrong(pair[1], "it is required")
		}
	}
	return e, r.err
}

func (s *Service) addEvent(e Event) {
	s.serial++
	e.ID = cmp.Or(e.ID, fmt.Sprintf("00000000-0000-4000-9000-%012d", s.serial))
	s.events = append(s.events, e)
}

// AddEvents seeds events. Empty types are Alarm, empty ids are made.
func (s *Service) AddEvents(events ...Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		e.Type = cmp.Or(e.Type, "Alarm")
		s.addEvent(e)
	}
}

// EditEvents keeps each event as often as times says: 0 forgets it.
func (s *Service) EditEvents(times func(Event) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []Event
	for _, e := range s.events {
		for range times(e) {
			kept = append(kept, e)
		}
	}
	s.events = kept
}

// Events gives every event in the order of arrival.
func (s *Service) Events() []Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := slices.Clone(s.events)
	for i := range out {
		out[i].Raw = slices.Clone(out[i].Raw)
	}
	return out
}

func (s *Service) getEvents(c *Call, args []string) (any, error) {
	if err := oneOf("eventType", args[0], "Alarm", "Diagnostic", "DataQuality"); err != nil {
		return nil, err
	}
	q, err := queryOf(c.Query, "startTime", "endTime", "timeQueryType", "objectId", "objectType", "organizationId", "pageNumber", "pageSize")
	if err != nil {
		return nil, err
	}
	from, to, err := q.timeRange()
	if err != nil {
		return nil, err
	}
	property := cmp.Or(q["timeQueryType"], "EventStart")
	if err := oneOf("timeQueryType", property, "EventStart", "EventEnd", "Created", "Modified", "EventAcknowledged"); err != nil {
		return nil, err
	}
	if err := q.checkObject(); err != nil {
		return nil, err
	}
	var found []any
	for _, e := range s.events {
		at := e.property(property)
		if e.Type == args[0] && !at.IsZero() && !at.Before(from) && at.Before(to) && q.admits(e) {
			found = append(found, e.shown())
		}
	}
	return s.page(found, q, 400)
}

func (q query) checkObject() error {
	for _, name := range []string{"objectId", "organizationId"} {
		if id := q[name]; id != "" && !guidForm.MatchString(id) {
			return invalid("%s %q is not a GUID", name, id)
		}
	}
	if kind, given := q["objectType"]; given || q["objectId"] != "" {
		return oneOf("objectType", kind, "Device", "Well")
	}
	return nil
}

func (q query) admits(e Event) bool {
	same := func(name, have string) bool { return q[name] == "" || q[name] == have }
	return same("objectId", e.ObjectID) && same("objectType", e.ObjectType) && same("organizationId", e.OrganizationID)
}

func (e Event) property(name string) time.Time {
	switch name {
	case "EventEnd":
		return e.End
	case "Created":
		return e.Created
	case "Modified":
		return e.Modified
	case "EventAcknowledged":
		return e.Acknowledged
	}
	return e.Start
}

func (e Event) shown() map[string]any {
	return map[string]any{
		"id": e.ID, "eventType": e.Type, "startTime": e.Start.UTC(), "endTime": e.End.UTC(), "objectId": e.ObjectID,
		"objectType": e.ObjectType, "organizationId": e.OrganizationID, "ruleName": e.RuleName, "note": e.Note,
	}
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/config"
)

type eventsGetOptions struct {
	start, end string
	query      control.EventsArgs
}

func eventsGetCommand(c *call) *cobra.Command {
	o := &eventsGetOptions{}
	cmd := newCommand(c, "get TYPE --start T --end T", "events of the service", o.run)
	f := cmd.Flags()
	f.StringVar(&o.start, "start", "24h", "first `TIME`, or how long ago")
	f.StringVar(&o.end, "end", "now", "`TIME` before which they lie")
	word(cmd, &o.query.TimeQueryType, "time-query-type", "which of an event's times must lie there, default EventStart",
		"EventStart", "EventEnd", "Created", "Modified", "EventAcknowledged")
	f.StringVar(&o.query.ObjectID, "object-id", "", "only events of the object with this `GUID`; wants --object-type")
	word(cmd, &o.query.ObjectType, "object-type", "type of that object", "Device", "Well")
	f.StringVar(&o.query.OrganizationID, "organization-id", "", "only events of the organization with this `GUID`")
	addPageFlags(f, &o.query.Page, &o.query.PageSize, &o.query.All)
	return cmd
}

func (o *eventsGetOptions) run(ctx context.Context, c *call, args []string) error {
	var err error
	if o.query.Type, err = oneOf(strings.Join(args, " "), "Alarm", "Diagnostic", "DataQuality"); err != nil {
		return usageError{"events get wants the type of the events: Alarm, Diagnostic or DataQuality"}
	}
	if o.query.ObjectID != "" && o.query.ObjectType == "" {
		return usageError{"--object-id wants --object-type Device or --object-type Well"}
	}
	times := siteTimes(findSite(c).zone())
	o.query.Start, o.query.End = times.parse("start", o.start), times.parse("end", o.end)
	switch {
	case times.err != nil:
		return times.err
	case !o.query.Start.Before(o.query.End):
		return usageError{"--start must lie before --end"}
	}
	var found control.QueryResult[cloud.Event]
	if err := ask(ctx, c, "events.get", o.query, &found); err != nil {
		return err
	}
	h := findSite(c)
	raw := func(e cloud.Event) json.RawMessage { return e.Raw }
	return printAnswer(c, found, raw, o.query.All, "event", func(w *table) {
		w.printf("START\tEND\tRULE\tOBJECT\tNOTE\n")
		for _, e := range found.Items {
			w.printf("%s\t%s\t%s\t%s %s\t%s\n", h.eventTime(e.Start), h.eventTime(e.End), e.Rule, e.ObjectType, e.ObjectID, e.Note)
		}
	})
}

// eventTime is a time of an event, which the service mostly writes without a zone, as the site's clock shows it; another text stays as it came.
func (h site) eventTime(text string) string {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		if t, err = time.ParseInLocation("2006-01-02T15:04:05", text, eventZone(h.cloudWire(), h.zone())); err != nil {
			return text
		}
	}
	return t.In(h.zone()).Format("2006-01-02 15:04:05 MST")
}

// eventZone is that in which the service writes the times of events, which have none.
func eventZone(w cloud.Wire, site *time.Location) *time.Location {
	if w.EventZone == "site" {
		return site
	}
	return time.UTC
}

// diagnosticEvent is a diagnostic event in the service's shape, with both spellings of its object.
type diagnosticEvent struct {
	ID           json.RawMessage `json:"ID"`
	Start        string          `json:"startTimeString"`
	End          string          `json:"endTimeString"`
	ObjectGUID   string          `json:"objectGuid"`
	ObjectTypeID string          `json:"objectTypeID"`
	ObjectID     string          `json:"objectID"`
	ObjectType   string          `json:"objectType"`
	Rule         string          `json:"ruleName"`
	Note         string          `json:"note"`
}

type eventsSaveOptions struct {
	event diagnosticEvent
	queue *queueFlags
}

func eventsSaveCommand(c *call) *cobra.Command {
	o := &eventsSaveOptions{}
	cmd := newCommand(c, "save", "save diagnostic events", o.run)
	f := cmd.Flags()
	f.StringVar(&o.event.Rule, "rule", "", "`NAME` of the rule")
	f.StringVar(&o.event.Start, "start", "", "`TIME` of its beginning; default now")
	f.StringVar(&o.event.End, "end", "", "`TIME` of its end; default the beginning")
	f.StringVar(&o.event.ObjectGUID, "object", "", "`GUID` of the object; default the site's")
	word(cmd, &o.event.ObjectTypeID, "object-type", "type of the object, default the site's", "Device", "Well")
	f.StringVar(&o.event.Note, "note", "", "`TEXT` for people")
	o.queue = addQueueFlags(f)
	return cmd
}

func (o *eventsSaveOptions) run(ctx context.Context, c *call, args []string) error {
	switch {
	case len(args) > 0:
		return usageError{fmt.Sprintf("events save takes flags only, not %q", args)}
	case o.queue.file != "" && (o.event.Rule+o.event.Start+o.event.End+o.event.ObjectGUID+o.event.ObjectTypeID+o.event.Note != ""):
		return usageError{"--file has everything in it; leave the other flags out"}
	case o.queue.file == "" && o.event.Rule == "":
		return usageError{"events save wants --rule, or --file"}
	}
	return queueRecords(ctx, c, o.queue, func(cfg *config.Config) ([]outgoingRecord, error) {
		if o.queue.file != "" { // its times are in the zone that the wire names
			return convertRecords(c, o.queue.file, func(e diagnosticEvent) (outgoingRecord, error) {
				return eventRecord(cfg.Service.Wire, e, eventZone(cfg.Service.Wire, cfg.Zone))
			})
		}
		o.event.Start = cmp.Or(o.event.Start, "now")
		if o.event.ObjectGUID == "" {
			o.event.ObjectGUID, o.event.ObjectTypeID = cfg.Object, cmp.Or(o.event.ObjectTypeID, cfg.ObjectType)
		}
		r, err := eventRecord(cfg.Service.Wire, o.event, cfg.Zone)
		return []outgoingRecord{r}, err
	})
}

func eventRecord(w cloud.Wire, e diagnosticEvent, at *time.Location) (outgoingRecord, error) {
	now := time.Now()
	start, err := parseOnce(e.Start, at, now)
	if err != nil {
		return outgoingRecord{}, fmt.Errorf("start: %w", err)
	}
	end, err := parseOnce(cmp.Or(e.End, e.Start), at, now)
	switch {
	case err != nil:
		return outgoingRecord{}, fmt.Errorf("end: %w", err)
	case end.Before(start):
		return outgoingRecord{}, fmt.Errorf("it ends at %s, before it begins", e.End)
	case e.ObjectGUID != "" && e.ObjectID != "" && e.ObjectGUID != e.ObjectID:
		return outgoingRecord{}, fmt.Errorf("objectGuid and objectID name two objects")
	case e.ObjectTypeID != "" && e.ObjectType != "" && e.ObjectTypeID != e.ObjectType:
		return outgoingRecord{}, fmt.Errorf("objectTypeID and objectType name two types")
	}
	body, err := w.EncodeEvent(cloud.DiagnosticEvent{
		ID: e.ID, Start: start, End: end, ObjectID: cmp.Or(e.ObjectGUID, e.ObjectID),
		ObjectType: cmp.Or(e.ObjectTypeID, e.ObjectType), Rule: e.Rule, Note: e.Note,
	})
	return outgoingRecord{ledger.Events, "", body, e.Rule}, err
}

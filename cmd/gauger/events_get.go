package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"gauger/agent"
	"gauger/agent/cloud"
)

// runEventsGet asks the service for events of a time range.
func runEventsGet(ctx context.Context, c *call, args []string) error {
	f := flags(c, "events get")
	var q agent.EventsArgs
	start := f.String("start", "24h", "first `TIME`, or how long ago")
	end := f.String("end", "now", "`TIME` before which they lie")
	word(f, &q.TimeQueryType, "time-query-type", "which of an event's times must lie there, default EventStart",
		"EventStart", "EventEnd", "Created", "Modified", "EventAcknowledged")
	f.StringVar(&q.ObjectID, "object-id", "", "only events of the object with this `GUID`; wants --object-type")
	word(f, &q.ObjectType, "object-type", "type of that object", "Device", "Well")
	f.StringVar(&q.OrganizationID, "organization-id", "", "only events of the organization with this `GUID`")
	pages(f, &q.Page, &q.PageSize, &q.All)
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if q.Type, err = oneOf(strings.Join(rest, " "), "Alarm", "Diagnostic", "DataQuality"); err != nil {
		return usage{"events get wants the type of the events: Alarm, Diagnostic or DataQuality"}
	}
	if q.ObjectID != "" && q.ObjectType == "" {
		return usage{"--object-id wants --object-type Device or --object-type Well"}
	}
	times := siteTimes(findSite(c).zone())
	q.Start, q.End = times.at("start", *start, time.Time{}), times.at("end", *end, time.Time{})
	switch {
	case times.err != nil:
		return times.err
	case !q.Start.Before(q.End):
		return usage{"--start must lie before --end"}
	}
	var found agent.QueryResult[cloud.Event]
	if err := withConnection(c, func(d *connection) error { return d.call(ctx, "events.get", q, &found) }); err != nil {
		return err
	}
	var raw []json.RawMessage
	for _, e := range found.Items {
		raw = append(raw, e.Raw)
	}
	return printAnswer(c, answered{raw, found.Raw, found.Note, q.All, "event"}, func(w io.Writer) {
		fmt.Fprintln(w, "START\tEND\tRULE\tOBJECT\tNOTE")
		for _, e := range found.Items {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s %s\t%s\n", e.Start, e.End, e.Rule, e.ObjectType, e.ObjectID, e.Note)
		}
	})
}

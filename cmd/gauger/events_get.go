package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/control"
)

type eventsGetOptions struct {
	start string
	end   string
	query control.EventsArgs
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

// run asks the service for events of a time range.
func (o *eventsGetOptions) run(ctx context.Context, c *call, args []string) error {
	var err error
	if o.query.Type, err = oneOf(strings.Join(args, " "), "Alarm", "Diagnostic", "DataQuality"); err != nil {
		return usageError{"events get wants the type of the events: Alarm, Diagnostic or DataQuality"}
	}
	if o.query.ObjectID != "" && o.query.ObjectType == "" {
		return usageError{"--object-id wants --object-type Device or --object-type Well"}
	}
	times := siteTimes(findSite(c).zone())
	o.query.Start, o.query.End = times.parse("start", o.start, time.Time{}), times.parse("end", o.end, time.Time{})
	switch {
	case times.err != nil:
		return times.err
	case !o.query.Start.Before(o.query.End):
		return usageError{"--start must lie before --end"}
	}
	var found control.QueryResult[cloud.Event]
	if err := withConnection(c, func(d *connection) error { return d.request(ctx, "events.get", o.query, &found) }); err != nil {
		return err
	}
	var raw []json.RawMessage
	for _, e := range found.Items {
		raw = append(raw, e.Raw)
	}
	return printAnswer(c, queryAnswer{raw, found.Raw, found.Odd, found.Note, o.query.All, "event"}, func(w *table) {
		w.printf("START\tEND\tRULE\tOBJECT\tNOTE\n")
		for _, e := range found.Items {
			w.printf("%s\t%s\t%s\t%s %s\t%s\n", e.Start, e.End, e.Rule, e.ObjectType, e.ObjectID, e.Note)
		}
	})
}

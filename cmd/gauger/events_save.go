package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/cloud"
	"gauger/agent/ledger"
	"gauger/config"
)

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

// run saves diagnostic events.
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
		if o.queue.file != "" {
			return readEventFile(c, cfg, o.queue.file)
		}
		o.event.Start = cmp.Or(o.event.Start, "now")
		if o.event.ObjectGUID == "" {
			o.event.ObjectGUID, o.event.ObjectTypeID = cfg.Object, cmp.Or(o.event.ObjectTypeID, cfg.ObjectType)
		}
		r, err := eventRecord(cfg.Service.Wire, o.event, cfg.Zone)
		return []outgoingRecord{r}, err
	})
}

// readEventFile makes records of a file in the service's shape: its times are in the zone that the wire names.
func readEventFile(c *call, cfg *config.Config, path string) ([]outgoingRecord, error) {
	all, err := recordsOf[diagnosticEvent](c, path)
	if err != nil {
		return nil, err
	}
	at := time.UTC
	if cfg.Service.Wire.EventZone == "site" {
		at = cfg.Zone
	}
	var records []outgoingRecord
	for i, e := range all {
		r, err := eventRecord(cfg.Service.Wire, e, at)
		if err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}

func eventRecord(w cloud.Wire, e diagnosticEvent, at *time.Location) (outgoingRecord, error) {
	now := time.Now()
	start, err := parseTime(e.Start, at, now)
	if err != nil {
		return outgoingRecord{}, fmt.Errorf("start: %w", err)
	}
	end, err := parseTime(cmp.Or(e.End, e.Start), at, now)
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

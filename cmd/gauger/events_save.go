package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gauger/agent"
	"gauger/agent/cloud"
	"gauger/config"
)

// diagnostic is a diagnostic event in the service's shape, with both spellings of its object.
type diagnostic struct {
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

// runEventsSave saves diagnostic events.
func runEventsSave(ctx context.Context, c *call, args []string) error {
	f := flags(c, "events save")
	var e diagnostic
	f.StringVar(&e.Rule, "rule", "", "`NAME` of the rule")
	f.StringVar(&e.Start, "start", "", "`TIME` of its beginning; default now")
	f.StringVar(&e.End, "end", "", "`TIME` of its end; default the beginning")
	f.StringVar(&e.ObjectGUID, "object", "", "`GUID` of the object; default the site's")
	word(f, &e.ObjectTypeID, "object-type", "type of the object, default the site's", "Device", "Well")
	f.StringVar(&e.Note, "note", "", "`TEXT` for people")
	s := addQueueFlags(f)
	rest, err := parse(f, c, args)
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return usage{fmt.Sprintf("events save takes flags only, not %q", rest)}
	case s.file != "" && (e.Rule+e.Start+e.End+e.ObjectGUID+e.ObjectTypeID+e.Note != ""):
		return usage{"--file has everything in it; leave the other flags out"}
	case s.file == "" && e.Rule == "":
		return usage{"events save wants --rule, or --file"}
	}
	return queueRecords(ctx, c, s, func(cfg *config.Config) ([]record, error) {
		if s.file != "" {
			return readEventFile(c, cfg, s.file)
		}
		e.Start = cmp.Or(e.Start, "now")
		if e.ObjectGUID == "" {
			e.ObjectGUID, e.ObjectTypeID = cfg.Object, cmp.Or(e.ObjectTypeID, cfg.ObjectType)
		}
		r, err := eventRecord(cfg.Service.Wire, e, cfg.Zone)
		return []record{r}, err
	})
}

// readEventFile makes records of a file in the service's shape: its times are in the zone that the wire names.
func readEventFile(c *call, cfg *config.Config, path string) ([]record, error) {
	all, err := recordsOf[diagnostic](c, path)
	if err != nil {
		return nil, err
	}
	at := time.UTC
	if cfg.Service.Wire.EventZone == "site" {
		at = cfg.Zone
	}
	var records []record
	for i, e := range all {
		r, err := eventRecord(cfg.Service.Wire, e, at)
		if err != nil {
			return nil, fmt.Errorf("%s: record %d: %w", path, i+1, err)
		}
		records = append(records, r)
	}
	return records, nil
}

func eventRecord(w cloud.Wire, e diagnostic, at *time.Location) (record, error) {
	now := time.Now()
	start, err := parseTime(e.Start, at, now)
	if err != nil {
		return record{}, fmt.Errorf("start: %w", err)
	}
	end, err := parseTime(cmp.Or(e.End, e.Start), at, now)
	switch {
	case err != nil:
		return record{}, fmt.Errorf("end: %w", err)
	case end.Before(start):
		return record{}, fmt.Errorf("it ends at %s, before it begins", e.End)
	case e.ObjectGUID != "" && e.ObjectID != "" && e.ObjectGUID != e.ObjectID:
		return record{}, fmt.Errorf("objectGuid and objectID name two objects")
	case e.ObjectTypeID != "" && e.ObjectType != "" && e.ObjectTypeID != e.ObjectType:
		return record{}, fmt.Errorf("objectTypeID and objectType name two types")
	}
	body, err := w.EncodeEvent(cloud.DiagnosticEvent{
		ID: e.ID, Start: start, End: end, ObjectID: cmp.Or(e.ObjectGUID, e.ObjectID),
		ObjectType: cmp.Or(e.ObjectTypeID, e.ObjectType), Rule: e.Rule, Note: e.Note,
	})
	return record{agent.Events, "", body, e.Rule}, err
}

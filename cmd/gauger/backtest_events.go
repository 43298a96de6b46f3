package main

import (
	"fmt"
	"time"

	"gauger/config"
)

// eventBody is an event as it would have been sent.
type eventBody struct {
	Rule  string `json:"ruleName"`
	Note  string `json:"note"`
	Start string `json:"startTimeString"`
	End   string `json:"endTimeString"`
}

// parseTimes reads an event's times back: they are sent without a zone.
func (d eventBody) parseTimes(cfg *config.Config) (start, end time.Time, err error) {
	zone := time.UTC
	if cfg.Service.Wire.EventZone == "site" {
		zone = cfg.Zone
	}
	if start, err = parseTime(d.Start, zone, time.Time{}); err == nil {
		end, err = parseTime(d.End, zone, time.Time{})
	}
	if err != nil {
		return start, end, fmt.Errorf("read the times of an event %s: %w", d.Rule, err)
	}
	return start, end, nil
}

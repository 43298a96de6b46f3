package cloud

import (
	"errors"
	"time"

	"gauger/agent/cloud/keys"
)

// Preview gives the request that Post makes of one record, but for its headers: method, address and body.
func (c *Client) Preview(op Operation, address string, body []byte) (method, url string, wire []byte, err error) {
	r, problem := join(op, address, [][]byte{body}, 0)
	if problem != nil {
		return "", "", nil, errors.New(problem.Message)
	}
	return routes[op].method, c.target(r), r.body, nil
}

// ReadTime reads a time of an event as the service shows it, or as it was sent: without an offset it is in the zone that
// Wire.EventZone names. ok is false for a text that is no time.
func (w Wire) ReadTime(text string) (at time.Time, ok bool) {
	zone := time.UTC
	if w.EventZone == "site" {
		zone = w.zone()
	}
	for _, layout := range keys.TimeLayouts {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, true
		}
	}
	e := keys.ParseExpiry(text, time.Time{})
	return e.At, text != "" && !e.Assumed
}

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// instantLayouts are read in the site's zone where they have none of their own.
var instantLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly,
}

// parseTime reads a time as a person writes it: with an offset, in the zone's own time, or as how long ago it was.
func parseTime(text string, zone *time.Location, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	if text == "now" {
		return now, nil
	}
	for _, layout := range instantLayouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	if ago, ok := parseSpan(text); ok {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("%q is no time; write \"2026-03-01 14:30\" (the site's time), 2026-03-01T14:30:00-06:00, 2026-03-01, now, or how long ago: 45m, 24h, 7d", text)
}

// parseSpan reads a duration; 7d is seven days of 24 hours.
func parseSpan(text string) (time.Duration, bool) {
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err == nil
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

// parseNumber reads a finite number.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("want a number such as 0.83, not %q", text)
	}
	return v, nil
}

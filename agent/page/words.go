package page

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// words writes times as people at the site read them, at an instant.
type words struct {
	now  time.Time
	zone *time.Location
}

// stamp is a time for people and for programs.
type stamp struct{ Text, ISO, Age string }

func (w words) in() *time.Location {
	if w.zone == nil {
		return time.UTC
	}
	return w.zone
}

// stamp is a time with its age.
func (w words) stamp(t time.Time) stamp {
	if t.IsZero() {
		return stamp{}
	}
	return stamp{w.clock(t), t.UTC().Format(time.RFC3339), w.age(t)}
}

// clock is the time of day, and the day where it is not today.
func (w words) clock(t time.Time) string {
	local, today := t.In(w.in()), w.now.In(w.in())
	switch {
	case local.Format(time.DateOnly) == today.Format(time.DateOnly):
		return local.Format("15:04")
	case t.Sub(w.now).Abs() < 300*24*time.Hour:
		return local.Format("2 Jan 15:04")
	}
	return local.Format("2006-01-02 15:04")
}

// age says how long ago a time was, as coarsely as it is spoken of.
func (w words) age(t time.Time) string {
	d := w.now.Sub(t)
	switch {
	case t.IsZero():
		return ""
	case d < -time.Minute:
		return "in " + span(-d)
	case d < 45*time.Second:
		return "just now"
	}
	return span(d) + " ago"
}

// span is a duration in one or two words.
func span(d time.Duration) string {
	switch {
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", max(1, int(d.Round(time.Minute).Minutes())))
	case d < 36*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%d days", int(d.Round(24*time.Hour).Hours()/24))
}

// figure is a number with so many places, or a dash when there is none.
func figure(v *float64, places int) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', places, 64)
}

// brief is a reading's value for the eye: a number with seven digits, a text as it is, a dash for none.
func brief(value json.RawMessage) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return string(value)
	}
	switch v := v.(type) {
	case nil:
		return "–"
	case string:
		return v
	case float64:
		if s := strconv.FormatFloat(v, 'g', 7, 64); len(s) < 12 {
			return s
		}
	}
	return string(value)
}

// mebibytes of memory or disk, in GiB where there are many.
func mebibytes(n float64) string {
	if n >= 10<<10 {
		return fmt.Sprintf("%.1f GiB", n/1024)
	}
	return fmt.Sprintf("%.0f MiB", n)
}

// megabytes of 1,000,000 bytes, as a data plan counts.
func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) + " MB" }

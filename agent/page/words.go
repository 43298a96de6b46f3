package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
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

// lines are the sockets and serial ports of polled devices.
func (v *view) lines(o control.Overview, w words) {
	for _, l := range o.Lines {
		var newest time.Time
		for _, r := range l.Rounds {
			if r.At.After(newest) {
				newest = r.At
			}
		}
		x := lineView{Line: l.Line, Load: fmt.Sprintf("%.0f %%", 100*l.Load), Answer: w.age(newest), Errors: lineErrors(l), Reconnects: fmt.Sprint(l.Reconnects)}
		if newest.IsZero() {
			x.Answer = "none yet"
		}
		v.Lines = append(v.Lines, x)
	}
}

// lineErrors says what went wrong on a line since the start.
func lineErrors(l control.LineStatus) string {
	var all []string
	for _, x := range []struct {
		n    uint64
		what string
	}{{l.Timeouts, "not answered"}, {l.Down, "not reached"}, {l.Exceptions, "refused by the device"}, {l.BadFrames, "damaged"}, {l.Late, "late"}, {l.CrossTalk, "from another unit"}, {l.Mismatches, "read twice and not the same"}} {
		if x.n > 0 {
			all = append(all, fmt.Sprintf("%d %s", x.n, x.what))
		}
	}
	if len(all) == 0 {
		return fmt.Sprintf("none of %d", l.Requests)
	}
	return strings.Join(all, ", ") + fmt.Sprintf(" of %d", l.Requests)
}

// changes are the newest lines of the audit trail.
func (v *view) changes(o control.Overview, w words) {
	for _, e := range o.Changes {
		x := changeView{At: w.stamp(e.At), Who: e.Name, Did: e.Verb, On: e.Record, Why: e.Why}
		if e.From != "" {
			x.Who += " on this page"
		}
		if e.Result != "done" {
			x.Result = e.Result
		}
		v.Changes = append(v.Changes, x)
	}
}

// facts are the box, keys, link and recorder, a line each.
func (v *view) facts(o control.Overview, w words) {
	add := func(what, format string, args ...any) {
		v.Facts = append(v.Facts, factView{what, fmt.Sprintf(format, args...)})
	}
	if free, ok := o.Box["disk_free_mib"]; ok {
		add("Disk", "%s free, %.0f %%", mebibytes(free), o.Box["disk_free_percent"])
	}
	if o.Flash != nil {
		add("Written to it", "%v", *o.Flash)
	}
	if free, ok := o.Box["memory_available_mib"]; ok {
		add("Memory", "%s available", mebibytes(free))
	}
	if warm, ok := o.Box["cpu_temperature"]; ok {
		add("Temperature", "%.0f °C, %.0f °F", warm, warm*1.8+32)
	}
	if load, ok := o.Box["load_1m"]; ok {
		add("Load", "%.2f over the last minute", load)
	}
	if up, ok := o.Box["uptime_s"]; ok {
		add("Box is up", "for %s", span(time.Duration(up)*time.Second))
	}
	add("gauger runs", "since %s (%s)", w.clock(o.Began), w.age(o.Began))
	for _, k := range o.KeyList {
		text := map[string]string{"proven": "works", "refused": "REFUSED by the service"}[k.State]
		text = cmp.Or(text, "not tried yet")
		if !k.Expires.IsZero() {
			text += fmt.Sprintf(", good for %d days", max(0, int(k.Expires.Sub(w.now).Hours()/24)))
		}
		add("Key, "+k.Slot, "%s", text)
	}
	if l := o.Link; l != nil {
		text := megabytes(l.Bytes) + " on " + l.Date
		if l.MaxBytes > 0 {
			text += " of " + megabytes(l.MaxBytes) + ", " + megabytes(l.Left) + " left"
		}
		add("Link", "%s", text)
	}
	if r := o.Recorder; r != nil {
		text := fmt.Sprintf("%.1f of %.1f MiB", float64(r.Bytes)/(1<<20), float64(r.MaxBytes)/(1<<20))
		if !r.Oldest.IsZero() {
			text += ", readings of " + span(w.now.Sub(r.Oldest))
		}
		if r.Lost > 0 {
			text += fmt.Sprintf(", %d lost", r.Lost)
		}
		add("Recorder", "%s", text)
	}
	for _, u := range o.Unused {
		add("Not used", "%s: %s without a time of the device, the last %s", u.Point, ledger.Plural(int(u.Count), "reading"), w.age(u.Last))
	}
	for _, u := range o.Spared {
		add("Not stored", "%s: %v", u.Device, u)
	}
}

package page

import (
	"fmt"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
)

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
		if text == "" {
			text = "not used yet"
		}
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

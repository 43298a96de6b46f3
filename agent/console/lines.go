package console

import (
	"fmt"
	"io"

	"gauger/agent/control"
)

// lineCounters are the metrics of a line: the end of the name, what it is, and its figure.
var lineCounters = []struct {
	name, kind, help string
	of               func(control.LineStatus) float64
}{
	{"load", "gauge", "Share of the last minute or two in which requests had the line.", func(l control.LineStatus) float64 { return l.Load }},
	{"busy_seconds_total", "counter", "How long requests had the line, their time-outs and silences included.", func(l control.LineStatus) float64 { return l.Busy }},
	{"requests_total", "counter", "Requests that had the line.", func(l control.LineStatus) float64 { return float64(l.Requests) }},
	{"timeouts_total", "counter", "Requests that got no answer in time.", func(l control.LineStatus) float64 { return float64(l.Timeouts) }},
	{"exceptions_total", "counter", "Answers that were refusals.", func(l control.LineStatus) float64 { return float64(l.Exceptions) }},
	{"bad_frames_total", "counter", "Requests whose answer came damaged.", func(l control.LineStatus) float64 { return float64(l.BadFrames) }},
	{"late_total", "counter", "Answers dropped because they belonged to an earlier request.", func(l control.LineStatus) float64 { return float64(l.Late) }},
	{"cross_talk_total", "counter", "Answers dropped because another unit or function sent them.", func(l control.LineStatus) float64 { return float64(l.CrossTalk) }},
	{"reconnects_total", "counter", "Times that the socket or port was opened again.", func(l control.LineStatus) float64 { return float64(l.Reconnects) }},
	{"mismatches_total", "counter", "Values that two requests did not agree on.", func(l control.LineStatus) float64 { return float64(l.Mismatches) }},
}

// writeLines writes the metrics of the polled lines, and the last round of each device on them.
func writeLines(w io.Writer, lines []control.LineStatus) {
	if len(lines) == 0 {
		return
	}
	for _, c := range lineCounters {
		fmt.Fprintf(w, "# HELP gauger_line_%s %s\n# TYPE gauger_line_%s %s\n", c.name, c.help, c.name, c.kind)
		for _, l := range lines {
			fmt.Fprintf(w, "gauger_line_%s{line=%q} %g\n", c.name, l.Line, c.of(l))
		}
	}
	fmt.Fprint(w, "# HELP gauger_device_round_seconds How long the requests of the device's last answered round had its line.\n# TYPE gauger_device_round_seconds gauge\n")
	for _, l := range lines {
		for _, r := range l.Rounds {
			fmt.Fprintf(w, "gauger_device_round_seconds{device=%q,line=%q} %g\n", r.Device, l.Line, r.Took)
		}
	}
}

// writeFlash writes what the disk has to bear, and what was not stored to spare it.
func writeFlash(w io.Writer, s control.Status) {
	family := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	if f := s.Flash; f != nil {
		family("gauger_written_bytes_total", "counter", "Bytes that this run has had written to disk.")
		fmt.Fprintf(w, "gauger_written_bytes_total %d\n", f.Bytes)
		family("gauger_written_bytes_per_day", "gauge", "Bytes written in a day, at the rate of the last one; 0 in the first minutes.")
		fmt.Fprintf(w, "gauger_written_bytes_per_day %d\n", f.Day)
		if f.Years > 0 {
			family("gauger_flash_years", "gauge", "Years that the configured flash lasts at that rate.")
			fmt.Fprintf(w, "gauger_flash_years %.1f\n", f.Years)
		}
	}
	if len(s.Spared) > 0 {
		family("gauger_undecoded_total", "counter", "Messages that could not be decoded and were not stored: one like it is, or beyond the budget.")
	}
	for _, u := range s.Spared {
		fmt.Fprintf(w, "gauger_undecoded_total{device=%q,why=\"equal\"} %d\ngauger_undecoded_total{device=%q,why=\"budget\"} %d\n", u.Device, u.Equal, u.Device, u.Over)
	}
}

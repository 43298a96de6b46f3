package console

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"

	"gauger/agent/control"
)

//go:embed page.css
var style string

// sheet is a page while it is written. Everything that comes from the site is escaped; a template would cost the
// binary two megabytes.
type sheet struct {
	strings.Builder
	zone *time.Location // the site's
}

// add writes format, its arguments escaped.
func (p *sheet) add(format string, args ...any) {
	for i, a := range args {
		args[i] = html.EscapeString(fmt.Sprint(a))
	}
	fmt.Fprintf(p, format, args...)
}

// render is the status as a page, its times in the site's zone.
func render(s control.Status, zone *time.Location) string {
	p := &sheet{zone: zone}
	p.add(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`)
	p.add(`<meta http-equiv="refresh" content="5"><title>%v – gauger</title><style>`, s.Site)
	p.WriteString(style)
	p.add(`</style></head><body><h1>%v</h1><p class="sub">%v · gauger %v · %v · clock %v · running since %v</p>`,
		s.Site, s.ID, s.Version, p.moment(s.Now), s.Clock, p.moment(s.Began))
	p.reading(s)
	p.sending(s)
	for _, problem := range s.Problems {
		p.add(`<p class="bad">%v</p>`, problem)
	}
	for _, hint := range s.Hints {
		p.add(`<p class="sub">Hint: %v</p>`, hint)
	}
	p.tanks(s)
	if s.Shut == "" {
		p.tickets(s)
		p.outbox(s)
	}
	p.points(s)
	p.add(`</body></html>`)
	return p.String()
}

// reading answers the first question: are there good readings of everything.
func (p *sheet) reading(s control.Status) {
	good := 0
	for _, x := range s.Points {
		if x.Quality == "good" {
			good++
		}
	}
	var blind []string
	for _, t := range s.Tanks {
		if t.Quality != "good" {
			blind = append(blind, t.ID)
		}
	}
	switch {
	case len(blind) > 0:
		p.add(`<p class="bad">No good level of %v. Good are %v of %v points.</p>`, strings.Join(blind, ", "), good, len(s.Points))
	case good < len(s.Points):
		p.add(`<p class="bad">Good are only %v of %v points.</p>`, good, len(s.Points))
	default:
		p.add(`<p class="ok">Reading: all points are good.</p>`)
	}
}

// sending answers the second: does what was read leave.
func (p *sheet) sending(s control.Status) {
	switch waiting := s.Waiting(); {
	case s.Shut != "":
		p.add(`<p class="bad">Not storing and not sending: the outbox cannot be opened.</p>`)
	case waiting == 0 && s.ClockUnset():
		p.add(`<p class="bad">Not sending: what is made waits until the clock is set.</p>`)
	case waiting == 0:
		p.add(`<p class="ok">Sending: nothing waits.</p>`)
	case s.WaitsForLinkOnly():
		p.add(`<p class="ok">Sending by plan: %v records wait for the link.</p>`, waiting)
	case s.Overdue():
		p.add(`<p class="bad">Not sending: %v records wait, the oldest since %v. They are kept and leave by themselves.</p>`, waiting, p.moment(s.Oldest))
	case s.IsolatedCount() > 0:
		p.add(`<p class="bad">Sending, but not taken is what is for %v of the ids: see below. Records that wait: %v.</p>`, s.IsolatedCount(), waiting)
	default:
		p.add(`<p class="ok">Sending: nothing is overdue, records that wait to leave: %v.</p>`, waiting)
	}
}

func (p *sheet) tanks(s control.Status) {
	p.add(`<h2>Tanks</h2><div class="tanks">`)
	for _, t := range s.Tanks {
		gauge, figures := "no level", ""
		if t.Level != nil {
			gauge, figures = t.Gauge, fmt.Sprintf("%.2f in · %s bbl", *t.Level, number(t.Barrels))
		}
		phase := t.Phase
		if t.Error != "" {
			phase += ", " + t.Error
		}
		if w := t.Inhibited; w != nil {
			phase += ", inhibited by " + w.Person + ": " + w.Why
		}
		p.add(`<div class="tank">%v <span class="q-%v">%v</span><b>%v</b>%v<br>%v</div>`, t.ID, t.Quality, t.Quality, gauge, figures, phase)
	}
	p.add(`</div>`)
}

func (p *sheet) tickets(s control.Status) {
	p.add(`<h2>Last ticket</h2>`)
	if s.Last == nil {
		p.add(`<p>None yet.</p>`)
	} else {
		p.add(`<p>%v · %v · %v to %v</p>`, s.Last.Number, s.Last.Tank, p.moment(s.Last.Start), p.moment(s.Last.End))
	}
	for _, h := range s.Held {
		if h.Stop != nil && h.Stop.Until.IsZero() {
			p.add(`<p>Held: %v · %v to %v · on hold by %v</p>`, h.Load.Tank, p.moment(h.Load.Start), p.moment(h.Load.End), h.Stop.Person)
			continue
		}
		p.add(`<p>Held: %v · %v to %v · leaves %v</p>`, h.Load.Tank, p.moment(h.Load.Start), p.moment(h.Load.End), p.moment(h.Due))
	}
}

// link shows what the day has cost.
func (p *sheet) link(s control.Status) {
	l := s.Link
	if l == nil {
		return
	}
	p.add(`<p>%v MB crossed the link on %v`, fmt.Sprintf("%.2f", float64(l.Bytes)/1e6), l.Date)
	if l.MaxBytes > 0 {
		p.add(`; %v of %v MB left`, fmt.Sprintf("%.2f", float64(l.Left)/1e6), fmt.Sprintf("%.2f", float64(l.MaxBytes)/1e6))
	}
	p.add(`.</p>`)
}

func (p *sheet) points(s control.Status) {
	p.add(`<h2>Points</h2><table><tr><th>point<th class="n">value<th>unit<th>quality<th>at<th>why</tr>`)
	for _, x := range s.Points {
		p.add(`<tr><td>%v<td class="n">%v<td>%v<td class="q-%v">%v<td>%v<td>%v</tr>`,
			x.Point, brief(x.Value), x.Unit, x.Quality, x.Quality, p.moment(x.At), x.Error)
	}
	p.add(`</table>`)
}

// number is a figure with one decimal, or a dash when there is none.
func number(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *v)
}

// moment is a time as people at the site read it.
func (p *sheet) moment(t time.Time) string { return t.In(p.zone).Format("2006-01-02 15:04:05") }

// brief is a reading's value for the eye: a number with seven digits, anything else as it is.
func brief(value json.RawMessage) string {
	var v float64
	if json.Unmarshal(value, &v) != nil || string(value) == "null" {
		return string(value)
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}

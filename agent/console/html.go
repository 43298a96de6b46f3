package console

import (
	_ "embed"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"time"

	"gauger/agent"
)

//go:embed page.css
var style string

// sheet is a page while it is written. Everything that comes from the site is escaped; a template would cost the
// binary two megabytes.
type sheet struct{ strings.Builder }

// add writes format, its arguments escaped.
func (p *sheet) add(format string, args ...any) {
	for i, a := range args {
		args[i] = html.EscapeString(fmt.Sprint(a))
	}
	fmt.Fprintf(p, format, args...)
}

// render is the status as a page.
func render(s agent.Status) string {
	p := &sheet{}
	p.add(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`)
	p.add(`<meta http-equiv="refresh" content="5"><title>%v – gauger</title><style>`, s.Site)
	p.WriteString(style)
	p.add(`</style></head><body><h1>%v</h1><p class="sub">%v · gauger %v · %v · clock %v · running since %v</p>`,
		s.Site, s.ID, s.Version, moment(s.Now), s.Clock, moment(s.Began))
	for _, problem := range s.Problems {
		p.add(`<p class="bad">%v</p>`, problem)
	}
	if len(s.Problems) == 0 {
		p.add(`<p class="ok">Reading and sending. Nothing needs a person.</p>`)
	}
	p.tanks(s)
	p.tickets(s)
	p.outbox(s)
	p.points(s)
	p.add(`</body></html>`)
	return p.String()
}

func (p *sheet) tanks(s agent.Status) {
	p.add(`<h2>Tanks</h2><div class="tanks">`)
	for _, t := range s.Tanks {
		gauge := t.Gauge
		if gauge == "" {
			gauge = "no level"
		}
		p.add(`<div class="tank">%v <span class="q-%v">%v</span><b>%v</b>%v in · %v bbl<br>%v</div>`,
			t.ID, t.Quality, t.Quality, gauge, number(t.Level), number(t.Barrels), t.Phase)
	}
	p.add(`</div>`)
}

func (p *sheet) tickets(s agent.Status) {
	p.add(`<h2>Last ticket</h2>`)
	if s.Last == nil {
		p.add(`<p>None yet.</p>`)
	} else {
		p.add(`<p>%v · %v · %v to %v</p>`, s.Last.Number, s.Last.Tank, moment(s.Last.Start), moment(s.Last.End))
	}
	for _, h := range s.Held {
		p.add(`<p>Held: %v · %v to %v · leaves %v</p>`, h.Load.Tank, moment(h.Load.Start), moment(h.Load.End), moment(h.Due))
	}
}

func (p *sheet) outbox(s agent.Status) {
	p.add(`<h2>Outbox</h2><table><tr><th>stream<th class="n">accepted<th class="n">delivered<th class="n">waiting<th class="n">refused<th class="n">gave way</tr>`)
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		c := s.Streams[name]
		p.add(`<tr><td>%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v<td class="n">%v</tr>`,
			name, c.Accepted, c.Delivered, c.Waiting, c.Dead, c.Evicted)
	}
	p.add(`</table>`)
}

func (p *sheet) points(s agent.Status) {
	p.add(`<h2>Points</h2><table><tr><th>point<th class="n">value<th>unit<th>quality<th>at<th>why</tr>`)
	for _, x := range s.Points {
		p.add(`<tr><td>%v<td class="n">%v<td>%v<td class="q-%v">%v<td>%v<td>%v</tr>`,
			x.Point, string(x.Value), x.Unit, x.Quality, x.Quality, moment(x.At), x.Error)
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

// moment is a time as people read it.
func moment(t time.Time) string { return t.Format("2006-01-02 15:04:05") }

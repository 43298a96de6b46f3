package page

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/plot"
	"gauger/agent/tank"
)

// ticketPage is one ticket in words.
type ticketPage struct {
	Title, Site, Name, Tank, Barrels, State, Sent string
	Mood                                          string
	Retry                                         string // its record, where it was refused
	Confirm                                       string // its record, where it was refused or the service may have it
	Picture, Held                                 bool
	Facts                                         []factView
	visitor
}

func (s *site) find(r *http.Request) (row control.TicketRow, err error) {
	if err = s.take(r.Context()); err == nil {
		defer s.give()
		row, err = s.server.Ticket(r.PathValue("name"))
	}
	return row, err
}

// found asks for a ticket, and answers where there is none.
func (s *site) found(w http.ResponseWriter, r *http.Request) (control.TicketRow, bool) {
	row, err := s.find(r)
	if err != nil {
		fail(w, err)
	}
	return row, err == nil
}

func (s *site) ticket(w http.ResponseWriter, r *http.Request) {
	row, ok := s.found(w, r)
	if !ok {
		return
	}
	at := words{time.Now(), s.server.Site.Zone}
	p := ticketPage{
		Title: row.Name(), Site: s.server.Site.Name, Name: row.Name(), Tank: row.Tank, Barrels: figure(row.Barrels(), 2), State: row.State,
		Sent: row.SentBody(), Mood: control.Unknown, Picture: row.Load != nil && row.Load.Trend != nil,
		Held: row.State == "held", visitor: s.visitor(r),
	}
	record := fmt.Sprintf("%s/%d", ledger.Tickets, row.Seq)
	if row.State == "refused" {
		p.Retry, p.Confirm = record, record
	} else if row.State == "waiting" && row.Unclear != nil {
		p.Confirm = record
	}
	if m, known := ticketMoods[row.State]; known {
		p.Mood = m
	}
	if row.Voided != "" {
		p.Mood, p.State = control.Unknown, "void"
	} else if row.ForReview() != nil || row.Hauled.Verdict() == "APART" {
		p.Mood, p.State = control.Bad, row.State+", needs a look"
	}
	p.facts(&row, at, &s.server.Site)
	s.write(w, http.StatusOK, "ticket.html", p)
}

// facts are a ticket's evidence, in the order of a paper run ticket.
func (p *ticketPage) facts(r *control.TicketRow, w words, site *ledger.Site) {
	add := func(what, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			p.Facts = append(p.Facts, factView{what, text})
		}
	}
	at := func(t time.Time) string { return t.In(w.in()).Format("2006-01-02 15:04:05 MST") }
	add("Void, by", "%s", r.Voided)
	add("Booked in its place", "%s", r.ReplacedBy)
	stands := r.StateText(site.HoldDoubtful, at)
	if r.Voided != "" {
		stands = "void; its record is " + stands
	}
	add("Stands", "%s", stands)
	if r.Status != 0 {
		add("Answered", "status %d, %s", r.Status, at(r.Answered))
		add("Correlation", "%s", r.Corr)
	}
	add("Unclear", "%s", r.Unclear.Text(at))
	about := ""
	if r.Load != nil && r.Load.Hidden() != nil {
		about = "about "
	}
	add("Start", "%s%s", about, at(r.Start))
	add("End", "%s%s", about, at(r.End))
	add("Production day", "%s", r.Day)
	buyer := ""
	if i := slices.IndexFunc(site.Tanks, func(t ledger.Tank) bool { return t.ID == r.Tank }); i >= 0 {
		buyer = site.Tanks[i].Purchaser
	}
	buyer, sealOff, sealOn := r.Labels(site.Wire, buyer)
	add("Purchaser", "%s", buyer)
	add("Seal off", "%s", sealOff)
	add("Seal on", "%s", sealOn)
	if l := r.Load; l != nil {
		add("Opening gauge", "%s (%.2f in)", tank.Length(l.Open).Gauge(), l.Open)
		add("Closing gauge", "%s (%.2f in)", tank.Length(l.Close).Gauge(), l.Close)
		add("By gauge", "%s%.2f bbl, %s", map[bool]string{true: "at least "}[l.Least() != ""], l.GaugeBbl, ledger.ErrorText(l))
		add("Flowed in meanwhile", "%s", ledger.InflowText(l))
		if ledger.InflowKnown(l) {
			add("Removed", "%.2f bbl, by gauge and what flowed in", l.RemovedBbl)
		}
		add("Confidence", "%.2f", l.Confidence)
		add("Needs review", "%s", tank.JoinReasons(l.Review))
		add("Remarks", "%s", strings.Join(l.Remarks, "; "))
	} else if len(r.Gauged) == 2 {
		add("Opening gauge", "%s (%.2f in)", tank.Length(r.Gauged[0]).Gauge(), r.Gauged[0])
		add("Closing gauge", "%s (%.2f in)", tank.Length(r.Gauged[1]).Gauge(), r.Gauged[1])
	}
	addVolumes(r.Volumes, add)
	for _, e := range r.Edits {
		add("Edited", "%s from %q to %q by %s, %s", e.Field, e.Old, e.New, e.Person, at(e.At))
	}
	for _, m := range r.Matches {
		if m.Removed == nil {
			metered := ""
			if m.Metered {
				metered = ", by the truck's meter"
			}
			add("Truck's ticket", "%s, %.2f bbl %s%s", m.Hauler, m.Bbl, m.Basis, metered)
		}
	}
	if h := r.Hauled; h != nil && h.Difference != nil {
		ours := map[bool]string{true: "that were removed", false: "by gauge"}[h.Metered]
		add("Truck and gauge", "%s: the truck has %.2f bbl %s than the %.2f %s", strings.ToLower(h.Verdict()), math.Abs(*h.Difference), map[bool]string{true: "less", false: "more"}[*h.Difference < 0], *h.Ours, ours)
	}
	for _, f := range r.Found {
		add("Learned later", "%s", f.Note)
	}
	add("By", "%s", r.Person)
	add("Entered anyway", "%s", r.Anyway)
	add("Rejected by", "%s", r.Rejected)
}

// addVolumes adds the figures between the gauges and the barrels at 60 degrees, and those.
func addVolumes(v *ledger.Volumes, add func(what, format string, args ...any)) {
	if v == nil {
		return
	}
	if v.API60 != nil {
		add("Gravity", "%.4f specific, %.1f API, at 60 °F", *v.Gravity, *v.API60)
	}
	if v.BSW != nil {
		add("BS&W", "%g %%", *v.BSW)
	}
	if v.GrossBbl != nil {
		add("Gross at 60 °F", "%.2f bbl", *v.GrossBbl)
	}
	if v.NetBbl != nil {
		add("Net at 60 °F", "%.2f bbl", *v.NetBbl)
	}
	add("Not known", "%s", strings.Join(v.Missing, ", "))
}

// phoneWide is the pixels of a picture that a phone shows whole, with words that can be read.
const phoneWide = 360

// picture draws the level about a load.
func (s *site) picture(w http.ResponseWriter, r *http.Request) {
	row, ok := s.found(w, r)
	if !ok {
		return
	}
	l := row.Load
	i := slices.IndexFunc(s.server.Site.Tanks, func(t ledger.Tank) bool { return t.ID == row.Tank })
	if l == nil || l.Trend == nil || i < 0 {
		http.Error(w, "there is no level to draw of ticket "+row.Name(), http.StatusNotFound)
		return
	}
	level := &plot.Series{}
	for k, sec := range l.Trend.Seconds[:min(len(l.Trend.Seconds), len(l.Trend.Level))] {
		after := time.Duration(sec) * time.Second
		level.Add(l.Start.Add(after), 1, after, float64(l.Trend.Level[k])/100, true)
	}
	var b bytes.Buffer
	title, wide := s.server.Site.Name+" · "+row.Name(), 0.0
	if r.URL.Query().Has("phone") { // on which the page says the rest
		title, wide = row.Tank+", "+figure(row.Barrels(), 2)+" bbl", phoneWide
	}
	_, err := plot.Picture{Title: title, Wide: wide, Zone: s.server.Site.Zone, ProductionDay: s.server.Site.ProductionDay,
		Panels: []plot.Panel{{Name: row.Tank, Table: s.server.Site.Tanks[i].Table, Level: level, Loads: []plot.Load{{
			Number: row.Name(), Start: l.Start, End: l.End, Open: l.Open, Close: l.Close, Bbl: l.GaugeBbl, Error: l.ErrorBbl, Review: tank.JoinReasons(l.Review),
		}}}}}.WriteTo(&b)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write(b.Bytes())
}

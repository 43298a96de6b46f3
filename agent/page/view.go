package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/control"
	"gauger/agent/filling"
	"gauger/agent/ledger"
	"gauger/agent/tank"
)

// view is what the template of the main part is given: words only.
type view struct {
	Mood     string // the worst of the answers
	Headline string
	Answers  []answerView
	First    []problemView // the dearest problems
	More     []problemView // the others
	Hints    []string
	Unread   string // a hint that stands with the problems
	Tanks    []tankView
	Days     []dayView
	Paper    string // the trucks' tickets beside the gauge
	Shut     bool   // the outbox cannot be opened: nothing is known of tickets and records
	Devices  []deviceView
	Lines    []lineView
	Streams  []streamView
	Waits    []string
	Retries  []string // streams of which something was refused
	Facts    []factView
	Changes  []changeView
	Forms    bool // somebody has a token
}

type (
	answerView  struct{ Mood, What, Text string }
	problemView struct{ Text, Do string }
	tankView    struct {
		ID, Quality, Gauge, Inches, Barrels, Room, Doing, Old string
		Drawn                                                 drawn
		Full, Ready                                           string
		LastName, LastText                                    string
		Now                                                   string // in a word, where something goes on
		Inhibited                                             bool
	}
	dayView struct {
		Day, Total string
		Tickets    []ticketView
	}
	ticketView struct {
		Name, Tank, When, Barrels, State, Text string
		Mood                                   string
	}
	deviceView struct {
		Name, Text string
		Mood       string
		Points     []pointView
	}
	pointView struct {
		Name, Value, Unit, Quality, Why string
		At                              stamp
	}
	lineView   struct{ Line, Load, Answer, Errors, Reconnects string }
	changeView struct {
		At           stamp
		Who, Did, On string
		Result, Why  string
	}
	streamView struct{ Name, Waiting, Delivered, Refused, Gone string }
	factView   struct{ What, Text string }
)

// shownProblems stand open; the others are folded.
const shownProblems = 3

// newView turns an overview into words; forms: somebody has a token.
func newView(o control.Overview, site ledger.Site, forms bool) view {
	w := words{o.Now, site.Zone}
	v := view{Shut: o.Shut != "", Hints: o.Hints, Unread: o.Unread, Forms: forms && o.Shut == ""}
	v.answers(o)
	for i, p := range o.Found {
		x := problemView{p.Text, p.Do}
		if i < shownProblems {
			v.First = append(v.First, x)
		} else {
			v.More = append(v.More, x)
		}
	}
	for _, f := range o.Faces {
		v.Tanks = append(v.Tanks, w.tank(f))
	}
	if !v.Shut {
		v.tickets(o, w)
		v.outbox(o)
	}
	v.devices(o, w)
	v.lines(o, w)
	v.facts(o, w)
	v.changes(o, w)
	return v
}

// answers puts the four answers first, and sums them up in a line.
func (v *view) answers(o control.Overview) {
	v.Mood, v.Headline = control.Well, "All is well"
	for _, a := range o.Answers {
		v.Answers = append(v.Answers, answerView{a.State, capital(a.About), capital(a.Text)})
		if a.State == control.Unknown && v.Mood == control.Well {
			v.Mood, v.Headline = control.Unknown, "No trouble is known"
		}
		if a.State == control.Bad {
			v.Mood, v.Headline = control.Bad, "Something needs you"
		}
	}
	if n := len(o.Found); n > 0 {
		v.Mood, v.Headline = control.Bad, ledger.Plural(n, "thing")+" to look at"
	}
}

// capital writes the first letter large.
func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (w words) tank(f ledger.TankFace) tankView {
	t := tankView{ID: f.ID, Quality: f.Quality, Inhibited: f.Inhibited != nil, Drawn: draw(f.Level, f.Height, f.Levels, w.now), Doing: w.doing(f)}
	if f.Level != nil {
		t.Gauge, t.Inches, t.Barrels, t.Room = f.Gauge, figure(f.Level, 2), figure(f.Barrels, 1), figure(f.Room, 0)
		if w.now.Sub(f.At) > 5*time.Minute {
			t.Old = "read " + w.age(f.At)
		}
	} else if f.Good != nil {
		t.Old = fmt.Sprintf("the last good one was %s, %.1f bbl, at %s (%s)", f.Good.Gauge, f.Good.Bbl, w.clock(f.Good.At), w.age(f.Good.At))
	}
	if f.Error != "" {
		t.Old = strings.Trim(f.Error+"; "+t.Old, "; ")
	}
	switch {
	case t.Inhibited:
		t.Now = "work on it"
	case f.Phase == "drawing" && len(f.Going) > 0:
		t.Now = "loading"
	case f.Phase == "confirming":
		t.Now = "settling"
	}
	t.Full = w.expected(f.Full)
	t.Ready = w.expected(f.Ready)
	if f.Holds {
		t.Ready = "now"
	}
	if l := f.Last; l != nil {
		row := control.TicketRow{TicketRecord: *l}
		t.LastName, t.LastText = row.Name(), fmt.Sprintf("%s bbl, %s", figure(row.Barrels(), 2), w.clock(l.Start))
	}
	return t
}

// expected is a time to come with its band; empty where it is not known.
func (w words) expected(m *filling.Moment) string {
	if m == nil {
		return ""
	}
	text := "in " + span(m.At.Sub(w.now)) + ", at " + w.clock(m.At)
	if m.To.Sub(m.From) >= 10*time.Minute {
		text += " (" + w.clock(m.From) + " to " + w.clock(m.To) + ")"
	}
	return text
}

func (w words) doing(f ledger.TankFace) string {
	text := ""
	switch n := len(f.Going); {
	case f.Inhibited != nil:
		return "work on it until " + w.clock(f.Inhibited.Until) + ", " + f.Inhibited.Person + ": " + f.Inhibited.Why
	case f.Phase == "drawing" && n > 0:
		return fmt.Sprintf("loading since %s, %.0f bbl so far", w.clock(f.Going[n-1].Start), f.Going[n-1].Bbl)
	case f.Phase == "drawing":
		return "the level falls"
	case f.Phase == "confirming" && n > 0 && f.Going[n-1].Until.IsZero():
		return fmt.Sprintf("settling: %.0f bbl left from %s on; not decided: %s", f.Going[n-1].Bbl, w.clock(f.Going[n-1].Start), f.Going[n-1].Why)
	case f.Phase == "confirming" && n > 0:
		return fmt.Sprintf("settling: %.0f bbl left from %s to %s; it is a load if the level stays down until %s",
			f.Going[n-1].Bbl, w.clock(f.Going[n-1].Start), w.clock(f.Going[n-1].End), w.clock(f.Going[n-1].Until))
	case f.Phase == "confirming":
		return "settling"
	case f.Phase == "waiting" && f.Quality == "good":
		text = "its level is not watched for loads yet"
	case f.Phase == "waiting":
		text = "no level has come yet"
	case f.Phase != "idle":
		text = f.Phase
	case f.PerHour != nil:
		text = fmt.Sprintf("filling, %.1f bbl an hour", *f.PerHour)
	default:
		text = "no load going on"
	}
	if f.Quality != "good" && f.Phase == "idle" {
		text = "not seen now"
	}
	if f.Waits != "" {
		text += "; " + f.Waits
	}
	return text
}

// ticketMoods are how the states of a ticket look.
var ticketMoods = map[string]string{"delivered": control.Well, "left": control.Well, "refused": control.Bad, "held": notYet, "waiting": notYet}

// notYet is the look of what is on its way, beside those of answers.
const notYet = "open"

// tickets are the newest, by production day.
func (v *view) tickets(o control.Overview, w words) {
	totals, held, counts := map[string]float64{}, map[string]float64{}, map[string]int{}
	v.Paper = o.Paper.String()
	for i := range o.Recent {
		r := &o.Recent[i]
		t := ticketView{Name: r.Name(), Tank: r.Tank, When: w.clock(r.Start) + " to " + r.End.In(w.in()).Format("15:04"), Barrels: figure(r.Barrels(), 2),
			State: r.State, Text: strings.TrimPrefix(strings.TrimPrefix(r.StateText(o.Review, w.clock), r.State), ", "), Mood: control.Unknown}
		switch {
		case r.State == "waiting" && r.Waits == "":
			t.Text = o.Drains[ledger.Tickets].Why
		case r.State == "delivered" && !r.Answered.IsZero():
			t.Text = strings.Join(append([]string{w.clock(r.Answered) + ", " + w.age(r.Answered)}, r.SendingRemarks()...), "; ")
		}
		t.Text = strings.Trim(t.Text, ": ")
		if m, ok := ticketMoods[r.State]; ok {
			t.Mood = m
		}
		if why := r.ForReview(); why != nil {
			t.Mood, t.Text = control.Bad, t.Text+"; needs review: "+tank.JoinReasons(why)
		}
		if r.Load != nil && len(r.Load.Remarks) > 0 {
			t.Text += "; " + strings.Join(r.Load.Remarks, "; ")
		}
		if text := "; " + r.Hauled.String(); r.Hauled != nil && !strings.Contains(t.Text, text[2:]) {
			t.Text += text
		}
		if r.Hauled.Verdict() == "APART" {
			t.Mood = control.Bad
		}
		t.Text = strings.TrimPrefix(t.Text, "; ")
		if r.Voided != "" {
			t.Mood, t.State, t.Text = control.Unknown, "void", "by "+r.Voided
		}
		if n := len(v.Days); n == 0 || v.Days[n-1].Day != r.Day {
			v.Days = append(v.Days, dayView{Day: r.Day})
		}
		if bbl := r.Barrels(); bbl != nil && r.Booked() {
			totals[r.Day] += *bbl
			counts[r.Day]++
			if r.State == "held" {
				held[r.Day] += *bbl
			}
		}
		day := &v.Days[len(v.Days)-1]
		day.Tickets = append(day.Tickets, t)
	}
	for i := range v.Days {
		d := &v.Days[i]
		d.Total = fmt.Sprintf("%.2f bbl, %s", totals[d.Day], ledger.Plural(counts[d.Day], "load"))
		if held[d.Day] > 0 {
			d.Total += fmt.Sprintf(", of it held %.2f bbl", held[d.Day])
		}
	}
}

// devices are the points by their devices, and the lines.
func (v *view) devices(o control.Overview, w words) {
	by := map[string][]control.PointReading{}
	for _, p := range o.Points {
		name, _, _ := strings.Cut(string(p.Point), "/")
		by[name] = append(by[name], p)
	}
	for _, name := range slices.Sorted(maps.Keys(by)) {
		d := deviceView{Name: name, Mood: control.Well}
		good, why := 0, ""
		for _, p := range by[name] {
			_, short, _ := strings.Cut(string(p.Point), "/")
			x := pointView{short, brief(p.Value), string(p.Unit), p.Quality, p.Error, w.stamp(p.At)}
			switch {
			case p.Quality == "good":
				good++
			case why == "":
				why, x.Why = p.Error, ""
			case why == p.Error:
				x.Why = "" // the device says it
			}
			d.Points = append(d.Points, x)
		}
		d.Text = fmt.Sprintf("%d of %s good", good, ledger.Plural(len(by[name]), "point"))
		if why != "" {
			d.Text += ": " + why
		}
		if good < len(by[name]) {
			d.Mood = control.Bad
		}
		v.Devices = append(v.Devices, d)
	}
}

// outbox is each stream's ledger, and what holds up what waits in it.
func (v *view) outbox(o control.Overview) {
	for _, name := range slices.Sorted(maps.Keys(o.Streams)) {
		c := control.Tally(o.Streams[name])
		v.Streams = append(v.Streams, streamView{control.StreamName(name), fmt.Sprint(c.Waiting), fmt.Sprint(c.Delivered), fmt.Sprint(c.Dead), gone(c)})
		if c.Dead != 0 && name != ledger.Refused {
			v.Retries = append(v.Retries, name)
		}
		if why := o.Drains[name].Why; why != "" {
			v.Waits = append(v.Waits, capital(name)+" wait: "+why+".")
		}
	}
}

// gone says what of a stream nobody will get, and why.
func gone(c control.Tally) string {
	var all []string
	for _, x := range []struct {
		n    string
		what string
	}{{fmt.Sprint(c.Evicted), "gave way"}, {fmt.Sprint(c.Dropped), "dropped"}, {c.Losses(), "lost"}} {
		if x.n != "0" {
			all = append(all, x.n+" "+x.what)
		}
	}
	if len(all) == 0 {
		return "0"
	}
	return strings.Join(all, ", ")
}

// Sizes of the drawings, in their own units.
const (
	shellHigh  = 120.0
	shellTop   = 8.0
	trendWide  = 240.0
	trendHigh  = 60.0
	trendGap   = time.Hour // between two levels, over which no line is drawn
	trendShown = 24 * time.Hour
	trendLeast = 20 * time.Minute // a line of less than this is a dot
)

// drawn is a tank as its picture shows it.
type drawn struct {
	OilY, OilHigh string // empty: no level
	Line          string // path of the last day's level
}

// draw places a level in the shell, and the levels of the last day on a line.
func draw(in *float64, height float64, levels []tank.Moment, now time.Time) (d drawn) {
	share := func(in float64) float64 { return math.Min(1, math.Max(0, in/math.Max(height, 1))) }
	if in != nil {
		high := share(*in) * shellHigh
		d.OilY, d.OilHigh = fmt.Sprintf("%.1f", shellTop+shellHigh-high), fmt.Sprintf("%.1f", high)
	}
	var b strings.Builder
	var first, last time.Time
	x := -1.0
	for _, m := range levels {
		back := now.Sub(m.At)
		if back < 0 || back > trendShown {
			continue
		}
		to := trendWide * (1 - back.Hours()/trendShown.Hours())
		if to-x < 0.5 && m.At.Sub(last) < trendGap {
			continue // finer than a pixel
		}
		verb := "L"
		if first.IsZero() {
			first = m.At
		}
		if last.IsZero() || m.At.Sub(last) > trendGap {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", verb, to, trendHigh*(1-share(m.In)))
		last, x = m.At, to
	}
	if last.Sub(first) >= trendLeast {
		d.Line = b.String()
	}
	return d
}

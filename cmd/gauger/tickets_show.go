package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/ledger"
	"gauger/agent/tank"
)

type ticketsShowOptions struct{ ascii bool }

func ticketsShowCommand(c *call) *cobra.Command {
	o := &ticketsShowOptions{}
	cmd := newCommand(c, "show NUMBER", "one ticket with its evidence and the level drawn", o.run)
	takes(cmd, 1, "tickets show wants one ticket number; `gauger tickets list` shows them")
	cmd.Flags().BoolVar(&o.ascii, "ascii", false, "draw the level in plain ASCII")
	return cmd
}

func (o *ticketsShowOptions) run(ctx context.Context, c *call, args []string) error {
	rows, err := listTickets(ctx, c)
	if err != nil {
		return err
	}
	r, err := byNumber(rows, args[0])
	if err != nil {
		return err
	}
	if c.json() {
		return printJSON(c.out, r)
	}
	h := findSite(c)
	t := newTable(c.out)
	for _, line := range r.evidence(h) {
		t.printf("%s\t%s\n", line[0], line[1])
	}
	if err := t.Flush(); err != nil || r.Load == nil {
		return err
	}
	if drawing, ok := chartOf(r.Load, h.zone(), plainASCII(c, o.ascii)); ok {
		_, err = fmt.Fprintln(c.out, "\n"+strings.Join(drawing.render(), "\n"))
	}
	return err
}

// sheet is a ticket's evidence, name and figure, in the order of a paper run ticket.
type sheet [][2]string

func (s *sheet) add(name, format string, args ...any) {
	if text := fmt.Sprintf(format, args...); text != "" {
		*s = append(*s, [2]string{name, text})
	}
}

func (r *ticketRow) evidence(h site) sheet {
	at := func(t time.Time) string { return t.In(h.zone()).Format("2006-01-02 15:04:05 MST") }
	b := r.sentBody()
	var s sheet
	s.add("number", "%s", r.Name())
	s.add("state", "%s", when(r.Voided != "", "void; its record is ")+r.stateText(h))
	s.add("tank", "%s", r.Tank)
	s.add("purchaser", "%s", r.purchaser(h))
	r.addTimes(&s, h, at)
	s.add("production day", "%s", r.Day)
	r.addGauges(&s, h)
	if r.Volumes != nil {
		addVolumes(&s, r.Volumes)
	}
	if r.Load != nil {
		addMeasured(&s, r.Load)
	}
	_, off, on := r.labels(h)
	s.add("seal off", "%s", off)
	s.add("seal on", "%s", on)
	r.addEdits(&s, h)
	r.addPeople(&s, at)
	s.add("comments", "%s", b.Comments)
	s.add("as sent", "%s", string(r.Ticket))
	r.addReceipt(&s, at)
	return s
}

// addTimes adds start and end, which are estimates where no reading shows them.
func (r *ticketRow) addTimes(s *sheet, h site, at func(time.Time) string) {
	if r.Load == nil || r.Load.Hidden() == nil {
		s.add("start", "%s", at(r.Start))
		s.add("end", "%s", at(r.End))
		return
	}
	about := func(t time.Time) string { return "about " + t.In(h.zone()).Format("2006-01-02 15:04 MST") }
	s.add("start", "%s", about(r.Start))
	s.add("end", "%s", about(r.End))
	s.add("not seen", "no reading came inside; all of it was %s", bounds(r.Load.Hidden(), h.zone()))
}

func (r *ticketRow) addGauges(s *sheet, h site) {
	g := r.figures(h)
	if g.open == nil {
		return
	}
	open, closing := feetAndInches(*g.open), feetAndInches(*g.closing)
	if r.Volumes != nil && r.Volumes.OpenBbl > 0 {
		open, closing = fmt.Sprintf("%s, %.2f bbl", open, r.Volumes.OpenBbl), fmt.Sprintf("%s, %.2f bbl", closing, r.Volumes.CloseBbl)
	}
	for _, edge := range computedEdges(r.Load) {
		open += when(edge == "opening", ", computed: no reading shows it")
		closing += when(edge != "opening", ", computed: no reading shows it")
	}
	s.add("opening gauge", "%s", open)
	s.add("closing gauge", "%s", closing)
	if r.Load != nil {
		table, _, _ := strings.Cut(tableName(r.Load.Table), " (")
		s.add("by gauge", "%s%.2f bbl, %s, by the %s", when(r.Load.Least() != "", "at least "), r.Load.GaugeBbl, ledger.ErrorText(r.Load), table)
		return
	}
	if g.bbl != nil {
		s.add("by gauge", "%.2f bbl", *g.bbl)
	}
	if r.InflowBbl != nil {
		s.add("flowed in meanwhile", "%.2f bbl, in the load of %s", *r.InflowBbl, r.LoadOf)
	}
}

// computedEdges names those of a load's two gauges that nobody measured.
func computedEdges(l *tank.Load) (edges []string) {
	for i, unread := range unreadEdges(l) {
		if unread != nil {
			edges = append(edges, [2]string{"opening", "closing"}[i])
		}
	}
	return edges
}

// unreadEdges are the readings between which a load's start or its end lies where it was not read, as of a sensor beyond its range, and the
// level was reckoned from those on both sides. The readings kept with the load tell it: none is near the gauge, by four times the usual
// distance between two. Of a load that was not seen at all that is said otherwise.
func unreadEdges(l *tank.Load) (edges [2]*tank.Span) {
	if l == nil || l.Trend == nil || len(l.Trend.Seconds) < 3 || l.Gap < notableGap || l.Hidden() != nil {
		return edges
	}
	at, ends := l.Trend.Seconds, int32(l.End.Sub(l.Start).Seconds())
	apart := make([]int32, len(at)-1)
	for i := range apart {
		apart[i] = at[i+1] - at[i]
	}
	slices.Sort(apart)
	span := func(from, to int32) *tank.Span {
		return &tank.Span{From: l.Start.Add(time.Duration(from) * time.Second), To: l.Start.Add(time.Duration(to) * time.Second)}
	}
	far := 4 * max(apart[len(apart)/2], 1)
	if i := slices.IndexFunc(at, func(s int32) bool { return s >= 0 }); i == 0 && at[0] > 0 {
		edges[0] = span(0, at[0])
	} else if i > 0 && -at[i-1] >= far {
		edges[0] = span(at[i-1], at[i])
	}
	if i := slices.IndexFunc(at, func(s int32) bool { return s >= ends }); i > 0 && at[i]-ends >= far {
		edges[1] = span(at[i-1], at[i])
	}
	return edges
}

func addVolumes(s *sheet, v *ledger.Volumes) {
	if v.OpenWaterBbl+v.CloseWaterBbl > 0 {
		s.add("free water", "%.2f bbl at the opening, %.2f bbl at the closing", v.OpenWaterBbl, v.CloseWaterBbl)
	}
	if v.OpenDegF != nil {
		s.add("temperature", "%s", temperatureText(v.OpenDegF, v.CloseDegF))
	}
	if v.API60 != nil {
		s.add("gravity", "%.4f specific, %.1f API, at 60 degF", *v.Gravity, *v.API60)
	}
	if v.BSW != nil {
		s.add("BS&W", "%s %%", strconv.FormatFloat(*v.BSW, 'f', -1, 64))
	}
	if v.OpenCTL != nil {
		s.add("CTL", "%.5f at the opening, %.5f at the closing (API MPMS 11.1)", *v.OpenCTL, *v.CloseCTL)
	}
	missing := "no " + strings.Join(v.Missing, ", ") + ", so not computed"
	if v.GrossBbl == nil {
		s.add("gross and net", "%s", missing)
	} else {
		s.add("gross", "%.2f bbl at 60 degF", *v.GrossBbl)
		s.add("net", "%s", either(v.NetBbl == nil, missing, figureText(v.NetBbl, 2)+" bbl at 60 degF"))
	}
	for _, n := range v.Notes {
		s.add("", "%s", n)
	}
}

// addMeasured adds what gauger saw of a load beside its gauges.
func addMeasured(s *sheet, l *tank.Load) {
	s.add("flowed in meanwhile", "%s", ledger.InflowText(l))
	s.add("removed", "%.1f bbl", l.RemovedBbl)
	hidden := l.Hidden() != nil
	s.add("rate", "%s", either(hidden, "not known", fmt.Sprintf("%.1f bbl/min", l.Rate)))
	s.add("parts", "%s", either(hidden, "not known", strconv.Itoa(l.Parts)))
	s.add("readings", "%d", l.Samples)
	if tellsOfGap(l) {
		s.add("longest gap", "%s", spokenDuration(l.Gap))
	}
	if l.Group != "" {
		s.add("group", "%s, %.1f bbl together by gauge", l.Group, l.GroupBbl)
	}
	for _, x := range []struct {
		name            string
		opening, closes *float64
	}{{"top thermometer", l.TopTemperature, l.ClosingTop}, {"bottom thermometer", l.BottomTemperature, l.ClosingBottom}} {
		if x.opening != nil {
			s.add(x.name, "%s", temperatureText(x.opening, x.closes))
		}
	}
	s.add("confidence", "%.2f", min(l.Confidence, 0.99))
	s.add("needs review", "%s", tank.JoinReasons(l.Review))
	s.add("remarks", "%s", strings.Join(l.Remarks, "; "))
}

// notableGap is the shortest silence inside a load that is worth a word, notableShare the least part of the load.
const (
	notableGap   = 5 * time.Minute
	notableShare = 4
)

// tellsOfGap says that so much of a load was not seen that a reader should know.
func tellsOfGap(l *tank.Load) bool {
	return l.Gap >= notableGap || l.Gap > 0 && l.Gap*notableShare >= l.End.Sub(l.Start)
}

// temperatureText is a temperature that was measured at the opening, and at the closing where it was.
func temperatureText(opening, closing *float64) string {
	return figureText(opening, 1) + " degF at the opening" + when(closing != nil, ", "+figureText(closing, 1)+" degF at the closing")
}

// addEdits adds people's edits and holds, and what was learned after the ticket had left.
func (r *ticketRow) addEdits(s *sheet, h site) {
	at := func(t time.Time) string { return timeText(t, h.zone()) }
	for _, e := range r.Edits {
		s.add("edited", "%s, by %s on %s%s%s", e, e.Person, at(e.At), behind(": ", e.Why), behind(": ", e.Anyway))
	}
	if x := r.Stop; x != nil {
		s.add("put on hold", "by %s on %s%s", x.Person, at(x.At), behind(": ", x.Why))
	}
	for _, f := range r.Found {
		s.add("learned later", "%s (%s); the ticket stays as it was sent", f.Note, at(f.At))
	}
}

func (r *ticketRow) addPeople(s *sheet, at func(time.Time) string) {
	if r.Person != "" {
		s.add(either(r.Load == nil, "written by", "released by"), "%s", r.Person)
	}
	s.add("entered anyway", "%s", r.Anyway)
	s.add("rejected by", "%s", r.Rejected)
	s.add("void, by", "%s", r.Voided)
	s.add("replaces", "%s", r.Replaces)
	s.add("replaced by", "%s", r.ReplacedBy)
	for _, m := range r.Matches {
		text := fmt.Sprintf("%s, %.2f bbl %s, recorded by %s%s on %s", m.Hauler, m.Bbl, basisOf(m.Basis, m.Metered), m.Person, behind(" for ", m.By), at(m.At))
		if x := m.Removed; x != nil {
			text += fmt.Sprintf("; taken back by %s on %s%s", x.Person, at(x.At), behind(": ", x.Why))
		}
		s.add("truck's ticket", "%s", text)
	}
	if d := r.Hauled; d != nil {
		s.add("difference", "%s", differenceOf(d, &r.TicketRecord))
	}
}

func (r *ticketRow) addReceipt(s *sheet, at func(time.Time) string) {
	s.add("unclear", "%s", r.Unclear.Text(at))
	s.add("looked", "%s", r.Looked)
	if r.Status == 0 {
		return
	}
	s.add("receipt", "status %d%s%s", r.Status, behind(", correlation id ", r.Corr), when(!r.Answered.IsZero(), ", "+at(r.Answered)))
}

// labels are the purchaser and the seals, as the ticket says or as it will say.
func (r *ticketRow) labels(h site) (purchaser, sealOff, sealOn string) {
	buyer := ""
	if t := h.tank(r.Tank); t != nil {
		buyer = t.Purchaser
	}
	return r.Labels(h.cloudWire(), buyer)
}

func (r *ticketRow) purchaser(h site) string {
	name, _, _ := r.labels(h)
	return name
}

func feetAndInches(inches float64) string {
	return fmt.Sprintf("%s (%.2f in)", gaugeText(inches), inches)
}

// tableName says which table made barrels of inches.
func tableName(name string) string {
	return either(name == ledger.ByDiameter, "tank's diameter (there is no strapping table)", "strapping table")
}

// stateText is the state of a ticket and what comes next, by the configuration at work, which the file need not be.
func (r *ticketRow) stateText(h site) string {
	return r.StateText(r.ForPerson, func(t time.Time) string { return timeText(t, h.zone()) })
}

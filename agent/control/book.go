package control

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gauger/agent/ledger"
)

// bookNote is a sentence about days of a tank that follow each other.
type bookNote struct {
	from, to, tank, text string
}

func (n bookNote) String() string {
	if n.from == n.to {
		return fmt.Sprintf("%s %s: %s", n.from, n.tank, n.text)
	}
	return fmt.Sprintf("%s to %s %s: %s", n.from, n.to, n.tank, n.text)
}

// BookSentences are what is said of a book's days. What holds for days of a tank that follow each other is said once.
type BookSentences struct {
	all    []*bookNote
	newest map[string]*bookNote // by tank and key
}

// Add says a text of a tank's day. Texts with one key are the same one, as the first has it.
func (s *BookSentences) Add(date, tank, key, text string) {
	key = tank + "/" + key
	if n := s.newest[key]; n != nil && nextDate(n.to) == date {
		n.to = date
		return
	}
	if s.newest == nil {
		s.newest = map[string]*bookNote{}
	}
	s.newest[key] = &bookNote{date, date, tank, text}
	s.all = append(s.all, s.newest[key])
}

// Lines are the sentences with their days and tanks, in the order of the first days.
func (s *BookSentences) Lines() (out []string) {
	for _, n := range s.all {
		out = append(out, n.String())
	}
	return out
}

// BookNotes are the sentences about the days: what became of the runs, what the other barrels are, where production is from and what a loss
// would have had to be to be seen, and what was amiss.
func BookNotes(rows []ledger.BookRow) (out []string) {
	var notes BookSentences
	add := func(r *ledger.BookRow, key, text string) { notes.Add(r.Date, r.Tank, key, text) }
	legend := false
	for i := range rows {
		r := &rows[i]
		legend = legend || r.Other != 0 || len(r.OtherParts) > 0
		for k := range r.Tickets {
			line := ticketInBookText(&r.Tickets[k])
			add(r, line, line)
		}
		for _, line := range OtherLines(r) {
			line = "OTHER " + line
			add(r, line, line)
		}
		if r.Residual != nil {
			key, _ := lossWords([]*ledger.BookRow{r})
			_, text := lossWords(likeInARow(rows[i:], key))
			add(r, key, text)
		}
		for _, line := range r.Remarks {
			add(r, line, line)
		}
		if r.Product == "water" {
			add(r, r.Product, "a tank of water: what came and what was hauled of it is in no line of the site")
		}
	}
	if legend {
		out = append(out, OtherWords)
	}
	out = append(out, notes.Lines()...)
	for _, r := range BookTotals(rows) {
		for _, line := range r.Remarks {
			out = append(out, fmt.Sprintf("%s %s: %s", r.Date, r.Tank, line))
		}
	}
	return append(out, runsWords(rows)...)
}

// OtherWords say what the column OTHER is.
const OtherWords = "OTHER is what else changed the stock: what left and is no run, water or transfer, and what a line below the days names; less than 0: it came"

// nextDate is the day after a date.
func nextDate(date string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return ""
	}
	return day.AddDate(0, 0, 1).Format(time.DateOnly)
}

// likeInARow are the first of the rows and those of its tank on the days after it of which the same is said.
func likeInARow(rows []ledger.BookRow, key string) []*ledger.BookRow {
	all := []*ledger.BookRow{&rows[0]}
	for i := 1; i < len(rows); i++ {
		r := &rows[i]
		if r.Tank != rows[0].Tank {
			continue
		}
		own, _ := lossWords([]*ledger.BookRow{r})
		if r.Residual == nil || own != key || nextDate(all[len(all)-1].Date) != r.Date {
			break
		}
		all = append(all, r)
	}
	return all
}

// OtherLines are what the other barrels of a day are.
func OtherLines(r *ledger.BookRow) (out []string) {
	left := r.Other
	for _, p := range r.OtherParts {
		out = append(out, fmt.Sprintf("%.2f bbl: %s", p.Bbl+0, p.What))
		left -= p.Bbl
	}
	switch {
	case math.Abs(left) < 0.015: // one hundredth is what the roundings of a day's rows leave
		return out
	case left < 0:
		return append(out, fmt.Sprintf("%.2f bbl: came faster than the meter counts, or than a well makes it", left))
	case r.Lact:
		return append(out, fmt.Sprintf("%.2f bbl: left through the meter that sells this tank's oil (`sales: lact`), by the level with what flowed in meanwhile; the meter's own tickets count", left))
	}
	return append(out, fmt.Sprintf("%.2f bbl: left without being a run, such as a small draw, a drain or a slow loss", left))
}

// StateInBook is the state of a run's ticket, where that is not the usual one.
func StateInBook(t *ledger.BookTicket) string {
	switch t.State {
	case "held", "rejected", "dropped", "voided", "unknown":
		return t.State
	}
	if t.Written != "" {
		return "written"
	}
	return ""
}

// ticketInBookText says what became of a run, or of a ticket that a person wrote.
func ticketInBookText(t *ledger.BookTicket) string {
	other := "; it is in OTHER, not in RUNS, for the level fell"
	name := cmp.Or(t.Number, "a run without a number yet")
	if t.Written != "" {
		line := fmt.Sprintf("ticket %s of %.2f bbl was written by %s", name, t.Bbl, t.Written)
		if t.InPlaceOf == "" {
			return line + "; it is in RUNS, and OTHER has as much less"
		}
		return line + fmt.Sprintf(" on %s and is booked in the place of %s, with the %.2f that flowed in meanwhile", t.Since, t.InPlaceOf, t.Bbl-t.GaugeBbl)
	}
	line := fmt.Sprintf("run %s of %.2f bbl", name, t.Bbl)
	if t.BookedWith != "" {
		other = "; " + t.BookedWith + " is booked in its place"
	}
	switch t.State {
	case "held":
		return strings.TrimSuffix(line+" is held: its ticket has not left; "+t.Why, "; ")
	case "rejected":
		return line + " was rejected by " + t.Why + other
	case "dropped":
		return line + " was dropped from the outbox" + other
	case "voided":
		return strings.TrimSuffix(line+" is void, by "+t.Why, other) + other
	case "unknown":
		return line + " has no ticket in this store"
	}
	return strings.TrimSuffix(line+"; "+t.Why, "; ")
}

// rangeText is a figure, or from where to where some go.
func rangeText(all []float64) string {
	low, high := fmt.Sprintf("%.1f", slices.Min(all)), fmt.Sprintf("%.1f", slices.Max(all))
	if low == high {
		return low
	}
	return low + " to " + high
}

// lossWords say what the residual of days rests on and how little would have been noticed. Days with one key are said together.
func lossWords(rows []*ledger.BookRow) (key, text string) {
	r := rows[0]
	var errs, sees []float64
	for _, x := range rows {
		errs = append(errs, x.Error)
		if x.Sees != nil {
			sees = append(sees, *x.Sees)
		}
	}
	key = fmt.Sprint(r.Measured, r.Error > 0, r.Sees != nil, r.Blind)
	text = "production is estimated from the level"
	if r.Measured {
		text = "production is by the meter"
	}
	if r.Error > 0 {
		text += "; residual give or take " + rangeText(errs) + " bbl"
	}
	switch {
	case r.Sees != nil:
		text += "; a loss of " + rangeText(sees) + " bbl a day would be told of within three days"
		if r.Blind != "" {
			text += ", if it began after the days that this one is compared with (" + r.Blind + ")"
		}
	case r.Blind != "":
		text += "; a slow loss cannot be seen: " + r.Blind
		if !r.Measured {
			text += " (a production meter would show it)"
		}
	}
	return key, text
}

// runsWords say how the runs of a period and its tickets go together: sums of the hundredths that the rows have.
func runsWords(rows []ledger.BookRow) []string {
	n, held, gauge, runs, unknown, heldBbl := 0, 0, 0.0, 0.0, 0.0, 0.0
	for i := range rows {
		for _, t := range rows[i].Tickets {
			switch {
			case t.RunsBbl == 0:
			case t.State == "unknown":
				unknown += t.RunsBbl
			default:
				n, gauge, runs = n+1, gauge+t.GaugeBbl, runs+t.RunsBbl
			}
			if t.State == "held" {
				held, heldBbl = held+1, heldBbl+t.RunsBbl
			}
		}
	}
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("RUNS %.2f bbl: %s of %.2f bbl by gauge, as `gauger tickets list` adds them up, and %.2f that flowed in meanwhile", runs+unknown, ledger.Plural(n, "ticket"), gauge, runs-gauge)
	if unknown > 0 {
		text += fmt.Sprintf("; %.2f of runs without a ticket here", unknown)
	}
	if held > 0 {
		text += fmt.Sprintf("; of it held, and not sent: %s, %.2f bbl", ledger.Plural(held, "ticket"), heldBbl)
	}
	return []string{text}
}

// inAll is what stands in the place of a date in a period's totals.
const inAll = "in all"

// BookTotals are what a period of more than one day comes to, by tank and for the site.
func BookTotals(rows []ledger.BookRow) (all []ledger.BookRow) {
	byTank := map[string][]ledger.BookRow{}
	var ids []string
	for _, r := range rows {
		if byTank[r.Tank] == nil {
			ids = append(ids, r.Tank)
		}
		byTank[r.Tank] = append(byTank[r.Tank], r)
	}
	if len(rows) == len(ids) {
		return nil
	}
	slices.Sort(ids)
	for _, id := range ids {
		all = append(all, tankTotal(byTank[id]))
	}
	if oil := OilRows(all); len(oil) > 1 {
		all = append(all, siteTotal(oil))
	}
	return all
}

// OilRows are the rows without those of tanks of water.
func OilRows(rows []ledger.BookRow) []ledger.BookRow {
	return slices.DeleteFunc(slices.Clone(rows), func(r ledger.BookRow) bool { return r.Product == "water" })
}

// tankTotal is what the days of a tank come to. What came on a day without a stock at one end is in the stocks before and after it.
func tankTotal(days []ledger.BookRow) ledger.BookRow {
	t := sumOfDays(days)
	t.Opening, t.Closing = days[0].Opening, days[len(days)-1].Closing
	from := slices.IndexFunc(days, func(d ledger.BookRow) bool { return d.Opening != nil })
	to := len(days)
	for to > 0 && days[to-1].Closing == nil {
		to--
	}
	var within, without []string
	for i := range days {
		switch {
		case days[i].Production != nil:
		case from >= 0 && i >= from && i < to && (days[i].Opening == nil || days[i].Closing == nil): // else no stock tells it
			within = append(within, days[i].Date)
		default:
			without = append(without, days[i].Date)
		}
	}
	if within != nil && !followOn(days[from:to]) {
		within, without = nil, append(within, without...)
		slices.Sort(without)
	}
	if within != nil {
		x := sumOfDays(days[from:to])
		t.Production = new(*days[to-1].Closing - *days[from].Opening + x.Runs + x.Water + x.TransfersOut - x.TransfersIn + x.Other - *x.Residual)
		for _, d := range days[:from] { // what came since before the period stands on the day on which that is known
			if d.Production != nil {
				*t.Production += *d.Production
			}
		}
		t.Remarks = append(t.Remarks, "PRODUCED has what came on "+strings.Join(within, ", ")+" by the stocks before and after, which is not known by itself")
	}
	if len(without) == len(days) {
		t.Production = nil
	}
	if without != nil {
		t.Remarks = append(t.Remarks, "PRODUCED is without "+strings.Join(without, ", ")+", of which nobody knows it")
	}
	return t
}

// followOn says that no day is missing between the first and the last.
func followOn(days []ledger.BookRow) bool {
	for i := 1; i < len(days); i++ {
		if nextDate(days[i-1].Date) != days[i].Date {
			return false
		}
	}
	return true
}

// sumOfDays adds up what is known of a tank's days.
func sumOfDays(days []ledger.BookRow) ledger.BookRow {
	t := ledger.BookRow{Date: inAll}
	t.Tank, t.Product, t.Production, t.Residual = days[0].Tank, days[0].Product, new(0.0), new(0.0)
	for i := range days {
		d := &days[i]
		t.Runs, t.Water, t.TransfersOut = t.Runs+d.Runs, t.Water+d.Water, t.TransfersOut+d.TransfersOut
		t.TransfersIn, t.Other = t.TransfersIn+d.TransfersIn, t.Other+d.Other
		if d.Production != nil {
			*t.Production += *d.Production
		}
		if d.Residual != nil {
			*t.Residual += *d.Residual
		}
	}
	return t
}

// siteTotal adds up the tanks' totals.
func siteTotal(tanks []ledger.BookRow) ledger.BookRow {
	t := sumOfDays(tanks)
	t.Tank = "site"
	t.Opening, t.Closing = new(0.0), new(0.0)
	for _, r := range tanks {
		t.Opening, t.Closing = bothOrNone(t.Opening, r.Opening), bothOrNone(t.Closing, r.Closing)
	}
	return t
}

// bothOrNone is a sum of which each part is known.
func bothOrNone(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	return new(*a + *b)
}

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode/utf8"
)

// haul is a load as it truly happened.
type haul struct {
	tank             string
	start, end       time.Time // wall clock
	from, to         string    // the site's time of day
	opening, closing float64   // inches
	removed          float64   // barrels through the truck's meter
	gauged           float64   // barrels by the strapping table: removed less what ran in
	rows             [][2]float64
}

// alarm is a condition that truly was there.
type alarm struct {
	rule       string
	start, end time.Time
	told       string // how a person says it
}

// truth of the simulated site, beside which the service's records are judged.
type truth struct {
	hauls   []haul
	alarms  []alarm
	targets []float64 // in order
	downs   []span    // when the agent was away
}

type span struct{ from, to time.Time }

// ticket is a run ticket as the service stored it.
type ticket struct {
	number, tank     string
	opening, closing float64
	start, end       time.Time
	comments         string
	sent             int // times that the service took it
}

// event is a diagnostic event as the service stored it.
type event struct {
	rule, note string
	start, end time.Time
}

// value is one tag value or production target as the service stored it.
type value struct {
	number float64
	at     time.Time
}

// received are the service's records.
type received struct {
	tickets            []ticket
	events             []event
	tagValues, targets []value
}

// resultLine is one row of the table: what the site did, what the service has, and whether they agree.
type resultLine struct {
	left, right string
	ok          bool
}

const (
	slack    = 3 * time.Second // what a ticket's times may be off and still belong to a load
	within   = 1.0             // barrels
	share    = 0.01            // or this share of the load
	tagEvery = 5 * time.Second
	tagBeat  = 3 * time.Second // what a beat may be late
)

// compare sets the truth beside what the service has. All lines ok means that nothing is missing, doubled or wrong.
func compare(t truth, r received) []resultLine {
	var out []resultLine
	used := map[string]bool{}
	for _, h := range t.hauls {
		out = append(out, h.compare(r.tickets, used)...)
	}
	for _, x := range r.tickets {
		if !used[x.number] {
			out = append(out, resultLine{"no load at " + x.tank, fmt.Sprintf("%s  %.1f to %.1f in", x.number, x.opening, x.closing), false})
		}
	}
	for _, a := range t.alarms {
		out = append(out, a.compare(r.events))
	}
	out = append(out, compareValues("tag values", t, r.tagValues, tagEvery))
	return append(out, compareValues("production targets", t, r.targets, 0))
}

func (h haul) owns(x ticket) bool {
	return x.tank == h.tank && !x.start.After(h.end.Add(slack)) && !x.end.Before(h.start.Add(-slack))
}

// compare finds the tickets of one load and marks them as used.
func (h haul) compare(all []ticket, used map[string]bool) []resultLine {
	left := fmt.Sprintf("%-5s%s-%s %6.1f to %5.1f in %6.1f bbl", h.tank, h.from, h.to, h.opening, h.closing, h.gauged)
	var out []resultLine
	for _, x := range all {
		if !h.owns(x) {
			continue
		}
		bbl := strapped(h.rows, x.opening) - strapped(h.rows, x.closing)
		off := math.Abs(bbl - h.gauged)
		good := off <= max(within, share*h.gauged)
		right := fmt.Sprintf("%s %6.1f bbl", x.number, bbl)
		if x.sent > 1 {
			right += fmt.Sprintf(", sent %d times", x.sent)
		}
		if len(out) > 0 {
			left, good = "  the same load again", false
		}
		out = append(out, resultLine{left, right, good && !used[x.number]})
		used[x.number] = true
	}
	if len(out) == 0 {
		out = append(out, resultLine{left, "no ticket", false})
	}
	return out
}

// compare looks for exactly one event of the alarm's rule at its time.
func (a alarm) compare(all []event) resultLine {
	left := a.told
	var found []event
	for _, e := range all {
		if e.rule == a.rule && e.start.Before(a.end.Add(slack)) && e.end.After(a.start.Add(-slack)) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return resultLine{left, "no event " + a.rule, false}
	case 1:
		return resultLine{left, fmt.Sprintf("event %s: %s", a.rule, found[0].note), true}
	}
	return resultLine{left, fmt.Sprintf("%d events %s", len(found), a.rule), false}
}

// compareValues wants every number that the register had, in order, nothing else, and no hole in the beat.
func compareValues(what string, t truth, got []value, beat time.Duration) resultLine {
	var said, saw []string
	for _, n := range t.targets {
		said = append(said, fmt.Sprintf("%g", n))
	}
	sort.Slice(got, func(i, j int) bool { return got[i].at.Before(got[j].at) })
	runs, ok := countRepeats(got)
	for i, r := range runs {
		saw = append(saw, fmt.Sprintf("%g x%d", r.number, r.times))
		ok = ok && i < len(t.targets) && r.number == t.targets[i]
	}
	l := resultLine{"oil target " + strings.Join(said, ", then ") + " bbl a day", what + " " + strings.Join(saw, ", "), ok && len(runs) == len(t.targets)}
	if hole, is := t.longestGap(got, beat); is {
		l.right += fmt.Sprintf("; none for %s", hole.Round(100*time.Millisecond))
		l.ok = false
	}
	return l
}

// repeatedValue is a number that came several times in a row.
type repeatedValue struct {
	number float64
	times  int
}

// countRepeats turns values into runs; false when two carry the same time.
func countRepeats(got []value) (runs []repeatedValue, distinct bool) {
	distinct = true
	for i, v := range got {
		if i > 0 && v.at.Equal(got[i-1].at) {
			distinct = false
		}
		if n := len(runs); n > 0 && runs[n-1].number == v.number {
			runs[n-1].times++
			continue
		}
		runs = append(runs, repeatedValue{v.number, 1})
	}
	return runs, distinct
}

// longestGap finds a time without values that is longer than the beat and than what the agent was away.
func (t truth) longestGap(got []value, beat time.Duration) (time.Duration, bool) {
	for i := 1; beat > 0 && i < len(got); i++ {
		allowed := beat + tagBeat
		for _, d := range t.downs {
			if d.from.Before(got[i].at) && d.to.After(got[i-1].at) {
				allowed += d.to.Sub(d.from)
			}
		}
		if gap := got[i].at.Sub(got[i-1].at); gap > allowed {
			return gap, true
		}
	}
	return 0, false
}

// summary is the day in two lines.
func summary(t truth, r received) string {
	out, ticketed := 0.0, 0.0
	for _, h := range t.hauls {
		out += h.gauged
		for _, x := range r.tickets {
			if h.owns(x) {
				ticketed += strapped(h.rows, x.opening) - strapped(h.rows, x.closing)
			}
		}
	}
	return fmt.Sprintf("loads: %d, %.1f bbl left the tanks; tickets: %d, %.1f bbl.\nArrived: %d events, %d tag values, %d targets.",
		len(t.hauls), out, len(r.tickets), ticketed, len(r.events), len(r.tagValues), len(r.targets))
}

func agreed(lines []resultLine) bool {
	return !slices.ContainsFunc(lines, func(l resultLine) bool { return !l.ok })
}

const (
	leftWidth  = 47
	rightWidth = 46
)

// teller speaks to the person at the terminal.
type teller struct {
	out    io.Writer
	colour bool
	begin  time.Time
}

// newTeller uses colours only on a terminal whose user has not asked for none.
func newTeller(out *os.File) *teller {
	info, err := out.Stat()
	colour := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &teller{out: out, colour: colour, begin: time.Now()}
}

// Colours of the four kinds of lines.
const (
	plain  = ""
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

func (t *teller) paint(colour, s string) string {
	if !t.colour || colour == plain {
		return s
	}
	return colour + s + reset
}

// say prints one line: seconds since the start, the site's time of day, what happened.
func (t *teller) say(clock, colour, format string, args ...any) {
	since := time.Since(t.begin).Round(time.Second).Seconds()
	fmt.Fprintf(t.out, "%4.0f s  %-5s  %s\n", since, clock, t.paint(colour, fmt.Sprintf(format, args...)))
}

// table prints what the site did beside what the service has, in at most 100 columns, and what is to be said under it.
func (t *teller) table(lines []resultLine, under string) {
	fmt.Fprintf(t.out, "\n%s\n", t.paint(bold, fit("WHAT THE SITE DID", leftWidth)+" | WHAT THE SERVICE HAS"))
	fmt.Fprintln(t.out, strings.Repeat("-", leftWidth)+"-+-"+strings.Repeat("-", 100-leftWidth-3))
	for _, l := range lines {
		verdict := t.paint(green, "ok")
		if !l.ok {
			verdict = t.paint(red, "NO")
		}
		fmt.Fprintf(t.out, "%s | %s %s\n", fit(l.left, leftWidth), fit(l.right, rightWidth), verdict)
	}
	verdict := t.paint(green, "Everything agrees.")
	if !agreed(lines) {
		verdict = t.paint(red, "They do NOT agree.")
	}
	fmt.Fprintf(t.out, "\n%s\n%s\n\n", under, verdict)
}

// fit makes a text exactly so wide.
func fit(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return string([]rune(s)[:width-1]) + "~"
}

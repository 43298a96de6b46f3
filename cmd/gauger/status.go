package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/clock"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
)

type statusOptions struct {
	all bool
}

func statusCommand(c *call) *cobra.Command {
	o := &statusOptions{}
	cmd := takes(newCommand(c, "status [--all]", "is it reading, is it sending, what is wrong", o.run), 0, "status takes no arguments")
	cmd.Flags().BoolVar(&o.all, "all", false, "on a terminal too: every problem, point, line and stream")
	return cmd
}

// statusLimit is how long a status may take once the daemon has answered at all. It waits for the ledger and the disk.
const statusLimit = 4 * time.Second

// run answers in five seconds: is it reading, is it sending, when was the last ticket, what is wrong.
func (o *statusOptions) run(ctx context.Context, c *call, _ []string) error {
	var s control.Status
	err := withConnection(c, func(d *connection) error {
		if d.remote != nil {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, statusLimit, errNoStatus)
			defer stop()
		}
		err := d.request(ctx, "status", control.None{}, &s)
		s.Daemon = d.remote != nil
		if err != nil && context.Cause(ctx) == errNoStatus {
			return errNoStatus
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		s.Tanks, s.Held = append([]ledger.TankStatus{}, s.Tanks...), append([]ledger.HeldTicket{}, s.Held...) // a list is never null
		s.Hints = append([]string{}, s.Hints...)
		return printJSON(c.out, s)
	}
	t := newTable(c.out)
	return (&statusPage{s: s, h: findSite(c), t: t, short: t.width > 0 && !o.all}).print()
}

// errNoStatus says that the daemon is there and does not come to an answer.
var errNoStatus = fmt.Errorf("gauger runs and has not answered for %s, since it waits for its disk or is overloaded: look at `journalctl -u gauger` and `dmesg`; `systemctl restart gauger` loses nothing", statusLimit)

// statusPage is the status as text.
type statusPage struct {
	s     control.Status
	h     site
	t     *table
	short bool // what a person wants to know first, on one screen
}

// shortList is how many lines of a kind are on the one screen.
const shortList = 5

// shown are the first of so many lines, and how many are left out.
func (p *statusPage) shown(n int) (first, left int) {
	if !p.short || n <= shortList {
		return n, 0
	}
	return shortList, n - shortList
}

func (p *statusPage) print() error {
	p.printf("%s", p.headline())
	p.printf("%s (%s), gauger %s, %s here, clock %s", p.s.Site, p.s.ID, p.s.Version, timeText(p.s.Now, p.h.zone()), p.s.Clock)
	p.answers()
	first, left := p.shown(len(p.s.Problems))
	for _, problem := range p.s.Problems[:first] {
		p.printf("  ! %s", problem)
	}
	if left > 0 {
		p.printf("  ! and %d more: `gauger status --all`", left)
	}
	for _, hint := range p.s.Hints {
		p.printf("  hint: %s", hint)
	}
	p.tanks()
	p.badPoints()
	if p.short {
		if p.s.Shut == "" {
			p.lastTicket()
		}
		return p.t.Flush()
	}
	p.unwatched()
	p.unusedReadings()
	p.modbusLines()
	if p.s.Shut == "" {
		p.lastTicket()
		p.outbox()
		p.link()
		p.recorder()
		p.flash()
	}
	return p.t.Flush()
}

// stateWords say it without colour.
var stateWords = map[string]string{control.Well: "ok", control.Unknown: "not seen", control.Bad: "NOT OK"}

// answers are the four lines that matter, each with what was seen. Only what was seen to be well is.
func (p *statusPage) answers() {
	if !p.s.Daemon {
		return // the first line says it
	}
	for _, a := range p.s.Answers {
		p.printf("  %s\t%s\t%s", a.About, stateWords[a.State], a.Text)
	}
}

func (p *statusPage) printf(format string, args ...any) { fmt.Fprintf(p.t, format+"\n", args...) }

// headline answers the two questions first: is it reading, is it sending.
func (p *statusPage) headline() string {
	if !p.s.Daemon {
		return "gauger is NOT running: nothing is read and nothing is sent. `systemctl start gauger` starts it. What the store holds:"
	}
	return p.reading() + "; " + p.sending() + "; running for " + p.s.Now.Sub(p.s.Began).Round(time.Second).String()
}

func (p *statusPage) reading() string {
	good, all := 0, len(p.s.Points)+len(p.unread())
	for _, x := range p.s.Points {
		if x.Quality == "good" {
			good++
		}
	}
	var blind []string
	for _, k := range p.s.Tanks {
		if k.Quality != "good" {
			blind = append(blind, k.ID)
		}
	}
	text := fmt.Sprintf("reading %d of %s", good, countText(all, "point"))
	switch {
	case all == 0:
		return "there is nothing to read"
	case good == 0:
		return fmt.Sprintf("NOT READING: none of %s is good", countText(all, "point"))
	case good == all:
		text = "reading all " + countText(all, "point")
	}
	if len(blind) > 0 {
		text += ", NO GOOD LEVEL of " + strings.Join(blind, ", ")
	}
	return text
}

func (p *statusPage) sending() string {
	waiting := countText(int(p.s.Waiting()), "record")
	switch {
	case p.s.Shut != "":
		return "NOT STORING AND NOT SENDING: the outbox cannot be opened"
	case p.s.Waiting() == 0 && p.s.ClockUnset():
		return "NOT SENDING: what is made waits until the clock is set"
	case p.s.Waiting() == 0 && p.s.Reached.IsZero():
		return "nothing waits, and the service was never reached"
	case p.s.Waiting() == 0:
		return "everything is sent"
	case p.s.WaitsForLinkOnly():
		return "sending by plan, " + waiting + " waiting for the link"
	case p.s.Overdue():
		return fmt.Sprintf("NOT SENDING: %s waiting, the oldest since %s", waiting, timeText(p.s.Oldest, p.h.zone()))
	}
	if n := p.s.Apart(); n > 0 {
		return fmt.Sprintf("sending, %s waiting, NOT TAKEN is what is for %s", waiting, countText(n, "id"))
	}
	return "sending, " + waiting + " on the way"
}

// tanks shows each tank's newest level. What was read long ago says when.
func (p *statusPage) tanks() {
	if len(p.s.Tanks) == 0 || !p.s.Daemon {
		return // the store does not keep levels
	}
	p.printf("\nTANK\tGAUGE\tINCHES\tBARRELS\tAT\tQUALITY\tSEEN")
	for _, k := range p.s.Tanks {
		level := "no level"
		if k.Level != nil {
			level = k.Gauge
		}
		at := "-"
		if !k.At.IsZero() {
			at = k.At.In(p.h.zone()).Format(time.TimeOnly)
			if p.s.Now.Sub(k.At) > 12*time.Hour {
				at = timeText(k.At, p.h.zone())
			}
		}
		phase := k.Phase
		if w := k.Inhibited; w != nil {
			phase += ", inhibited until " + timeText(w.Until, p.h.zone()) + " by " + w.Person
		}
		p.printf("%s\t%s\t%s\t%s\t%s\t%s\t%s", k.ID, level, figureText(k.Level, 2), figureText(k.Barrels, 1), at, k.Quality, phase)
	}
}

// badPoints names what is not read, and why.
func (p *statusPage) badPoints() {
	var rows [][3]string
	for _, x := range p.s.Points {
		if x.Quality != "good" {
			rows = append(rows, [3]string{string(x.Point), x.Quality, x.Error})
		}
	}
	if p.s.Daemon {
		for _, name := range p.unread() {
			rows = append(rows, [3]string{string(name), "", "no reading yet"})
		}
	}
	head := "\nNOT GOOD\t"
	first, left := p.shown(len(rows))
	for _, r := range rows[:first] {
		p.printf("%s%s\t%s\t%s", head, r[0], r[1], r[2])
		head = "\t"
	}
	if left > 0 {
		p.printf("and %d more: `gauger status --all`", left)
	}
}

// unwatched says how old the oldest is of what was good when it came, and of which nobody knows when the next should come.
func (p *statusPage) unwatched() {
	silent := map[collectors.Point]bool{}
	for _, w := range p.h.points(nil) {
		silent[w.Point] = w.Every == 0 && !slices.ContainsFunc(p.h.cfg.Events, func(e config.Event) bool { return e.Stale > 0 && e.Point == w.Point })
	}
	n := 0
	var oldest control.PointReading
	for _, x := range p.s.Points {
		if !silent[x.Point] || x.Quality != "good" {
			continue
		}
		if n++; n == 1 || x.At.Before(oldest.At) {
			oldest = x
		}
	}
	if n == 0 || !p.s.Daemon {
		return
	}
	p.printf("\nNOT WATCHED\t%s\tthe last message of it is %s old, the oldest of %s without expect_every or a stale event: when one falls silent, nobody is told",
		oldest.Point, p.s.Now.Sub(oldest.At).Round(time.Second), countText(n, "point"))
}

// unread are the points of the configuration of which there has been no reading.
func (p *statusPage) unread() (names []collectors.Point) {
	known := map[collectors.Point]bool{}
	for _, x := range p.s.Points {
		known[x.Point] = true
	}
	for _, w := range p.h.points(nil) {
		if !known[w.Point] {
			names = append(names, w.Point)
		}
	}
	return names
}

// unusedReadings says how much was not used since nobody knows when it was true.
func (p *statusPage) unusedReadings() {
	head := "\nNOT USED\t"
	for _, u := range p.s.Unused {
		p.printf("%s%s\t%s without a time of the device, which may have waited at the broker; the last %s", head, u.Point, countText(int(u.Count), "reading"), timeText(u.Last, p.h.zone()))
		head = "\t"
	}
}

func (p *statusPage) lastTicket() {
	zone := p.h.zone()
	if l := p.s.Last; l != nil {
		text := l.Tank
		if l.Load != nil {
			text += fmt.Sprintf(", %.1f bbl", l.Load.GaugeBbl)
		}
		if p.s.Stands != "" {
			text += ", " + strings.Replace(p.s.Stands, "dead", "REFUSED: see `gauger outbox dead`", 1)
		}
		p.printf("\nlast ticket\t%s\t%s to %s\t%s", l.Number, timeText(l.Start, zone), l.End.In(zone).Format("15:04"), text)
	} else {
		p.printf("\nno ticket yet")
	}
	for _, h := range p.s.Held {
		leaves := "leaves " + timeText(h.Due, zone)
		if h.Stop != nil && h.Stop.Until.IsZero() {
			leaves = "on hold by " + h.Stop.Person + " until `gauger tickets release`"
		} else if len(h.Load.Review) > 0 && p.h.cfg != nil && p.h.cfg.Tickets.Review == "hold" {
			leaves = "waits for a person: `gauger tickets release` or `tickets reject`"
		} else if !clock.WasSet(h.Load.Start) {
			leaves = "waits for the clock to be set"
		}
		p.printf("held\t%s\t%s to %s, %s", h.Load.Tank, timeText(h.Load.Start, zone), h.Load.End.In(zone).Format("15:04"), leaves)
	}
}

// link shows what the day has cost.
func (p *statusPage) link() {
	l := p.s.Link
	if l == nil || !p.s.Daemon && l.MaxBytes == 0 {
		return
	}
	text := fmt.Sprintf("\nlink\t%s crossed it on %s", megabytes(l.Bytes), l.Date)
	switch {
	case l.MaxBytes > 0:
		text += fmt.Sprintf(" of the day's %s, %s left", megabytes(l.MaxBytes), megabytes(l.Left))
	case p.s.Began.In(p.h.zone()).Format(time.DateOnly) == l.Date:
		text += ", since the start"
	}
	p.printf("%s", text)
}

// megabytes of 1,000,000 bytes, as a data plan counts.
func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) + " MB" }

// recorder shows how far back the readings are kept.
func (p *statusPage) recorder() {
	r := p.s.Recorder
	if r == nil || r.Bytes == 0 && r.Rows == 0 {
		return
	}
	text := fmt.Sprintf("recorder\t%.1f of %.1f MiB", float64(r.Bytes)/(1<<20), float64(r.MaxBytes)/(1<<20))
	if !r.Oldest.IsZero() {
		text += ", readings since " + timeText(r.Oldest, p.h.zone())
	}
	if r.Lost > 0 {
		text += fmt.Sprintf(", %s LOST", countText(int(r.Lost), "reading"))
	}
	p.printf("\n%s", text)
}

// flash says what nonsense was not stored, and what the card has to bear.
func (p *statusPage) flash() {
	for _, u := range p.s.Spared {
		p.printf("\nnot stored\t%s: %s", u.Device, u)
	}
	if p.s.Flash != nil {
		p.printf("\nwritten\t%s", p.s.Flash)
	}
}

// modbusLines says how each line does: how much of its time is taken, and what went wrong on it.
func (p *statusPage) modbusLines() {
	head := "\nLINE\tLOAD\tROUND\tREQUESTS\tNO ANSWER\tREFUSED\tDAMAGED\tRECONNECTS\n"
	for _, l := range p.s.Lines {
		round := 0.0
		for _, r := range l.Rounds {
			round += r.Took
		}
		p.printf("%s%s\t%.0f %%\t%s\t%d\t%d\t%d\t%d\t%d", head, l.Line, 100*l.Load, durationText(time.Duration(round*float64(time.Second))), l.Requests, l.Timeouts+l.Down, l.Exceptions, l.BadFrames, l.Reconnects)
		head = ""
	}
}

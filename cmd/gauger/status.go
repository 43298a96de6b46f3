package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent"
	"gauger/agent/clock"
	"gauger/collectors"
	"gauger/config"
)

func statusCommand(c *call) *cobra.Command {
	return newCommand(c, "status", "is it reading, is it sending, what is wrong", runStatus)
}

// runStatus answers in five seconds: is it reading, is it sending, when was the last ticket, what is wrong.
func runStatus(ctx context.Context, c *call, args []string) error {
	if len(args) > 0 {
		return usage{"status takes no arguments"}
	}
	var s agent.Status
	err := withConnection(c, func(d *connection) error {
		err := d.call(ctx, "status", agent.None{}, &s)
		s.Daemon = d.remote != nil
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		s.Tanks, s.Held = append([]agent.TankStatus{}, s.Tanks...), append([]agent.HeldTicket{}, s.Held...) // a list is never null
		s.Hints = append([]string{}, s.Hints...)
		return printJSON(c.out, s)
	}
	return (&page{s: s, h: findSite(c)}).print(c.out)
}

// page is the status as text.
type page struct {
	s agent.Status
	h site
	t *tabwriter.Writer
}

func (p *page) print(w io.Writer) error {
	p.t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p.line("%s", p.headline())
	p.line("%s (%s), gauger %s, %s here, clock %s", p.s.Site, p.s.ID, p.s.Version, minute(p.s.Now, p.h.zone()), p.s.Clock)
	for _, problem := range p.s.Problems {
		p.line("  ! %s", problem)
	}
	for _, hint := range p.s.Hints {
		p.line("  hint: %s", hint)
	}
	p.tanks()
	p.badPoints()
	p.unwatched()
	p.unused()
	p.lines()
	if p.s.Shut == "" {
		p.lastTicket()
		p.outbox()
		p.link()
		p.recorder()
	}
	return p.t.Flush()
}

func (p *page) line(format string, args ...any) { fmt.Fprintf(p.t, format+"\n", args...) }

// headline answers the two questions first: is it reading, is it sending.
func (p *page) headline() string {
	if !p.s.Daemon {
		return "gauger is NOT running: nothing is read and nothing is sent. `systemctl start gauger` starts it. What the store holds:"
	}
	return p.reading() + "; " + p.sending() + "; running for " + p.s.Now.Sub(p.s.Began).Round(time.Second).String()
}

func (p *page) reading() string {
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
	text := fmt.Sprintf("reading %d of %s", good, count(all, "point"))
	switch {
	case all == 0:
		return "there is nothing to read"
	case good == 0:
		return fmt.Sprintf("NOT READING: none of %s is good", count(all, "point"))
	case good == all:
		text = "reading all " + count(all, "point")
	}
	if len(blind) > 0 {
		text += ", NO GOOD LEVEL of " + strings.Join(blind, ", ")
	}
	return text
}

func (p *page) sending() string {
	waiting := count(int(p.s.Waiting()), "record")
	switch {
	case p.s.Shut != "":
		return "NOT STORING AND NOT SENDING: the outbox cannot be opened"
	case p.s.Waiting() == 0 && p.s.ClockUnset():
		return "NOT SENDING: what is made waits until the clock is set"
	case p.s.Waiting() == 0:
		return "everything is sent"
	case p.s.WaitsForLinkOnly():
		return "sending by plan, " + waiting + " waiting for the link"
	case p.s.Overdue():
		return fmt.Sprintf("NOT SENDING: %s waiting, the oldest since %s", waiting, minute(p.s.Oldest, p.h.zone()))
	}
	if n := p.s.IsolatedCount(); n > 0 {
		return fmt.Sprintf("sending, %s waiting, NOT TAKEN is what is for %s", waiting, count(n, "id"))
	}
	return "sending, " + waiting + " on the way"
}

// tanks shows each tank's newest level. What was read long ago says when.
func (p *page) tanks() {
	if len(p.s.Tanks) == 0 || !p.s.Daemon {
		return // the store does not keep levels
	}
	p.line("\nTANK\tGAUGE\tINCHES\tBARRELS\tAT\tQUALITY\tSEEN")
	for _, k := range p.s.Tanks {
		level := "no level"
		if k.Level != nil {
			level = k.Gauge
		}
		at := "-"
		if !k.At.IsZero() {
			at = k.At.In(p.h.zone()).Format(time.TimeOnly)
			if p.s.Now.Sub(k.At) > 12*time.Hour {
				at = minute(k.At, p.h.zone())
			}
		}
		phase := k.Phase
		if w := k.Inhibited; w != nil {
			phase += ", inhibited until " + minute(w.Until, p.h.zone()) + " by " + w.Person
		}
		p.line("%s\t%s\t%s\t%s\t%s\t%s\t%s", k.ID, level, shown(k.Level, 2), shown(k.Barrels, 1), at, k.Quality, phase)
	}
}

// badPoints names what is not read, and why.
func (p *page) badPoints() {
	head := "\nNOT GOOD\t"
	for _, x := range p.s.Points {
		if x.Quality != "good" {
			p.line("%s%s\t%s\t%s", head, x.Point, x.Quality, x.Error)
			head = "\t"
		}
	}
	if !p.s.Daemon {
		return
	}
	for _, name := range p.unread() {
		p.line("%s%s\t\tno reading yet", head, name)
		head = "\t"
	}
}

// unwatched says how old the oldest is of what was good when it came, and of which nobody knows when the next should come.
func (p *page) unwatched() {
	silent := map[collectors.Point]bool{}
	for _, w := range p.h.wanted(nil) {
		silent[w.Point] = w.Every == 0 && !slices.ContainsFunc(p.h.cfg.Events, func(e config.Event) bool { return e.Stale > 0 && e.Point == w.Point })
	}
	n := 0
	var oldest agent.PointReading
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
	p.line("\nNOT WATCHED\t%s\tthe last message of it is %s old, the oldest of %s without expect_every or a stale event: when one falls silent, nobody is told",
		oldest.Point, p.s.Now.Sub(oldest.At).Round(time.Second), count(n, "point"))
}

// unread are the points of the configuration of which there has been no reading.
func (p *page) unread() (names []collectors.Point) {
	known := map[collectors.Point]bool{}
	for _, x := range p.s.Points {
		known[x.Point] = true
	}
	for _, w := range p.h.wanted(nil) {
		if !known[w.Point] {
			names = append(names, w.Point)
		}
	}
	return names
}

// unused says how much was not used since nobody knows when it was true.
func (p *page) unused() {
	head := "\nNOT USED\t"
	for _, u := range p.s.Unused {
		p.line("%s%s\t%s without a time of the device, which may have waited at the broker; the last %s", head, u.Point, count(int(u.Count), "reading"), minute(u.Last, p.h.zone()))
		head = "\t"
	}
}

func (p *page) lastTicket() {
	zone := p.h.zone()
	if l := p.s.Last; l != nil {
		p.line("\nlast ticket\t%s\t%s to %s", l.Number, minute(l.Start, zone), l.End.In(zone).Format("15:04"))
	} else {
		p.line("\nno ticket yet")
	}
	for _, h := range p.s.Held {
		leaves := "leaves " + minute(h.Due, zone)
		if h.Stop != nil && h.Stop.Until.IsZero() {
			leaves = "on hold by " + h.Stop.Person + " until `gauger tickets release`"
		} else if len(h.Load.Review) > 0 && p.h.cfg != nil && p.h.cfg.Tickets.Review == "hold" {
			leaves = "waits for a person: `gauger tickets release` or `tickets reject`"
		} else if !clock.WasSet(h.Load.Start) {
			leaves = "waits for the clock to be set"
		}
		p.line("held\t%s\t%s to %s, %s", h.Load.Tank, minute(h.Load.Start, zone), h.Load.End.In(zone).Format("15:04"), leaves)
	}
}

// link shows what the day has cost.
func (p *page) link() {
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
	p.line("%s", text)
}

// megabytes is how a data plan counts.
func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) + " MB" }

// recorder shows how far back the readings are kept.
func (p *page) recorder() {
	r := p.s.Recorder
	if r == nil || r.Bytes == 0 && r.Rows == 0 {
		return
	}
	text := fmt.Sprintf("recorder\t%.1f of %.1f MiB", float64(r.Bytes)/(1<<20), float64(r.MaxBytes)/(1<<20))
	if !r.Oldest.IsZero() {
		text += ", readings since " + minute(r.Oldest, p.h.zone())
	}
	if r.Lost > 0 {
		text += fmt.Sprintf(", %s LOST", count(int(r.Lost), "reading"))
	}
	p.line("\n%s", text)
}

// lines says how each line does: how much of its time is taken, and what went wrong on it.
func (p *page) lines() {
	head := "\nLINE\tLOAD\tROUND\tREQUESTS\tNO ANSWER\tREFUSED\tDAMAGED\tRECONNECTS\n"
	for _, l := range p.s.Lines {
		round := 0.0
		for _, r := range l.Rounds {
			round += r.Took
		}
		p.line("%s%s\t%.0f %%\t%s\t%d\t%d\t%d\t%d\t%d", head, l.Line, 100*l.Load, lasting(time.Duration(round*float64(time.Second))), l.Requests, l.Timeouts, l.Exceptions, l.BadFrames, l.Reconnects)
		head = ""
	}
}

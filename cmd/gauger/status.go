package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

type statusOptions struct{ all bool }

func statusCommand(c *call) *cobra.Command {
	o := &statusOptions{}
	cmd := takes(newCommand(c, "status [--all]", "is it reading, is it sending, what is wrong; exit status 0: well, 1: a person is needed, 3: gauger does not run", o.run), 0, "status takes no arguments")
	cmd.Flags().BoolVar(&o.all, "all", false, "on a terminal too: every problem, point, line and stream")
	return cmd
}

// statusLimit is how long a status may take in all where a daemon is there. It waits for the ledger and the disk.
const statusLimit = 4500 * time.Millisecond

// run answers in five seconds: is it reading, is it sending, when was the last ticket, what is wrong.
func (o *statusOptions) run(ctx context.Context, c *call, _ []string) error {
	var s control.Status
	began := time.Now()
	err := withConnection(c, func(d *connection) (err error) {
		s, err = askStatus(ctx, d, began)
		return err
	})
	if err != nil {
		if c.noDaemon && !errors.Is(err, outbox.ErrHeld) {
			return notRunning{err}
		}
		return err
	}
	if c.json() {
		s.Tanks, s.Held = append([]ledger.TankStatus{}, s.Tanks...), append([]ledger.HeldTicket{}, s.Held...) // a list is never null
		s.Hints = append([]string{}, s.Hints...)
		err = printJSON(c.out, s)
	} else {
		t := newTable(c.out)
		p := &statusPage{s: s, t: t, zone: siteZone(c, s), short: t.width > 0 && !o.all}
		if cfg, err := config.Load(c.config); err == nil && !p.short { // else it is told as a problem
			p.h = site{cfg}
		}
		p.write()
		err = flushPainted(t, c)
	}
	switch {
	case err != nil:
		return err
	case !s.Daemon:
		return notRunning{}
	case s.NeedsPerson():
		return errQuiet
	}
	return nil
}

// askStatus asks the running gauger, or looks into the store of one that does not run.
func askStatus(ctx context.Context, d *connection, began time.Time) (s control.Status, err error) {
	if d.remote != nil {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, statusLimit-time.Since(began), errNoStatus)
		defer stop()
	}
	err = d.request(ctx, "status", control.None{}, &s)
	s.Daemon = d.remote != nil
	if err != nil && context.Cause(ctx) == errNoStatus {
		err = errNoStatus
	}
	return s, err
}

// errNoStatus says that the daemon is there and does not come to an answer.
var errNoStatus = fmt.Errorf("gauger runs and has not answered for %s, since it waits for its disk or is overloaded: look at `journalctl -u gauger` and `dmesg`; `systemctl restart gauger` loses nothing", statusLimit)

// siteZone is the zone that the daemon says; one of an earlier version leaves it to the configuration.
func siteZone(c *call, s control.Status) *time.Location {
	if zone, err := time.LoadLocation(s.Zone); err == nil && s.Zone != "" {
		return zone
	}
	return findSite(c).zone()
}

// statusPage is the status as text.
type statusPage struct {
	s     control.Status
	h     site // for what only the configuration says; not for the one screen
	zone  *time.Location
	t     *table
	short bool // what a person wants to know first, on one screen
	live  bool // the one screen that is looked at for its levels: they stand before what is told at length
}

// How many lines of a kind are on the one screen.
const (
	shortList  = 5
	shortTanks = 10
)

// shown are the first of n lines, most of them at most on the one screen, and how many are left out.
func (p *statusPage) shown(n, most int) (first, left int) {
	if !p.short || n <= most {
		return n, 0
	}
	return most, n - most
}

func (p *statusPage) write() {
	about := fmt.Sprintf("%s (%s), %s here", p.s.Site, p.s.ID, timeText(p.s.Now, p.zone))
	if p.s.Daemon {
		p.printf("%s", p.s.Headline)
		about += ", running for " + p.s.Now.Sub(p.s.Began).Round(time.Second).String()
	} else {
		p.printf("%s What the store holds:", notRunningLine)
	}
	p.printf("%s", about+when(!p.short, ", gauger "+p.s.Version))
	p.answers()
	if p.live {
		p.tanks()
		p.printf("")
	}
	first, left := p.shown(len(p.s.Problems), shortList)
	for _, problem := range p.s.Problems[:first] {
		p.printf("  ! %s", problem)
	}
	if left > 0 {
		p.printf("  ! and %d more: `gauger status --all`", left)
	}
	if !p.live {
		p.tanks()
	}
	p.badPoints()
	for i, hint := range p.s.AllHints() {
		p.printf(when(i == 0, "\n")+"hint: %s", hint)
	}
	if p.short {
		if p.s.Shut == "" {
			p.lastTicket()
		}
		return
	}
	p.unwatched()
	p.unusedReadings()
	if p.s.Daemon {
		p.modbusLines()
	}
	if p.s.Shut == "" {
		p.lastTicket()
		p.outbox()
		p.link()
		p.recorder()
		p.flash()
	}
}

func (p *statusPage) printf(format string, args ...any) { p.t.printf(format+"\n", args...) }

// stateWords say it without colour.
var stateWords = map[string]string{control.Well: "ok", control.Unknown: "unsure", control.Bad: "NOT OK"}

// answers are the four lines that matter, each with what was seen. Only what was seen to be well is.
func (p *statusPage) answers() {
	if !p.s.Daemon {
		return // the first line says it
	}
	for _, a := range p.s.Answers {
		p.printf("  %s\t%s\t%s", a.About, stateWords[a.State], a.Text)
	}
	if p.s.Page != "" {
		p.printf("  page\t\t%s", wayToPage(p.s.Page, !p.short))
	}
}

// clock is the time of day, and the date where it is long ago.
func (p *statusPage) clock(t time.Time) string {
	if t.IsZero() || p.s.Now.Sub(t) > 12*time.Hour {
		return timeText(t, p.zone)
	}
	return t.In(p.zone).Format(time.TimeOnly)
}

// badPoints names what is not read, and why. On the one screen points with the same reason are one, and a device that is
// away is a problem already.
func (p *statusPage) badPoints() {
	away := map[string]bool{}
	for _, e := range p.s.Open {
		away[e.Source] = p.short
	}
	var rows [][]string // reason, quality, points
	for _, x := range p.s.Points {
		device, _, _ := strings.Cut(string(x.Point), "/")
		if x.Quality == "good" || away[device] {
			continue
		}
		i := slices.IndexFunc(rows, func(r []string) bool { return p.short && r[0] == x.Error && r[1] == x.Quality })
		if i < 0 {
			i, rows = len(rows), append(rows, []string{x.Error, x.Quality})
		}
		rows[i] = append(rows[i], string(x.Point))
	}
	first, left := p.shown(len(rows), shortList)
	for i, r := range rows[:first] {
		more := len(r) - 3
		p.printf(when(i == 0, "\nNOT GOOD")+"\t%s\t%s\t%s", r[2]+when(more > 0, fmt.Sprintf(" and %d more", more)), r[1], r[0])
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

// unusedReadings says how much was not used since nobody knows when it was true.
func (p *statusPage) unusedReadings() {
	for i, u := range p.s.Unused {
		p.printf(when(i == 0, "\nNOT USED")+"\t%s\t%s without a time of the device, which may have waited at the broker; the last %s", u.Point, countText(int(u.Count), "reading"), timeText(u.Last, p.zone))
	}
}

// lastTicket tells the last ticket that has left, and those that are held.
func (p *statusPage) lastTicket() {
	if l := p.s.Last; l != nil {
		row := control.TicketRow{TicketRecord: *l, Hauled: l.TruckTotals(), State: cmp.Or(strings.Replace(p.s.Stands, "dead", "refused", 1), "left")}
		text := row.StateText(p.s.Review, p.clock)
		text = either(row.State == "refused", "REFUSED: see `gauger outbox dead`", text+behind(", needs review: ", tank.JoinReasons(row.ForReview())))
		p.printf("\nlast ticket\t%s, %s (%s)", p.loadText(&row), text, row.Name())
	} else {
		p.printf("\nno ticket has left yet")
	}
	first, left := p.shown(len(p.s.Held), shortList)
	for _, h := range p.s.Held[:first] {
		row := control.TicketRow{State: "held", TicketRecord: ledger.TicketRecord{
			Tank: h.Load.Tank, Number: h.Number, Handle: h.Handle, Load: &h.Load, Stop: h.Stop, Queued: h.Due, Start: h.Load.Start, End: h.Load.End,
		}}
		text := strings.Trim(strings.TrimPrefix(row.StateText(p.s.Review, p.clock), "held"), ", ")
		p.printf("held\t%s, %s", p.loadText(&row), text)
	}
	if left > 0 {
		p.printf("held\tand %d more: `gauger tickets list`", left)
	}
	p.paper()
}

// paper holds the trucks' tickets against the gauge; on the one screen those that do not agree.
func (p *statusPage) paper() {
	text := p.s.Paper.String()
	if text == "" {
		return
	}
	p.printf("paper\t%s; `gauger tickets list --unmatched` shows those without", text)
	for _, m := range p.s.Paper.Matched {
		if v := m.Trucks.Verdict(); v == "APART" || !p.short {
			p.printf("%s\t%s: %s", v, m.Number, m.Trucks)
		}
	}
}

// loadText is what was hauled, from where and when.
func (p *statusPage) loadText(r *control.TicketRow) string {
	text := r.Tank + ", "
	if bbl := r.Barrels(); bbl != nil {
		text = fmt.Sprintf("%.2f bbl from %s, ", *bbl, r.Tank)
	}
	return text + timeText(r.Start, p.zone) + " to " + r.End.In(p.zone).Format("15:04")
}

// link shows what the day has cost.
func (p *statusPage) link() {
	l := p.s.Link
	if l == nil || !p.s.Daemon && l.MaxBytes == 0 {
		return
	}
	text := fmt.Sprintf("%s crossed it on %s", megabytes(l.Bytes), l.Date)
	switch {
	case l.MaxBytes > 0:
		text += fmt.Sprintf(" of the day's %s, %s left", megabytes(l.MaxBytes), megabytes(l.Left))
	case p.s.Began.In(p.zone).Format(time.DateOnly) == l.Date:
		text += ", since the start"
	}
	p.printf("\nlink\t%s", text)
}

// megabytes of 1,000,000 bytes, as a data plan counts.
func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 2, 64) + " MB" }

// recorder shows how far back the readings are kept.
func (p *statusPage) recorder() {
	r := p.s.Recorder
	if r == nil || r.Bytes == 0 && r.Rows == 0 {
		return
	}
	text := fmt.Sprintf("%.1f of %.1f MiB", float64(r.Bytes)/(1<<20), float64(r.MaxBytes)/(1<<20))
	text += when(!r.Oldest.IsZero(), ", readings since "+timeText(r.Oldest, p.zone)) + when(r.Lost > 0, ", "+countText(int(r.Lost), "reading")+" LOST")
	p.printf("\nrecorder\t%s", text)
}

// flash says what nonsense was not stored, and what the card has to bear.
func (p *statusPage) flash() {
	for _, u := range p.s.Spared {
		p.printf("\nnot stored\t%s: %s", u.Device, u)
	}
	if p.s.Flash != nil && p.s.Daemon {
		p.printf("\nwritten\t%s", p.s.Flash)
	}
}

// modbusLines says how each line does: how much of its time is taken, and what went wrong on it.
func (p *statusPage) modbusLines() {
	if len(p.s.Lines) > 0 {
		p.printf("\nLINE\tLOAD\tROUND\tREQUESTS\tNO ANSWER\tREFUSED\tDAMAGED\tRECONNECTS")
	}
	for _, l := range p.s.Lines {
		round := 0.0
		for _, r := range l.Rounds {
			round += r.Took
		}
		p.printf("%s\t%.0f %%\t%s\t%d\t%d\t%d\t%d\t%d", l.Line, 100*l.Load, durationText(time.Duration(round*float64(time.Second))), l.Requests, l.Timeouts+l.Down, l.Exceptions, l.BadFrames, l.Reconnects)
	}
}

// outbox shows each stream's ledger, and what holds up what waits in it.
func (p *statusPage) outbox() {
	p.printf("\nOUTBOX\tACCEPTED\tDELIVERED\tWAIT\tREFUSED\tGAVE WAY\tDROPPED\tLOST") // 80 columns: the first is the sum of the others
	for _, name := range slices.Sorted(maps.Keys(p.s.Streams)) {
		p.printf("%s\t%s", control.StreamName(name), countsRow(control.Tally(p.s.Streams[name])))
	}
	if !p.s.Daemon {
		return // the first line says why nothing leaves
	}
	for _, name := range slices.Sorted(maps.Keys(p.s.Drains)) {
		d := p.s.Drains[name]
		if d.Why != "" {
			p.printf("%s wait: %s", name, d.Why) // no cell of the table, which it would widen
		}
		if d.Parked > 0 && uint64(d.Parked) < p.s.Streams[name].Waiting {
			p.printf("%s of %s: %s", countText(d.Parked, "record"), name, control.ParkedWhy)
		}
	}
}

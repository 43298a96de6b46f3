package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"gauger/agent/clock"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/collectors/sim"
	"gauger/config"
	"gauger/outbox"
)

// trial is a configuration that is tried on readings of the past, and what came of it.
type trial struct {
	cfg    *config.Config
	watch  watcher
	booked []ledger.TicketRecord // every ticket, with its load; those that were not final at the end are held
	sent   []json.RawMessage     // the tickets as they would have left
	events []json.RawMessage
	going  []tank.Verdict // loads that were not decided at the end
}

type backtestOptions struct {
	readings, events, plot, against string
	within                          timeWindow
	tank                            string
}

func backtestCommand(c *call) *cobra.Command {
	o := &backtestOptions{}
	cmd := newCommand(c, "backtest [--readings CSV] [--plot SVG] [--against sent]", "the tickets that a configuration would have made", o.run)
	takes(cmd, 0, "backtest takes flags only, such as --readings FILE")
	f := cmd.Flags()
	f.StringVar(&o.readings, "readings", "", "recording to play, a CSV `file` with the columns ts,mono_s,boot,point,value,quality; without it, what the recorder has kept")
	f.StringVar(&o.events, "events", "", "write the diagnostic events to this `file` as JSON")
	f.StringVar(&o.plot, "plot", "", "draw levels, loads and events into this SVG `file`")
	f.StringVar(&o.against, "against", "", "compare with the tickets that were `sent`, or with those in the JSON file of another backtest")
	o.within.addFlags(f, "begin the picture, the comparison and what is played of the recorder at this `TIME`, as \"2026-03-01 14:30\"", "end them at this `TIME`")
	f.StringVar(&o.tank, "tank", "", "draw and compare only the tank with this `ID`")
	return cmd
}

// run plays a recording through the ledger that the daemon uses, into an outbox in a temporary folder, and
// prints the tickets that would have been sent. Without a recording it plays what the recorder has kept.
func (o *backtestOptions) run(ctx context.Context, c *call, _ []string) error {
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	part := backtestRange{tank: o.tank}
	if part.from, part.to, err = o.within.read(cfg.Zone); err != nil {
		return err
	}
	if err := (site{cfg}).checkTank(o.tank); err != nil {
		return usageError{"--tank: " + err.Error()}
	}
	var other []*comparedTicket
	if o.against != "" {
		if other, err = otherTickets(ctx, c, cfg, o.against); err != nil {
			return err
		}
	}
	t := &trial{cfg: cfg, watch: watcher{warn: c.err, heard: map[collectors.Point]*heardRows{}}}
	if o.plot != "" {
		t.watch.levels = levelsOf(cfg, part)
	}
	if err := playReadings(ctx, c, t, o.readings, part); err != nil {
		return err
	}
	if o.events != "" {
		if err := writeFile(o.events, "write the events", 0o666, func(w io.Writer) error { return printJSON(w, t.events) }); err != nil {
			return err
		}
	}
	if o.plot != "" {
		if err := t.plot(o.plot, part); err != nil {
			return err
		}
	}
	switch {
	case o.against != "":
		return printComparison(c, t.compare(o.against, other, part))
	case c.json():
		return printJSON(c.out, t.sent)
	}
	return printBacktest(c, t)
}

// playReadings tries the configuration on a file, or without one on what the recorder has kept of the time that the range leaves.
func playReadings(ctx context.Context, c *call, t *trial, file string, part backtestRange) error {
	log := newLogger(c, "error")
	if file != "" {
		return t.replay(ctx, sim.Device{File: file}, log)
	}
	return replayRecorder(ctx, c, control.ReadingsArgs{From: part.from, To: part.to}, func(in io.Reader) error {
		return t.replay(ctx, sim.Device{File: "the recorder's readings", From: in}, log)
	})
}

func (t *trial) replay(ctx context.Context, recording sim.Device, log zerolog.Logger) (err error) {
	dir, err := os.MkdirTemp("", "gauger-backtest-")
	if err != nil {
		return fmt.Errorf("make a folder for the backtest: %w", err)
	}
	defer os.RemoveAll(dir)
	cfg := *t.cfg
	cfg.Store.Path = dir
	box, err := openOutbox(&cfg, false, nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	site := newAgentSite(&cfg)
	siteLedger, err := ledger.New(site, box, newClock(site), log)
	if err != nil {
		return err
	}
	recording = recordingOf(&cfg, recording)
	player, err := sim.New(recording)
	if err != nil {
		return err
	}
	if err := player.Run(ctx, watchedHost{siteLedger.Host(recording.Name), &t.watch, recording.File}); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return t.collectResults(siteLedger, box)
}

// collectResults takes what came of it out of the outbox, in the order in which it would have left.
func (t *trial) collectResults(siteLedger *ledger.Ledger, box *outbox.Box) (err error) {
	if more := t.watch.refused - maxRefusedRows; more > 0 {
		fmt.Fprintf(t.watch.warn, "and %d more rows that cannot be read\n", more)
	}
	if t.booked, err = siteLedger.Tickets(); err != nil {
		return err
	}
	if t.sent, err = bodies(box, ledger.Tickets); err != nil {
		return err
	}
	for i, f := range siteLedger.Faces(nil, t.watch.last) {
		for _, v := range f.Going {
			if !(v.Bbl < t.cfg.Tanks[i].Loads.MinLoad) {
				t.going = append(t.going, v)
			}
		}
	}
	t.events, err = bodies(box, ledger.Events)
	return err
}

// recordingOf lets the recording stand for all configured devices, so that the configuration of a real site can be tested on what was
// recorded there.
func recordingOf(cfg *config.Config, all sim.Device) sim.Device {
	all.Name, all.Zone = "recording", cfg.Zone
	for p := range cfg.Points() {
		all.Points = append(all.Points, sim.Point{Name: string(p.Point), Unit: string(p.Unit)})
	}
	return all
}

func bodies(box *outbox.Box, stream string) ([]json.RawMessage, error) {
	all := []json.RawMessage{}
	for e, err := range box.All(stream, outbox.Waiting, 0) {
		if err != nil {
			return all, err
		}
		all = append(all, json.RawMessage(e.Record.Body))
	}
	return all, nil
}

// maxRefusedRows that cannot be read are told one by one; the rest are counted.
const maxRefusedRows = 10

// watcher sees what a backtest plays: the time that it covers, and the rows that cannot be read.
type watcher struct {
	warn        io.Writer
	levels      []tankLevel
	refused     int
	first, last time.Time
	heard       map[collectors.Point]*heardRows
}

// heardRows counts a point's rows, and what was said of its last one that was not good.
type heardRows struct {
	all, good int
	why       string
}

// watchedHost is a host with a watcher before it.
type watchedHost struct {
	collectors.Host
	*watcher
	file string
}

func (w watchedHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	if err := w.Host.Emit(ctx, batch); err != nil {
		return err
	}
	if at := batch[0].At; clock.WasSet(at) {
		if w.first.IsZero() || at.Before(w.first) {
			w.first = at
		}
		if at.After(w.last) {
			w.last = at
		}
	}
	for _, r := range batch {
		w.hear(r)
		for _, l := range w.levels {
			if l.tank.Level == r.Point {
				l.add(r)
			}
		}
	}
	return nil
}

func (w *watcher) hear(r collectors.Reading) {
	h := w.heard[r.Point]
	if h == nil {
		h = &heardRows{}
		w.heard[r.Point] = h
	}
	h.all++
	switch {
	case r.Quality == collectors.Good:
		h.good++
	case r.Err != nil:
		h.why = ": " + r.Err.Error()
	}
}

// printBlind tells of the tanks of which no level was seen: no ticket is no proof that nothing was hauled.
func (w *watcher) printBlind(out io.Writer, cfg *config.Config) {
	for i := range cfg.Tanks {
		t := &cfg.Tanks[i]
		switch h := w.heard[t.Level]; {
		case h == nil:
			fmt.Fprintf(out, "\n%s was not seen: no row is of its level %s.\n", t.ID, t.Level)
		case h.good == 0:
			fmt.Fprintf(out, "\n%s was not seen: none of the %s of its level %s is good%s.\n", t.ID, countText(h.all, "row"), t.Level, h.why)
		}
	}
}

// Keeps implements collectors.Host: each row is told.
func (w watchedHost) Keeps(collectors.Refusal) bool { return true }

// Refuse implements collectors.Host: a row that cannot be read is told to whoever asked for the backtest.
func (w watchedHost) Refuse(_ context.Context, batch []collectors.Refusal) error {
	for _, r := range batch {
		if w.refused++; w.refused <= maxRefusedRows {
			_, line, _ := strings.Cut(r.Source, " ")
			fmt.Fprintf(w.warn, "%s %s: %v; the row was left out\n", w.file, line, r.Err)
		}
	}
	return nil
}

// Notice implements collectors.Host: the notices of a recording are about the file, not about the site.
func (w watchedHost) Notice(_ context.Context, n collectors.Notice) error {
	fmt.Fprintln(w.warn, n.Note)
	return nil
}

// printBacktest prints what a person wants to see of a backtest: the tickets, then the events.
func printBacktest(c *call, t *trial) error {
	h := site{t.cfg}
	w := newTable(c.out)
	if len(t.booked) > 0 {
		w.printf("NUMBER\tTANK\tSTART\tEND\tOPEN\tCLOSE\tBBL\tGIVE OR TAKE\tREMARK\n")
	}
	held, doubtful := 0, 0
	for _, b := range t.booked {
		if b.Load == nil {
			continue
		}
		number, remark := b.Number, tank.JoinReasons(b.Load.Review)
		if remark != "" {
			remark = "review: " + remark
			doubtful++
		} else {
			remark = strings.Join(b.Load.Remarks, "; ")
		}
		if b.Ticket == nil {
			held++
			number = "(not sent by the end)"
		}
		w.printf("%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%.1f\t%s\n", number, b.Tank, timeText(b.Start, h.zone()), b.End.In(h.zone()).Format("15:04"),
			gaugeText(b.Load.Open), gaugeText(b.Load.Close), b.Load.GaugeBbl, b.Load.ErrorBbl, remark)
	}
	events, err := t.readEvents()
	if err != nil {
		return err
	}
	for i, e := range events {
		if i == 0 {
			if err := w.Flush(); err != nil {
				return err
			}
			w.printf("\nEVENT\tFROM\tTO\tNOTE\n")
		}
		w.printf("%s\t%s\t%s\t%s\n", e.Rule, timeText(e.Start, h.zone()), timeText(e.End, h.zone()), e.Note)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, v := range t.going {
		fmt.Fprintf(c.out, "\n%s fell from %.2f to %.2f in, %s to %s, by %.1f bbl. The readings end before that is decided:\n%s.\n",
			v.Tank, v.Open, v.Close, timeText(v.Start, h.zone()), v.End.In(h.zone()).Format("15:04"), v.Bbl, untilText(&v, func(t time.Time) string { return t.In(h.zone()).Format("15:04") }))
	}
	t.watch.printBlind(c.out, t.cfg)
	loads := func(n int, words string) string { return when(n > 0, "; "+countText(n, "load")+words) }
	return printf(c.out, "\n%s, %s%s%s%s\n", countText(len(t.sent), "ticket"), countText(len(t.events), "event"), loads(doubtful, " for a person to look at"),
		loads(len(t.going), " not decided by the end of the readings"), loads(held, " not sent by the end of the readings"))
}

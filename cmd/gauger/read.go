package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/eventrules"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/collectors/mqtt"
	"gauger/config"
)

type readOptions struct {
	watch, trace bool
	wait         time.Duration
}

func readCommand(c *call) *cobra.Command {
	o := &readOptions{}
	cmd := newCommand(c, "read [--watch] [--trace] [POINT...]", "ask the devices once, or go on", o.run)
	f := cmd.Flags()
	f.BoolVar(&o.watch, "watch", false, "go on until interrupted")
	f.DurationVar(&o.wait, "wait", 30*time.Second, "how `LONG` to wait for a point that speaks when it likes, and how long to trace beside a running gauger")
	f.BoolVar(&o.trace, "trace", false, "show the frames on the Modbus lines, timed and explained")
	return cmd
}

func (o *readOptions) run(ctx context.Context, c *call, args []string) error {
	daemon, err := c.dial()
	if err == nil {
		h := findSite(c)
		if err := h.checkPoints(args); err != nil {
			return err
		}
		out := newReadings(c.out, c, h)
		if o.trace {
			fmt.Fprintf(c.err, "gauger is running; these are its frames and readings%s\n", when(!o.watch, ", for "+o.wait.String())+otherAtWork(ctx, c, daemon))
			return out.tracedFromDaemon(ctx, &modbusAccess{daemon: daemon}, args, newTracer(c, out), o.watch, o.wait)
		}
		fmt.Fprintln(c.err, "gauger is running; these are its readings"+otherAtWork(ctx, c, daemon))
		return out.fromDaemon(ctx, daemon, args, o.watch)
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return asConfigError(err)
	}
	h := site{cfg}
	if err := h.checkPoints(args); err != nil {
		return err
	}
	out := newReadings(c.out, c, h)
	lines := &line.Lines{}
	if o.trace {
		defer lines.Trace(newTracer(c, out).printFrame)()
	}
	return out.fromDevices(ctx, onlyPoints(cfg, args), lines, o.watch, o.wait)
}

// otherAtWork says that the running gauger is at work with another configuration than the one that is named; empty: it is the same, or
// that cannot be told.
func otherAtWork(ctx context.Context, c *call, daemon *console.Client) string {
	v, err := loadRevision(c.config)
	if err != nil {
		return ""
	}
	var plan applyPlan
	if err := daemon.Call(ctx, "apply.plan", applyOrder{Text: v.text, URL: c.config}, &plan); err != nil || plan.Same {
		return ""
	}
	return fmt.Sprintf(", by the configuration at work. That of %s is another: `gauger apply --dry-run %[1]s` says what differs", c.config)
}

// onlyPoints leaves only the named points in the configuration; none means all.
func onlyPoints(cfg *config.Config, names []string) *config.Config {
	if len(names) == 0 {
		return cfg
	}
	for i := range cfg.Devices {
		cfg.Devices[i].Keep(func(p collectors.Point) bool { return slices.Contains(names, string(p)) })
	}
	cfg.Devices = slices.DeleteFunc(cfg.Devices, func(d config.Device) bool { return d.Empty() })
	return cfg
}

// readingPrinter prints what arrives. It is a host too: without a daemon the collectors speak to it.
type readingPrinter struct {
	mu      sync.Mutex
	out     io.Writer
	json    bool
	site    site
	width   int // of the longest point's name
	bad     bool
	err     error                     // of the output
	awaited map[collectors.Point]bool // still to come, templates under their own names; nil: everything is printed as it arrives
	heard   map[collectors.Point]bool // printed
	kept    []collectors.Reading      // of before, of what is awaited: a newer one is better
	last    bool                      // no newer one comes
	done    context.CancelFunc
	memory  map[string][]byte
	missing map[string]string                // by the point: what its messages have instead of its value
	see     func(control.PointReading) error // gets the readings instead of the printer
	hints   io.Writer                        // of what to do about a line on which nobody answers; nil: nowhere
	hinted  map[string]bool                  // what was said there
}

func newReadings(out io.Writer, c *call, h site) *readingPrinter {
	r := &readingPrinter{out: out, json: c.json(), site: h, width: 20, hints: c.err, hinted: map[string]bool{}}
	if h.cfg != nil {
		for p := range h.cfg.Points() {
			r.width = max(r.width, len(p.Point))
		}
	}
	return r
}

func (r *readingPrinter) print(s control.PointReading) error {
	r.bad = r.bad || s.Quality != "good"
	if r.see != nil {
		return r.see(s)
	}
	if s.Quality == "good" {
		if why := r.site.impossible(s); why != "" {
			r.bad, s.Quality, s.Error = true, "bad", why
		} else if why := r.site.outdated(s.Point, s.At); why != "" {
			r.bad, s.Quality, s.Error = true, "uncertain", why
		}
	}
	if r.json {
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("write a reading: %w", err)
		}
		return printf(r.out, "%s\n", string(b))
	}
	value, unit := shortValue(string(s.Value)), string(s.Unit)
	if value == "null" {
		value, unit = "-", ""
	}
	at := s.At.In(r.site.zone())
	layout := either(at.Format(time.DateOnly) == time.Now().In(at.Location()).Format(time.DateOnly), time.TimeOnly, time.DateTime)
	line := fmt.Sprintf("%s  %-*s  %12s %-7s  %-9s  %s", at.Format(layout), r.width, s.Point, value, unit, s.Quality, s.Error)
	return printf(r.out, "%s\n", strings.TrimRight(line, " "))
}

// shortValue cuts a fraction to the seven digits that a float32 has; all else stays as it is.
func shortValue(value string) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.Contains(value, ".") {
		return value
	}
	if size := math.Abs(v); size >= 1e7 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}

func (r *readingPrinter) fromDaemon(ctx context.Context, daemon *console.Client, points []string, watch bool) error {
	if watch {
		return daemon.Watch(ctx, points, r.print)
	}
	var all []control.PointReading
	if err := daemon.Call(ctx, "read", control.PointsArgs{Points: points}, &all); err != nil {
		return err
	}
	seen := map[collectors.Point]bool{}
	for _, s := range all {
		seen[s.Point] = true
		if err := r.print(s); err != nil {
			return err
		}
	}
	return r.printUnheard(r.site.points(points), func(p collectors.Point) string { return when(!seen[p], "the running gauger has not read it yet") })
}

// printUnheard prints a bad reading for each point that was not heard, and says why; empty: it was. Status 1 where a reading was not good.
func (r *readingPrinter) printUnheard(points []config.PointInfo, why func(collectors.Point) string) error {
	for _, p := range points {
		if text := why(p.Point); text != "" {
			if err := r.printBad(p, text); err != nil {
				return err
			}
		}
	}
	if r.bad {
		return errQuiet // each has said why
	}
	return r.err
}

func (r *readingPrinter) printBad(p config.PointInfo, why string) error {
	return r.print(control.PointReadingOf(collectors.Reading{Point: p.Point, Value: math.NaN(), Unit: p.Unit, At: time.Now(), Err: errors.New(why)}))
}

// fromDevices runs the collectors with a host that only prints.
func (r *readingPrinter) fromDevices(parent context.Context, cfg *config.Config, lines *line.Lines, watch bool, wait time.Duration) (err error) {
	defer func() { err = errors.Join(err, lines.Close()) }()
	gather, err := collectorSetup{store: cfg.Store.Path, lines: lines, look: true}.collectors(cfg.Devices)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	r.done, r.memory, r.missing = cancel, map[string][]byte{}, map[string]string{}
	if !watch {
		r.site, r.awaited = site{cfg}, map[collectors.Point]bool{}
		for _, p := range pointsAndTemplates(cfg) {
			r.awaited[p.Point] = true
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	if err := runCollectors(ctx, gather, r); err != nil {
		return err
	}
	switch {
	case watch:
		return r.err
	case parent.Err() != nil:
		return errors.New("interrupted before every point was heard")
	}
	r.last = true
	if err := r.Emit(parent, r.kept); err != nil {
		return err
	}
	return r.printUnheard(pointsAndTemplates(cfg), func(p collectors.Point) string {
		return when(r.awaited[p], cmp.Or(r.missing[string(p)], fmt.Sprintf("nothing was heard for %s", wait)))
	})
}

func runCollectors(ctx context.Context, gather []collectors.Named, host collectors.Host) error {
	errs := make([]error, len(gather))
	var wg sync.WaitGroup
	for i, c := range gather {
		wg.Go(func() { errs[i] = c.Collector.Run(ctx, host) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Emit implements collectors.Host: the first reading of each point, or every one.
func (r *readingPrinter) Emit(ctx context.Context, batch []collectors.Reading) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range batch {
		if r.heard[x.Point] || x.Past || r.err != nil || ctx.Err() != nil {
			continue
		}
		if r.awaited != nil {
			if !r.last && (x.AgeUnknown || r.site.outdated(x.Point, x.At) != "") {
				r.kept = append(r.kept, x)
				continue
			}
			r.markHeard(x.Point)
		}
		r.err = r.print(control.PointReadingOf(x))
	}
	r.hint(batch)
	if r.err != nil || r.awaited != nil && len(r.awaited) == 0 {
		r.done()
	}
	return ctx.Err()
}

// hint says once what to do about a line on which nobody answers.
func (r *readingPrinter) hint(batch []collectors.Reading) {
	if r.hints == nil || r.see != nil || r.site.cfg == nil {
		return
	}
	for _, x := range batch {
		for _, dev := range r.site.cfg.Devices {
			polled := config.Options[modbus.Device](dev)
			if x.Err == nil || polled == nil || !strings.HasPrefix(string(x.Point), dev.Name+"/") {
				continue
			}
			if advice := line.Advice(x.Err, polled.URL); advice != "" && !r.hinted[dev.Name+advice] {
				r.hinted[dev.Name+advice] = true
				fmt.Fprintf(r.hints, "%s: %s\n", dev.Name, advice)
			}
		}
	}
}

// markHeard notes that a point was heard, and with it the template that has made it.
func (r *readingPrinter) markHeard(p collectors.Point) {
	if r.heard == nil {
		r.heard = map[collectors.Point]bool{}
	}
	r.heard[p] = true
	if r.awaited[p] {
		delete(r.awaited, p)
		return
	}
	for _, t := range pointTemplates(r.site.cfg) {
		if _, made := t.Named(strings.TrimPrefix(string(p), t.device+"/")); made {
			delete(r.awaited, collectors.PointOf(t.device, t.Name))
		}
	}
}

// pointTemplate is a point of a device that stands for many.
type pointTemplate struct {
	mqtt.Point
	device string
}

func pointTemplates(cfg *config.Config) (all []pointTemplate) {
	if cfg == nil {
		return nil
	}
	for _, broker := range optionsOf[mqtt.Device](cfg.Devices) {
		for _, p := range broker.Points {
			if p.Template() {
				all = append(all, pointTemplate{p, broker.Name})
			}
		}
	}
	return all
}

// pointsAndTemplates must be heard before all is read: of a template one point that it makes.
func pointsAndTemplates(cfg *config.Config) []config.PointInfo {
	all := slices.Collect(cfg.Points())
	for _, t := range pointTemplates(cfg) {
		all = append(all, config.PointInfo{Point: collectors.PointOf(t.device, t.Name), Unit: collectors.Unit(t.Unit)})
	}
	return all
}

// Keeps has nothing to count.
func (r *readingPrinter) Keeps(collectors.Refusal) bool { return true }

// Refuse has nothing to keep: a Bad reading says the same.
func (r *readingPrinter) Refuse(context.Context, []collectors.Refusal) error { return nil }

// Notice says what is in the messages of a point whose value is not: at once where one watches. All else comes as Bad readings.
func (r *readingPrinter) Notice(_ context.Context, n collectors.Notice) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n.Rule != eventrules.ValueMissing || !n.Until.IsZero() {
		return nil
	}
	r.missing[n.Source] = n.Note
	if r.awaited == nil {
		r.err = cmp.Or(r.err, r.printBad(config.PointInfo{Point: collectors.Point(n.Source)}, n.Note))
	}
	return nil
}

// Recall knows what this run remembered.
func (r *readingPrinter) Recall(name string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory[name], nil
}

// Hurry: nobody makes tickets here.
func (r *readingPrinter) Hurry([]collectors.Point) bool { return false }

// Remember lasts as long as this run.
func (r *readingPrinter) Remember(name string, v []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[name] = v
	return nil
}

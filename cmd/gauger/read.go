package main

import (
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

	"gauger/agent"
	"gauger/agent/console"
	"gauger/collectors"
	"gauger/collectors/modbus/line"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// readOptions are the flags of `read`.
type readOptions struct {
	watch bool
	wait  time.Duration
	trace bool
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

// run asks the devices once, or goes on until it is interrupted.
func (o *readOptions) run(ctx context.Context, c *call, args []string) error {
	daemon, err := console.Dial(c.socket)
	if err == nil {
		h := findSite(c)
		if err := h.known(args); err != nil {
			return err
		}
		out := newReadings(c.out, c, h)
		if o.trace {
			fmt.Fprintf(c.err, "gauger is running; these are its frames and readings%s\n", traceSpan(o.watch, o.wait))
			return out.tracedFromDaemon(ctx, &tools{daemon: daemon}, args, newTracer(c, out), o.watch, o.wait)
		}
		fmt.Fprintln(c.err, "gauger is running; these are its readings")
		return out.fromDaemon(ctx, daemon, args, o.watch)
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	h := site{cfg}
	if err := h.known(args); err != nil {
		return err
	}
	out := newReadings(c.out, c, h)
	lines := &line.Lines{}
	if o.trace {
		defer lines.Trace(newTracer(c, out).show)()
	}
	return out.fromDevices(ctx, onlyPoints(cfg, args), lines, o.watch, o.wait)
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

// readings prints what arrives. It is a host too: without a daemon the collectors speak to it.
type readings struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	site   site
	width  int // of the longest point's name
	bad    bool
	err    error                     // of the output
	open   map[collectors.Point]bool // still to come, templates under their own names; nil: everything is printed as it arrives
	heard  map[collectors.Point]bool // printed
	done   context.CancelFunc
	memory map[string][]byte
}

func newReadings(out io.Writer, c *call, h site) *readings {
	r := &readings{out: out, json: c.json(), site: h, width: 20}
	if h.cfg != nil {
		for p := range h.cfg.Points() {
			r.width = max(r.width, len(p.Point))
		}
	}
	return r
}

// show prints one reading.
func (r *readings) show(s agent.PointReading) error {
	r.bad = r.bad || s.Quality != "good"
	if r.json {
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("write a reading: %w", err)
		}
		_, err = fmt.Fprintln(r.out, string(b))
		return err
	}
	value, unit := forTheEye(string(s.Value)), string(s.Unit)
	if value == "null" {
		value, unit = "-", ""
	}
	line := fmt.Sprintf("%s  %-*s  %12s %-7s  %-9s  %s", s.At.In(r.site.zone()).Format(time.TimeOnly), r.width, s.Point, value, unit, s.Quality, s.Error)
	_, err := fmt.Fprintln(r.out, strings.TrimRight(line, " "))
	return err
}

// forTheEye cuts a fraction to the seven digits that a float32 has; all else stays as it is.
func forTheEye(value string) string {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !strings.Contains(value, ".") {
		return value
	}
	if size := math.Abs(v); size >= 1e7 && size < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}

// fromDaemon prints what the running gauger reads.
func (r *readings) fromDaemon(ctx context.Context, daemon *console.Client, points []string, watch bool) error {
	if watch {
		return daemon.Watch(ctx, points, r.show)
	}
	var all []agent.PointReading
	if err := daemon.Call(ctx, "read", agent.PointsArgs{Points: points}, &all); err != nil {
		return err
	}
	seen := map[collectors.Point]bool{}
	for _, s := range all {
		seen[s.Point] = true
		if err := r.show(s); err != nil {
			return err
		}
	}
	for _, p := range r.site.wanted(points) {
		if seen[p.Point] {
			continue
		}
		if err := r.nothing(p, errors.New("the running gauger has not read it yet")); err != nil {
			return err
		}
	}
	return r.verdict()
}

// nothing prints a bad reading of a point that was not heard.
func (r *readings) nothing(p config.PointInfo, why error) error {
	return r.show(agent.PointReadingOf(collectors.Reading{Point: p.Point, Value: math.NaN(), Unit: p.Unit, At: time.Now(), Err: why}))
}

// verdict is status 1 when a reading was not good; each has said why.
func (r *readings) verdict() error {
	if r.bad {
		return errQuiet
	}
	return r.err
}

// fromDevices runs the collectors with a host that only prints.
func (r *readings) fromDevices(parent context.Context, cfg *config.Config, lines *line.Lines, watch bool, wait time.Duration) (err error) {
	defer func() { err = errors.Join(err, lines.Close()) }()
	gather, err := kindsOf(cfg).glance(cfg.Store.Path, lines)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	r.done, r.memory = cancel, map[string][]byte{}
	if !watch {
		r.site, r.open = site{cfg}, map[collectors.Point]bool{}
		for _, p := range pointsAndTemplates(cfg) {
			r.open[p.Point] = true
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	if err := runAll(ctx, gather, r); err != nil {
		return err
	}
	switch {
	case watch:
		return r.err
	case parent.Err() != nil:
		return errors.New("interrupted before every point was heard")
	}
	return r.missing(cfg, wait)
}

// runAll runs the collectors until all of them have ended.
func runAll(ctx context.Context, gather []agent.NamedCollector, host collectors.Host) error {
	errs := make([]error, len(gather))
	var wg sync.WaitGroup
	for i, c := range gather {
		wg.Go(func() { errs[i] = c.Collector.Run(ctx, host) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// missing prints a bad reading for each point that was not heard.
func (r *readings) missing(cfg *config.Config, wait time.Duration) error {
	for _, p := range pointsAndTemplates(cfg) {
		if !r.open[p.Point] {
			continue
		}
		if err := r.nothing(p, fmt.Errorf("nothing was heard for %s", wait)); err != nil {
			return err
		}
	}
	return r.verdict()
}

// Emit implements collectors.Host: the first reading of each point, or every one.
func (r *readings) Emit(ctx context.Context, batch []collectors.Reading) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range batch {
		if r.heard[x.Point] || x.Past || r.err != nil || ctx.Err() != nil {
			continue
		}
		if r.open != nil {
			r.close(x.Point)
		}
		r.err = r.show(agent.PointReadingOf(x))
	}
	if r.err != nil || r.open != nil && len(r.open) == 0 {
		r.done()
	}
	return ctx.Err()
}

// close notes that a point was heard, and with it the template that has made it.
func (r *readings) close(p collectors.Point) {
	if r.heard == nil {
		r.heard = map[collectors.Point]bool{}
	}
	r.heard[p] = true
	if r.open[p] {
		delete(r.open, p)
		return
	}
	for _, t := range templates(r.site.cfg) {
		if _, made := t.Named(strings.TrimPrefix(string(p), t.device+"/")); made {
			delete(r.open, collectors.PointOf(t.device, t.Name))
		}
	}
}

// template is a point of a device that stands for many.
type template struct {
	mqtt.Point
	device string
}

func templates(cfg *config.Config) (all []template) {
	if cfg == nil {
		return nil
	}
	for _, dev := range cfg.Devices {
		broker := config.Options[mqtt.Device](dev)
		if broker == nil {
			continue
		}
		for _, p := range broker.Points {
			if p.Template() {
				all = append(all, template{p, dev.Name})
			}
		}
	}
	return all
}

// pointsAndTemplates are what must be heard before all is read: of a template one point that it makes.
func pointsAndTemplates(cfg *config.Config) []config.PointInfo {
	all := slices.Collect(cfg.Points())
	for _, t := range templates(cfg) {
		all = append(all, config.PointInfo{Point: collectors.PointOf(t.device, t.Name), Unit: collectors.Unit(t.Unit)})
	}
	return all
}

// Refuse has nothing to keep: a Bad reading says the same.
func (r *readings) Refuse(context.Context, []collectors.Refusal) error { return nil }

// Notice has nobody to tell: what it is about comes as Bad readings.
func (r *readings) Notice(context.Context, collectors.Notice) error { return nil }

// Recall knows what this run remembered.
func (r *readings) Recall(name string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory[name], nil
}

// Hurry: nobody makes tickets here.
func (r *readings) Hurry([]collectors.Point) bool { return false }

// Remember lasts as long as this run.
func (r *readings) Remember(name string, v []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[name] = v
	return nil
}

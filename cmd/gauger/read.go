package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"gauger/agent"
	"gauger/agent/console"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/config"
)

// read asks the devices once, or goes on until it is interrupted.
func (m *Main) read(ctx context.Context, args []string) error {
	f, c := m.flags("read")
	watch := f.Bool("watch", false, "go on until interrupted")
	wait := f.Duration("wait", 30*time.Second, "how long to wait for a point that speaks when it likes")
	points, err := parse(f, c, args)
	if err != nil {
		return err
	}
	out := &readings{out: m.Out, json: c.json()}
	daemon, err := console.Dial(c.socket)
	if err == nil {
		fmt.Fprintln(m.Err, "gauger is running; these are its readings")
		return out.fromDaemon(ctx, daemon, points, *watch)
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return unreadable(err)
	}
	only, err := onlyPoints(cfg, points)
	if err != nil {
		return err
	}
	return out.fromDevices(ctx, only, *watch, *wait)
}

// onlyPoints leaves only the named points in the configuration; none means all.
func onlyPoints(cfg *config.Config, names []string) (*config.Config, error) {
	all := map[string]bool{}
	for _, p := range cfg.Points() {
		all[string(p.Point)] = true
	}
	for _, name := range names {
		if !all[name] {
			return nil, usage{fmt.Sprintf("there is no point %q; the points are %s", name, sortedNames(all))}
		}
	}
	if len(names) == 0 {
		return cfg, nil
	}
	for i := range cfg.Devices {
		cfg.Devices[i].Keep(func(p collectors.Point) bool { return slices.Contains(names, string(p)) })
	}
	cfg.Devices = slices.DeleteFunc(cfg.Devices, func(d config.Device) bool { return d.Empty() })
	return cfg, nil
}

// readings prints what arrives. It is a host too: without a daemon the collectors speak to it.
type readings struct {
	mu     sync.Mutex
	out    io.Writer
	json   bool
	bad    bool
	err    error                     // of the output
	open   map[collectors.Point]bool // still to come; nil: everything is printed as it arrives
	done   context.CancelFunc
	memory map[string][]byte
}

// show prints one reading.
func (r *readings) show(s agent.Shown) error {
	r.bad = r.bad || s.Quality != "good"
	if r.json {
		b, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("write a reading: %w", err)
		}
		_, err = fmt.Fprintln(r.out, string(b))
		return err
	}
	_, err := fmt.Fprintf(r.out, "%s  %-28s %14s %-8s %-9s %s\n", s.At.Local().Format("15:04:05.000"), s.Point, s.Value, s.Unit, s.Quality, s.Error)
	return err
}

// fromDaemon prints what the running gauger reads.
func (r *readings) fromDaemon(ctx context.Context, daemon *console.Client, points []string, watch bool) error {
	if watch {
		return daemon.Watch(ctx, points, r.show)
	}
	var all []agent.Shown
	if err := daemon.Call(ctx, "read", agent.Points{Points: points}, &all); err != nil {
		return err
	}
	for _, s := range all {
		if err := r.show(s); err != nil {
			return err
		}
	}
	if len(all) < len(points) {
		return fmt.Errorf("%d of the %d points have not been read yet, or are not configured", len(points)-len(all), len(points))
	}
	return r.verdict()
}

// verdict is status 1 when a reading was not good; each has said why.
func (r *readings) verdict() error {
	if r.bad {
		return errQuiet
	}
	return r.err
}

// fromDevices runs the collectors with a host that only prints.
func (r *readings) fromDevices(ctx context.Context, cfg *config.Config, watch bool, wait time.Duration) error {
	lines := &modbus.Lines{}
	defer lines.Close()
	gather, err := kindsOf(cfg).glance(cfg.Store.Path, lines)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.done, r.memory = cancel, map[string][]byte{}
	if !watch {
		r.open = map[collectors.Point]bool{}
		for _, p := range cfg.Points() {
			r.open[p.Point] = true
		}
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, wait)
		defer stop()
	}
	if err := runAll(ctx, gather, r); err != nil {
		return err
	}
	if watch {
		return r.err
	}
	return r.missing(cfg, wait)
}

// runAll runs the collectors until all of them have ended.
func runAll(ctx context.Context, gather []agent.Named, host collectors.Host) error {
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
	for _, p := range cfg.Points() {
		if !r.open[p.Point] {
			continue
		}
		nothing := collectors.Reading{Point: p.Point, Unit: p.Unit, At: time.Now(), Err: fmt.Errorf("nothing was heard for %s", wait)}
		s := agent.Show(nothing)
		s.Value = json.RawMessage("null")
		if err := r.show(s); err != nil {
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
		if r.open != nil && !r.open[x.Point] || r.err != nil || ctx.Err() != nil {
			continue
		}
		delete(r.open, x.Point)
		r.err = r.show(agent.Show(x))
	}
	if r.err != nil || r.open != nil && len(r.open) == 0 {
		r.done()
	}
	return ctx.Err()
}

// Refuse has nothing to keep: a Bad reading says the same.
func (r *readings) Refuse(context.Context, string, []byte, error) error { return nil }

// Notice has nobody to tell: what it is about comes as Bad readings.
func (r *readings) Notice(context.Context, collectors.Notice) error { return nil }

// Recall knows what this run remembered.
func (r *readings) Recall(name string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory[name], nil
}

// Remember lasts as long as this run.
func (r *readings) Remember(name string, v []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.memory[name] = v
	return nil
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent"
	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/console"
	"gauger/agent/link"
	"gauger/agent/recorder"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/config"
	"gauger/eventrules"
	"gauger/outbox"
)

// lastGood is the copy of the last configuration that worked, in the store.
const lastGood = "last-good.yaml"

// gcPercent is how much garbage may lie beside what lives before it is collected. Nearly all of the heap lives as long
// as the program and the polls make little garbage, so that the runtime's own hundred would double the memory of a
// large site to save it a hundredth of a core.
const gcPercent = 15

func runRun(ctx context.Context, c *call, args []string) error {
	f := flags(c, "run")
	strict := f.Bool("strict", false, "end with status 78 on a bad configuration instead of starting the last good one")
	rest, err := parse(f, c, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usage{fmt.Sprintf("run takes no arguments, only flags: %q", rest)}
	}
	if c.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	cfg, bad, err := loadOrFallBack(c, c.config, *strict)
	if err != nil {
		return err
	}
	log := newLogger(c, cfg.Log.Level)
	done, err := within(ctx, func() error { return runSite(ctx, c, cfg, bad, log) })
	if !done {
		log.Warn().Dur("after", stopLimit).Msg("gauger ends without having stopped in order; what was acknowledged is on disk")
	}
	return err
}

// runSite assembles the site and lets it work until ctx ends. bad is why an older configuration is at work; nil: none is.
func runSite(ctx context.Context, c *call, cfg *config.Config, bad error, log zerolog.Logger) error {
	for _, w := range cfg.Warnings {
		log.Warn().Msg(w.String())
	}
	for _, p := range slices.Concat(cfg.Strict, cfg.Slow) {
		log.Warn().Msg(p.String())
	}
	shut := &shutSite{cfg: cfg, socket: c.socket, log: log, doubts: doubtsOf(cfg.Strict, bad)}
	d, err := assemble(cfg, log, shut.until(ctx))
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	defer d.close()
	if err := shut.told(d.agent.Ledger); err != nil {
		return err
	}
	if err := d.doubt(shut.doubts); err != nil {
		return err
	}
	if bad != nil {
		log.Error().Err(bad).Msg("the configuration is bad; the last good one is at work")
	} else if err := keepGood(c.config, cfg); err != nil {
		log.Warn().Err(err).Msg("the configuration could not be kept for a bad day")
	}
	// The collectors have taken what they need of the devices. What reading the file took goes back to the box now,
	// and not when the runtime comes round to it.
	cfg.Devices, cfg.Budgets = nil, nil
	debug.FreeOSMemory()
	return d.run(ctx, c.socket)
}

// daemon is an agent with all that belongs to it.
type daemon struct {
	cfg    *config.Config
	log    zerolog.Logger
	box    *outbox.Box
	client *cloud.Client
	agent  *agent.Agent
	desk   *agent.Desk
	link   *link.Link
	ring   *recorder.Ring // of the readings; nil when none are kept

	lacking map[string]string // of the service's settings, by key, and why
}

// assemble puts the parts together; nothing runs yet but the outbox.
func assemble(cfg *config.Config, log zerolog.Logger, how opening) (*daemon, error) {
	site := siteOf(cfg)
	notes := make(chan outbox.Note, 64)
	pace := linkOf(cfg)
	box, err := how(func() (*outbox.Box, error) {
		return openBox(cfg, pace.Wait, func(n outbox.Note) {
			select {
			case notes <- n:
			default: // a flood of notes says nothing new
			}
		})
	})
	if err != nil {
		return nil, err
	}
	d := &daemon{cfg: cfg, log: log, box: box, link: pace}
	if err := resumeLink(pace, cfg, box, log); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	client, err := clientOf(cfg, pace.Meter)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	d.client = client
	boxClock := clockOf(site)
	ledger, err := agent.NewLedger(site, box, boxClock, log)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	d.keepReadings(ledger)
	client.Keys().Notify = keyNotes(ledger, log)
	client.Keys().Believed = func() bool { return boxClock.Grade(time.Now()) >= clock.Assumed }
	lines := &modbus.Lines{}
	kinds := kindsOf(cfg)
	gather, err := kinds.collectors(cfg.Store.Path, lines)
	if err != nil {
		gather = append(gather, agent.Named{Name: "a device", Collector: unusable{err}})
	}
	d.desk = (&agent.Desk{
		Ledger: ledger, Box: box, Client: client, Clock: boxClock, Site: site, Version: version, Began: time.Now(), Daemon: true,
		Link: pace, Gather: gather,
	}).Open()
	d.agent = &agent.Agent{
		Site: site, Ledger: ledger, Box: box, Client: client, Clock: boxClock, Collectors: gather, Supervisor: agent.NewSupervisor(),
		Log: log, Notes: notes, Replay: len(kinds.recordings) > 0,
		Boot: clock.ThisBoot(),
	}
	offerLines(d.desk, lines)
	d.desk.Lines = func() []agent.LineStatus { return statusOf(lines) }
	return d, nil
}

// keyNotes turns what the key ring has to say into notices: one event per episode.
func keyNotes(ledger *agent.Ledger, log zerolog.Logger) func(cloud.KeyNote) {
	return func(n cloud.KeyNote) {
		now := time.Now()
		if n.Once {
			log.Warn().Str("rule", n.Rule).Str("slot", n.Slot).Msg(n.Note)
			if err := ledger.Book(agent.Event{Rule: n.Rule, Note: n.Note, Start: now.Round(0), End: now.Round(0)}); err != nil {
				log.Error().Err(err).Str("rule", n.Rule).Msg("an event about the keys could not be stored")
			}
			return
		}
		notice := collectors.Notice{Rule: n.Rule, Source: strings.TrimSpace(agent.KeySource + " " + n.Slot), Note: n.Note, Since: now}
		if !n.Open {
			notice.Until = now
		}
		if err := ledger.Host("keys").Notice(context.Background(), notice); err != nil {
			log.Error().Err(err).Str("rule", n.Rule).Msg("an event about the keys could not be stored")
		}
	}
}

// run serves the socket and the page, and works until ctx ends.
func (d *daemon) run(ctx context.Context, socket string) error {
	l, err := console.Listen(socket)
	if err != nil {
		d.log.Warn().Err(err).Msg("commands cannot reach this gauger")
	} else {
		d.serve(l, console.Control(d.desk))
	}
	if d.cfg.HTTP.Listen != "" {
		page, err := net.Listen("tcp", d.cfg.HTTP.Listen)
		if err != nil {
			d.log.Warn().Err(err).Msg("there is no status page: choose another http.listen")
		} else {
			d.serve(page, console.Page(d.desk))
		}
	}
	d.tend(ctx, false)
	d.agent.Workers = append(d.agent.Workers, d.client.Keys().Run, d.reload,
		func(ctx context.Context) error { return d.link.Run(ctx, d.keepLink) })
	err = d.agent.Run(ctx)
	if err == nil {
		d.log.Info().Msg("gauger has stopped in order")
	}
	return err
}

// serve lets a listener be answered for as long as the agent runs.
func (d *daemon) serve(l net.Listener, h http.Handler) {
	d.agent.Workers = append(d.agent.Workers, func(ctx context.Context) error { return console.Serve(ctx, l, h) })
}

// close ends what assemble began.
func (d *daemon) close() {
	d.client.Close()
	d.closeReadings()
	if d.box.Err() == nil {
		d.link.Keep(d.keepLink)
	}
	if err := d.box.Close(); err != nil && !errors.Is(err, outbox.ErrDead) {
		d.log.Error().Err(err).Msg("the outbox did not close in order; the next start examines it")
	}
}

// loadOrFallBack reads the configuration. A bad one at boot must not leave the site blind: the last good one takes
// its place, and bad says what is wrong.
func loadOrFallBack(c *call, path string, strict bool) (cfg *config.Config, bad, err error) {
	cfg, err = config.Load(path)
	if err == nil || strict {
		return cfg, nil, unreadable(err)
	}
	err = unreadable(err)
	store := c.getenv("STATE_DIRECTORY")
	if store == "" {
		store = config.StorePath(path)
	}
	kept := filepath.Join(store, lastGood)
	b, readErr := os.ReadFile(kept)
	if readErr != nil {
		return nil, nil, err
	}
	good, goodErr := config.Parse(kept, b, filepath.Dir(path))
	if goodErr != nil {
		return nil, nil, err
	}
	fmt.Fprintln(c.err, err)
	fmt.Fprintln(c.err, "gauger: starting with the last good configuration, "+kept)
	return good, err, nil
}

// doubtsOf is what is wrong with a configuration that is at work all the same: values that only `check` refuses, and that
// it is the last good one because the present one is bad.
func doubtsOf(strict []config.Problem, bad error) (doubts []string) {
	if bad != nil {
		doubts = append(doubts, "the configuration is bad and the last good one is at work; `gauger check` shows every mistake: "+firstLine(bad.Error()))
	}
	for _, p := range strict {
		doubts = append(doubts, p.String())
	}
	return doubts
}

// doubt tells of that in status and in events.
func (d *daemon) doubt(doubts []string) error {
	d.desk.Doubts = doubts
	now := time.Now().Round(0)
	for _, note := range briefly(doubts) {
		err := d.agent.Ledger.Book(agent.Event{Rule: eventrules.ConfigChanged, Start: now, End: now, Note: note})
		if outbox.NoRoom(err) {
			d.log.Error().Err(err).Msg("the event about the configuration could not be stored")
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mostDoubts is how many of its doubts a configuration has told of in events at each start.
const mostDoubts = 5

// briefly is the first of them, and how many there are more.
func briefly(doubts []string) []string {
	if more := len(doubts) - mostDoubts; more > 0 {
		return append(slices.Clone(doubts[:mostDoubts]), fmt.Sprintf("the configuration has %d more values that `gauger check` refuses", more))
	}
	return doubts
}

// keepGood keeps a copy of a configuration that works.
func keepGood(path string, cfg *config.Config) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	to := filepath.Join(cfg.Store.Path, lastGood)
	if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.WriteFile(to+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(to+".new", to)
}

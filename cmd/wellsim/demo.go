package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"time"

	"gauger/collectors/addresstest"
	"gauger/collectors/sim"
)

const (
	startLimit = 20 * time.Second // for the agent to answer for the first time
	earliest   = 60 * time.Second // the demonstration lasts at least this long, so that a doubled ticket shows
	latest     = 100 * time.Second
	quietAfter = 2 * time.Second // how long everything must have been right
	stopLimit  = 8 * time.Second
	newsEvery  = 250 * time.Millisecond
	tailLines  = 25
)

// errJudged says that the table has a line that is not right.
var errJudged = errors.New("the service does not have what the site did")

// demo plays the script against a real gauger.
type demo struct {
	*world
	*teller
	bin, folder    string
	config, status string
	agent          *child    // nil while it is dead
	begin          time.Time // of the script
	cues           []cue
	told           map[string]bool // what the service has that the person was told
	back           bool            // the agent answers
	nextNews       time.Time
	rightSince     time.Time

	alarms  []alarm
	targets []float64
	downs   []span
}

// runDemo is the command: nil when every line of the table is right.
func runDemo(ctx context.Context, bin string, keep bool) (err error) {
	bin, err = exec.LookPath(bin)
	if err != nil {
		return fmt.Errorf("look for gauger: %w; build it with `make build`, or name it with --gauger", err)
	}
	folder, err := os.MkdirTemp("", "gauger-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the demonstration: %w", err)
	}
	w, err := newWorld(demoSpeed, loopback)
	if err != nil {
		return err
	}
	d := &demo{world: w, teller: newTeller(os.Stdout), bin: bin, folder: folder, cues: script(), told: map[string]bool{}, targets: []float64{w.site.target}}
	defer func() { err = errors.Join(err, d.finish(err != nil && ctx.Err() == nil)) }()
	if err := d.open(ctx); err != nil {
		return err
	}
	if err := d.play(ctx); err != nil {
		return err
	}
	done, got := d.truthSoFar(), d.service.storedSoFar()
	lines := compare(done, got)
	d.table(lines, summary(done, got))
	if keep {
		d.keepRunning(ctx)
	}
	if !agreed(lines) {
		return errJudged
	}
	return nil
}

// open writes the configuration and waits until the agent answers.
func (d *demo) open(ctx context.Context) error {
	var err error
	if d.status, err = addresstest.Free(); err != nil {
		return err
	}
	if d.config, err = d.configuration(d.folder, d.status); err != nil {
		return err
	}
	d.say(plain, "a site of three tanks; one minute here is half a second; everything is in %s", d.folder)
	if err := d.launch(); err != nil {
		return err
	}
	limit := time.Now().Add(startLimit)
	return d.loop(ctx, func(now time.Time) (bool, error) {
		if now.After(limit) && !d.back {
			return false, fmt.Errorf("the agent did not answer on %s within %s", d.socket(), startLimit)
		}
		return d.back, nil
	})
}

// play goes through the script and waits until the service has everything, or the limit is reached.
func (d *demo) play(ctx context.Context) error {
	d.begin = time.Now()
	d.alarms = append(d.alarms, alarm{rule: highLevel, start: d.begin})
	return d.loop(ctx, func(now time.Time) (bool, error) {
		since := now.Sub(d.begin)
		for len(d.cues) > 0 && since >= d.cues[0].at {
			do := d.cues[0].do
			d.cues = d.cues[1:]
			if err := do(d); err != nil {
				return false, err
			}
		}
		d.watchLevel(now)
		if now.Before(d.nextNews) {
			return false, nil
		}
		d.nextNews = now.Add(newsEvery)
		return d.complete(now, since), nil
	})
}

// complete tells what is new at the service and says whether the demonstration may end.
func (d *demo) complete(now time.Time, since time.Duration) bool {
	got := d.service.storedSoFar()
	d.printNews(got)
	if len(d.cues) > 0 || !agreed(compare(d.truthSoFar(), got)) {
		d.rightSince = time.Time{}
		return since >= latest
	}
	if d.rightSince.IsZero() {
		d.rightSince = now
	}
	return since >= earliest && now.Sub(d.rightSince) >= quietAfter
}

// loop moves the world on until done says so.
func (d *demo) loop(ctx context.Context, done func(time.Time) (bool, error)) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return errors.New("interrupted")
		case now := <-tick.C:
			happened, err := d.tick(now)
			if err != nil {
				return err
			}
			for _, h := range happened {
				d.pump(h)
			}
			if err := d.readService(); err != nil {
				return err
			}
			if ended, err := done(now); ended || err != nil {
				return err
			}
		}
	}
}

// launch starts the agent; look tells when it answers.
func (d *demo) launch() error {
	if err := os.Remove(d.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the socket of the killed agent: %w", err)
	}
	var err error
	d.back = false
	d.agent, err = start(d.bin, []string{"run", "-c", d.config, "--socket", d.socket()},
		[]string{"GAUGER_PRIMARY_KEY=" + primaryKey, "GAUGER_SECONDARY_KEY=" + secondaryKey}, d.log())
	return err
}

// readService minds the agent: it must not end by itself, and its first answer is news.
func (d *demo) readService() error {
	if d.agent == nil {
		return nil
	}
	if result, gone := d.agent.gone(); gone {
		return fmt.Errorf("the agent ended by itself: %w", ended(result))
	}
	if d.back || !answers(d.socket()) {
		return nil
	}
	d.back = true
	if n := len(d.downs); n > 0 {
		d.downs[n-1].to = time.Now()
	}
	d.say(green, "gauger answers; its page is http://%s", d.status)
	return nil
}

// watchLevel ends the high level's alarm when the tank is below it.
func (d *demo) watchLevel(now time.Time) {
	a := &d.alarms[0]
	if a.end.IsZero() && d.site.tank("TK-1").Level() < highClear {
		a.end, a.told = now, "TK-1 high until "+d.site.now()
	}
}

// keepRunning keeps everything up until the person has seen enough.
func (d *demo) keepRunning(ctx context.Context) {
	d.say(bold, "staying up until Ctrl-C: http://%s, gauger --socket %s", d.status, d.socket())
	err := d.loop(ctx, func(now time.Time) (bool, error) {
		if now.After(d.nextNews) {
			d.nextNews = now.Add(newsEvery)
			d.printNews(d.service.storedSoFar())
		}
		return false, nil
	})
	if ctx.Err() == nil {
		d.say(red, "%v", err)
	}
}

// finish stops everything; after a failure it shows the end of the agent's log and keeps the folder.
func (d *demo) finish(failed bool) error {
	var errs []error
	if d.agent != nil {
		errs = append(errs, d.agent.stop(stopLimit))
	}
	errs = append(errs, d.close())
	if err := errors.Join(errs...); err != nil || failed {
		fmt.Fprintf(d.out, "\nthe end of %s:\n%s\n", d.log(), tail(d.log(), tailLines))
		return err
	}
	if err := os.RemoveAll(d.folder); err != nil {
		return fmt.Errorf("remove the demonstration's folder: %w", err)
	}
	return nil
}

func (d *demo) socket() string { return filepath.Join(d.folder, "gauger.sock") }

func (d *demo) log() string { return filepath.Join(d.folder, "gauger.log") }

// say prints a line with the site's time.
func (d *demo) say(colour, format string, args ...any) {
	d.teller.say(d.site.now(), colour, format, args...)
}

// pump tells what a pump did by itself.
func (d *demo) pump(h happening) {
	text := map[sim.PumpEvent]string{
		sim.Paused:      "the driver stops the pump",
		sim.Resumed:     "the pump runs again",
		sim.Stopped:     "pump stops, the truck leaves",
		sim.LostSuction: "the pump loses suction, the truck leaves",
	}[h.What]
	d.say(plain, "%s: %.1f in, %s; %.0f bbl out", h.tank.ID, h.Level, text, h.Removed)
}

// printNews tells of tickets and events that the service has got since the last look.
func (d *demo) printNews(got received) {
	for _, t := range got.tickets {
		if !d.told[t.number] {
			d.say(green, "the service has ticket %s: %.1f to %.1f in", t.number, t.opening, t.closing)
		}
		d.told[t.number] = true
	}
	for _, e := range got.events {
		if k := e.rule + e.note + e.start.String(); !d.told[k] {
			d.say(green, "the service has event %s: %s", e.rule, e.note)
			d.told[k] = true
		}
	}
}

// truthSoFar holds what is over.
func (d *demo) truthSoFar() truth {
	t := truth{alarms: d.alarms, targets: d.targets, downs: d.downs}
	for _, x := range d.site.tanks {
		rows := x.strapping()
		for _, l := range x.Loads() {
			t.hauls = append(t.hauls, haul{
				tank: x.ID, start: d.site.wall(l.Start), end: d.site.wall(l.End), from: d.site.clock(l.Start), to: d.site.clock(l.End),
				opening: l.Opening, closing: l.Closing, removed: l.Removed, gauged: strapped(rows, l.Opening) - strapped(rows, l.Closing), rows: rows,
			})
		}
	}
	sort.Slice(t.hauls, func(i, j int) bool { return t.hauls[i].start.Before(t.hauls[j].start) })
	return t
}

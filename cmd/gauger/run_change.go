package main

import (
	"cmp"
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
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/apply"
	"gauger/agent/eventrules"
	"gauger/agent/fleet"
	"gauger/agent/ledger"
	"gauger/agent/memory"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox"
)

// revision is one configuration, as a whole text.
type revision struct {
	text   []byte
	hash   string // of it
	source string // its file, or where it was pulled from
	cfg    *config.Config
	bad    error // why an older one is at work than the file has; nil: it is the file's
}

// atWork is a site over all changes of its configuration.
type atWork struct {
	base    string // hash of the file on disk when the change that is tried began
	c       *call
	log     zerolog.Logger
	lasting *lasting
	hup     chan os.Signal

	mu     sync.Mutex
	book   *apply.Book
	is     revision // without its cfg
	zone   *time.Location
	was    *revision // what is gone back to; nil: nothing is tried
	next   *revision // what takes over when the agent at work has left
	leave  chan struct{}
	watch  *apply.Watch
	worse  []string   // at the newest look
	daemon *daemon    // nil between two
	order  applyOrder // of the trial
	sure   bool       // a person has confirmed it
	again  bool       // the file is another one than what is gone back to: the next daemon takes it
}

// run lets one configuration after the other work until ctx ends.
func (a *atWork) run(ctx context.Context, v *revision, how outboxOpening, begun func(d *daemon) error) error {
	for {
		d, err := a.begin(v, how)
		if err == nil && begun != nil {
			err = begun(d)
		}
		if errors.Is(err, errStopped) {
			return nil
		}
		if err != nil {
			if v = a.giveUp(err); v == nil {
				return err
			}
			how, begun = openNow, nil
			continue
		}
		how, begun = openNow, nil
		err = d.run(ctx, a.c.socket)
		a.mu.Lock()
		v, a.next, a.daemon = a.next, nil, nil
		if v == nil || err != nil || ctx.Err() != nil {
			err = errors.Join(err, a.book.Stop())
			a.mu.Unlock()
			d.close()
			return err
		}
		a.mu.Unlock()
		a.lasting.leave(d, v.cfg)
	}
}

// openNow opens an outbox at once or not at all.
func openNow(open func() (*outbox.Box, error)) (*outbox.Box, error) { return open() }

// begin assembles the daemon of a configuration.
func (a *atWork) begin(v *revision, how outboxOpening) (*daemon, error) {
	goesOn := a.lasting.running(v.cfg)
	if level, err := zerolog.ParseLevel(v.cfg.Log.Level); err == nil {
		zerolog.SetGlobalLevel(level)
	}
	for _, p := range slices.Concat(v.cfg.Warnings, v.cfg.Strict, v.cfg.Slow) {
		a.log.Warn().Msg(p.String())
	}
	d, err := a.lasting.assemble(v.cfg, how)
	if err != nil {
		return nil, err
	}
	if err := a.lasting.takeOver(d, goesOn); err != nil {
		d.close()
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leave = make(chan struct{})
	d.agent.Leave, a.daemon = a.leave, d
	a.is = *v
	a.is.cfg, a.zone = nil, v.cfg.Zone
	a.offer(d)
	d.agent.Workers = append(d.agent.Workers, a.reload, a.pull, d.beat, func(ctx context.Context) error { return memory.Run(ctx, a.c.getenv("GOGC") != "") })
	d.server.ConfigOnDisk = configOnDisk(a.c.config, v, a.inPlace, a.notTaken)
	if a.was != nil && a.book.Now != nil {
		w := a.watch
		w.Began, w.GoesOn = time.Now(), goesOn
		points := map[string]bool{}
		for p := range v.cfg.Points() {
			points[string(p.Point)] = true
		}
		w.Has = func(point string) bool { return points[point] }
		d.agent.Workers = append(d.agent.Workers, a.watchTrial)
	} else if err := a.keep(v); err != nil {
		a.log.Warn().Err(err).Msg("the configuration could not be kept for a bad day")
	}
	letGo(v.cfg)
	debug.FreeOSMemory() // what reading the file took goes back to the box now, and not when the runtime comes round to it
	return d, nil
}

// keep keeps a configuration that works as the last good one.
func (a *atWork) keep(v *revision) error {
	if v.bad != nil {
		return nil
	}
	changed, err := keepLastGood(v.cfg.Store.Path, v.text)
	if changed {
		a.daemon.server.NoteOwn("configuration", fmt.Sprintf("%08x", v.cfg.Hash()))
	}
	return err
}

// giveUp goes back when a configuration could not even begin; nil: there is nothing to go back to.
func (a *atWork) giveUp(why error) *revision {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.was == nil {
		return nil
	}
	if back, err := a.endTrial(apply.Back, "it cannot begin: "+firstLine(why.Error())); err == nil {
		return back
	}
	return nil
}

// endTrial notes how the trial ended, and gives what was at work before it. The lock is held.
func (a *atWork) endTrial(outcome string, reasons ...string) (*revision, error) {
	ended, err := a.book.End(*a.book.Now, outcome, reasons, a.order.whole)
	if err != nil {
		a.log.Error().Err(err).Msg("what became of the changed configuration is not on disk")
	}
	back := a.was
	a.was, a.watch, a.worse, a.sure = nil, nil, nil, false
	a.log.Warn().Str("hash", ended.Hash).Str("source", ended.Source).Str("outcome", outcome).Strs("reasons", reasons).Msg("the changed configuration")
	if outcome == apply.Stands {
		return nil, nil
	}
	back.cfg, err = config.Parse(back.source, back.text, filepath.Dir(a.c.config))
	return back, err
}

// goBack puts the configuration before in force again.
func (a *atWork) goBack(reasons ...string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.was == nil || a.next != nil {
		return errors.New("nothing is tried that could go back")
	}
	source := a.is.source
	d := a.daemon
	if first := d.server.Awaited(); first != "" {
		reasons = append(reasons, first)
	}
	back, err := a.endTrial(apply.Back, reasons...)
	if err != nil {
		return err
	}
	a.tellFailed(d, source, "went back to the one before", reasons)
	a.next = back
	close(a.leave)
	return nil
}

func (a *atWork) tellFailed(d *daemon, source, what string, reasons []string) {
	now := time.Now().Round(0)
	e := ledger.Event{Rule: eventrules.ConfigFailed, Start: now, End: now, Note: fmt.Sprintf("the configuration of %s %s: %s", source, what, strings.Join(reasons, "; "))}
	if err := d.agent.Ledger.QueueEvent(e); err != nil {
		a.log.Error().Err(err).Msg("the event about the configuration could not be stored")
	}
}

// stand lets the configuration that is tried stay.
func (a *atWork) stand() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := keepLastGood(a.daemon.cfg.Store.Path, a.is.text); err != nil {
		return fmt.Errorf("keep the configuration: %w", err)
	}
	a.book.Applied = nil
	if onDisk, err := loadRevision(a.c.config); err != nil || onDisk.hash != a.is.hash {
		a.book.Applied = &apply.Applied{Hash: a.is.hash, Base: a.base, Source: a.is.source}
	}
	a.is.bad = nil
	a.daemon.server.NoteOwn("configuration", fmt.Sprintf("%08x", a.daemon.agent.Site.Config))
	_, err := a.endTrial(apply.Stands)
	return err
}

// standIn is what is at work in the place of a file.
type standIn struct {
	base    string // hash of that file
	source  string // where it is from; nowhere while it is only tried
	watched bool   // it is tried, and is not the file's own, which a reload would take
}

func (a *atWork) inPlace() standIn {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.was != nil:
		return standIn{base: a.base, watched: a.is.source != a.c.config}
	case a.book.Applied != nil:
		return standIn{base: a.book.Applied.Base, source: a.book.Applied.Source}
	}
	return standIn{}
}

// failure is why a file is not loaded again; empty: nothing speaks against it.
func (a *atWork) failure(hash string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return failureText(a.book.Failure(hash), a.zone)
}

// notTaken is why a file is not at work that was handed in; empty: it was not.
func (a *atWork) notTaken(hash string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return failureText(a.book.NotTaken(hash), a.zone)
}

// putOff notes a file that is not loaded for now.
func (a *atWork) putOff(o applyOrder, hash string, why []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.book.PutOff(apply.Trial{Hash: hash, Source: o.URL, By: o.by, Began: time.Now().Round(0)}, why); err != nil {
		a.log.Error().Err(err).Msg("the configuration that is not loaded for now is not on record")
	}
}

// failureText says when a configuration was tried and what came of it, by the clock of a site.
func failureText(t *apply.Trial, zone *time.Location) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("it was tried %s and %s: %s", timeText(t.Began, cmp.Or(zone, time.UTC)), t.Outcome, strings.Join(t.Reasons, "; "))
}

// usualPull between two looks for another configuration.
const usualPull = time.Hour

// pull is the worker of a site that takes its configuration from elsewhere.
func (a *atWork) pull(ctx context.Context) error {
	a.mu.Lock()
	d := a.daemon
	a.mu.Unlock()
	p := d.cfg.Pull
	if p.From == "" {
		return nil
	}
	key, err := fleet.ParseKey(p.Key)
	if err != nil {
		return nil // check has told of it
	}
	way := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return d.link.Meter(c), nil
	}}
	every := cmp.Or(p.Every, usualPull)
	for wait := min(every, time.Minute); collectors.Wait(ctx, wait); wait = every {
		if err := a.pullOnce(ctx, d, &http.Client{Transport: way}, fleet.Address(p.From, d.cfg.ID), key); err != nil && ctx.Err() == nil {
			a.log.Warn().Err(err).Msg("the configuration stays as it is; it is looked for again")
		}
	}
	return nil
}

// pullOnce looks whether there is another file, and applies it.
func (a *atWork) pullOnce(ctx context.Context, d *daemon, client *http.Client, address string, key fleet.Key) error {
	a.mu.Lock()
	etag, busy := a.book.ETag, a.was != nil
	a.mu.Unlock()
	if busy {
		return nil
	}
	text, newer, err := fleet.Pull(ctx, client, address, key, etag)
	o := applyOrder{Text: text, URL: address, by: "pull"}
	switch {
	case err != nil && newer != etag: // it came, and is not believed
		a.refuse(d, o, apply.HashOf([]byte(newer)), []string{err.Error()})
	case err != nil:
		return err
	case text == nil:
		return nil
	default:
		if err := a.tryPulled(ctx, d, o); err != nil {
			a.log.Warn().Err(err).Msg("the configuration that was pulled is not taken")
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.book.ETag = newer
	return a.book.Save()
}

// tryPulled applies a file that is signed, if it is this site's and for its ring, and has not failed before.
func (a *atWork) tryPulled(ctx context.Context, d *daemon, o applyOrder) error {
	cfg, err := config.Parse(filepath.Base(o.URL), o.Text, filepath.Dir(a.c.config))
	switch percent := 100; {
	case err == nil && cfg.ID != d.cfg.ID:
		a.refuse(d, o, apply.HashOf(o.Text), []string{fmt.Sprintf("it is of the site %s, and this is %s", cfg.ID, d.cfg.ID)})
		return nil
	case err == nil && !fleet.Takes(cfg.ID, cmp.Or(cfg.Pull.Percent, percent)):
		a.log.Info().Str("from", o.URL).Int("percent", cfg.Pull.Percent).Msg("another configuration is tried on other sites first")
		return nil
	case err == nil && a.failure(apply.HashOf(o.Text)) != "":
		return nil
	}
	_, err = a.try(ctx, o)
	return err
}

// heartbeatKey is the name under which the box keeps when the last heartbeat was.
const heartbeatKey = "heartbeat"

// beat tells the service every so often which program and configuration is at work, and what is wrong.
func (d *daemon) beat(ctx context.Context) error {
	every := d.cfg.Heartbeat
	if every == 0 {
		return nil
	}
	var last time.Time
	if err := d.agent.Ledger.LoadState(heartbeatKey, &last); err != nil {
		return err
	}
	for collectors.Wait(ctx, min(max(time.Until(last.Add(every)), time.Minute), every)) {
		s, err := d.server.Status()
		if err != nil {
			continue // the outbox is out of service, which ends the program
		}
		now := time.Now().Round(0)
		note := fmt.Sprintf("gauger %s, configuration %08x, up for %s, no problem", version, d.agent.Site.Config, now.Sub(s.Began).Round(time.Minute))
		if n := len(s.Problems); n > 0 {
			note = strings.TrimSuffix(note, "no problem") + countText(n, "problem") + ": " + strings.Join(s.Problems[:min(n, 3)], "; ")
		}
		if err := d.agent.Ledger.QueueEvent(ledger.Event{Rule: eventrules.Heartbeat, Start: now, End: now, Note: note}); err != nil {
			d.log.Warn().Err(err).Msg("a heartbeat could not be stored")
			continue
		}
		if last = now; d.agent.Ledger.SaveState(heartbeatKey, last) != nil {
			d.log.Warn().Msg("the next start will not know of this heartbeat")
		}
	}
	return nil
}

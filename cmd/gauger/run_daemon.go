package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent"
	"gauger/agent/audit"
	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/cloud/keys"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/flash"
	"gauger/agent/ledger"
	"gauger/agent/link"
	"gauger/agent/page"
	"gauger/agent/recorder"
	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/modbus/line"
	"gauger/collectors/sim"
	"gauger/config"
	"gauger/outbox"
)

// daemon is an agent with all that belongs to it.
type daemon struct {
	cfg    *config.Config
	log    zerolog.Logger
	box    *outbox.Box
	client *cloud.Client
	agent  *agent.Agent
	server *control.Server
	link   *link.Link
	ring   *recorder.Ring // of the readings; nil when none are kept

	lacking map[string]string // of the service's settings, by key, and why
}

// assemble puts the parts together; nothing runs yet but the outbox.
func assemble(cfg *config.Config, log zerolog.Logger, how outboxOpening) (*daemon, error) {
	return newLasting(log).assemble(cfg, how)
}

// assemble puts the parts of a configuration together with those that outlive it.
func (o *lasting) assemble(cfg *config.Config, how outboxOpening) (*daemon, error) {
	site, log := newAgentSite(cfg), o.log
	pace := newLink(cfg)
	secrets := readSecrets(cfg) // as whoever has started this: a command of root's goes on as the store's owner
	box, err := o.outbox(cfg, how)
	if err != nil {
		return nil, err
	}
	d := &daemon{cfg: cfg, log: log, box: box, link: pace}
	if err := resumeLink(pace, cfg, box, log); err != nil {
		return nil, errors.Join(err, o.closeBox())
	}
	o.pace.Store(pace)
	client, err := newClient(cfg, o.looks, secrets, pace.Meter)
	if err != nil {
		return nil, errors.Join(err, o.closeBox())
	}
	d.client = client
	if o.clock == nil {
		o.clock = newClock(site)
	}
	if err := ledger.CheckShard(box, cfg.Shard.String()); err != nil {
		client.Close()
		return nil, errors.Join(err, o.closeBox())
	}
	siteLedger, err := ledger.New(site, box, o.clock, log)
	if err != nil {
		client.Close()
		return nil, errors.Join(err, o.closeBox())
	}
	d.keepReadings(siteLedger)
	client.Keys().Notify = keyNotes(siteLedger, log)
	client.Heard = o.clock.Compare
	client.Keys().Believed = func() bool { return o.clock.Grade(time.Now()) >= clock.Assumed }
	gather := o.gather(cfg)
	d.server = (&control.Server{
		Ledger: siteLedger, Box: box, Client: client, Clock: o.clock, Site: site, Version: version, Began: o.began, Daemon: true,
		Link: pace, Collectors: gather, Flash: o.flash(cfg),
		Figures: func() map[string]float64 { return host.Figures(cfg.Store.Path) }, Roles: rolesOf(cfg.Control), Trail: audit.New(cfg.Store.Path), Audited: logAudit(log),
	}).Open()
	client.Keys().Renewed = func(slot string) { d.server.NoteOwn("keys.renew", slot) }
	d.agent = &agent.Agent{
		Site: site, Ledger: siteLedger, Box: box, Client: client, Clock: o.clock, Crew: o.crew, Again: o.again, Systemd: agent.NewSystemd(),
		Log: log, Notes: o.notes, Replay: len(optionsOf[sim.Device](cfg.Devices)) > 0,
		Boot: clock.ThisBoot(), Inherited: d.ring != nil && d.ring.Inherited(), Shared: cfg.Shard.String() != "",
	}
	d.server.Hung = d.agent.Hung
	offerModbus(d.server, o.lines)
	d.server.Lines = func() []control.LineStatus { return lineStatuses(o.lines) }
	return d, nil
}

// rolesOf are the configured ones. One that is not configured is nobody's alone.
func rolesOf(c config.Control) control.Roles {
	roles := control.Roles{control.Look: c.Look, control.Operate: c.Operate, control.Keys: c.Keys}
	maps.DeleteFunc(roles, func(_ control.Role, groups []string) bool { return groups == nil })
	return roles
}

// logAudit writes what goes into the audit trail into the log, too, where root alone can change it.
func logAudit(log zerolog.Logger) func(audit.Entry, error) {
	return func(e audit.Entry, unkept error) {
		level := zerolog.InfoLevel
		if e.Result == audit.Denied || unkept != nil {
			level = zerolog.WarnLevel
		}
		l := log.WithLevel(level).Int("uid", e.UID).Str("user", e.Name).Int("pid", e.PID).Str("verb", e.Verb).Str("record", e.Record).Str("result", e.Result)
		for name, text := range map[string]string{"from": e.From, "reason": e.Reason, "why": e.Why} {
			if text != "" {
				l = l.Str(name, text)
			}
		}
		if unkept != nil {
			l = l.AnErr("unkept", unkept)
		}
		l.Msg("the audit trail")
	}
}

// runnable are the collectors of a run. For devices that could not be made stands one that says so.
func (s collectorSetup) runnable(devices []config.Device) []collectors.Named {
	gather, err := s.collectors(devices)
	if err != nil {
		gather = append(gather, collectors.Named{Name: "a device", Collector: unusable{err}})
	}
	return gather
}

// keyNotes turns what the key ring has to say into notices: one event per episode.
func keyNotes(siteLedger *ledger.Ledger, log zerolog.Logger) func(keys.Note) {
	return func(n keys.Note) {
		now := time.Now()
		if n.Once {
			log.Warn().Str("rule", n.Rule).Str("slot", n.Slot).Msg(n.Text)
			if err := siteLedger.QueueEvent(ledger.Event{Rule: n.Rule, Note: n.Text, Start: now.Round(0), End: now.Round(0)}); err != nil {
				log.Error().Err(err).Str("rule", n.Rule).Msg("an event about the keys could not be stored")
			}
			return
		}
		notice := collectors.Notice{Rule: n.Rule, Source: strings.TrimSpace(agent.KeySource + " " + n.Slot), Note: n.Text, Since: now}
		if !n.Since.IsZero() {
			notice.Since = n.Since
		}
		if !n.Ongoing {
			notice.Until = now
		}
		if err := siteLedger.Host("keys").Notice(context.Background(), notice); err != nil {
			log.Error().Err(err).Str("rule", n.Rule).Msg("an event about the keys could not be stored")
		}
	}
}

// run serves the socket and the page, and works until ctx ends or another configuration takes over.
func (d *daemon) run(ctx context.Context, socket string) error {
	listen(d.server, socket, d.cfg.HTTP, d.log, func(l net.Listener, h http.Handler, _ string) {
		d.agent.Workers = append(d.agent.Workers, func(ctx context.Context) error { return console.Serve(ctx, l, h) })
	})
	d.retryLacking(ctx, false)
	d.agent.Workers = append(d.agent.Workers, d.client.Keys().Run, d.server.Flash.Run,
		func(ctx context.Context) error { return d.link.Run(ctx, d.storeLinkUsage) },
		func(ctx context.Context) error { // what systemd shows is the first line of the status
			d.agent.Systemd.TellStatus(ctx, agent.StatusEvery, d.server.Headline)
			return nil
		})
	return d.agent.Run(ctx)
}

// listen opens the socket, and the page where one is configured, and gives each to serve, with what people are without when
// it is not there. One that cannot be opened is told, and stops nothing.
func listen(server *control.Server, socket string, at config.HTTP, log zerolog.Logger, serve func(l net.Listener, h http.Handler, without string)) {
	tokens, doubts := at.ReadTokens()
	server.ConfigDoubts = append(server.ConfigDoubts, doubts...)
	open := func(l net.Listener, err error, h http.Handler, without string) {
		if err != nil {
			log.Warn().Err(err).Msg(without)
			return
		}
		serve(l, h, without)
	}
	var front net.Listener
	var err error
	if at.Listen != "" {
		if front, err = net.Listen("tcp", at.Listen); err == nil {
			server.Page = pageURL(at.Listen)
		}
	}
	l, shut := console.Listen(socket)
	open(l, shut, console.Control(server), "commands cannot reach this gauger")
	if at.Listen != "" {
		open(front, err, console.Page(server, page.New(server, tokens), len(tokens) > 0, at.Listen, at.Hosts...), "there is no status page: choose another http.listen")
	}
}

// pageURL is how a browser asks for the page: by the box's name where it listens on every address.
func pageURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if own, unknown := os.Hostname(); err == nil && unknown == nil && (host == "" || host == "0.0.0.0" || host == "::") {
		listen = net.JoinHostPort(own, port)
	}
	return "http://" + listen + "/"
}

// wayToPage says how a person comes to a page: to one that is the box's alone from elsewhere, too; and with all, what may
// stand in the way.
func wayToPage(page string, all bool) string {
	at, err := url.Parse(page)
	switch {
	case err != nil:
		return page
	case cloud.Loopback(at.Hostname()):
		return fmt.Sprintf("%s; elsewhere: ssh -L %s:%s BOX, then http://127.0.0.1:%[2]s/ there", page, at.Port(), at.Host)
	case all:
		return fmt.Sprintf("%s; where a firewall runs here it must let TCP port %s in (`ufw allow %[2]s/tcp`)", page, at.Port())
	}
	return page
}

// release ends what assemble began, but for the outbox.
func (d *daemon) release() {
	d.client.Close()
	d.closeReadings()
	if d.box.Err() == nil {
		d.link.Keep(d.storeLinkUsage)
	}
}

// close ends what assemble began.
func (d *daemon) close() {
	d.release()
	if err := d.box.Close(); err != nil && !errors.Is(err, outbox.ErrDead) {
		d.log.Error().Err(err).Msg("the outbox did not close in order; the next start examines it")
	}
}

// lasting is what outlives a change of the configuration: the outbox, the clock, and the collectors of devices that stay as they are.
type lasting struct {
	log   zerolog.Logger
	began time.Time
	clock *clock.Clock
	lines *line.Lines
	crew  *agent.Crew
	notes chan outbox.Note
	pace  atomic.Pointer[link.Link]
	meter *flash.Meter

	box    *outbox.Box // nil: closed
	boxFor string      // what of a configuration it was opened for
	again  bool        // there was an agent before
	from   *ledger.Ledger
	looks  bool // at a store, for a command: nothing of it is changed
}

func newLasting(log zerolog.Logger) *lasting {
	return &lasting{log: log, began: time.Now(), lines: &line.Lines{}, crew: agent.NewCrew(log), notes: make(chan outbox.Note, 64)}
}

// outbox gives the outbox of a configuration: the one that is open, if nothing about it was changed.
func (o *lasting) outbox(cfg *config.Config, how outboxOpening) (*outbox.Box, error) {
	wanted := fmt.Sprint(cfg.Store.Path, cfg.Store.MaxBytes, cfg.Store.Receipts, outboxStreams(cfg.Service.Wire, cfg.Store))
	if o.box != nil && o.boxFor == wanted {
		return o.box, nil
	}
	if err := o.closeBox(); err != nil {
		o.log.Error().Err(err).Msg("the outbox did not close in order; it is examined")
	}
	box, err := how(func() (*outbox.Box, error) {
		return openOutbox(cfg, o.looks, func(ctx context.Context, stream string) error { return o.pace.Load().Wait(ctx, stream) }, func(n outbox.Note) {
			select {
			case o.notes <- n:
			default: // a flood of notes says nothing new
			}
		})
	})
	if err != nil {
		return nil, err
	}
	o.box, o.boxFor = box, wanted
	return box, nil
}

func (o *lasting) closeBox() error {
	if o.box == nil {
		return nil
	}
	err := o.box.Close()
	o.box = nil
	return err
}

// flash goes on measuring what is written.
func (o *lasting) flash(cfg *config.Config) *flash.Meter {
	if card := (flash.Card{Bytes: int64(cfg.Flash.Size), Cycles: cfg.Flash.Cycles}); o.meter == nil || o.meter.Card != card {
		o.meter = flash.NewMeter(card)
	}
	return o.meter
}

// gather are the collectors of a configuration: those that are at work for the same devices, and new ones.
func (o *lasting) gather(cfg *config.Config) (all []collectors.Named) {
	for _, g := range cfg.Groups() {
		members, known := o.crew.Members(g.Key)
		if !known {
			members = collectorSetup{store: cfg.Store.Path, lines: o.lines, masters: cfg.Share.Prefixes()}.runnable(g.Devices)
			o.crew.Add(g.Key, members)
		}
		all = append(all, members...)
	}
	return all
}

// leave ends what an agent has begun, so that another configuration can take over: collectors of devices that it has as they are go on,
// and wait.
func (o *lasting) leave(d *daemon, next *config.Config) {
	groups := next.Groups()
	stays := func(key string) bool {
		return slices.ContainsFunc(groups, func(g config.Group) bool { return g.Key == key })
	}
	o.crew.Stop(stays)
	o.lines.Forget(func(place string) bool {
		return slices.ContainsFunc(groups, func(g config.Group) bool {
			_, running := o.crew.Members(g.Key)
			return running && slices.Contains(g.Reached, place)
		})
	})
	o.crew.Pause()
	if err := d.agent.Ledger.StoreAll(); err != nil {
		o.log.Error().Err(err).Msg("the next configuration takes up the tanks as they were stored last")
	}
	o.from, o.again = d.agent.Ledger, true
	d.release()
}

// takeOver lets an agent that was assembled take up what the one before has left.
func (o *lasting) takeOver(d *daemon, goesOn func(device string) bool) error {
	if o.from == nil {
		return nil
	}
	err := d.agent.Ledger.TakeOver(o.from, goesOn)
	o.from = nil
	return err
}

// running says of which devices the collectors are at work already.
func (o *lasting) running(cfg *config.Config) func(device string) bool {
	var names []string
	for _, g := range cfg.Groups() {
		if _, running := o.crew.Members(g.Key); running {
			for _, d := range g.Devices {
				names = append(names, d.Name)
			}
		}
	}
	return func(device string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return name == device || strings.HasPrefix(device, name+"/") })
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gauger/agent"
	"gauger/agent/audit"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/modbus/line"
	"gauger/config"
	"gauger/outbox"
)

// reopenEvery between two tries to open a store.
const reopenEvery = 5 * time.Second

// deadOutboxShown is the time for which a site is shown whose outbox opens and takes nothing, before the program starts again: that file is
// for another process to examine.
const deadOutboxShown = time.Minute

// errStopped says that gauger was told to stop before its outbox could be opened.
var errStopped = errors.New("stopped while the outbox could not be opened")

// outboxOpening opens the outbox, in its own way: at once or never, or as soon as it can be.
type outboxOpening func(open func() (*outbox.Box, error)) (*outbox.Box, error)

// storelessSite is a site whose outbox cannot be opened: its disk is read-only, full or gone. It is read and shown all the
// same, and whoever looks is told why nothing is stored. Nothing is acknowledged, so that brokers keep what they have.
type storelessSite struct {
	cfg     *config.Config
	socket  string
	log     zerolog.Logger
	doubts  []string // what is wrong with the configuration
	hup     <-chan os.Signal
	began   time.Time // zero: the outbox opened at once
	over    time.Time
	reason  atomic.Pointer[error]
	workers sync.WaitGroup
}

// openWhenPossible opens the outbox, however long that takes. That another gauger holds it is for systemd to try again, and a store that is
// another user's is no broken one: whoever types `gauger run` there must not read the site beside the gauger whose it is.
func (s *storelessSite) openWhenPossible(ctx context.Context) outboxOpening {
	return func(open func() (*outbox.Box, error)) (*outbox.Box, error) {
		box, err := open()
		if err == nil {
			box, err = checkWritable(box)
		}
		if err == nil || errors.Is(err, outbox.ErrHeld) || ctx.Err() != nil {
			return box, err
		}
		if uid := otherOwner(s.cfg.Store.Path, err); uid >= 0 && os.Getenv("NOTIFY_SOCKET") == "" { // the service's own disk may have come back as root's
			return nil, wordedError{fmt.Sprintf("%v; the store belongs to %s, and this is %s: run gauger as that user, or give it another store.path. The gauger whose it is, if one is at work, is left alone",
				err, console.UserName(uid), console.UserName(os.Geteuid())), outbox.ErrHeld}
		}
		s.began = time.Now()
		s.setReason(err)
		ctx, cancel := context.WithCancel(ctx)
		lines := &line.Lines{}
		defer func() {
			cancel()
			s.workers.Wait()
			if err := lines.Close(); err != nil {
				s.log.Warn().Err(err).Msg("a line was not closed in order")
			}
		}()
		if err := s.showSite(ctx, lines); err != nil {
			return nil, errors.Join(err, *s.reason.Load())
		}
		if errors.Is(err, outbox.ErrDead) {
			if !collectors.Wait(ctx, deadOutboxShown) {
				return nil, errStopped
			}
			return nil, err
		}
		box, err = s.retryOpen(ctx, open)
		s.over = time.Now()
		return box, err
	}
}

// otherOwner is the user to whom a store belongs that this one has no right to open; -1: it is ours, or something else is wrong with it.
func otherOwner(store string, err error) int {
	var at unix.Stat_t
	for errors.Is(err, fs.ErrPermission) {
		switch err = unix.Stat(store, &at); {
		case err == nil && int(at.Uid) != os.Geteuid():
			return int(at.Uid)
		case err != nil:
			store = filepath.Dir(store) // of a folder that cannot be looked into, the owner counts
		}
	}
	return -1
}

// checkWritable gives a box up that takes no commit, unless only room is wanting.
func checkWritable(box *outbox.Box) (*outbox.Box, error) {
	err := box.Update(func(tx *outbox.Tx) error {
		tx.Put("probe", nil) // which is nowhere
		return nil
	})
	if err == nil || outbox.NoRoom(err) {
		return box, nil
	}
	if closed := box.Close(); !errors.Is(closed, outbox.ErrDead) {
		err = errors.Join(err, closed)
	}
	return nil, err
}

// setReason keeps why the outbox is shut, and says it when it is news.
func (s *storelessSite) setReason(err error) {
	if old := s.reason.Swap(&err); old == nil || (*old).Error() != err.Error() {
		s.log.Error().Err(err).Msg("the outbox cannot be opened: the site is read and shown, but nothing is stored, ticketed or sent until it can be")
	}
}

// retryOpen opens again and again, and at once when somebody asks for it with SIGHUP.
func (s *storelessSite) retryOpen(ctx context.Context, open func() (*outbox.Box, error)) (*outbox.Box, error) {
	for range looks(ctx, reopenEvery, s.hup) {
		box, err := open()
		if err == nil || errors.Is(err, outbox.ErrHeld) {
			return box, err
		}
		s.setReason(err)
	}
	return nil, errStopped
}

// showSite reads the site and lets people see it, and tells systemd that this is as ready as it gets.
func (s *storelessSite) showSite(ctx context.Context, lines *line.Lines) error {
	site := newAgentSite(s.cfg)
	clock := newClock(site)
	siteLedger, err := ledger.NewWithoutOutbox(site, clock, s.log)
	if err != nil {
		return err
	}
	devices := slices.DeleteFunc(slices.Clone(s.cfg.Devices), func(d config.Device) bool {
		return d.Kind() == "recording" // one that is played now would not be played when it counts
	})
	gather := collectorSetup{store: s.cfg.Store.Path, lines: lines, look: true}.runnable(devices)
	server := (&control.Server{
		Ledger: siteLedger, Clock: clock, Site: site, Version: version, Began: s.began, Daemon: true, Collectors: gather,
		Lines: func() []control.LineStatus { return lineStatuses(lines) }, NoOutbox: func() error { return *s.reason.Load() }, ConfigDoubts: s.doubts,
		Figures: func() map[string]float64 { return host.Figures(s.cfg.Store.Path) }, Roles: rolesOf(s.cfg.Control), Trail: audit.New(s.cfg.Store.Path), Audited: logAudit(s.log),
	}).OpenWithoutOutbox()
	offerModbus(server, lines)
	listen(server, s.socket, s.cfg.HTTP, s.log, func(l net.Listener, h http.Handler, without string) {
		s.workers.Go(func() {
			if err := console.Serve(ctx, l, h); err != nil && ctx.Err() == nil {
				s.log.Warn().Err(err).Msg(without)
			}
		})
	})
	for _, c := range gather {
		s.startCollector(ctx, c, siteLedger.ViewHost())
	}
	held, err := mqttCollectors(collectorSetup{}, devices)
	if err != nil {
		s.log.Error().Err(err).Msg("the brokers' own sessions are not kept open meanwhile")
	}
	for _, c := range held { // its own sessions: their brokers keep what comes until it can be stored
		s.startCollector(ctx, c, refusingHost{siteLedger.ViewHost(), *s.reason.Load()})
	}
	supervisor := agent.NewSystemd()
	s.workers.Go(func() {
		if err := supervisor.FeedWatchdog(ctx, func() error { return nil }); err != nil {
			s.log.Warn().Err(err).Msg("systemd does not hear that gauger is alive")
		}
	})
	s.workers.Go(func() { supervisor.TellStatus(ctx, agent.StatusEvery, server.Headline) })
	if err := supervisor.Notify("READY=1\nSTATUS=" + site.Name + ": nothing is stored, the outbox cannot be opened"); err != nil {
		s.log.Warn().Err(err).Msg("systemd did not hear that gauger is ready")
	}
	return nil
}

func (s *storelessSite) startCollector(ctx context.Context, c collectors.Named, host collectors.Host) {
	s.workers.Go(func() {
		if err := c.Collector.Run(ctx, host); err != nil && ctx.Err() == nil {
			s.log.Error().Err(err).Str("device", c.Name).Msg("this device cannot be read; the others go on")
		}
	})
}

// tellOutage leaves an event of the time without an outbox, when there was one.
func (s *storelessSite) tellOutage(siteLedger *ledger.Ledger) error {
	if s.began.IsZero() {
		return nil
	}
	s.log.Info().Dur("after", s.over.Sub(s.began)).Msg("the outbox is open")
	return agent.UnlessFull(s.log, siteLedger.QueueOutboxShut(s.began, s.over, *s.reason.Load()), "the event about it could not be stored")
}

// refusingHost is a host that takes no message, so that none is acknowledged.
type refusingHost struct {
	collectors.Host
	why error
}

func (r refusingHost) Emit(context.Context, []collectors.Reading) error {
	return fmt.Errorf("nothing can be stored: %w", r.why)
}

func (r refusingHost) Refuse(context.Context, []collectors.Refusal) error {
	return fmt.Errorf("nothing can be stored: %w", r.why)
}

// Notice implements collectors.Host: the sessions that are shown say the same.
func (r refusingHost) Notice(context.Context, collectors.Notice) error { return nil }

// Package agent joins the parts: readings become records in the ledger, records leave through the outbox to the
// service. It starts every worker and waits for every one of them.
//
// agent.go: the workers, and how a run begins and ends. sender.go: a batch on its way to the service. outbox_events.go and
// outbox_summary.go: events of what the outbox says, summed up. device_lookup.go: the service is asked once for each tank, and for its time while
// nobody vouches for the clock.
// store_copy.go: a store that was put back from a copy is noticed. crew.go: the collectors, which outlive a change of the configuration. systemd.go: sd_notify, the watchdog, and what systemd shows as
// the status; which part hangs.
//
// The loss of a collector is an event and a log line, and stops nothing else. What is said again and again of a stream is told once
// an hour, with its sum; what is said of refused events waits until that is over, since an event about it would go the same way.
package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/outbox"
)

// Worker is anything that runs beside the rest until the context ends: a control socket, a status page.
type Worker func(ctx context.Context) error

// Agent is a site at work. Its fields are what it is made of; all but Workers are needed.
type Agent struct {
	Site       ledger.Site
	Ledger     *ledger.Ledger
	Box        *outbox.Box
	Client     *cloud.Client
	Clock      *clock.Clock
	Collectors []collectors.Named
	Crew       *Crew           // that has the collectors, and goes on with them under the next agent; nil: they end with this one
	Leave      <-chan struct{} // closed when another configuration is to take over: what is being sent comes to its end
	Workers    []Worker
	Systemd    Systemd
	Log        zerolog.Logger
	Notes      <-chan outbox.Note // what the box has to say
	Replay     bool               // a recording plays: its clock is the ledger's, not the wall's
	Boot       clock.Boot         // of the box
	Again      bool               // this process had another agent before, whose clock goes on
	Inherited  bool               // readings of a run before were found in memory
	Shared     bool               // other instances of gauger watch the same site

	pulses  collectors.Pulses
	settled bool // whether this site ran before on another store
}

// Run works until ctx ends or the outbox is out of service. A collector that cannot work is an event and a log line,
// and stops nothing else.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := a.beginRun(); err != nil {
		return err
	}
	var wg sync.WaitGroup
	essential := func(name string, w Worker) {
		wg.Go(func() {
			if err := w(ctx); err != nil && ctx.Err() == nil {
				cancel(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	if a.Crew == nil {
		a.Crew = NewCrew(a.Log)
		a.Crew.Add("", a.Collectors)
	}
	a.Crew.Use(a.Ledger)
	sending, stopSending := context.WithCancel(ctx)
	defer stopSending()
	var drains sync.WaitGroup
	for stream := range ledger.Operations {
		drains.Add(1)
		essential("send "+stream, func(ctx context.Context) error {
			defer drains.Done()
			return a.Box.Drain(sending, stream, Sender{Client: a.Client, Clock: a.Clock, Pulse: a.pulses.Part("sending " + stream), Requests: ctx})
		})
	}
	if !a.Replay {
		essential("clock", func(ctx context.Context) error { return a.tickLedger(ctx, a.pulses.Part("the ledger")) })
	}
	essential("store", a.lookAtStore)
	essential("notes", a.handleNotes)
	essential("look up the ids", a.lookUpIDs)
	essential("ask the time", a.askTime)
	essential("watchdog", func(ctx context.Context) error { return a.Systemd.FeedWatchdog(ctx, a.noteHung()) })
	for i, w := range a.Workers {
		essential(fmt.Sprintf("worker %d", i), w)
	}
	if err := a.Systemd.Notify("READY=1\nWATCHDOG=1\nSTATUS=" + a.Site.Name); err != nil {
		a.Log.Warn().Err(err).Msg("systemd did not hear that gauger is ready")
	}
	a.Log.Info().Str("site", a.Site.Name).Str("id", a.Site.ID).Msg("gauger is at work")
	select {
	case <-ctx.Done():
	case <-a.Leave:
		stopSending()
		drains.Wait()
		cancel(errLeft)
	}
	cause := context.Cause(ctx)
	if cause != errLeft {
		if err := a.Systemd.Notify("STOPPING=1"); err != nil {
			a.Log.Warn().Err(err).Msg("systemd did not hear that gauger is stopping")
		}
		a.Crew.Stop(nil)
	}
	wg.Wait()
	if errors.Is(cause, context.Canceled) || cause == errLeft {
		return a.endRun()
	}
	return cause
}

// errLeft is the end of an agent that has made room for another configuration's.
var errLeft = errors.New("another configuration takes over")

// tickLedger lets the ledger hear the clock.
func (a *Agent) tickLedger(ctx context.Context, pulse *collectors.Pulse) error {
	t := time.NewTicker(a.Site.TickEvery())
	defer t.Stop()
	failed, kept, against := false, clock.Unset, time.Duration(0)
	var flush <-chan time.Time // nil: no values linger
	var flushAt time.Time
	for {
		pulse.Rest()
		var err error
		select {
		case <-ctx.Done():
			return nil
		case wait := <-a.Ledger.Lingering():
			if at := time.Now().Add(wait); flush == nil || at.Before(flushAt) {
				flush, flushAt = time.After(wait), at
			}
			continue
		case <-flush:
			pulse.Work()
			if flush, err = nil, a.Ledger.Flush(); err != nil {
				flush = time.After(a.Site.TickEvery())
			}
		case now := <-t.C:
			pulse.Work()
			err = a.Ledger.Tick(now)
			if grade, off := a.Clock.Grade(now), a.Clock.Contradiction(now); err == nil && (grade != kept || off != against) {
				kept, against, err = grade, off, a.keepClock(now)
			}
		}
		if errors.Is(err, outbox.ErrDead) {
			return err
		}
		if (err != nil) != failed {
			failed = err != nil
			a.Log.Error().Err(err).Bool("failing", failed).Msg("storing what the clock changed")
		}
	}
}

// storeEvery is for a quiet site that looks whether its store is still there; each commit looks by itself.
const storeEvery = 15 * time.Second

// lookAtStore ends the agent when the outbox's file was removed or replaced: what would be stored then is lost.
func (a *Agent) lookAtStore(ctx context.Context) error {
	t := time.NewTicker(storeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if err := a.Box.InPlace(); err != nil {
				return err
			}
			if text, since := a.Ledger.NewStoreEvent(time.Now()); text != "" {
				if err := a.unlessFull(a.Ledger.QueueEvent(ledger.Event{Rule: eventrules.OutboxSalvaged, Note: text, Start: since, End: time.Now().Round(0)})); err != nil {
					return err
				}
			}
		}
	}
}

// keepClock stores how the clock stands, for the next run on this boot of the box.
func (a *Agent) keepClock(now time.Time) error {
	if a.Boot.ID == "" {
		return nil
	}
	r, err := a.Clock.Save(now, a.Boot)
	if err != nil {
		return err
	}
	return a.Ledger.SaveState(clockKey, r)
}

// resumeClock takes up how the clock stood in an earlier run on this boot.
func (a *Agent) resumeClock() error {
	var r clock.Saved
	if err := a.Ledger.LoadState(clockKey, &r); err != nil || a.Boot.ID == "" || a.Again {
		return err
	}
	return a.Clock.Resume(r, a.Ledger.Newest(), time.Now(), a.Boot)
}

// runRecord tells the next run of the program of this one.
type runRecord struct {
	Began  time.Time
	Clean  bool
	Config uint32
}

// beginRun looks at how the last run ended, and notes that this one has begun. Where the outbox takes nothing, that is
// told and the site is read all the same.
func (a *Agent) beginRun() error {
	var last runRecord
	if err := errors.Join(a.Ledger.LoadState(runKey, &last), a.resumeClock(), a.Ledger.SetBoot(a.Boot)); err != nil {
		return err
	}
	if a.Inherited = a.Inherited && last.Began.IsZero(); last.Began.IsZero() { // else they are this store's own
		if err := a.unlessFull(a.Ledger.BeginStore(time.Now())); err != nil {
			return err
		}
		if hint := a.Ledger.NewStoreHint(time.Now()); hint != "" {
			a.Log.Warn().Msg(hint)
		}
		if _, err := a.tellEmptied(context.Background(), false); err != nil {
			return err
		}
	}
	if err := a.tellCopiedStore(); err != nil {
		return err
	}
	now := time.Now().Round(0)
	if !last.Began.IsZero() && !last.Clean && !a.Replay {
		note := "gauger started again after a run that did not end in order (power, kill or crash); that run began "
		if clock.WasSet(last.Began) {
			note += last.Began.In(a.Site.Zone).Format(time.RFC3339)
		} else {
			note += "at a time that is not known: the clock was not set"
		}
		if err := a.unlessFull(a.Ledger.QueueEvent(ledger.Event{Rule: eventrules.PowerRestart, Note: note, Start: now, End: now})); err != nil {
			return err
		}
	}
	if !last.Began.IsZero() && last.Config != a.Site.Config {
		note := fmt.Sprintf("configuration %08x took the place of %08x", a.Site.Config, last.Config)
		if err := a.unlessFull(a.Ledger.QueueEvent(ledger.Event{Rule: eventrules.ConfigChanged, Note: note, Start: now, End: now})); err != nil {
			return err
		}
	}
	note, err := a.Ledger.NoteUnits(now)
	if note != "" {
		a.Log.Warn().Msg(note)
		err = errors.Join(err, a.Ledger.QueueEvent(ledger.Event{Rule: eventrules.ConfigChanged, Note: note, Start: now, End: now}))
	}
	if err := a.unlessFull(err); err != nil {
		return err
	}
	for _, source := range []string{ServiceSource, ledger.UnwritableSource} {
		if err := a.unlessFull(a.Ledger.CloseInherited(source)); err != nil {
			return err
		}
	}
	return a.unlessFull(a.Ledger.SaveState(runKey, runRecord{Began: now, Config: a.Site.Config}))
}

// unlessFull is UnlessFull for what the agent stores of itself.
func (a *Agent) unlessFull(err error) error {
	return UnlessFull(a.Log, err, "the outbox takes nothing until there is room; readings go on")
}

// UnlessFull passes an error of the outbox on, but for one that room will mend: that is told, and is no reason not to read the
// site.
func UnlessFull(log zerolog.Logger, err error, without string) error {
	if outbox.NoRoom(err) {
		log.Error().Err(err).Msg(without)
		return nil
	}
	return err
}

// ServiceSource begins the sources of notices about the service and its settings, KeySource those about its keys
// do. Whoever tells of one knows nothing of an earlier run.
const (
	ServiceSource = "service "
	KeySource     = ServiceSource + "key"
)

// endRun notes that this run ended in order.
func (a *Agent) endRun() error {
	if err := a.unlessFull(a.Ledger.Flush()); err != nil {
		return err
	}
	return a.unlessFull(a.Ledger.SaveState(runKey, runRecord{Began: time.Now().Round(0), Clean: true, Config: a.Site.Config}))
}

// Names of the runs' state in the outbox.
const (
	runKey   = "run"   // how the last run began and ended
	clockKey = "clock" // how the clock stood in the last run
)

package agent

import (
	"cmp"
	"context"
	"time"

	"gauger/collectors"
)

// hungAfter is what no piece of work takes that did not say so: twice the watchdog's interval, so that a site's own is heeded.
func (s Systemd) hungAfter() time.Duration {
	return 2 * max(cmp.Or(s.watchdog, unwatched), leastWatchdog)
}

// leastWatchdog: in twice that a commit to a slow card is done.
const leastWatchdog = 15 * time.Second

// Hung returns the reason for which only a new process can go on; nil: none. A disk that hangs is named before the parts that wait for
// it. A device, a broker or a service that is away is none.
func (a *Agent) Hung() error {
	if err := a.Box.Hung(); err != nil {
		return err
	}
	if err := a.pulses.Hung(a.Systemd.hungAfter()); err != nil || a.Crew == nil {
		return err
	}
	return a.Crew.Hung(a.Systemd.hungAfter())
}

// noteHung is Hung, logged when it begins and ends: the log is what is left after the restart.
func (a *Agent) noteHung() func() error {
	told := false
	return func() error {
		err := a.Hung()
		switch {
		case err != nil && !told:
			a.Log.Error().Err(err).Msg("a part of gauger hangs; when that goes on, the watchdog starts gauger again, which loses nothing")
		case err == nil && told:
			a.Log.Warn().Msg("no part of gauger hangs any more")
		}
		told = err != nil
		return err
	}
}

// watchedHost lets a collector rest while the ledger has its batch: what hangs then is the ledger, or the disk.
type watchedHost struct{ collectors.Host }

// rests is called before the ledger is asked for something, and what it returns afterwards.
func (h watchedHost) rests(ctx context.Context) func() {
	p := collectors.PulseOf(ctx)
	if !p.Rest() {
		return func() {}
	}
	return p.Work
}

// Emit implements collectors.Host.
func (h watchedHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	defer h.rests(ctx)()
	return h.Host.Emit(ctx, batch)
}

// Refuse implements collectors.Host.
func (h watchedHost) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	defer h.rests(ctx)()
	return h.Host.Refuse(ctx, batch)
}

// Notice implements collectors.Host.
func (h watchedHost) Notice(ctx context.Context, n collectors.Notice) error {
	defer h.rests(ctx)()
	return h.Host.Notice(ctx, n)
}

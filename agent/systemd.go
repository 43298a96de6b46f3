package agent

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"gauger/collectors"
)

// Systemd speaks systemd's notification protocol (sd_notify): READY, STATUS, STOPPING and the watchdog. Without
// NOTIFY_SOCKET in the environment every call does nothing.
type Systemd struct {
	socket   string
	watchdog time.Duration
}

// NewSystemd reads NOTIFY_SOCKET and WATCHDOG_USEC.
func NewSystemd() Systemd {
	s := Systemd{socket: os.Getenv("NOTIFY_SOCKET")}
	if us, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64); err == nil && us > 0 {
		s.watchdog = time.Duration(us) * time.Microsecond
	}
	return s
}

// Notify sends one message such as "READY=1".
func (s Systemd) Notify(message string) error {
	if s.socket == "" {
		return nil
	}
	name := s.socket
	if name[0] == '@' {
		name = "\x00" + name[1:]
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return fmt.Errorf("tell systemd %q: %w", message, err)
	}
	defer c.Close()
	if _, err := c.Write([]byte(message)); err != nil {
		return fmt.Errorf("tell systemd %q: %w", message, err)
	}
	return nil
}

// StatusEvery between two looks for what systemd shows as the status.
const StatusEvery = 15 * time.Second

// TellStatus keeps what systemd shows as the status at a line, until ctx ends. What could not be told is told with the next look.
func (s Systemd) TellStatus(ctx context.Context, every time.Duration, line func() (string, error)) {
	if s.socket == "" { // nobody reads it
		<-ctx.Done()
		return
	}
	t := time.NewTicker(every)
	defer t.Stop()
	for told := ""; ; {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		text, err := line()
		if err != nil {
			text = err.Error()
		}
		if text = strings.ReplaceAll(text, "\n", " "); text != told && s.Notify("STATUS="+text) == nil {
			told = text
		}
	}
}

// unwatched is the interval of the watchdog where there is none: what hangs is logged all the same.
const unwatched = time.Minute

// FeedWatchdog feeds the watchdog at half its interval for as long as nothing hangs, until ctx ends. When something does and goes on
// to, systemd restarts the program.
func (s Systemd) FeedWatchdog(ctx context.Context, hung func() error) error {
	t := time.NewTicker(cmp.Or(s.watchdog, unwatched) / 2)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
			if hung() != nil || s.watchdog == 0 {
				continue
			}
			if err := s.Notify("WATCHDOG=1"); err != nil {
				return err
			}
		}
	}
}

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
			a.Log.Error().Err(err).Msg("a part of gauger hangs; when that goes on, the watchdog starts gauger again, with what its store has then")
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

func (h watchedHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	defer h.rests(ctx)()
	return h.Host.Emit(ctx, batch)
}

func (h watchedHost) Refuse(ctx context.Context, batch []collectors.Refusal) error {
	defer h.rests(ctx)()
	return h.Host.Refuse(ctx, batch)
}

func (h watchedHost) Notice(ctx context.Context, n collectors.Notice) error {
	defer h.rests(ctx)()
	return h.Host.Notice(ctx, n)
}

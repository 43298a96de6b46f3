package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/clock"
	"gauger/collectors"
	"gauger/eventrules"
	"gauger/outbox"
)

// NewWithoutOutbox is a ledger without an outbox: it knows the newest readings and how the tanks are measured, and keeps nothing.
// Readings come to it through its Look; none of its other hosts may be used.
func NewWithoutOutbox(site Site, clock *clock.Clock, log zerolog.Logger) (*Ledger, error) {
	l := newLedger(site, nil, clock, log)
	s := state{episodes: map[string]Episode{}, lastValues: make([]lastValue, len(site.Values))}
	err := l.loadSetups(&s)
	l.adopt(s)
	return l, err
}

// ViewHost returns a host that shows what collectors read. They must be such as tell a device nothing, and leave nothing
// behind: nothing of it is stored.
func (l *Ledger) ViewHost() collectors.Host { return viewHost{l} }

type viewHost struct{ l *Ledger }

// Emit implements collectors.Host.
func (o viewHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	o.l.mu.Lock()
	defer o.l.mu.Unlock()
	batch = withoutHistorical(batch)
	o.l.latest.store(batch)
	o.l.watchers.send(batch)
	return ctx.Err()
}

// Refuse implements collectors.Host: what cannot be decoded shows as a Bad reading.
func (o viewHost) Refuse(ctx context.Context, _ []collectors.Refusal) error { return ctx.Err() }

// Notice implements collectors.Host. There is no event to make of it.
func (o viewHost) Notice(ctx context.Context, n collectors.Notice) error {
	o.l.log.Warn().Str("rule", n.Rule).Str("source", n.Source).Bool("over", !n.Until.IsZero()).Msg(n.Note)
	return ctx.Err()
}

// Recall implements collectors.Host.
func (o viewHost) Recall(string) ([]byte, error) { return nil, nil }

// Remember implements collectors.Host.
func (o viewHost) Remember(string, []byte) error { return nil }

// Hurry implements collectors.Host.
func (o viewHost) Hurry([]collectors.Point) bool { return false }

// OpenWithoutOutbox lays out what can be asked for while there is no outbox: how the site stands, and what is read.
func (d *Server) OpenWithoutOutbox() *Server {
	d.live = map[string]LiveStream{}
	d.handlers = map[string]Handler{
		"status": HandlerOf(func(context.Context, None) (Status, error) { return d.Status() }),
		"read":   HandlerOf(d.read),
	}
	return d
}

// unknownRequest says why nobody answers.
func (d *Server) unknownRequest(name string) error {
	if d.NoOutbox != nil {
		return NoOutboxError(d.NoOutbox().Error())
	}
	return fmt.Errorf("%w (%s)", ErrUnknownRequest, name)
}

// NoOutboxError is what whatever needs the outbox answers while it cannot be opened, with the reason of that.
func NoOutboxError(why string) error {
	return errors.New("the outbox cannot be opened, so nothing can be stored or looked up: " + why)
}

// Err is why nothing can be stored; nil: it can.
func (d *Server) Err() error {
	if d.NoOutbox != nil {
		return d.NoOutbox()
	}
	if err := d.Box.Err(); err != nil {
		return err
	}
	if err := d.Box.Room(); err != nil {
		return errors.New(fullProblem(err))
	}
	return nil
}

// fullProblem says what a disk means that is full under an outbox which is open, and what to do.
func fullProblem(why error) string {
	return diskFull + " (" + why.Error() + "); until then new tickets and values may be refused, and receipts and keys not be kept; what is stored stays, and gauger goes on by itself"
}

// diskFull is what a person can do about a full disk.
const diskFull = "the disk is full: make room on it"

// statusWithoutOutbox is the status of a site without an outbox: what is read, and why nothing is stored. It says nothing of
// tickets and records, since nobody can look.
func (d *Server) statusWithoutOutbox(now time.Time) Status {
	s := Status{
		Site: d.Site.Name, ID: d.Site.ID, Version: d.Version, Daemon: d.Daemon, Began: d.began(now), Now: now.Round(0),
		Clock: d.Clock.Grade(now).String(), Streams: map[string]outbox.Counts{}, Drains: map[string]DrainStatus{}, Held: []HeldTicket{},
		Shut: d.NoOutbox().Error(), Problems: append([]string{noOutboxProblem(d.NoOutbox())}, d.ConfigDoubts...),
	}
	s.Points, s.Tanks, s.Open, _ = d.Ledger.snapshot()
	s.Points = d.withUnheard(s.Points, s.Began)
	for i := range s.Tanks {
		s.Tanks[i].Phase = "not watched for loads"
	}
	if d.Lines != nil {
		s.Lines = d.Lines()
	}
	return s
}

// cures are what a person can do about a store that cannot be opened.
var cures = []struct {
	cause syscall.Errno
	cure  string
}{
	{syscall.EROFS, "the disk is mounted read-only, as one is that has failed or is worn out: look at `dmesg`, then mount it for writing or exchange it"},
	{syscall.ENOSPC, diskFull},
	{syscall.EDQUOT, "the user's share of the disk is used up: give it more"},
	{syscall.EACCES, "the store and all in it must belong to the user that gauger runs as, which is gauger under systemd"},
	{syscall.EPERM, "the store and all in it must belong to the user that gauger runs as, which is gauger under systemd"},
	{syscall.EIO, "the disk has failed: look at `dmesg`, and exchange it"},
	{syscall.ENOTDIR, "something that is no folder stands where store.path or a folder above it should be"},
}

// noOutboxProblem says what a store that cannot be opened means, and what to do.
func noOutboxProblem(why error) string {
	text := "NOTHING IS STORED: no tickets are made and nothing is sent, since the outbox cannot be opened (" + why.Error() + ")"
	for _, c := range cures {
		// Of what makes a file longer bbolt hands on only the words.
		if errors.Is(why, c.cause) || strings.Contains(why.Error(), c.cause.Error()) {
			text += "; " + c.cure
			break
		}
	}
	return text + "; gauger tries again all the time and goes on by itself"
}

// QueueOutboxShut leaves the event that tells of a time without an outbox.
func (l *Ledger) QueueOutboxShut(since, until time.Time, why error) error {
	return l.QueueEvent(Event{Rule: eventrules.OutboxShut, Start: since.Round(0), End: until.Round(0), Note: fmt.Sprintf(
		"the outbox could not be opened from %s to %s; what was polled meanwhile was not stored, so that loads of that time may have no tickets: %v",
		since.In(l.site.Zone).Format("2006-01-02 15:04:05"), until.In(l.site.Zone).Format("2006-01-02 15:04:05"), why)})
}

package control

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"gauger/outbox"
)

// unknownRequest says why nobody answers.
func (d *Server) unknownRequest(name string) error {
	if d.NoOutbox != nil {
		return NoOutboxError(d.NoOutbox().Error())
	}
	return fmt.Errorf("%w (%s)", ErrUnknownRequest, name)
}

// withNext adds to a request's error what to do next, where the error alone does not say it.
func (d *Server) withNext(err error) error {
	away, isNet := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, outbox.ErrStream):
		return fmt.Errorf("%w; there are %s", err, strings.Join(slices.Sorted(maps.Keys(d.Box.Counts())), ", "))
	case errors.Is(err, outbox.ErrRecord):
		return fmt.Errorf("%w; `gauger outbox list --state all` shows those that are kept", err)
	case isNet && away.Op == "dial":
		return fmt.Errorf("%w; the service cannot be reached: look at modem, cable and service.url", err)
	}
	return err
}

// ErrNoOutbox says that what was asked for needs the outbox.
var ErrNoOutbox = errors.New("the outbox cannot be opened, so nothing can be stored or looked up")

// NoOutboxError answers for whatever needs the outbox while it cannot be opened, with the reason.
func NoOutboxError(why string) error { return fmt.Errorf("%w: %s", ErrNoOutbox, why) }

// Err gives the reason for which a restart would help; nil: none. A store that cannot be opened is none, nor a full disk: gauger
// tries again and goes on by itself.
func (d *Server) Err() error {
	if d.NoOutbox != nil {
		return nil
	}
	if d.Hung != nil {
		return d.Hung()
	}
	return d.Box.Hung()
}

// storeTrouble says why an outbox that is open stores nothing new, or may not; empty: it does.
func (d *Server) storeTrouble() string {
	if err := d.Box.Hung(); err != nil {
		return "the outbox is out of service: " + err.Error()
	}
	if err := d.Box.Room(); err != nil {
		return diskFull + " (" + strings.TrimPrefix(err.Error(), "the disk is full: ") + "); until then new tickets and values may be refused, and receipts and keys not be kept; what is stored stays, and gauger goes on by itself"
	}
	return ""
}

// smallOutbox says that the disk had not the room for an outbox as large as configured.
func smallOutbox(has, wanted int64) []Problem {
	if has >= wanted {
		return nil
	}
	return []Problem{{Cost: Rest, Text: fmt.Sprintf("the outbox has %.1f MiB of the %.1f MiB of store.max_bytes, since the disk had no more: records give way the sooner when nothing leaves",
		float64(has)/(1<<20), float64(wanted)/(1<<20)), Do: "make room on the disk and restart, or lower store.max_bytes"}}
}

// diskFull names the cure.
const diskFull = "the disk is full: make room on it"

// notWatched is what a tank does while nothing can be stored.
const notWatched = "not watched for loads"

// statusWithoutOutbox is the status of a site without an outbox: what is read, and why nothing is stored. It says nothing of
// tickets and records, since nobody can look.
func (d *Server) statusWithoutOutbox(now time.Time) Status {
	s := d.blankStatus(now)
	s.Shut, s.StoreTrouble = d.NoOutbox().Error(), noOutboxProblem(d.NoOutbox())
	s.Found = append(s.storeProblems(), d.configProblems()...)
	s.Problems = sentences(s.Found)
	s.copyFrom(d.Ledger.Snapshot())
	s.Points = d.withUnheard(s.Points, s.Began, s.Open)
	for i := range s.Tanks {
		s.Tanks[i].Phase = notWatched
	}
	s.Answers = d.answers(s)
	s.Headline = s.headline(d.localMinute)
	return s
}

// cures tell a person about a store that cannot be opened, by the system's error.
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
	{syscall.ELOOP, "gauger follows no link in its store: move the files themselves there, or let store.path name their folder"},
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

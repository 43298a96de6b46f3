package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gauger/agent/clock"
	"gauger/agent/cloud"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/outbox"
)

// originFile, in the store, holds the instant at which the file system made it: a copy has another one. A snapshot of the whole disk has
// not, and what does not keep the instant tells nothing.
const originFile = "origin"

// originApart is more than a file system rounds a time by.
const originApart = 5 * time.Second

// copiedStore says that the store is a copy of the one on which gauger last ran; empty: it is that one, is new, or nobody can tell.
func copiedStore(folder string) (text string, err error) {
	path := filepath.Join(folder, originFile)
	written, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look whether the store is a copy: %w", err)
	}
	made, known := bornAt(path)
	was, bad := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(written)))
	switch {
	case err == nil && (!known || bad == nil && made.Sub(was).Abs() < originApart):
		return "", nil
	case err == nil && bad == nil:
		text = fmt.Sprintf("the store is a copy of the one on which gauger last ran (made here %s): a backup was put back, or the disk was changed. What was made since the copy was "+
			"taken is not in it, nor what people did; what waited then is sent again, tickets with the numbers that they had. A load since then shows as a fall while nothing was read, with other figures "+
			"than it was ticketed with and perhaps another number: that ticket is held for you. Compare `gauger outbox list` and `gauger tickets list` with what the service has",
			made.UTC().Format("2006-01-02 15:04 MST"))
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return text, fmt.Errorf("note where the store is: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return text, fmt.Errorf("note where the store is: %w", err)
	}
	if made, known = bornAt(path); known {
		_, err = f.WriteString(made.UTC().Format(time.RFC3339Nano) + "\n")
	}
	return text, errors.Join(err, f.Close())
}

// bornAt is when a file was made, where its file system keeps that.
func bornAt(path string) (at time.Time, known bool) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return at, false
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec)), true
}

// tellCopiedStore tells of a store that is a copy, for a week in the status and as an event.
func (a *Agent) tellCopiedStore() error {
	text, err := copiedStore(filepath.Dir(a.Box.Path()))
	if err != nil {
		a.Log.Warn().Err(err).Msg("that a backup was put back could not be noticed")
	}
	if text == "" {
		return nil
	}
	n := outbox.Note{Kind: outbox.NoteSalvaged, At: time.Now(), Message: text, Behind: []string{ledger.Tickets}}
	a.Ledger.NoteLoss(n)
	return a.unlessFull(a.queueNoteEvent(n))
}

// earlierBack is how far back the service is asked for events of a site whose store is new.
const earlierBack = 30 * 24 * time.Hour

// tellEmptied tells of a store that is new on a site that is not, once it can be seen: a box that was killed still has its last readings in
// memory, and the service, which is asked where ask is, has gauger's events of this site from before the store began. again: ask then; zero: it is settled for this run.
func (a *Agent) tellEmptied(ctx context.Context, ask bool) (again time.Duration, err error) {
	now := time.Now()
	began, told := a.Ledger.UntoldStore(now)
	seen := "this box still has readings of a run before"
	switch {
	case told || !a.Inherited && (a.settled || a.Shared || a.Site.Object == "" || !ask):
		return 0, nil
	case !a.Inherited && a.Clock.Grade(now) < clock.Assumed:
		return firstLook, nil
	case !a.Inherited:
		newest, err := a.newestEvent(ctx, began)
		if a.settled = err == nil; newest.IsZero() {
			return 0, err
		}
		seen = "the service has gauger's events of this site from before, as of " + newest.In(a.Site.Zone).Format("2006-01-02 15:04")
	}
	a.Ledger.ToldStore()
	n := outbox.Note{Kind: outbox.NoteSalvaged, At: now, Message: fmt.Sprintf("the store was EMPTIED, or its disk is missing, or this box took another's place: it began %s, and %s. The tickets, levels and records "+
		"of before are not here, and a load that was under way has no ticket or too short a one: mount the disk with gauger stopped, or write what is missing with `gauger tickets add`", began.In(a.Site.Zone).Format("2006-01-02 15:04"), seen)}
	a.Log.Warn().Msg(n.Message)
	a.Ledger.NoteLoss(n)
	return 0, a.unlessFull(a.queueNoteEvent(n))
}

// newestEvent is the start of the newest event of gauger's own that the first page of the service's answer has of this site from before a
// time; zero: it has none, or its answer cannot be read. Once events of this store may be there, those of tanks prove nothing: they have the
// times of the levels, which a recording or a broker may have kept from before the store began.
func (a *Agent) newestEvent(ctx context.Context, end time.Time) (newest time.Time, err error) {
	q := cloud.EventQuery{Type: "Diagnostic", Start: end.Add(-earlierBack), End: end}
	if kind := a.Site.ObjectType; kind == "Device" || kind == "Well" {
		q.ObjectID, q.ObjectType = a.Site.Object, kind
	}
	sent := a.Box.Counts()[ledger.Events].Delivered > 0 || a.Box.DrainStatus(ledger.Events).Unclear > 0
	err = a.Client.AllEvents(ctx, q, func(p cloud.Page[cloud.Event]) error {
		for _, e := range p.Items {
			at, ok := a.Site.Wire.ReadTime(e.Start)
			own := slices.ContainsFunc(eventrules.List, func(r eventrules.Rule) bool {
				return r.Name == e.Rule && !(sent && (strings.Contains(r.Teller, "agent/tank") || r.Teller == "agent/ledger"))
			})
			if ok && own && strings.EqualFold(e.ObjectID, a.Site.Object) && at.Before(end.Add(-clock.Tolerance)) && at.After(newest) {
				newest = at
			}
		}
		return errEnough
	})
	if answered, ok := errors.AsType[*cloud.Error](err); errors.Is(err, errEnough) || errors.Is(err, cloud.ErrShape) || ok && answered.Class == cloud.Poison && !answered.Foreign {
		err = nil
	}
	return newest, err
}

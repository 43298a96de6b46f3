package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/agent"
	"gauger/agent/apply"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox/disk"
)

// lastGoodFile is the copy of the last configuration that worked, in the store.
const lastGoodFile = "last-good.yaml"

// loadRevision reads a configuration with its strapping tables. Of a file that is bad there is the text without its meaning.
func loadRevision(path string) (*revision, error) { return revisionIn(path, filepath.Dir(path)) }

// revisionIn does so as if the file stood in a folder, in which its tables are looked for.
func revisionIn(path, folder string) (*revision, error) {
	b, err := collectors.ReadFile(path, mostKept)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	v := &revision{text: b, hash: apply.HashOf(b), source: path}
	if v.cfg, err = config.Parse(path, b, folder); err != nil {
		return v, err
	}
	if whole, err := v.cfg.Whole(b); err == nil { // else the tables stay in files of their own
		v.text, v.hash = whole, apply.HashOf(whole)
	}
	return v, nil
}

// loadKept reads the last good configuration, as if it stood in the place of path: from the store that the file names, or that systemd
// has made.
func loadKept(c *call, path string) (*revision, error) {
	kept := filepath.Join(config.StorePath(path), lastGoodFile)
	b, err := disk.ReadFile(kept, mostKept)
	if other := c.getenv("STATE_DIRECTORY"); err != nil && other != "" {
		kept = filepath.Join(other, lastGoodFile)
		b, err = disk.ReadFile(kept, mostKept)
	}
	if err != nil {
		return nil, err
	}
	cfg, err := config.Parse(kept, b, filepath.Dir(path))
	return &revision{text: b, hash: apply.HashOf(b), source: kept, cfg: cfg}, err
}

// storeOf is where the state of a site is, whatever is wrong with its file.
func storeOf(c *call, path string) string {
	return cmp.Or(c.getenv("STATE_DIRECTORY"), config.StorePath(path))
}

// chooseConfig decides which configuration a start takes: the file's; one that was applied in its place, as long as the file is the one that
// it took the place of; and where the file is bad, or went back from its trial, the last good one: a bad one at boot must not leave the site
// blind. One that was refused was so beside what was at work then: many a change is taken by a start alone.
func chooseConfig(c *call, path string, strict bool) (*revision, *apply.Book, error) {
	v, err := loadRevision(path)
	store := storeOf(c, path)
	book, unread := apply.Open(store)
	if unread != nil {
		fmt.Fprintln(c.err, unread)
	}
	if book.Now != nil {
		var tried []byte
		if v != nil && v.hash == book.Now.Hash {
			tried = v.text
		}
		if unkept := book.Resume(tried); unkept != nil {
			fmt.Fprintln(c.err, unkept)
		}
	}
	if strict {
		return v, book, asConfigError(err)
	}
	if x := book.Applied; x != nil && v != nil && v.hash == x.Base {
		if kept, err := loadKept(c, path); err == nil && kept.hash == x.Hash {
			kept.source = x.Source
			return kept, book, nil
		}
	}
	if err == nil {
		failed := book.Failure(v.hash)
		if failed == nil || failed.Outcome == apply.Refused {
			return v, book, nil
		}
		err = errors.New(path + ": " + failureText(failed, v.cfg.Zone) + "; `gauger apply --again` tries it once more")
	}
	err = asConfigError(err)
	kept, keptErr := loadKept(c, path)
	switch {
	case keptErr != nil && v != nil && v.cfg != nil:
		return v, book, nil // better one that has failed than none
	case keptErr != nil:
		sayNoneKept(c, path, store)
		return nil, nil, err
	}
	fmt.Fprintln(c.err, err)
	fmt.Fprintln(c.err, "gauger: starting with the last good configuration, "+kept.source)
	kept.bad = err
	return kept, book, nil
}

// sayNoneKept says where the last good configuration was looked for in vain. Of a file that cannot be read, or in which no store.path can be
// found, nobody knows the store.
func sayNoneKept(c *call, path, store string) {
	if config.WrittenStorePath(path) != "" {
		return
	}
	fmt.Fprintf(c.err, "gauger: no last good configuration to start with is in %s, and %s names no other store: where the site's store.path was another folder, "+
		"its last good configuration is %s there; copy that to %s\n", store, path, lastGoodFile, path)
}

// configOnDisk says, whenever somebody looks, whether the file is another one than what is at work. v.bad is why that is the last good
// one; nil: it is the file's, or was applied in its place, of which inPlace knows. The file is read again only when something has changed.
func configOnDisk(path string, v *revision, inPlace func() standIn, failure func(hash string) string) func() string {
	var mu sync.Mutex
	var seen, seenApplied fs.FileInfo
	var place standIn
	var text, other string                            // other: hash of what is on the disk and not at work
	atWork, whole, bad := v.cfg.Hash(), v.hash, v.bad // what was applied has its strapping tables within
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		say := func() string {
			if why := failure(other); other != "" && why != "" { // it may have been tried since it was read
				return path + " is not at work: " + why
			}
			return text
		}
		info, err := os.Stat(path)
		was := place
		place = inPlace()
		applied, _ := os.Stat(place.source) // nil: there is none, or it is gone
		if err == nil && seen != nil && place == was && unchanged(info, seen) && unchanged(applied, seenApplied) {
			return say()
		}
		if err != nil {
			return path + " cannot be found any more: what was in it is at work; put it back before the next start"
		}
		seen, seenApplied = info, applied
		now, err := loadRevision(path)
		if other = ""; err == nil && now.cfg.Hash() != atWork && now.hash != whole && now.hash != place.base {
			other = now.hash
		}
		switch {
		case err != nil && bad == nil:
			text = path + " was changed and is bad; what was in it before is at work. `gauger check` shows every mistake; mend it before the next start"
		case err != nil:
			text = lastGoodDoubt(err)
		case now.cfg.Hash() == atWork || now.hash == whole:
			text = ""
		case now.hash == place.base:
			text = appliedDoubt(path, v.cfg.Store.Path, place.source, whole)
		case place.watched:
			text = path + " was changed and is not at work: another change is being watched; `gauger apply --back` ends that, then `systemctl reload gauger` takes it"
		case bad != nil:
			text = path + " is good again, and the last good one is still at work: " + takenBy(path, v.cfg, now.cfg)
		default:
			text = path + " was changed and is not at work: " + takenBy(path, v.cfg, now.cfg)
		}
		return say()
	}
}

// unchanged says that a file is as it was, or that there is none still.
func unchanged(now, was fs.FileInfo) bool {
	return now == was || now != nil && was != nil && now.ModTime().Equal(was.ModTime()) && now.Size() == was.Size()
}

// appliedDoubt says that a file was applied in the place of the daemon's own. Of one that is only tried, and of one that was pulled, nothing
// is to be copied.
func appliedDoubt(path, store, source, hash string) string {
	if source == "" || strings.Contains(source, "://") {
		return ""
	}
	copies, loses := copyCommand(path, store, source, hash)
	return fmt.Sprintf("%[1]s is not what is at work: %[2]s was applied in its place; %[3]s: `%[4]s` makes it say the same%[5]s, or `sudo gauger apply %[1]s` puts it in force again", path, source, nextStart(path, store), copies, behind(", ", loses))
}

// nextStart says what is read after a file was applied in the place of the daemon's own.
func nextStart(path, store string) string {
	return fmt.Sprintf("the next start takes what was applied too, from %s, but only until %s is changed", absolute(filepath.Join(store, lastGoodFile)), absolute(path))
}

// copyCommand has the daemon's file say what is at work: that of the file that was applied, as long as it says so in the other's place; else that
// of the copy in the store, and what is lost by it.
func copyCommand(path, store, source, hash string) (copies, loses string) {
	if v, err := revisionIn(source, filepath.Dir(path)); err != nil || v.hash != hash {
		source, loses = filepath.Join(store, lastGoodFile), "without the comments, and with each strapping table written out in it, so that its own file counts no more"
	}
	return "sudo cp " + absolute(source) + " " + absolute(path), loses
}

// absolute is a path for who stands elsewhere than the daemon.
func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// takenBy is the command that takes a changed file. New offsets step the levels: without a word that this is meant the watch goes back.
func takenBy(path string, old, now *config.Config) string {
	var stepping []string
	for _, t := range now.Tanks {
		if o := old.Tank(t.ID); o != nil && o.Offset != t.Offset {
			stepping = append(stepping, t.ID)
		}
	}
	if len(stepping) == 0 {
		return "`systemctl reload gauger` takes it"
	}
	return fmt.Sprintf("`sudo gauger apply --steps %s %s` takes it, with the new offsets", strings.Join(stepping, ","), absolute(path))
}

// configDoubts of a configuration that is at work all the same: values that only `check` refuses, and that
// it is the last good one because the present one is bad.
func configDoubts(strict []config.Problem, bad error) (doubts []string) {
	if bad != nil {
		doubts = append(doubts, lastGoodDoubt(bad))
	}
	for _, p := range strict {
		doubts = append(doubts, p.String())
	}
	return doubts
}

// lastGoodDoubt says why the last good configuration is at work.
func lastGoodDoubt(bad error) string {
	if _, mistakes := errors.AsType[config.Problems](bad); !mistakes {
		return "the last good configuration is at work, and not the file's: " + firstLine(bad.Error())
	}
	return "the configuration is bad and the last good one is at work; `gauger check` shows every mistake: " + firstLine(bad.Error())
}

// maxDoubtEvents of a configuration's doubts at each start.
const maxDoubtEvents = 5

// firstDoubts are at most maxDoubtEvents, and a line that counts the rest.
func firstDoubts(doubts []string) []string {
	if more := len(doubts) - maxDoubtEvents; more > 0 {
		return append(slices.Clone(doubts[:maxDoubtEvents]), fmt.Sprintf("the configuration has %d more values that `gauger check` refuses", more))
	}
	return doubts
}

// keepLastGood keeps a copy of a configuration that works; changed: it is another one than before.
func keepLastGood(store string, text []byte) (changed bool, err error) {
	to := filepath.Join(store, lastGoodFile)
	if old, err := disk.ReadFile(to, mostKept); err == nil && bytes.Equal(old, text) {
		return false, nil
	}
	return true, apply.WriteFile(to, text)
}

// mostKept bounds what is read of the last good configuration, in bytes: four times what one may hold.
const mostKept = 1 << 20

// tellDoubts tells of a configuration's doubts in status and in events.
func (d *daemon) tellDoubts(doubts []string) error {
	d.server.ConfigDoubts = doubts
	now := time.Now().Round(0)
	for _, note := range firstDoubts(doubts) {
		if err := d.agent.Ledger.QueueEvent(ledger.Event{Rule: eventrules.ConfigChanged, Start: now, End: now, Note: note}); err != nil {
			return agent.UnlessFull(d.log, err, "the event about the configuration could not be stored")
		}
	}
	return nil
}

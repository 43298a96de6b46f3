package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"gauger/agent"
	"gauger/agent/eventrules"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
	"gauger/outbox/disk"
)

// lastGoodFile is the copy of the last configuration that worked, in the store.
const lastGoodFile = "last-good.yaml"

// loadOrFallBack reads the configuration. A bad one at boot must not leave the site blind: the last good one takes
// its place, and bad says what is wrong.
func loadOrFallBack(c *call, path string, strict bool) (cfg *config.Config, bad, err error) {
	cfg, err = config.Load(path)
	if err == nil || strict {
		return cfg, nil, asConfigError(err)
	}
	err = asConfigError(err)
	store := c.getenv("STATE_DIRECTORY")
	if store == "" {
		store = config.StorePath(path)
	}
	kept := filepath.Join(store, lastGoodFile)
	b, readErr := readKept(kept)
	if readErr != nil {
		return nil, nil, err
	}
	good, goodErr := config.Parse(kept, b, filepath.Dir(path))
	if goodErr != nil {
		return nil, nil, err
	}
	fmt.Fprintln(c.err, err)
	fmt.Fprintln(c.err, "gauger: starting with the last good configuration, "+kept)
	return good, err, nil
}

// configOnDisk says, whenever somebody looks, whether the file is another one than what is at work. bad is why that is the last good
// one; nil: it is the file's. The file is read again only when it has changed.
func configOnDisk(path string, atWork uint32, bad error) func() string {
	var mu sync.Mutex
	var seen fs.FileInfo
	var text string
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		info, err := os.Stat(path)
		if err == nil && seen != nil && info.ModTime().Equal(seen.ModTime()) && info.Size() == seen.Size() {
			return text
		}
		if err != nil {
			return path + " cannot be found any more: what was in it is at work; put it back before the next start"
		}
		seen = info
		cfg, err := config.Load(path)
		switch {
		case err != nil && bad == nil:
			text = path + " was changed and is bad; what was in it before is at work. `gauger check` shows every mistake; mend it before the next start"
		case err != nil:
			text = lastGoodDoubt(err)
		case bad != nil:
			text = path + " is good again, and the last good one is still at work: `systemctl restart gauger` takes it"
		case cfg.Hash() != atWork:
			text = path + " was changed and is not at work: `systemctl restart gauger` takes it"
		default:
			text = ""
		}
		return text
	}
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

// keepLastGood keeps a copy of a configuration that works, with the strapping tables that lie in files of their own; changed: it
// is another one than before.
func keepLastGood(path string, cfg *config.Config) (changed bool, err error) {
	b, err := collectors.ReadFile(path, mostKept)
	if err != nil {
		return false, err
	}
	if b, err = cfg.Whole(b); err != nil {
		return false, err
	}
	to := filepath.Join(cfg.Store.Path, lastGoodFile)
	if old, err := readKept(to); err == nil && bytes.Equal(old, b) {
		return false, nil
	}
	f, err := disk.OpenFile(to+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return false, err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	return true, os.Rename(to+".new", to)
}

// mostKept bounds what is read of the last good configuration, in bytes: four times what one may hold.
const mostKept = 1 << 20

// readKept reads a file of the store, and follows no link in its place.
func readKept(path string) ([]byte, error) {
	f, err := disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, mostKept))
	return b, errors.Join(err, f.Close())
}

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

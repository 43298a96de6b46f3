// Package audit keeps who has done what to a site, and who was not let: a line of JSON for each, in two files of the store that
// take each other's place.
//
// # Decisions
//
// A line is on disk before its act is answered, so that a cut loses at most what nobody was told of. A line that a cut has torn
// is passed over and counted, and the next one begins on a line of its own.
//
// Only what changes something is written, and each file is opened for one line and closed again: there are a few of them a
// day, and nothing is held between them. When the newer file is full it takes the place of the older one: the trail is never
// longer than twice maxFile, and its oldest line says how far back it reaches.
package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gauger/outbox/disk"
)

// Bounds, in bytes.
const (
	maxFile = 512 << 10
	maxText = 600 // of one text in a line
)

// What became of an act.
const (
	Done   = "done"
	Failed = "failed"
	Denied = "denied"
)

// Entry is one act.
type Entry struct {
	At      time.Time `json:"at"`
	UID     int       `json:"uid"`
	Name    string    `json:"name"`
	PID     int       `json:"pid"`
	From    string    `json:"from,omitempty"` // the address from which the status page was asked; the uid is -1 then
	Verb    string    `json:"verb"`
	Record  string    `json:"record,omitempty"`  // what it was done to
	Figures string    `json:"figures,omitempty"` // that it books, and in the place of what
	Result  string    `json:"result"`            // Done, Failed or Denied
	Reason  string    `json:"reason,omitempty"`  // that the person gave
	Why     string    `json:"why,omitempty"`     // it failed or was denied
	Skipped int       `json:"skipped,omitempty"` // denials of this user that were counted since the last one here, and not kept
}

// Log is what the trail holds.
type Log struct {
	Entries []Entry   `json:"entries"` // those that were asked for, the oldest first
	Torn    int       `json:"torn"`    // lines that cannot be read
	Oldest  time.Time `json:"oldest"`  // of all that is left; zero: nothing is
}

// Trail is the trail of one store.
type Trail struct {
	path string
	mu   sync.Mutex
	err  error
	last []Entry // the newest, the oldest first; nil: nobody has asked for them
}

// mostNewest are kept in memory for whoever looks often.
const mostNewest = 20

// New is the trail in a folder. Nothing is made before the first entry.
func New(folder string) *Trail { return &Trail{path: filepath.Join(folder, "audit.log")} }

func (t *Trail) older() string { return t.path + ".1" }

// Add puts an entry on disk.
func (t *Trail) Add(e Entry) error {
	for _, text := range []*string{&e.Name, &e.From, &e.Verb, &e.Record, &e.Figures, &e.Reason, &e.Why} {
		if len(*text) > maxText { // behind a whole word: what a refusal advises is not read wrong
			short := (*text)[:maxText-len(" …")]
			if word := strings.LastIndexByte(short, ' '); word > 0 {
				short = short[:word]
			}
			*text = strings.ToValidUTF8(short, "") + " …"
		}
	}
	line, err := json.Marshal(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		err = t.append(append(line, '\n'))
	}
	if t.last != nil && err == nil {
		t.last = append(t.last[max(0, len(t.last)-mostNewest+1):], e)
	}
	if err != nil {
		err = fmt.Errorf("write the audit trail: %w", err)
	}
	t.err = err
	return err
}

// Err is why the newest entry could not be kept; nil: it was.
func (t *Trail) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

func (t *Trail) append(line []byte) error {
	f, err := disk.OpenFile(t.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	size := info.Size()
	if size+int64(len(line)) > maxFile {
		if err := errors.Join(f.Close(), os.Rename(t.path, t.older())); err != nil {
			return err
		}
		return t.append(line)
	}
	last := []byte{'\n'}
	if size > 0 {
		_, err = f.ReadAt(last, size-1)
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if err == nil {
		_, err = f.Write(line)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil && size == 0 {
		err = disk.SyncDir(t.path)
	}
	return err
}

// Newest gives the last n entries, the newest first; none where they cannot be read, which Read tells. The files are read once, and
// then only written.
func (t *Trail) Newest(n int) []Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		all, err := t.read(time.Time{})
		if err != nil {
			return nil
		}
		t.last = append([]Entry{}, all.Entries[max(0, len(all.Entries)-mostNewest):]...)
	}
	newest := slices.Clone(t.last[max(0, len(t.last)-n):])
	slices.Reverse(newest)
	return newest
}

// Read gives the entries of a time and later.
func (t *Trail) Read(since time.Time) (Log, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.read(since)
}

// read is Read with the lock held.
func (t *Trail) read(since time.Time) (Log, error) {
	all := Log{Entries: []Entry{}}
	for _, path := range []string{t.older(), t.path} {
		text, err := disk.ReadFile(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return all, fmt.Errorf("read the audit trail: %w", err)
		}
		for line := range bytes.Lines(text) {
			var e Entry
			switch err := json.Unmarshal(line, &e); {
			case len(bytes.TrimSpace(line)) == 0:
				continue
			case err != nil || e.Verb == "":
				all.Torn++
				continue
			}
			if all.Oldest.IsZero() {
				all.Oldest = e.At
			}
			if !e.At.Before(since) {
				all.Entries = append(all.Entries, e)
			}
		}
	}
	return all, nil
}

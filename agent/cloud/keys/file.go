package keys

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	files "gauger/outbox/disk"
)

// ringState is the JSON of the key file.
type ringState struct {
	Generation uint64       `json:"generation"`
	Slots      [2]slotState `json:"slots"`
	Login      time.Time    `json:"login,omitzero"`
}

// slotState is one of the two keys that the service knows, with every value that it may have at the moment.
type slotState struct {
	Entries []entry   `json:"entries"` // newest first
	Expires Expiry    `json:"expires"`
	Renewed time.Time `json:"renewed,omitzero"` // the last renewal that was answered
	Doubt   time.Time `json:"doubt,omitzero"`   // a renewal was sent then and its answer is not known
	Tries   int       `json:"tries,omitempty"`  // how many were sent in vain since
	SeedSum string    `json:"seed_sum"`         // fingerprint of the seed that was taken last
	Serial  uint64    `json:"serial,omitempty"` // the state's generation at that renewal: tells what came first, whatever the clock
	Warned  int       `json:"warned,omitempty"` // days before the end at which a person was warned last; 0: not yet
}

// entry is one value of a slot.
type entry struct {
	Value   string     `json:"value"`
	Source  string     `json:"source"` // file, renewal, login
	State   valueState `json:"state"`
	Since   time.Time  `json:"since"`
	OK      time.Time  `json:"ok,omitzero"` // when the service last accepted it, for data or for a renewal
	Refused time.Time  `json:"refused,omitzero"`
}

// keyFile outlives restarts: a file and the generation before it, both 0600.
// An empty path keeps nothing.
type keyFile struct {
	path string
	on   disk
}

// disk holds files by their paths. A rename is certain once sync of the folder has returned nil.
type disk interface {
	read(path string) ([]byte, error)
	write(path string, b []byte) error
	rename(from, to string) error
	sync(folder string) error
}

const fileMagic = "gauger-keys 1"

// maxKeyFile, in bytes, is many times what a key file has.
const maxKeyFile = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// load gives the newest state that is whole. damaged names a file that was there and could not be used.
func (f keyFile) load() (state ringState, found bool, damaged error) {
	if f.path == "" {
		return state, false, nil
	}
	for _, path := range [...]string{f.path, f.path + ".old"} {
		s, err := f.readState(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			damaged = errors.Join(damaged, err)
		case !found || s.Generation > state.Generation:
			state, found = s, true
		}
	}
	return state, found, damaged
}

func (f keyFile) readState(path string) (s ringState, err error) {
	body, err := f.readBody(path)
	if err == nil && json.Unmarshal(body, &s) != nil { // the cause may quote a key
		err = fmt.Errorf("reading keys: %s cannot be understood", path)
	}
	return s, err
}

// readBody wants the checksum to be right.
func (f keyFile) readBody(path string) ([]byte, error) {
	b, err := f.on.read(path)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	first, body, found := bytes.Cut(b, []byte("\n"))
	if !found || string(first) != fileHead(body) {
		return nil, fmt.Errorf("reading keys: %s is damaged", path)
	}
	return body, nil
}

func fileHead(body []byte) string {
	return fmt.Sprintf("%s %08x", fileMagic, crc32.Checksum(body, castagnoli))
}

// The first and the last time that are written. JSON has no later year, and refuses the whole state for one.
var (
	firstTime = time.Unix(0, 0).UTC()
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// writable is the time, as near as it can be written; none stays none.
func writable(t time.Time) time.Time {
	switch {
	case t.IsZero():
		return time.Time{}
	case t.Before(firstTime):
		return firstTime
	case t.After(lastTime):
		return lastTime
	}
	return t.UTC()
}

// writable is the state with times that can be written.
func (s ringState) writable() ringState {
	s.Login = writable(s.Login)
	for i := range s.Slots {
		slot := &s.Slots[i]
		slot.Expires.At, slot.Renewed, slot.Doubt = writable(slot.Expires.At), writable(slot.Renewed), writable(slot.Doubt)
		slot.Entries = slices.Clone(slot.Entries)
		for j := range slot.Entries {
			e := &slot.Entries[j]
			e.Since, e.OK, e.Refused = writable(e.Since), writable(e.OK), writable(e.Refused)
		}
	}
	return s
}

// save writes the state so that a cut at any moment leaves this one or the one before.
func (f keyFile) save(s ringState) error {
	if f.path == "" {
		return nil
	}
	body, err := json.Marshal(s.writable())
	if err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	if err := f.on.write(f.path+".new", append([]byte(fileHead(body)+"\n"), body...)); err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	if _, err := f.readBody(f.path); err == nil { // a damaged file must not push out the sound one before it
		if err := f.on.rename(f.path, f.path+".old"); err != nil {
			return fmt.Errorf("writing keys: %w", err)
		}
	}
	if err := f.on.rename(f.path+".new", f.path); err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	if err := f.on.sync(filepath.Dir(f.path)); err != nil {
		return fmt.Errorf("writing keys: the folder: %w", err)
	}
	return nil
}

// realDisk is the file system.
type realDisk struct{}

func (realDisk) rename(from, to string) error { return os.Rename(from, to) }

func (realDisk) read(path string) ([]byte, error) { return files.ReadFile(path, maxKeyFile) }

func (realDisk) write(path string, b []byte) error {
	file, err := files.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if err == nil {
		err = file.Chmod(0o600) // an older file of this name may have been open to others
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

func (realDisk) sync(folder string) error {
	dir, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

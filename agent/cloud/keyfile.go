package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keyState is what the key file holds.
type keyState struct {
	Generation uint64     `json:"generation"`
	Slots      [2]keySlot `json:"slots"`
	Login      time.Time  `json:"login,omitzero"`
}

// keySlot is one of the two keys that the service knows, with every value that it may have at the moment.
type keySlot struct {
	Entries []keyEntry `json:"entries"` // newest first
	Expires Expiry     `json:"expires"`
	Renewed time.Time  `json:"renewed,omitzero"` // the last renewal that was answered
	Doubt   time.Time  `json:"doubt,omitzero"`   // a renewal was sent then and its answer is not known
	SeedSum string     `json:"seed_sum"`         // fingerprint of the seed that was taken last
}

// keyEntry is one value of a slot.
type keyEntry struct {
	Value   string    `json:"value"`
	Source  string    `json:"source"` // file, renewal, login
	State   keyTrial  `json:"state"`
	Since   time.Time `json:"since"`
	OK      time.Time `json:"ok,omitzero"`
	Refused time.Time `json:"refused,omitzero"`
}

// keyFile is where the ring keeps its state over restarts: a file and the generation before it, both 0600.
// An empty path keeps nothing.
type keyFile struct{ path string }

const keyMagic = "gauger-keys 1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// load gives the newest state that is whole. damaged names a file that was there and could not be used.
func (f keyFile) load() (state keyState, found bool, damaged error) {
	if f.path == "" {
		return state, false, nil
	}
	for _, path := range [...]string{f.path, f.path + ".old"} {
		s, err := readKeys(path)
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

func readKeys(path string) (keyState, error) {
	var s keyState
	b, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("reading keys: %w", err)
	}
	head, body, found := bytes.Cut(b, []byte("\n"))
	if !found || string(head) != fmt.Sprintf("%s %08x", keyMagic, crc32.Checksum(body, castagnoli)) {
		return s, fmt.Errorf("reading keys: %s is damaged", path)
	}
	if json.Unmarshal(body, &s) != nil { // the cause may quote a key
		return s, fmt.Errorf("reading keys: %s cannot be understood", path)
	}
	return s, nil
}

// save writes the state so that a cut at any moment leaves this one or the one before.
func (f keyFile) save(s keyState) error {
	if f.path == "" {
		return nil
	}
	body, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	head := fmt.Sprintf("%s %08x\n", keyMagic, crc32.Checksum(body, castagnoli))
	root, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	defer root.Close()
	name := filepath.Base(f.path)
	if err := writeSynced(root, name+".new", append([]byte(head), body...)); err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	if _, err := readKeys(f.path); err == nil { // a damaged file must not push out the sound one before it
		if err := root.Rename(name, name+".old"); err != nil {
			return fmt.Errorf("writing keys: %w", err)
		}
	}
	if err := root.Rename(name+".new", name); err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	return syncDir(root)
}

func writeSynced(root *os.Root, name string, b []byte) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
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

func syncDir(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("writing keys: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("writing keys: the folder: %w", err)
	}
	return nil
}

package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"gauger/outbox/outboxtest"
)

// savingChild names the file to which a child saves a key, and does nothing else.
const savingChild = "GAUGER_SAVE_KEYS"

func init() {
	path := os.Getenv(savingChild)
	if path == "" {
		return
	}
	runtime.LockOSThread() // only the first thread is traced
	if err := (keyFile{path, realDisk{}}).save(stateOf("second")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func stateOf(key string) ringState {
	return ringState{Slots: [2]slotState{{Entries: []entry{{Value: key}}}}}
}

// A power cut at any instant leaves a whole key: the new file is on the disk before the names change, and the names are on it
// before the save has succeeded.
func TestANewKeyIsOnTheDiskBeforeTheOldOneIsGivenUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "keys")
	if err := (keyFile{path, realDisk{}}).save(stateOf("first")); err != nil {
		t.Fatal(err)
	}
	var calls []string
	status, err := outboxtest.Trace(dir, []string{os.Args[0]}, append(os.Environ(), savingChild+"="+path), nil, func(c *outboxtest.Call) {
		switch {
		case c.Name == "fsync" && c.File < 0:
			calls = append(calls, "sync the folder")
		case c.Name == "fsync":
			calls = append(calls, "sync "+c.Path)
		case c.Name == "renameat":
			calls = append(calls, "rename "+c.Path+" to "+c.To)
		}
	})
	if err != nil {
		t.Skipf("a child cannot be traced here: %v", err)
	}
	want := []string{"sync keys.new", "rename keys to keys.old", "rename keys.new to keys", "sync the folder"}
	if status != 0 || !slices.Equal(calls, want) {
		t.Errorf("status %d, calls %q, want %q", status, calls, want)
	}
}

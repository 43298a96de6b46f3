package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gauger/config"
)

// A store that may grow beyond its disk is told of before it does; a folder that is not made yet lies on its parent's disk.
func TestCheckSaysThatTheDiskIsSmallerThanTheStore(t *testing.T) {
	folder := t.TempDir()
	before := roomFor(filepath.Join(folder, "not", "made"))
	if before <= 0 {
		t.Fatalf("room %d", before)
	}
	if err := os.WriteFile(filepath.Join(folder, "outbox.db"), make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := roomFor(folder); got <= 0 {
		t.Errorf("room %d", got)
	}
	for room, warns := range map[config.Size]bool{-1: false, 8 << 20: true, 144 << 20: false, 1 << 40: false} {
		if got := noRoom("/var/lib/gauger", 144<<20, room); strings.Contains(got, "room for 8.0 MiB of that only") != warns {
			t.Errorf("%d: %q", room, got)
		}
	}
}

package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A file is made longer by a step, where it is shorter than wanted and the step does not pass the most.
func TestExtend(t *testing.T) {
	const step = 1 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("content"), 0o640); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name         string
		wanted, most int64
		end          int64
	}{
		{"long enough", 6, 1 << 30, 7},
		{"no room", 7, step, 7},
		{"a step", 7, 1 << 30, 7 + step},
		{"again long enough", step, 1 << 30, 7 + step},
	} {
		if end, err := Extend(path, c.wanted, step, c.most); err != nil || end != c.end {
			t.Errorf("%s: %d, %v; want %d", c.name, end, err, c.end)
		}
	}
	if file, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(file, []byte("content\x00")) || len(file) != 7+step {
		t.Errorf("%d bytes, %v", len(file), err)
	}
	if _, err := Extend(filepath.Join(path, "none"), 1, step, 1<<30); err == nil {
		t.Error("a file that is not there was made longer")
	}
}

// A pipe in a file's place is told, and not waited at.
func TestOpenFileWaitsAtNoPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE} {
		f, err := OpenFile(name, flag, 0o600)
		if f != nil || !errors.Is(err, ErrNoFile) {
			t.Errorf("flags %#x: %v, %v", flag, f, err)
		}
	}
}

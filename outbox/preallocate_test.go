package outbox

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A growing backlog finds blocks that are written already, and the file stays within its quota.
func TestTheFileIsStretchedAheadOfItsPages(t *testing.T) {
	const quota = 6 << 20
	b := oneStream(t, filepath.Join(t.TempDir(), "outbox.db"), quota)
	for n := 0; b.length.Load() < quota-2*allocSize; n++ {
		if err := b.Update(appends(100, string(make([]byte, 1000)))); err != nil {
			t.Fatalf("after %d commits: %v", n, err)
		}
		_, length := pagesOf(t, b)
		if ready := length - b.length.Load(); b.length.Load() > allocSize && (ready < preallocateAhead/2 || length > quota) {
			t.Fatalf("%d bytes are ready behind %d bytes of pages", ready, b.length.Load())
		}
	}
	file, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if rest := file[b.length.Load():]; len(bytes.Trim(rest, "\x00")) > 0 {
		t.Error("what is ready is not blank")
	}
	if err := reopened(t, b).Close(); err != nil {
		t.Error(err)
	}
}

func TestStretchFile(t *testing.T) {
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
		{"no room", 7, allocSize, 7},
		{"a step", 7, 1 << 30, 7 + allocSize},
		{"again long enough", allocSize, 1 << 30, 7 + allocSize},
	} {
		if end, err := preallocateFile(path, c.wanted, c.most); err != nil || end != c.end {
			t.Errorf("%s: %d, %v; want %d", c.name, end, err, c.end)
		}
	}
	if file, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(file, []byte("content\x00")) || len(file) != 7+allocSize {
		t.Errorf("%d bytes, %v", len(file), err)
	}
	if _, err := preallocateFile(filepath.Join(path, "none"), 1, 1<<30); err == nil {
		t.Error("a file that is not there was made longer")
	}
}

package outbox

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// A growing backlog finds blocks that are written already, and the file stays within its quota.
func TestTheFileGrowsAheadOfItsPages(t *testing.T) {
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

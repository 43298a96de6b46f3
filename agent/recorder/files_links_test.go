package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gauger/outbox/disk"
)

// TestNoLinkIsFollowed: a link in the place of a ring's file leads nobody to another file; in the place of its folder only
// root may lay one.
func TestNoLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	ring, victim := filepath.Join(dir, "ring"), filepath.Join(dir, "victim")
	if err := errors.Join(os.Mkdir(ring, 0o700), os.WriteFile(victim, []byte("another's"), 0o600), os.Symlink(victim, fileName(ring, 1))); err != nil {
		t.Fatal(err)
	}
	f, err := openFiles(ring, Options{MaxBytes: 64 * pageSize})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.append(make([]byte, pageSize), time.Now()); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("append: %v", err)
	}
	if _, err := disk.OpenFile(fileName(ring, 1), os.O_RDONLY, 0); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("read: %v", err)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "another's" {
		t.Errorf("the file behind the link holds %q (%v)", text, err)
	}
	way := filepath.Join(dir, "way")
	if err := os.Symlink(ring, way); err != nil {
		t.Fatal(err)
	}
	mine := os.Geteuid() == 0
	if _, err := Open(way, Options{MaxBytes: 64 * pageSize}); (err == nil) != mine {
		t.Errorf("a folder that is a link of one's own (root's: %v): %v", mine, err)
	}
	if !mine {
		return
	}
	if err := os.Lchown(way, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(way, Options{MaxBytes: 64 * pageSize}); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a folder that is somebody else's link: %v", err)
	}
}

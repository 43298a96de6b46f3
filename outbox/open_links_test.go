package outbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"gauger/outbox"
)

// TestNoLinkIsFollowed: a link in the place of any of the outbox's files leads nobody to another file, and is not taken for a
// damaged one either. A link on the way to the folder is followed.
func TestNoLinkIsFollowed(t *testing.T) {
	for _, end := range []string{"", ".lock", ".receipts", ".high", ".new"} {
		dir := t.TempDir()
		real, way := filepath.Join(dir, "real"), filepath.Join(dir, "way")
		path := filepath.Join(way, "outbox.db")
		if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, way)); err != nil {
			t.Fatal(err)
		}
		if end != "" && end != ".lock" { // of a box that is in use
			b, err := outbox.Open(path, outbox.Options{Streams: site()})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		}
		victim := filepath.Join(dir, "victim")
		if err := os.Remove(path + end); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := errors.Join(os.WriteFile(victim, []byte("another's"), 0o600), os.Symlink(victim, path+end)); err != nil {
			t.Fatal(err)
		}
		b, err := outbox.Open(path, outbox.Options{Streams: site(), Preflight: func(string) error { return nil }})
		optional := end == ".high" || end == ".new" // marks are told of and done without; what a cut has left is removed
		if (err == nil) != optional || err != nil && (!errors.Is(err, syscall.ELOOP) || errors.Is(err, outbox.ErrDamaged)) {
			t.Errorf("outbox.db%s as a link: %v", end, err)
		}
		if err == nil {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "another's" {
			t.Errorf("outbox.db%s as a link: the file behind it holds %q (%v)", end, text, err)
		}
	}
	if _, err := outbox.Check(linked(t)); !errors.Is(err, syscall.ELOOP) || errors.Is(err, outbox.ErrDamaged) {
		t.Errorf("check: %v", err)
	}
}

// linked is a link to a plain file.
func linked(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, file+".link")); err != nil {
		t.Fatal(err)
	}
	return file + ".link"
}

package outbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"gauger/outbox"
)

// gone are the ways in which a store goes away under the running program. Each is given the store's folder, which holds
// the box alone.
var gone = map[string]func(dir string) error{
	"the store is removed": os.RemoveAll,
	"the file is removed":  func(dir string) error { return os.Remove(filepath.Join(dir, "outbox.db")) },
	"the store is renamed": func(dir string) error { return os.Rename(dir, dir+".old") },
	"another store takes its place": func(dir string) error {
		return errors.Join(os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "outbox.db"), nil, 0o600))
	},
	"a copy of the file takes its place": func(dir string) error {
		path := filepath.Join(dir, "outbox.db")
		b, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path+".copy", b, 0o600), os.Rename(path+".copy", path))
	},
	"a file stands in the store's place": func(dir string) error {
		return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
	},
	"another disk is mounted over it": func(dir string) error { return unix.Mount("none", dir, "tmpfs", 0, "size=1m") },
	"its disk is unmounted":           func(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) },
}

// The store goes away while the box is open. A look at it notices, a commit does not count, and a box that is opened
// then works.
func TestAStoreThatGoesAwayIsNoticed(t *testing.T) {
	for name, goes := range gone {
		for _, looks := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				dir := filepath.Join(scratch(t), "store")
				if strings.Contains(name, "disk") {
					dir = filepath.Join(smallDisk(t, "size=16m"), "store")
				}
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if name == "its disk is unmounted" {
					if err := unix.Mount("none", dir, "tmpfs", 0, "size=8m"); err != nil {
						t.Fatal(err)
					}
				}
				path := filepath.Join(dir, "outbox.db")
				var told notes
				b := open(t, path, outbox.Options{MaxBytes: 1 << 20, Notify: told.add})
				put(t, b, "tickets", "one")
				if err := b.InPlace(); err != nil {
					t.Fatalf("at its place: %v", err)
				}
				if err := goes(dir); err != nil {
					t.Fatal(err)
				}
				err := b.Update(func(*outbox.Tx) error { return nil })
				if looks {
					err = b.InPlace()
				} else if err == nil {
					err = b.Update(func(tx *outbox.Tx) error { tx.Append("tickets", outbox.Record{Body: []byte("two")}); return nil })
				}
				if !errors.Is(err, outbox.ErrGone) || !errors.Is(err, outbox.ErrDead) || !errors.Is(b.Err(), outbox.ErrGone) {
					t.Errorf("it ended with %v, and then says %v", err, b.Err())
				}
				shut(t, b)
				if name == "a file stands in the store's place" {
					return
				}
				b = open(t, path, outbox.Options{MaxBytes: 1 << 20})
				put(t, b, "tickets", "three")
				shut(t, b)
			})
		}
	}
}

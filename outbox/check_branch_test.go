package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"testing"

	"go.etcd.io/bbolt"

	"gauger/outbox/boltfile"
)

// One bit of a branch page: a key there is not the first one of the page that it leads to. Everything can still be
// read, but bbolt would write the page's successor beside it, and give it out as free while it is in use.
func TestBranchThatDoesNotFitItsPagesIsDamage(t *testing.T) {
	path := t.TempDir() + "/outbox.db"
	b := openTickets(t, path)
	for i := range 40 {
		err := b.Update(func(tx *Tx) error { tx.Put(fmt.Sprintf("tank/%d0", 10+i), make([]byte, 400)); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	branch := branchInUse(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	spoilBranch(t, path, branch)
	if _, err := Check(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("checked: %v", err)
	}
	var told []Note
	b, err := Open(path, Options{MaxBytes: 4 << 20, Streams: []Stream{{Name: "tickets"}}, Notify: func(n Note) { told = append(told, n) },
		Preflight: func(path string) error { _, err := Check(path); return err }})
	if err != nil {
		t.Fatal(err)
	}
	if names, err := b.Names("tank/"); len(names) != 40 || err != nil || len(told) != 1 {
		t.Errorf("%d pieces, %v, told %+v", len(names), err, told)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// branchInUse finds a branch page as bbolt sees it.
func branchInUse(t *testing.T, b *Box) (id int) {
	t.Helper()
	err := b.db.View(func(tx *bbolt.Tx) error {
		for n := boltfile.FirstPage; ; n++ {
			page, err := tx.Page(n)
			if page == nil || err != nil {
				return err
			}
			if page.Type == "branch" {
				id = n
			}
		}
	})
	if id == 0 || err != nil {
		t.Fatalf("no branch page: %v", err)
	}
	return id
}

// spoilBranch makes the second key of a branch page one less.
func spoilBranch(t *testing.T, path string, id int) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	element := file[id*os.Getpagesize()+boltfile.PageHeader+boltfile.ElementSize:]
	position, size := binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[4:])
	element[position+size-1]--
	if err := os.WriteFile(path, file, 0o640); err != nil {
		t.Fatal(err)
	}
}

package outbox

import (
	"errors"
	"fmt"
	"os"
	"testing"

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
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	spoilBranch(t, path)
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

// spoilBranch makes the second key of the branch page that is in use one less.
func spoilBranch(t *testing.T, path string) {
	t.Helper()
	p, err := boltfile.Open(path, boxLayout)
	if err != nil {
		t.Fatal(err)
	}
	p.Walk(func(string, []byte, []byte) {})
	var at int64
	for id := uint64(boltfile.FirstPage); id < p.PageCount(); id++ {
		pg, err := p.Load(id)
		if err != nil || !p.Reached.Has(id) || pg.Flags != boltfile.FlagBranch {
			continue
		}
		e, err := pg.Element(1)
		if err != nil {
			t.Fatal(err)
		}
		at = pg.At + int64(len(pg.Buf)-cap(e.Key)+len(e.Key)) - 1
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], at)
	last[0]--
	if at == 0 || err != nil {
		t.Fatalf("no branch page: %v", err)
	}
	if _, err := f.WriteAt(last[:], at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

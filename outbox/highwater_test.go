package outbox

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// marked returns how many records of a stream the newest marks beside a box count as accepted.
func marked(t *testing.T, b *Box, stream string) uint64 {
	t.Helper()
	n, err := HighWater(b.path+".high", stream)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Tickets and memos are marked at once, values with every tenth commit, after ten seconds, when somebody looks after the file, and when the box is closed.
func TestMarksAreWrittenWhenSomethingRestsOnThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := Open(t.TempDir()+"/outbox.db", Options{Streams: []Stream{{Name: "tags", Batch: 10, Keep: ThinFirst}, {Name: "tickets", Journal: true}, {Name: "memos"}}})
		if err != nil {
			t.Fatal(err)
		}
		put := func(stream string) {
			t.Helper()
			if err := b.Update(func(tx *Tx) error { tx.Append(stream, Record{Body: []byte("x")}); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		var got []uint64
		for range 25 {
			put("tags")
			got = append(got, marked(t, b, "tags"))
		}
		put("tickets")
		got = append(got, marked(t, b, "tags"), marked(t, b, "tickets"))
		put("tags")
		<-time.After(highEvery)
		got = append(got, marked(t, b, "tags"))
		put("tags")
		got = append(got, marked(t, b, "tags"))
		put("tags")
		got = append(got, marked(t, b, "tags"))
		if err := b.InPlace(); err != nil {
			t.Fatal(err)
		}
		got = append(got, marked(t, b, "tags"))
		put("memos")
		put("memos")
		got = append(got, marked(t, b, "memos"))
		put("tags")
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		got = append(got, marked(t, b, "tags"))
		want := []uint64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11, 21, 21, 21, 21, 21, 25, 1, 25, 27, 27, 28, 2, 29}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the marks went\n%v, want\n%v", got, want)
		}
	})
}

// A disk forgets the last commits, as the package comment says: of values the marks know from the next tenth commit on, of tickets at
// once, and with them of the values before.
func TestMarksTellOfTicketsThatTheDiskForgot(t *testing.T) {
	for _, ticket := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			o := Options{Streams: []Stream{{Name: "tags", Batch: 10, Keep: ThinFirst}, {Name: "tickets", Journal: true}}}
			path := t.TempDir() + "/outbox.db"
			b, err := Open(path, o)
			if err != nil {
				t.Fatal(err)
			}
			put := func(stream string) {
				t.Helper()
				if err := b.Update(func(tx *Tx) error { tx.Append(stream, Record{Body: []byte("x")}); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			put("tags")
			remembered, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			put("tags")
			want := Counts{Accepted: 1, Waiting: 1}
			if ticket {
				put("tickets")
				want = Counts{Accepted: 2, Waiting: 1, Lost: 1}
			}
			marks, err := os.ReadFile(path + ".high")
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(os.WriteFile(path, remembered, 0o600), os.WriteFile(path+".high", marks, 0o600)); err != nil {
				t.Fatal(err)
			}
			told := 0
			o.Notify = func(n Note) {
				if n.Kind == NoteSalvaged {
					told++
				}
			}
			if b, err = Open(path, o); err != nil {
				t.Fatal(err)
			}
			if c := b.Counts(); c["tags"] != want || (c["tickets"].Lost == 1) != ticket || (told == 1) != ticket {
				t.Errorf("with a ticket %v: %+v, told %d times", ticket, c, told)
			}
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

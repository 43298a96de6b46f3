package outbox_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// An older copy of the box file is put in the place of the newer one, as a disk does that forgets: no number is used
// twice, what is lost is counted, what had left the queue is not sent again, and it is told once.
func TestAnOlderFileIsNoticed(t *testing.T) {
	for _, receipts := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			path := boxPath(t)
			b := open(t, path, outbox.Options{})
			put(t, b, "tickets", "one", "two", "three")
			shut(t, b)
			older := read(t, path)
			b = open(t, path, outbox.Options{})
			var service outboxtest.Service
			drainSome(t, b, "tickets", &service, 2)
			put(t, b, "tickets", "four", "five")
			shut(t, b)
			write(t, path, older)
			if !receipts {
				if err := os.Remove(path + ".receipts"); err != nil {
					t.Fatal(err)
				}
			}
			var told notes
			b = open(t, path, outbox.Options{Notify: told.add})
			put(t, b, "tickets", "six")
			want := outbox.Counts{Accepted: 6, Delivered: 2, Waiting: 2, Lost: 2}
			if !receipts {
				want = outbox.Counts{Accepted: 6, Waiting: 2, Dead: 2, Lost: 2}
			}
			if c := counts(t, b, "tickets"); c != want {
				t.Errorf("with receipts %v: %+v, want %+v", receipts, c, want)
			}
			drained(t, b, "tickets", &service)
			if sent := bodies(service.Taken("tickets")); !slices.Equal(sent, []string{"one", "two", "three", "six"}) {
				t.Errorf("with receipts %v: sent were %q", receipts, sent)
			}
			if last := service.Taken("tickets")[3]; last.Seq != 6 {
				t.Errorf("a number was used again: %d", last.Seq)
			}
			shut(t, b)
			b = open(t, path, outbox.Options{Notify: told.add})
			shut(t, b)
			if told.count(outbox.NoteSalvaged) != 1 || !strings.Contains(told.all[0].Message, "tickets 2 records are lost") || !slices.Equal(told.all[0].Behind, []string{"tickets"}) {
				t.Errorf("told was %v", told.all)
			}
		})
	}
}

// A box whose marks were lost, or that never had any, opens without a word.
func TestMarksMayBeMissing(t *testing.T) {
	path := boxPath(t)
	b := open(t, path, outbox.Options{})
	put(t, b, "tickets", "one")
	shut(t, b)
	for _, spoil := range []func() error{
		func() error { return os.Remove(path + ".high") },
		func() error { return os.WriteFile(path+".high", []byte("no marks"), 0o640) },
		func() error { return os.Truncate(path+".high", 5000) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		var told notes
		b := open(t, path, outbox.Options{Notify: told.add})
		put(t, b, "tickets", "more")
		shut(t, b)
		if len(told.all) > 0 {
			t.Errorf("told was %v", told.all)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A file that was emptied or deleted after all of it had left loses no record, and all that was kept beside them: it is told, once, and of a new
// site nothing is.
func TestAnEmptiedFileIsTold(t *testing.T) {
	for name, had := range map[string][]string{"delivered": {"one", "two"}, "new": nil} {
		for how, empty := range map[string]func(path string) error{"emptied": func(path string) error { return os.Truncate(path, 0) }, "deleted": os.Remove} {
			synctest.Test(t, func(t *testing.T) {
				path := boxPath(t)
				b := open(t, path, outbox.Options{})
				if had != nil {
					put(t, b, "tickets", had...)
					drained(t, b, "tickets", &outboxtest.Service{})
				}
				shut(t, b)
				if err := empty(path); err != nil {
					t.Fatal(err)
				}
				var told notes
				for range 2 {
					b = open(t, path, outbox.Options{Notify: told.add})
					if c, n := counts(t, b, "tickets"), uint64(len(had)); c.Accepted != n || c.Delivered != n {
						t.Errorf("%s, %s: %+v", name, how, c)
					}
					shut(t, b)
				}
				if n := told.count(outbox.NoteSalvaged); (n == 1) != (had != nil) || n > 1 {
					t.Errorf("%s, %s: told was %v", name, how, told.all)
				} else if n == 1 && (!strings.Contains(told.all[0].Message, "EMPTIED") || !slices.Equal(told.all[0].Behind, []string{"tickets"})) {
					t.Errorf("%s, %s: told was %+v", name, how, told.all[0])
				}
			})
		}
	}
}

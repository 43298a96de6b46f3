package outbox_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// backlog makes a box as it is after a week: much delivered, some dead letters, a queue, state.
func backlog(t *testing.T, path string) (bodies map[string][]byte) {
	b := open(t, path, outbox.Options{MaxBytes: 4 * mib})
	defer shut(t, b)
	bodies = map[string][]byte{}
	rng := rand.New(rand.NewPCG(3, 3))
	for _, stream := range []string{"tickets", "events", "tags"} {
		for i := range 15 {
			err := b.Update(func(tx *outbox.Tx) error {
				for range 20 {
					body := fmt.Appendf(nil, "%s %x", stream, make([]byte, rng.IntN(300)))
					seq := tx.Append(stream, outbox.Record{Body: body})
					bodies[fmt.Sprint(stream, seq)] = body
				}
				tx.Put("tank/"+stream, fmt.Append(nil, "state ", i))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		drainSome(t, b, stream, &outboxtest.Service{}, 100)
	}
	return bodies
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o640); err != nil {
		t.Fatal(err)
	}
}

// Nothing tells what is current, neither a root nor receipts: then nothing is sent, everything is kept for a person,
// and of the state the youngest is taken.
func TestNoStaleCopyIsSent(t *testing.T) {
	path, n := boxPath(t), &notes{}
	backlog(t, path)
	b := open(t, path, outbox.Options{})
	for i := range 40 {
		err := b.Update(func(tx *outbox.Tx) error { tx.Put("tank/tags", fmt.Append(nil, "younger ", i)); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	shut(t, b)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(file[:8192])
	write(t, path, file)
	if err := os.Remove(path + ".receipts"); err != nil {
		t.Fatal(err)
	}
	b = open(t, path, outbox.Options{Notify: n.add})
	defer shut(t, b)
	for _, stream := range []string{"tickets", "events", "tags"} {
		if c := counts(t, b, stream); c.Waiting != 0 || c.Dead < 200 {
			t.Errorf("%s: %+v", stream, c)
		}
	}
	for name, want := range map[string]string{"tank/tickets": "state 14", "tank/events": "state 14", "tank/tags": "younger 39"} {
		if v, err := b.Get(name); string(v) != want || err != nil {
			t.Errorf("state %s is %q, %v", name, v, err)
		}
	}
	if n.count(outbox.NoteSalvaged) != 1 {
		t.Errorf("%d notes", n.count(outbox.NoteSalvaged))
	}
}

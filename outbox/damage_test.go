package outbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// mutations are the ways in which a file goes bad. Each gets the bytes of a sound one.
var mutations = map[string]func(rng *rand.Rand, file []byte) []byte{
	"bit": func(rng *rand.Rand, file []byte) []byte {
		file[rng.IntN(len(file))] ^= 1 << rng.IntN(8)
		return file
	},
	"zero page": func(rng *rand.Rand, file []byte) []byte {
		clear(pageOf(rng, file))
		return file
	},
	"garbage page": func(rng *rand.Rand, file []byte) []byte {
		page := pageOf(rng, file)
		for i := range page {
			page[i] = byte(rng.Uint32())
		}
		return file
	},
	"stale page": func(rng *rand.Rand, file []byte) []byte {
		copy(pageOf(rng, file), bytes.Clone(pageOf(rng, file)))
		return file
	},
	"truncated": func(rng *rand.Rand, file []byte) []byte { return file[:rng.IntN(len(file))] },
	"both metas": func(rng *rand.Rand, file []byte) []byte {
		clear(file[:8192])
		return file
	},
}

func pageOf(rng *rand.Rand, file []byte) []byte {
	at := rng.IntN(len(file)/4096) * 4096
	return file[at : at+4096]
}

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

// Whatever is done to the file, the box opens, sends no wrong byte, doubles nothing that it had delivered, and accounts
// for every record.
func TestDamagedFiles(t *testing.T) {
	dir := scratch(t)
	sound := filepath.Join(dir, "sound.db")
	bodies := backlog(t, sound)
	file, err := os.ReadFile(sound)
	if err != nil {
		t.Fatal(err)
	}
	used := len(bytes.TrimRight(file, "\x00"))
	file = file[:(used+4095)/4096*4096]
	receipts, err := os.ReadFile(sound + ".receipts")
	if err != nil {
		t.Fatal(err)
	}
	for name, mutate := range mutations {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, uint64(len(name))))
			d := &damage{t: t, bodies: bodies}
			for i := range 12 {
				path := filepath.Join(dir, fmt.Sprint(name, i, ".db"))
				write(t, path, mutate(rng, bytes.Clone(file)))
				write(t, path+".receipts", receipts)
				d.judge(path)
			}
			t.Logf("%d of 12 files were found damaged; %d of %d waiting records were kept for sending, %d became dead letters, %d are lost",
				d.damaged, d.waiting, 12*600, d.dead, d.lost)
			if name == "both metas" && d.dead != 12*600 {
				t.Errorf("%d dead letters: what the receipts show as delivered is none", d.dead)
			}
			if name != "truncated" && name != "both metas" && d.waiting < 12*600*90/100 {
				t.Errorf("only %d of %d records survived one bad page each", d.waiting, 12*600)
			}
		})
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o640); err != nil {
		t.Fatal(err)
	}
}

// Nothing tells what is current, neither a root nor receipts: then nothing is sent, everything is kept for a person,
// and of the state the youngest is taken.
func TestNothingInDoubtIsSent(t *testing.T) {
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

// damage judges files one by one and sums up.
type damage struct {
	t                            *testing.T
	bodies                       map[string][]byte
	damaged, waiting, dead, lost int
}

func (d *damage) judge(path string) {
	d.t.Helper()
	checked := 0
	n := &notes{}
	b := open(d.t, path, outbox.Options{MaxBytes: 4 * mib, Notify: n.add, Preflight: func(path string) error {
		checked++
		_, err := outbox.Check(path)
		if err != nil && !errors.Is(err, outbox.ErrDamaged) {
			d.t.Errorf("check: %v", err)
		}
		return err
	}})
	d.damaged += n.count(outbox.NoteSalvaged)
	s := &outboxtest.Service{}
	for _, stream := range []string{"tickets", "events", "tags"} {
		c := counts(d.t, b, stream)
		d.waiting, d.dead, d.lost = d.waiting+int(c.Waiting), d.dead+int(c.Dead), d.lost+int(c.Lost)
		drainAll(d.t, b, stream, s)
		for _, r := range s.Taken(stream) {
			if want := d.bodies[fmt.Sprint(stream, r.Seq)]; !bytes.Equal(r.Body, want) || r.Seq <= 100 {
				d.t.Fatalf("%s: record %s %d was sent as %q", path, stream, r.Seq, r.Body)
			}
		}
		put(d.t, b, stream, "after")
		counts(d.t, b, stream)
	}
	if s.Doubled() != 0 {
		d.t.Errorf("%s: %d doubled", path, s.Doubled())
	}
	shut(d.t, b)
	if _, err := outbox.Check(path); err != nil {
		d.t.Errorf("after mending: %v", err)
	}
}

// TestTheChildSeesNoSecret: of the environment it gets what Go's runtime reads, and no more.
func TestTheChildSeesNoSecret(t *testing.T) {
	t.Setenv("GAUGER_PRIMARY_KEY", "a-secret-key")
	t.Setenv("PRIMARY_KEY", "a-secret-key")
	t.Setenv("GOMEMLIMIT", "40MiB")
	path := boxPath(t)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := outbox.CheckInChild("/bin/sh", "-c", "env; exit 1")(path)
	if err == nil || !strings.Contains(err.Error(), "GOMEMLIMIT=40MiB") || strings.Contains(err.Error(), "a-secret-key") {
		t.Errorf("the child's environment: %v", err)
	}
}

package outbox_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

var mutantStreams = []string{"tickets", "events", "tags", "refused"}

// recordID names a record.
type recordID struct {
	stream string
	seq    uint64
}

// mutantBase is a sound box file, and the truth about it.
type mutantBase struct {
	name      string
	quota     int64
	file      []byte
	earlier   [][]byte            // the same file at earlier times, newest first
	beside    map[string][]byte   // the files beside it, by what their names end with
	bodies    map[recordID][]byte // of every record that ever was
	kept      map[recordID]bool   // waiting, or a dead letter
	delivered map[recordID]bool
	shown     map[recordID]bool   // delivered, and a receipt shows it
	state     map[string][]string // every value that each piece of state had, newest last

	needles map[uint64][]needle // by sequence number
}

// needle is a record as it stands in the file: its key and behind it its value.
type needle struct {
	id    recordID
	bytes []byte
}

// accepted counts the records that a stream ever had.
func (b *mutantBase) accepted(stream string) (n uint64) {
	for id := range b.bodies {
		if id.stream == stream {
			n++
		}
	}
	return n
}

// healthy finds the records whose bytes stand in a file, wherever that is.
func (b *mutantBase) healthy(file []byte) map[recordID]bool {
	found := map[recordID]bool{}
	for at := 0; at+8 < len(file); at++ {
		seq := binary.BigEndian.Uint64(file[at:])
		if seq == 0 || seq > 1<<20 {
			continue
		}
		for _, n := range b.needles[seq] {
			if bytes.HasPrefix(file[at:], n.bytes) {
				found[n.id] = true
			}
		}
	}
	return found
}

// mutantBases makes the boxes that are damaged: no record, a few, a week's, thousands, large ones on overflow pages,
// what long deletes leave, and a full one that has evicted.
func mutantBases(t *testing.T) []*mutantBase {
	t.Helper()
	return []*mutantBase{
		makeBase(t, "empty", func(*maker) {}),
		makeBase(t, "one", func(m *maker) { m.records("tickets", 1, 400) }),
		makeBase(t, "few", func(m *maker) {
			for _, stream := range mutantStreams {
				m.records(stream, 3, 200)
			}
			m.deliver("tickets", 1)
		}),
		makeBase(t, "week", (*maker).week),
		makeBase(t, "thousands", func(m *maker) {
			for range 12 {
				m.records("tags", 400, 150)
				m.records("events", 80, 300)
				m.records("tickets", 6, 700)
			}
			m.deliver("tags", 1500)
			m.deliver("tickets", 30)
			m.records("tags", 300, 150)
		}),
		makeBase(t, "large", func(m *maker) {
			for range 10 {
				m.records("tickets", 1, 60_000)
				m.records("events", 3, 9_000)
				m.records("tags", 4, 4_000)
			}
			m.deliver("events", 10)
			m.deliver("tickets", 3)
			m.records("events", 3, 20_000)
		}),
		makeBase(t, "drained", func(m *maker) {
			for range 20 {
				m.records("tags", 250, 200)
			}
			m.deliver("tags", 4990)
			m.records("tickets", 3, 500)
			m.records("events", 20, 200)
		}),
		makeBase(t, "full", func(m *maker) {
			for range 30 {
				m.records("tags", 150, 900)
				m.records("events", 15, 900)
				m.records("tickets", 5, 900)
			}
		}),
	}
}

// maker builds one base.
type maker struct {
	t    *testing.T
	rng  *rand.Rand
	path string
	base *mutantBase
	b    *outbox.Box
	s    *outboxtest.Service
	n    int
}

func makeBase(t *testing.T, name string, script func(*maker)) *mutantBase {
	t.Helper()
	m := &maker{t: t, rng: rand.New(rand.NewPCG(3, uint64(len(name)))), path: filepath.Join(scratch(t), name+".db"), s: &outboxtest.Service{},
		base: &mutantBase{name: name, quota: 4 * mib, bodies: map[recordID][]byte{}, kept: map[recordID]bool{}, delivered: map[recordID]bool{},
			shown: map[recordID]bool{}, beside: map[string][]byte{}, state: map[string][]string{}, needles: map[uint64][]needle{}}}
	m.b = open(t, m.path, outbox.Options{MaxBytes: m.base.quota})
	script(m)
	m.snapshot()
	if name != "empty" {
		m.states("tickets")
	}
	m.truth()
	shut(t, m.b)
	m.base.file = m.read(m.path)
	m.keepBeside()
	m.needles()
	return m.base
}

// keepBeside keeps the files beside the box; the end of one that is empty is left out, and read as empty all the same.
func (m *maker) keepBeside() {
	names, err := filepath.Glob(m.path + ".*")
	if err != nil {
		m.t.Fatal(err)
	}
	for _, name := range names {
		content := bytes.TrimRight(m.read(name), "\x00")
		if rest := len(content) % filePage; rest > 0 {
			content = append(content, make([]byte, filePage-rest)...)
		}
		m.base.beside[strings.TrimPrefix(name, m.path)] = content
	}
}

func (m *maker) read(path string) []byte {
	m.t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	return file
}

// snapshot keeps the file as it is now for stale pages: the newest three, and some older ones.
func (m *maker) snapshot() {
	m.base.earlier = append([][]byte{m.read(m.path)}, m.base.earlier...)
	if len(m.base.earlier) > 6 {
		m.base.earlier = append(m.base.earlier[:3], m.base.earlier[4:]...)
	}
}

// records appends n records in one commit, and changes the state of the stream.
func (m *maker) records(stream string, n, size int) {
	m.t.Helper()
	m.snapshot()
	m.n++
	name, value := m.nextState(stream)
	var all []recordID
	var bodies [][]byte
	err := m.b.Update(func(tx *outbox.Tx) error {
		for i := range n {
			body := fmt.Appendf(nil, "%s %d.%d %x", stream, m.n, i, make([]byte, m.rng.IntN(size/2)+size/4))
			all = append(all, recordID{stream, tx.Append(stream, outbox.Record{Body: body, Address: "well-1"})})
			bodies = append(bodies, body)
		}
		tx.Put(name, []byte(value))
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	for i, id := range all {
		m.base.bodies[id] = bodies[i]
	}
}

// nextState makes up the next value of one of a stream's tanks.
func (m *maker) nextState(stream string) (name, value string) {
	name = fmt.Sprintf("tank/%s-%d", stream, m.n%7)
	value = fmt.Sprintf("state %d %s", m.n, strings.Repeat("x", m.rng.IntN(500)))
	m.base.state[name] = append(m.base.state[name], value)
	return name, value
}

// states changes one piece of state and nothing else.
func (m *maker) states(stream string) {
	m.n++
	name, value := m.nextState(stream)
	if err := m.b.Update(func(tx *outbox.Tx) error { tx.Put(name, []byte(value)); return nil }); err != nil {
		m.t.Fatal(err)
	}
}

func (m *maker) deliver(stream string, n uint64) {
	m.snapshot()
	drainSome(m.t, m.b, stream, m.s, n)
}

// week is a box as it is after a week: much delivered, dead letters, attempts without an answer, a queue, state.
func (m *maker) week() {
	for range 8 {
		for _, stream := range mutantStreams {
			m.records(stream, 30, 300)
		}
	}
	m.s.Refuse = func(_ string, r outbox.Record) bool { return r.Seq%9 == 4 }
	m.deliver("events", 90)
	m.s.Refuse = nil
	m.deliver("tickets", 60)
	m.deliver("tags", 100)
	m.s.Fault = func(int, string, []outbox.Record) (outbox.Answer, bool, bool) {
		return outbox.Answer{Class: outbox.Ambiguous}, false, true
	}
	drainOnce(m.t, m.b, "tickets", m.s)
	m.s.Fault = nil
	m.records("tags", 20, 200)
}

// truth notes where every record is.
func (m *maker) truth() {
	for _, stream := range mutantStreams {
		for _, state := range []outbox.State{outbox.Waiting, outbox.Dead} {
			all, err := outboxtest.All(m.b, stream, state)
			if err != nil {
				m.t.Fatal(err)
			}
			for _, e := range all {
				m.base.kept[recordID{stream, e.Record.Seq}] = true
			}
		}
		for _, r := range m.s.Taken(stream) {
			m.base.delivered[recordID{stream, r.Seq}] = true
		}
		shown, err := m.b.Entries(stream, outbox.Delivered, 0, 256)
		for err == nil && len(shown) > 0 {
			for _, e := range shown {
				m.base.shown[recordID{stream, e.Record.Seq}] = true
			}
			shown, err = m.b.Entries(stream, outbox.Delivered, shown[len(shown)-1].Record.Seq, 256)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// needles reads what stands in the file, by bbolt itself.
func (m *maker) needles() {
	db, err := bbolt.Open(m.path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // read only
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bk *bbolt.Bucket) error {
			kind, stream, found := strings.Cut(string(name), "/")
			if !found || kind != "q" && kind != "d" {
				return nil
			}
			return bk.ForEach(func(k, v []byte) error {
				id := recordID{stream, binary.BigEndian.Uint64(k)}
				m.base.needles[id.seq] = append(m.base.needles[id.seq], needle{id: id, bytes: append(bytes.Clone(k), v...)})
				return nil
			})
		})
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// drainOnce lets a drain send one request, whatever comes of it.
func drainOnce(t *testing.T, b *outbox.Box, stream string, to outbox.Sender) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := b.Drain(ctx, stream, senderFunc(func(batch []outbox.Record) []outbox.Answer {
		defer cancel()
		return to.Send(ctx, stream, batch)
	}))
	if err != nil {
		t.Fatal(err)
	}
}

package outboxtest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"gauger/outbox"
)

// Model holds in memory all that a box must hold: a map per place where a record can be. Tests do everything twice, to a box
// and to a Model, and Compare.
type Model struct {
	Streams map[string]*Queue
	State   map[string][]byte
}

// Queue is one stream of a Model.
type Queue struct {
	Next          uint64 // sequence number of the next record
	Waiting, Dead map[uint64]outbox.Record
	Delivered     uint64
	Dropped       uint64
	Evicted       uint64
}

// NewModel returns the model of an empty box with these streams.
func NewModel(streams ...string) *Model {
	m := &Model{Streams: map[string]*Queue{}, State: map[string][]byte{}}
	for _, name := range streams {
		m.Streams[name] = &Queue{Next: 1, Waiting: map[uint64]outbox.Record{}, Dead: map[uint64]outbox.Record{}}
	}
	return m
}

// Append adds a record and returns the number that the box must have given it.
func (m *Model) Append(stream string, r outbox.Record) uint64 {
	q := m.Streams[stream]
	r.Seq = q.Next
	q.Next++
	q.Waiting[r.Seq] = r
	return r.Seq
}

// Put sets a piece of state; nil deletes it.
func (m *Model) Put(name string, v []byte) {
	if v == nil {
		delete(m.State, name)
		return
	}
	m.State[name] = v
}

// Drain moves what a working service leaves: refused records are dead letters, the others delivered.
func (m *Model) Drain(stream string, refused func(outbox.Record) bool) {
	q := m.Streams[stream]
	for seq, r := range q.Waiting {
		if refused(r) {
			q.Dead[seq] = r
		} else {
			q.Delivered++
		}
	}
	clear(q.Waiting)
}

// Retry puts a dead letter back; false: there is none.
func (m *Model) Retry(stream string, seq uint64) bool {
	q := m.Streams[stream]
	r, ok := q.Dead[seq]
	if ok {
		delete(q.Dead, seq)
		q.Waiting[seq] = r
	}
	_, waits := q.Waiting[seq] // what waits is tried, which is what was asked
	return waits
}

// Drop gives a record up; false: there is none.
func (m *Model) Drop(stream string, seq uint64) bool {
	return m.takeOut(stream, seq, &m.Streams[stream].Dropped)
}

// Confirm moves what a person has seen at the service; false: there is none.
func (m *Model) Confirm(stream string, seq uint64) bool {
	return m.takeOut(stream, seq, &m.Streams[stream].Delivered)
}

// Evict moves what gave way to the quota: a waiting record or a dead letter; false: there is none.
func (m *Model) Evict(stream string, seq uint64) bool {
	return m.takeOut(stream, seq, &m.Streams[stream].Evicted)
}

func (m *Model) takeOut(stream string, seq uint64, counted *uint64) bool {
	q := m.Streams[stream]
	for _, place := range []map[uint64]outbox.Record{q.Waiting, q.Dead} {
		if _, ok := place[seq]; ok {
			delete(place, seq)
			*counted++
			return true
		}
	}
	return false
}

// Compare returns the first difference between the model and a box, byte by byte, or nil.
func (m *Model) Compare(b *outbox.Box) error {
	counts := b.Counts()
	for name, q := range m.Streams {
		want := outbox.Counts{Accepted: q.Next - 1, Delivered: q.Delivered, Dropped: q.Dropped, Evicted: q.Evicted,
			Waiting: uint64(len(q.Waiting)), Dead: uint64(len(q.Dead))}
		if counts[name] != want {
			return fmt.Errorf("counts of %s: %+v, want %+v", name, counts[name], want)
		}
		if !counts[name].Balanced() {
			return fmt.Errorf("counts of %s do not add up: %+v", name, counts[name])
		}
		for state, place := range map[outbox.State]map[uint64]outbox.Record{outbox.Waiting: q.Waiting, outbox.Dead: q.Dead} {
			if err := comparePlace(b, name, state, place); err != nil {
				return err
			}
		}
	}
	return m.compareState(b)
}

func comparePlace(b *outbox.Box, stream string, state outbox.State, want map[uint64]outbox.Record) error {
	have, err := All(b, stream, state)
	if err != nil {
		return err
	}
	seqs := slices.Sorted(maps.Keys(want))
	if len(have) != len(seqs) {
		return fmt.Errorf("%s has %d %s records, want %d", stream, len(have), state, len(seqs))
	}
	for i, e := range have {
		if err := Same(e.Record, want[seqs[i]]); err != nil {
			return fmt.Errorf("%s, %s: %w", stream, state, err)
		}
	}
	return nil
}

// Same returns how two records differ in what is kept on disk, or nil.
func Same(have, want outbox.Record) error {
	if have.Seq != want.Seq || have.Address != want.Address || !bytes.Equal(have.Body, want.Body) ||
		!have.At.Equal(want.At) || have.Clock != want.Clock || have.Config != want.Config {
		return fmt.Errorf("record %+v, want %+v", have, want)
	}
	return nil
}

// All lists a whole state of a stream, page by page.
func All(b *outbox.Box, stream string, state outbox.State) (all []outbox.Entry, err error) {
	for after := uint64(0); ; {
		page, err := b.Entries(stream, state, after, 0)
		if err != nil || len(page) == 0 {
			return all, err
		}
		all = append(all, page...)
		after = page[len(page)-1].Record.Seq
	}
}

func (m *Model) compareState(b *outbox.Box) error {
	names, err := b.Names("")
	if err != nil {
		return err
	}
	if want := slices.Sorted(maps.Keys(m.State)); !slices.Equal(names, want) {
		return fmt.Errorf("state names %q, want %q", names, want)
	}
	for name, want := range m.State {
		have, err := b.Get(name)
		if err != nil {
			return err
		}
		if have == nil || !bytes.Equal(have, want) {
			return fmt.Errorf("state %q is %q, want %q", name, have, want)
		}
	}
	return nil
}

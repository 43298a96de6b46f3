package outbox

import (
	"bytes"
	"fmt"
	"time"
)

// maxName is the longest name of a piece of state, in bytes.
const maxName = 512

// Tx stages what one Update wants on disk. It is valid only inside the function that Update calls, and only in its
// goroutine.
type Tx struct {
	b        *Box
	appended []staged
	bytes    uint64 // what they add to the quota
	puts     []put
	err      error // the first thing that cannot be stored; Update returns it
}

type staged struct {
	s          *stream
	key, value []byte
}

type put struct {
	name  string
	value []byte // nil: delete
}

// Append stages a record at the end of a stream and returns its sequence number. The record's Seq and Attempt are
// ignored. A record that cannot be stored (unknown stream, empty body, address over MaxAddress) makes Update fail.
func (t *Tx) Append(stream string, r Record) uint64 {
	s := t.b.streams[stream]
	switch {
	case s == nil:
		t.fail(fmt.Errorf("append to %q: %w", stream, ErrStream))
		return 0
	case len(r.Body) == 0 || len(r.Address) > MaxAddress:
		t.fail(fmt.Errorf("append to %s: body of %d bytes, address of %d: %w", stream, len(r.Body), len(r.Address), ErrRefused))
		return 0
	}
	r.Seq = s.led.next + s.staged
	s.staged++
	if r.At.IsZero() {
		r.At = time.Now()
	}
	key, value := encodeRecord(stream, r)
	t.appended = append(t.appended, staged{s: s, key: key, value: value})
	t.bytes += recordSize(value)
	return r.Seq
}

// Put stages a piece of state under a name; nil deletes it, an empty value is one. The bytes are copied.
func (t *Tx) Put(name string, v []byte) {
	if name == "" || len(name) > maxName {
		t.fail(fmt.Errorf("put state %.40q: name of %d bytes: %w", name, len(name), ErrRefused))
		return
	}
	if v != nil {
		v = append([]byte{}, v...)
	}
	t.puts = append(t.puts, put{name: name, value: v})
}

// Get returns a copy of the state under a name, as this and all earlier transactions left it; nil: none. When the file
// cannot be read it returns nil and Update fails.
func (t *Tx) Get(name string) []byte {
	for i := len(t.puts) - 1; i >= 0; i-- {
		if t.puts[i].name == name {
			return bytes.Clone(t.puts[i].value)
		}
	}
	v, err := t.b.getStaged(name)
	if err != nil {
		t.fail(err)
	}
	return v
}

func (t *Tx) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

func recordSize(value []byte) uint64 { return pageCost(len(value)) }

// end forgets how many records were staged, whatever became of them. The box's lock is held.
func (t *Tx) end() {
	for _, a := range t.appended {
		a.s.staged = 0
	}
}

// merge hands what was staged over to the group that will be committed. The box's lock is held.
func (t *Tx) merge(g *group) {
	for _, a := range t.appended {
		g.put(a.s.queue, a.key, a.value)
		a.s.led.next++
		a.s.led.Accepted++
		a.s.led.Waiting++
		a.s.led.bytes += recordSize(a.value)
		g.touch(a.s)
		g.wakes(a.s)
	}
	for _, p := range t.puts {
		g.putState(p.name, p.value)
	}
}

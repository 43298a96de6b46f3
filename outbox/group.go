package outbox

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// group collects for one commit everything that was staged while the commit before it ran. Whoever waits for it first
// leads: it waits for its turn and commits for all; the others wait for it. There is no timer.
type group struct {
	staging
	generation uint64            // set when the group is sealed
	state      map[string][]byte // staged state, nil values are deletions
	touched    []*stream         // streams whose counts changed
	woken      []*stream         // streams that got records to send
	leaving    []recordRef       // records that this group moves or removes
	receipts   []streamReceipt   // that follow the commit
	follows    int               // how many have staged after the first
	led        bool              // somebody commits it, or is about to
	done       chan struct{}
	err        error
}

// staging is the memory of a group that the next one can use again.
type staging struct {
	ops []op
	buf []byte // keys and values are cut from it
}

// What a staging may keep: a thousand records of a few hundred bytes. More is given back.
const (
	maxSpareOps = 2048
	maxSpareBuf = 512 << 10
)

// alloc gives n bytes that stay as they are until the group is committed.
func (t *staging) alloc(n int) []byte {
	if cap(t.buf)-len(t.buf) < n {
		t.buf = make([]byte, 0, max(n, min(2*cap(t.buf), maxSpareBuf), 4096))
	}
	at := len(t.buf)
	t.buf = t.buf[:at+n]
	return t.buf[at : at+n : at+n]
}

// reuse empties it, and drops what is too large to be kept.
func (t staging) reuse() staging {
	if cap(t.ops) > maxSpareOps {
		t.ops = nil
	}
	if cap(t.buf) > maxSpareBuf {
		t.buf = nil
	}
	clear(t.ops)
	return staging{ops: t.ops[:0], buf: t.buf[:0]}
}

// op is one put, or with a nil value one delete.
type op struct {
	bucket     string
	key, value []byte
	sealed     bool // value is content that is sealed at the commit
}

// recordRef names a record in one of its buckets.
type recordRef struct {
	bucket string
	seq    uint64
}

// allocSeqKey is the key of a record, cut from the group's memory.
func (g *group) allocSeqKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64(g.alloc(keyLen)[:0], seq)
}

func (g *group) put(bucket string, key, value []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key, value: value})
}

func (g *group) putSealed(bucket string, key, content []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key, value: content, sealed: true})
}

func (g *group) remove(bucket string, key []byte) {
	g.ops = append(g.ops, op{bucket: bucket, key: key})
}

func (g *group) putState(name string, v []byte) {
	if g.state == nil {
		g.state = map[string][]byte{}
	}
	g.state[name] = v
}

func (g *group) touch(s *stream) { g.touched = appendNew(g.touched, s) }

func (g *group) wake(s *stream) { g.woken = appendNew(g.woken, s) }

func appendNew(all []*stream, s *stream) []*stream {
	if slices.Contains(all, s) {
		return all
	}
	return append(all, s)
}

func (g *group) writeTo(tx *bbolt.Tx, state *stateChecksum) error {
	w := opWriter{tx: tx, generation: g.generation}
	for i := range g.ops {
		if err := w.write(&g.ops[i]); err != nil {
			return err
		}
	}
	for name, v := range maps.All(g.state) {
		o := op{bucket: bucketState, key: []byte(name), value: v}
		if v != nil {
			o.value = seal(bucketState, o.key, g.generation, v)
		}
		state.replace(tx.Bucket([]byte(bucketState)).Get(o.key), o.value)
		if err := w.write(&o); err != nil {
			return err
		}
	}
	return w.write(&op{bucket: bucketMeta, key: []byte(keyGeneration), value: state.encode(), sealed: true})
}

// opWriter puts operations into one transaction.
type opWriter struct {
	tx         *bbolt.Tx
	generation uint64
	name       string        // of the bucket that the last operation was for
	bk         *bbolt.Bucket // that bucket
	cursor     *bbolt.Cursor // of that bucket, once something was deleted
}

func (w *opWriter) write(o *op) error {
	if w.bk == nil || w.name != o.bucket {
		bk := w.tx.Bucket([]byte(o.bucket))
		if bk == nil {
			return fmt.Errorf("bucket %s: %w", o.bucket, ErrDamaged)
		}
		bk.FillPercent = 1 // keys only ever grow: full pages, nothing inserted between
		w.name, w.bk, w.cursor = o.bucket, bk, nil
	}
	switch {
	case o.value == nil:
		return w.delete(o.key)
	case o.sealed:
		return w.bk.Put(o.key, seal(o.bucket, o.key, w.generation, o.value))
	}
	return w.bk.Put(o.key, o.value)
}

// delete is the bucket's Delete with one cursor for all keys.
func (w *opWriter) delete(key []byte) error {
	if w.cursor == nil {
		w.cursor = w.bk.Cursor()
	}
	if k, _ := w.cursor.Seek(key); !bytes.Equal(k, key) {
		return nil
	}
	return w.cursor.Delete()
}

package outbox

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// SyncMarks lets the high-water marks be synced after every commit, as they are at a site whose commits are further
// apart than highEvery.
func SyncMarks() { highEvery = 0 }

// HoldDeletions lets the deletion of a batch wait for the next one's however long that takes, so that all of a drain happens on
// its own thread; restore ends it.
func HoldDeletions() (restore func()) {
	was := minHold
	minHold = time.Hour
	return func() { minHold = was }
}

// HighWater tells how many records of a stream a high-water file counts as accepted; 0: it is not sound.
func HighWater(path, stream string) (accepted uint64, err error) {
	h, err := openHigh(path)
	if err != nil {
		return 0, err
	}
	var l streamCounts
	if r, ok := h.Streams[stream]; ok {
		err = l.decode(r.Counts)
	}
	if closing := h.close(); err == nil {
		err = closing
	}
	return l.Accepted, err
}

// RecordHeader counts the bytes of a record besides its address and its body.
const RecordHeader = recordHeader

// Used tells what the quota counts.
func Used(b *Box) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return (&evictionPlan{b: b}).used()
}

// Floor tells below which record of a stream all wait by themselves, and whether that is so.
func Floor(b *Box, stream string) (floor uint64, holds bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.streams[stream]
	holds = true
	err = b.view("read stream "+stream, func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(s.queueBucket)).Cursor()
		for k, v := c.First(); k != nil; k, v = c.Next() {
			seq, ok := keySeq(k)
			holds = holds && ok && (seq >= s.allIsolatedBelow || s.failingOf(seq, addressOf(v)) != nil)
		}
		return nil
	})
	return s.allIsolatedBelow, holds, err
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

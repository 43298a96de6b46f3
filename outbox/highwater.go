package outbox

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"gauger/outbox/disk"
)

// The high-water file tells, beside the box, how far each stream was at the last commit. A disk that confirms what it
// then forgets can bring back an older state of the box; what was accepted meanwhile would be lost without a word, its
// numbers used twice, and what was delivered sent again. Two slots are written in turn, each after a commit: CRC-32C
// over the rest, length of what follows, and that: highMarks as JSON.
const (
	highSlotSize = 4096
	highHeader   = 8
)

// highBelow: so many records below the highest delivered one are remembered.
const highBelow = 48

// The marks are written with each commit of a stream that never gives way, since a person was told that what is in it is kept; with every
// tenth of the others, with the first that is so long after the last sync of them, and when somebody looks whether the file is in its
// place; synced only after so long: they are there for disks that lie, and must not cost a page and a sync in each commit.
const highCommits = 10

var highEvery = 10 * time.Second

// highWater is the open file, and what its newest slot says.
type highWater struct {
	highMarks
	f        *os.File
	nextSlot int64 // the slot that is written next
	behind   int   // commits since the marks were written
	synced   time.Time
	absent   bool // there was no such file before
}

// highMarks are all streams', by name.
type highMarks struct {
	Generation uint64
	Streams    map[string]highMark
	Closed     bool `json:",omitempty"` // the box was closed with them: they know every record
}

// highMark is one stream's.
type highMark struct {
	Counts []byte   // as the box has them
	Top    uint64   // the highest number that was delivered
	Below  []uint64 // what waits before it: parked, refused once, retried
}

// openHigh opens or makes the file. Slots that are not sound count as empty.
func openHigh(path string) (*highWater, error) {
	_, before := os.Lstat(path)
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open the high-water marks: %w", err)
	}
	h := &highWater{f: f, highMarks: highMarks{Streams: map[string]highMark{}}, absent: errors.Is(before, os.ErrNotExist)}
	buf := make([]byte, 2*highSlotSize)
	n, err := f.ReadAt(buf, 0)
	if n < len(buf) && (err == nil || errors.Is(err, io.EOF)) { // takes its blocks now, so that a full disk does not matter later
		_, err = f.WriteAt(buf[n:], int64(n))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the high-water marks: %w", err), f.Close())
	}
	for slot := range int64(2) {
		if m, ok := decodeHigh(buf[slot*highSlotSize:][:highSlotSize]); ok && m.Generation >= h.Generation {
			h.highMarks, h.nextSlot = m, 1-slot
		}
	}
	return h, nil
}

func (m highMarks) encode() ([]byte, error) {
	content, err := json.Marshal(m)
	if err == nil && highHeader+len(content) > highSlotSize {
		err = fmt.Errorf("%d streams are too many", len(m.Streams))
	}
	v := binary.LittleEndian.AppendUint64(nil, uint64(len(content))<<32)
	v = append(v, content...)
	binary.LittleEndian.PutUint32(v, crc32.Checksum(v[4:], castagnoli))
	return v, err
}

func decodeHigh(v []byte) (m highMarks, ok bool) {
	n := binary.LittleEndian.Uint32(v[4:])
	if n > highSlotSize-highHeader || binary.LittleEndian.Uint32(v) != crc32.Checksum(v[4:highHeader+n], castagnoli) {
		return m, false
	}
	return m, json.Unmarshal(v[highHeader:highHeader+n], &m) == nil && m.Streams != nil
}

// markOf returns the mark and counts of a stream; not ok where none are known.
func (h *highWater) markOf(stream string) (r highMark, m streamCounts, ok bool) {
	if h != nil {
		r, ok = h.Streams[stream]
		ok = ok && m.decode(r.Counts) == nil
	}
	return r, m, ok
}

// covers reports whether there are marks, and they are no older than a generation of the box.
func (h *highWater) covers(gen uint64) bool {
	return h != nil && h.Generation > 0 && h.Generation >= gen
}

// hasLeft reports whether a record is known to have left the queue.
func (r highMark) hasLeft(seq uint64) bool {
	known := r.Top
	if len(r.Below) == highBelow {
		known = r.Below[highBelow-1]
	}
	return seq <= known && !slices.Contains(r.Below, seq)
}

// writeHighWater writes how far the streams are after a commit, when it is time. commitMu is held.
func (b *Box) writeHighWater(g *group) {
	h := b.highWater
	if h == nil || len(g.touched) == 0 {
		return
	}
	kept := slices.ContainsFunc(g.touched, func(s *stream) bool { return s.Keep == Never })
	if h.behind++; kept || h.behind >= highCommits || time.Since(h.synced) >= highEvery {
		b.catchUpHighWater()
	}
}

// catchUpHighWater brings the marks to where the file is. Not being able to is told once and costs nothing else. commitMu is held.
func (b *Box) catchUpHighWater() {
	h := b.highWater
	if h == nil || h.behind == 0 {
		return
	}
	h.Closed = false
	err := b.view("read how far the streams are", func(tx *bbolt.Tx) error {
		h.Generation, _ = generationOf(tx)
		for name, s := range b.streams {
			key := []byte(name)
			counts, _, err := unseal(bucketMeta, key, tx.Bucket([]byte(bucketMeta)).Get(key))
			if err != nil {
				continue // it has had no record
			}
			h.setStream(tx, name, bytes.Clone(counts), s.highestDelivered.Load())
		}
		return nil
	})
	if err == nil {
		err = h.writeSlot()
	}
	if err != nil {
		b.highWater = nil
		b.note(Note{Kind: NoteTrouble}, "the high-water marks cannot be kept until the next start, records are stored all the same: %v", errors.Join(err, h.close()))
	}
}

// markClosed says in the marks that they know every record. Without it they may not.
func (h *highWater) markClosed() error {
	if h == nil || h.Closed {
		return nil
	}
	h.Closed = true
	return h.writeSlot()
}

func (h *highWater) writeSlot() error {
	v, err := h.encode()
	if err != nil {
		return err
	}
	if _, err = h.f.WriteAt(v, h.nextSlot*highSlotSize); err != nil {
		return err
	}
	h.nextSlot, h.behind = 1-h.nextSlot, 0
	if time.Since(h.synced) < highEvery {
		return nil
	}
	h.synced = time.Now()
	return disk.SyncData(h.f)
}

func (h *highWater) close() error {
	if h == nil {
		return nil
	}
	return errors.Join(disk.SyncData(h.f), h.f.Close())
}

// setStream takes over how far a stream is after a commit: its counts as they stand in the file, and what waits below the
// highest delivered record.
func (h *highWater) setStream(tx *bbolt.Tx, stream string, counts []byte, highestDelivered uint64) {
	r := highMark{Counts: counts, Top: highestDelivered}
	c := tx.Bucket([]byte(prefixQueue + stream)).Cursor()
	for k, _ := c.First(); k != nil && len(r.Below) < highBelow; k, _ = c.Next() {
		seq, ok := keySeq(k)
		if seq >= r.Top {
			break
		}
		if ok {
			r.Below = append(r.Below, seq)
		}
	}
	h.Streams[stream] = r
}

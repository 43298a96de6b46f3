// Package receipts keeps what became of the records that left a queue: which were delivered or dropped, when, and with which
// answer. It knows no queue and sends nothing; whoever deletes a record writes its receipt first.
//
// Receipts give way as records do: one bounded file of segments, each of one stream. A full stream takes an expired segment,
// then new room, then the oldest of whoever gives way first (Options.Yields). A receipt that was added durably is on disk
// before Add returns. A slot that is torn is lost alone: its checksum does not hold.
//
// In order: receipt.go (one receipt in 256 bytes), file.go (the file and its segments), damage.go (what of it cannot be read, and the room on a disk that is full).
package receipts

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"sync"
	"time"

	"gauger/outbox/disk"
)

// The receipts file is segments of 256 slots, each of one stream: that of its first sound slot. A stream goes on in its
// newest segment. When that is full it takes, in this order, a segment whose receipts are older than they need be, room
// at the end of the file while the file may grow, or the oldest segment of the stream that gives way first. What the
// segment held is overwritten slot by slot.
//
// Receipts are written before the records are deleted: after a crash between the two they show what the service already
// has. Those of a Journal stream are on disk before; the others follow within ten seconds of further ones.
const (
	segmentSlots = 256
	segmentSize  = segmentSlots * slotSize
	// laxSync: so long the receipts of streams without a journal may stay in the kernel's memory.
	laxSync = 10 * time.Second
)

// File is the open receipts file.
type File struct {
	mu          sync.Mutex
	f           *os.File
	keepFor     time.Duration
	maxSegments int // segments that the file may have
	yields      func(stream string) int
	segments    []segment
	heads       map[string]head
	synced      time.Time
	filled      bool            // room was written since then
	unreadable  []int64         // places of slots that are neither empty nor sound
	early       map[string]bool // streams that gave up receipts before their time; true: it is not told yet
	buf         []byte          // for the next write
}

// segment is one segment's part of the index in memory.
type segment struct {
	stream    string // "": it holds nothing
	low, high uint64 // sequence numbers of its receipts
	number    uint64 // highest of its receipts
	newest    int64  // time of its newest receipt
}

// head is the place where a stream goes on.
type head struct {
	segment int
	place   int    // of the next receipt; segmentSlots: the segment is full
	number  uint64 // of the newest receipt; 0: none
	highest uint64 // sequence number that any receipt has had
	low     uint64 // lowest sequence number since the segment was begun; 0: by an earlier run
}

// Options say how much the file keeps.
type Options struct {
	KeepFor time.Duration                  // at least, as far as Bytes reach
	Bytes   int64                          // of the file at most
	Yields  func(stream string) (rank int) // whoever has the higher rank gives way first
}

// Open opens or makes the file. What is not a receipt counts as an empty slot.
func Open(path string, o Options) (*File, error) {
	f, err := disk.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open receipts: %w", err)
	}
	r := &File{
		f: f, keepFor: o.KeepFor, maxSegments: int(o.Bytes / segmentSize), yields: o.Yields,
		heads: map[string]head{}, early: map[string]bool{},
	}
	info, err := f.Stat()
	if err == nil {
		err = r.scan(int((info.Size() + segmentSize - 1) / segmentSize))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read receipts: %w", err), f.Close())
	}
	return r, nil
}

func (r *File) scan(segments int) error {
	r.segments = make([]segment, segments)
	for i := range r.segments {
		err := r.slots(i, func(place int, v []byte) {
			g := &r.segments[i]
			s, ok := decode(v)
			if !ok {
				if len(bytes.Trim(v, "\x00")) > 0 {
					r.unreadable = append(r.unreadable, int64(i)*segmentSize+int64(place)*slotSize)
				}
				return
			}
			if g.stream == "" {
				g.stream, g.low = s.Stream, s.Seq
			}
			if g.stream != s.Stream {
				return
			}
			g.note(s)
			h := r.heads[s.Stream]
			if s.Number > h.number {
				h.segment, h.place, h.number = i, place+1, s.Number
			}
			h.highest = max(h.highest, s.Seq)
			r.heads[s.Stream] = h
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// note notes that a segment has a receipt.
func (g *segment) note(s Receipt) {
	g.low, g.high, g.number = min(g.low, s.Seq), max(g.high, s.Seq), max(g.number, s.Number)
	g.newest = max(g.newest, s.At.UnixNano())
}

// read calls see with every sound receipt that a segment has of a stream.
func (r *File) read(segment int, stream string, see func(Receipt)) error {
	err := r.slots(segment, func(_ int, v []byte) {
		if s, ok := decode(v); ok && s.Stream == stream {
			see(s)
		}
	})
	if err != nil {
		return fmt.Errorf("read receipts of %s: %w", stream, err)
	}
	return nil
}

// slots calls see with every slot of a segment.
func (r *File) slots(segment int, see func(place int, v []byte)) error {
	buf := make([]byte, segmentSize)
	n, err := disk.ReadThrough(r.f, buf, int64(segment)*segmentSize)
	if err != nil {
		return err
	}
	for place := 0; (place+1)*slotSize <= n; place++ {
		see(place, buf[place*slotSize:(place+1)*slotSize])
	}
	return nil
}

// Add writes receipts of one stream behind its newest; durable: they are on disk when it returns.
func (r *File) Add(stream string, durable bool, receipts []Receipt) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(receipts) > 0 {
		h, ok := r.heads[stream]
		if !ok || h.place == segmentSlots {
			h.begin(r.chooseSegment(stream))
		}
		n := min(len(receipts), segmentSlots-h.place)
		err := r.write(stream, &h, receipts[:n])
		if disk.IsFull(err) && len(r.segments) > 0 { // a full disk still takes what is written over something
			r.maxSegments = min(r.maxSegments, len(r.segments))
			h.begin(r.chooseSegment(stream))
			n = min(len(receipts), segmentSlots)
			err = r.write(stream, &h, receipts[:n])
		}
		if err != nil {
			return fmt.Errorf("write receipts of %s: %w", stream, err)
		}
		receipts = receipts[n:]
		r.heads[stream] = h
	}
	now := time.Now()
	if !durable && now.Sub(r.synced) < laxSync {
		return nil
	}
	r.synced = now
	if err := disk.SyncData(r.f); err != nil {
		return fmt.Errorf("sync receipts of %s: %w", stream, err)
	}
	if r.filled { // the system may keep it as one large page, and would count that for each receipt
		r.filled = false
		if err := disk.DropCache(r.f.Name()); err != nil {
			return fmt.Errorf("take the room for receipts of %s into use: %w", stream, err)
		}
	}
	return nil
}

// begin goes on in a segment that was taken.
func (h *head) begin(segment int) { h.segment, h.place, h.low = segment, 0, math.MaxUint64 }

// write puts receipts into the head's segment, which has room for them.
func (r *File) write(stream string, h *head, receipts []Receipt) error {
	buf := r.buf[:0]
	for i, s := range receipts {
		s.Stream, s.Number = stream, h.number+uint64(i)+1
		buf = s.append(buf)
	}
	r.buf = buf
	at := int64(h.segment)*segmentSize + int64(h.place)*slotSize
	_, err := r.f.WriteAt(r.fill(buf, h), at)
	if disk.IsFull(err) {
		_, err = r.f.WriteAt(buf, at)
	}
	if err != nil {
		return err
	}
	if h.segment == len(r.segments) {
		r.segments = append(r.segments, segment{})
	}
	g := &r.segments[h.segment]
	if g.stream != stream {
		*g = segment{stream: stream, low: receipts[0].Seq}
	}
	for _, s := range receipts {
		h.number++
		h.place++
		h.highest, h.low = max(h.highest, s.Seq), min(h.low, s.Seq)
		s.Number = h.number
		g.note(s)
	}
	if h.place == segmentSlots && h.low > 0 {
		g.low = h.low // nothing of what it held before is left
	}
	return nil
}

// fill makes a segment behind the last as long as it will be: a sync of a file that grows writes the file system's journal too. Beside
// some pages of receipts that matters less than to write the segment twice.
func (r *File) fill(buf []byte, h *head) []byte {
	if h.segment < len(r.segments) || len(buf) >= segmentSize/16 {
		return buf
	}
	r.filled = true
	return append(buf, make([]byte, segmentSize-len(buf))...)
}

// chooseSegment chooses the segment in which a stream goes on; one behind the last makes the file longer.
func (r *File) chooseSegment(stream string) int {
	expired := time.Now().Add(-r.keepFor).UnixNano()
	victim, worst := -1, segment{}
	for i, g := range r.segments {
		if g.stream == "" {
			return i
		}
		if h, ok := r.heads[g.stream]; ok && h.segment == i && g.stream != stream {
			continue // where another stream goes on; its newest receipts stay
		}
		if g.newest < expired {
			return i
		}
		if own, its := r.yields(stream), r.yields(g.stream); its < own {
			continue
		}
		if victim < 0 || r.goesBefore(g, worst) {
			victim, worst = i, g
		}
	}
	if victim < 0 || len(r.segments) < r.maxSegments {
		return len(r.segments)
	}
	if _, known := r.early[worst.stream]; !known {
		r.early[worst.stream] = true
	}
	return victim
}

// goesBefore says which of two segments goes first: that of the stream that gives way first, then the oldest.
func (r *File) goesBefore(a, b segment) bool {
	if x, y := r.yields(a.stream), r.yields(b.stream); x != y {
		return x > y
	}
	if a.stream == b.stream {
		return a.number < b.number
	}
	return a.newest < b.newest
}

// Each calls see with the receipts of a stream from a sequence number on, in no particular order. see must not come
// back to the file.
func (r *File) Each(stream string, from uint64, see func(Receipt)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, g := range r.segments {
		if g.stream != stream || g.high < from {
			continue
		}
		err := r.read(i, stream, func(s Receipt) {
			if s.Seq >= from {
				see(s)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Page returns the receipts of a stream in one state behind a sequence number, by it, at most limit.
func (r *File) Page(stream string, want Outcome, after uint64, limit int) (all []Receipt, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var at []int
	for i, g := range r.segments {
		if g.stream == stream && g.high > after {
			at = append(at, i)
		}
	}
	sort.Slice(at, func(i, j int) bool { return r.segments[at[i]].low < r.segments[at[j]].low })
	for _, i := range at {
		if len(all) >= limit && r.segments[i].low > all[limit-1].Seq {
			break
		}
		err := r.read(i, stream, func(s Receipt) {
			if s.Outcome == want && s.Seq > after {
				all = append(all, s)
			}
		})
		if err != nil {
			return nil, err
		}
		sort.SliceStable(all, func(i, j int) bool { return all[i].Seq < all[j].Seq }) // slices.SortFunc costs the binary 27 kB for a struct of this size
		all = all[:min(limit, len(all))]
	}
	return all, nil
}

// Find returns a record's receipt.
func (r *File) Find(stream string, seq uint64) (found Receipt, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, g := range r.segments {
		if g.stream != stream || seq < g.low || seq > g.high {
			continue
		}
		err := r.read(i, stream, func(s Receipt) {
			if s.Seq == seq && s.Number > found.Number {
				found, ok = s, true
			}
		})
		if err != nil {
			return Receipt{}, false, err
		}
	}
	return found, ok, nil
}

// HighestSeq returns the highest sequence number that a stream's receipts have had.
func (r *File) HighestSeq(stream string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[stream].highest
}

// Total returns how many receipts a stream ever had.
func (r *File) Total(stream string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[stream].number
}

// GaveUpEarly tells once of a stream whose receipts went before their time.
func (r *File) GaveUpEarly() (stream string, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for stream, untold := range r.early {
		if untold {
			r.early[stream] = false
			return stream, true
		}
	}
	return "", false
}

// Close syncs and closes the file.
func (r *File) Close() error {
	if r == nil {
		return nil
	}
	return errors.Join(disk.SyncData(r.f), r.f.Close())
}

// KeepsFor returns for how long a receipt is kept at least, where there is room.
func (r *File) KeepsFor() time.Duration { return r.keepFor }

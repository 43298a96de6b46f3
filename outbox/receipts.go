package outbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sort"
	"sync"
	"time"
)

// The receipts file: lanes of 1,024 slots of 256 bytes, a lane per stream, each a ring. A slot never crosses a disk
// sector, so a torn write spoils at most the slots being written, and their checksums tell. Receipts are written
// before the records are deleted: after a crash between the two they show what the service already has.
//
//	0  CRC-32C over the rest        32 enqueue time
//	4  what became of it            40 the record's own CRC-32C
//	6  HTTP status                  44 lengths of stream, correlation id, label
//	8  number in the lane, from 1   48 those three
//	16 sequence number
//	24 time of delivery
const (
	slotSize  = 256
	slotHead  = 48
	laneSlots = 1024
	laneSize  = laneSlots * slotSize

	maxStreamName = 32
	maxLabel      = slotSize - slotHead - maxStreamName - maxCorr
)

// slot is one receipt.
type slot struct {
	state  State // Delivered or Dropped
	status int
	number uint64
	seq    uint64
	at     time.Time
	since  time.Time
	sum    uint32
	stream string
	corr   string
	label  string
}

func (r slot) encode() []byte {
	r.corr, r.label = cut(r.corr, maxCorr), cut(r.label, maxLabel)
	v := make([]byte, slotSize)
	v[4] = byte(r.state)
	binary.LittleEndian.PutUint16(v[6:], uint16(r.status))
	binary.LittleEndian.PutUint64(v[8:], r.number)
	binary.LittleEndian.PutUint64(v[16:], r.seq)
	binary.LittleEndian.PutUint64(v[24:], uint64(r.at.UnixNano()))
	binary.LittleEndian.PutUint64(v[32:], uint64(r.since.UnixNano()))
	binary.LittleEndian.PutUint32(v[40:], r.sum)
	v[44], v[45], v[46] = byte(len(r.stream)), byte(len(r.corr)), byte(len(r.label))
	n := copy(v[slotHead:], r.stream)
	n += copy(v[slotHead+n:], r.corr)
	copy(v[slotHead+n:], r.label)
	binary.LittleEndian.PutUint32(v, crc32.Checksum(v[4:], castagnoli))
	return v
}

func decodeSlot(v []byte) (slot, bool) {
	if len(v) != slotSize || binary.LittleEndian.Uint32(v) != crc32.Checksum(v[4:], castagnoli) {
		return slot{}, false
	}
	stream, corr, label := int(v[44]), int(v[45]), int(v[46])
	if slotHead+stream+corr+label > slotSize {
		return slot{}, false
	}
	text := v[slotHead:]
	return slot{
		state:  State(v[4]),
		status: int(binary.LittleEndian.Uint16(v[6:])),
		number: binary.LittleEndian.Uint64(v[8:]),
		seq:    binary.LittleEndian.Uint64(v[16:]),
		at:     time.Unix(0, int64(binary.LittleEndian.Uint64(v[24:]))),
		since:  time.Unix(0, int64(binary.LittleEndian.Uint64(v[32:]))),
		sum:    binary.LittleEndian.Uint32(v[40:]),
		stream: string(text[:stream]),
		corr:   string(text[stream : stream+corr]),
		label:  string(text[stream+corr : stream+corr+label]),
	}, true
}

// ring is the open receipts file.
type ring struct {
	mu    sync.Mutex
	f     *os.File
	lanes []string // the stream of each lane
	heads map[string]head
}

type head struct {
	lane    int
	number  uint64 // of the newest receipt; 0: none
	highest uint64 // sequence number that any receipt has
}

// openRing opens or makes the file. What is not a receipt counts as an empty slot.
func openRing(path string) (*ring, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fmt.Errorf("open receipts: %w", err)
	}
	r := &ring{f: f, heads: map[string]head{}}
	info, err := f.Stat()
	if err == nil {
		err = r.scan(int((info.Size() + laneSize - 1) / laneSize))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read receipts: %w", err), f.Close())
	}
	return r, nil
}

func (r *ring) scan(lanes int) error {
	r.lanes = make([]string, lanes)
	for lane := range lanes {
		all, err := r.readLane(lane)
		if err != nil {
			return err
		}
		for _, s := range all {
			h, known := r.heads[s.stream]
			if known && h.lane != lane {
				continue
			}
			r.lanes[lane] = s.stream
			r.heads[s.stream] = head{lane: lane, number: max(h.number, s.number), highest: max(h.highest, s.seq)}
		}
	}
	return nil
}

// readLane returns the sound receipts of a lane, oldest first.
func (r *ring) readLane(lane int) ([]slot, error) {
	buf := make([]byte, laneSize)
	n, err := r.f.ReadAt(buf, int64(lane)*laneSize)
	if err != nil && n == 0 && !errors.Is(err, io.EOF) {
		return nil, err
	}
	var all []slot
	for off := 0; off+slotSize <= n; off += slotSize {
		if s, ok := decodeSlot(buf[off : off+slotSize]); ok {
			all = append(all, s)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].number < all[j].number }) // slices.SortFunc costs the binary 27 kB for a struct of this size
	return all, nil
}

// add writes receipts of one stream behind its newest.
func (r *ring) add(stream string, receipts []slot) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.headOf(stream)
	var run []byte
	start := h.number % laneSlots
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		_, err := r.f.WriteAt(run, int64(h.lane)*laneSize+int64(start)*slotSize)
		run = run[:0]
		return err
	}
	for _, s := range receipts {
		s.stream, s.number = stream, h.number+1
		run = append(run, s.encode()...)
		h.number++
		h.highest = max(h.highest, s.seq)
		if h.number%laneSlots != 0 {
			continue
		}
		if err := flush(); err != nil {
			return fmt.Errorf("write receipts of %s: %w", stream, err)
		}
		start = 0
	}
	if err := flush(); err != nil {
		return fmt.Errorf("write receipts of %s: %w", stream, err)
	}
	r.heads[stream] = h
	return nil
}

// headOf finds the stream's lane, or takes a free one, or the next behind the last.
func (r *ring) headOf(stream string) head {
	if h, ok := r.heads[stream]; ok {
		return h
	}
	lane := slices.Index(r.lanes, "")
	if lane < 0 {
		lane = len(r.lanes)
		r.lanes = append(r.lanes, "")
	}
	r.lanes[lane] = stream
	h := head{lane: lane}
	r.heads[stream] = h
	return h
}

// list returns a stream's receipts, oldest first.
func (r *ring) list(stream string) ([]slot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.heads[stream]
	if !ok {
		return nil, nil
	}
	all, err := r.readLane(h.lane)
	if err != nil {
		return nil, fmt.Errorf("read receipts of %s: %w", stream, err)
	}
	return slices.DeleteFunc(all, func(s slot) bool { return s.stream != stream }), nil
}

// last returns the highest sequence number that a stream's receipts have had.
func (r *ring) last(stream string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[stream].highest
}

// total returns how many receipts a stream ever had.
func (r *ring) total(stream string) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.heads[stream].number
}

func (r *ring) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.f.Sync(), r.f.Close())
}

package recorder

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"

	"gauger/collectors"
)

// A row is
//
//	1 byte   bit 0: it has a time of its own (else the row's before it); bit 1: it has a point of its own (else the
//	         one that has followed the last point before); bits 2 and 3: quality; bits 4 to 7: form of the value
//	[point]  number of the point in the block; the first number that is not given yet is followed by the point's name
//	         (bytes it shares with the name before it, length of the rest, the rest) and its unit (length, text)
//	[time]   difference from when the point's beat had it due; change of wall less monotonic time, doubled, plus 1 where
//	         the boot follows as a difference. Microseconds
//	value    as its form has it
const (
	ownTime  = 1 << 0
	ownPoint = 1 << 1
	quality  = 2
	form     = 4

	longestName = 1024 // bytes of a point's or unit's name: two of them always fit into a page
)

// track is one point's state within a block.
type track struct {
	point collectors.Point
	unit  collectors.Unit
	next  int // the point that followed it last
	wall  int64
	beat  int64 // microseconds between its last two rows
	value float64
	form  byte // that its last number had
}

// block is the state that writing and reading a block share; it begins empty in each.
type block struct {
	tracks []track
	last   int // the point of the last row; -1 before the first
	wall   int64
	offset int64 // wall less mono
	boot   int64
}

func (b *block) reset() {
	*b = block{tracks: b.tracks[:0], last: -1}
}

// expected is the point that the next row is likely to have.
func (b *block) expected() int {
	if b.last < 0 {
		return 0
	}
	return b.tracks[b.last].next
}

// add gives a point the next number.
func (b *block) add(p collectors.Point, u collectors.Unit) *track {
	b.tracks = append(b.tracks, track{point: p, unit: u, next: len(b.tracks) + 1, wall: b.wall})
	return &b.tracks[len(b.tracks)-1]
}

// follow notes that a row of point i has come.
func (b *block) follow(i int) {
	if b.last >= 0 {
		b.tracks[b.last].next = i
	}
	b.last = i
	t := &b.tracks[i]
	t.beat, t.wall = b.wall-t.wall, b.wall
}

// writer fills a block.
type writer struct {
	block
	page  []byte // header and rows so far
	rows  int
	least int64
	most  int64
	index map[collectors.Point]int
}

func newWriter() *writer {
	w := &writer{page: make([]byte, 0, pageSize+2*longestName+64), index: map[collectors.Point]int{}}
	w.reset()
	return w
}

func (w *writer) reset() {
	w.block.reset()
	w.page, w.rows = w.page[:headerSize], 0
	w.least, w.most = math.MaxInt64, math.MinInt64
	clear(w.index)
}

// find is the number of a row's point; the first free one when the block does not know it.
func (w *writer) find(r *Row) int {
	i := w.expected()
	if i < len(w.tracks) && w.tracks[i].point == r.Point && w.tracks[i].unit == r.Unit {
		return i
	}
	if i, ok := w.index[r.Point]; ok && w.tracks[i].unit == r.Unit {
		return i
	}
	return len(w.tracks)
}

// addRow writes a row into the block. false: it is full, and begins anew before this row.
func (w *writer) addRow(r *Row) bool {
	wall := r.At.UnixMicro()
	offset := wall - r.Mono.Microseconds()
	i := w.find(r)
	head := byte(r.Quality) << quality
	if i != w.expected() {
		head |= ownPoint
	}
	if w.rows == 0 || wall != w.wall || offset != w.offset || r.Boot != w.boot {
		head |= ownTime
	}
	b := append(w.page, head)
	if head&ownPoint != 0 {
		b = binary.AppendUvarint(b, uint64(i))
	}
	if i == len(w.tracks) {
		b = w.name(b, r)
	}
	t := &w.tracks[i]
	if head&ownTime != 0 {
		b = binary.AppendVarint(b, wall-t.wall-t.beat)
		b = w.appendOffset(b, offset, r.Boot)
		w.wall = wall
	}
	f := t.formOf(r.Value)
	b[len(w.page)] |= f << form
	b = t.appendValue(b, f, r.Value)
	if len(b) > pageSize {
		return false
	}
	w.follow(i)
	w.page = b
	w.rows++
	w.least, w.most = min(w.least, wall), max(w.most, wall)
	return true
}

// name gives a row's point the next number and writes its name.
func (w *writer) name(b []byte, r *Row) []byte {
	shared, before := 0, collectors.Point("")
	if len(w.tracks) > 0 {
		before = w.tracks[len(w.tracks)-1].point
	}
	for shared < min(len(before), len(r.Point)) && before[shared] == r.Point[shared] {
		shared++
	}
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(r.Point)-shared))
	b = append(b, r.Point[shared:]...)
	b = binary.AppendUvarint(b, uint64(len(r.Unit)))
	b = append(b, r.Unit...)
	w.index[r.Point] = len(w.tracks)
	w.add(r.Point, r.Unit)
	return b
}

// appendOffset writes how the clocks stand to each other, and the boot where it is another.
func (w *writer) appendOffset(b []byte, offset, boot int64) []byte {
	change := zigzag(offset-w.offset) << 1
	if boot == w.boot {
		b = binary.AppendUvarint(b, change)
	} else {
		b = binary.AppendUvarint(b, change|1)
		b = binary.AppendVarint(b, boot-w.boot)
	}
	w.offset, w.boot = offset, boot
	return b
}

// sealed is the block as a page; it is valid until the next row.
func (w *writer) sealed() []byte {
	page := w.page[:pageSize]
	seal(page, header{used: len(w.page), rows: w.rows, least: w.least, most: w.most})
	return page
}

// zigzag makes small numbers of either sign small.
func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

// unzigzag is zigzag the other way round.
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// A block is one page of the file, so that a write that was torn, or a bit that flipped, costs this block alone and the
// next one is found without a search. It stands for itself: names, times and values begin anew in each.
//
//	0  magic   4 bytes, with the format's version
//	4  CRC-32C of what follows, up to its used end
//	8  used    bytes of the page that are used, header included
//	10 rows
//	12 zero
//	16 least wall time of its rows, microseconds since 1970
//	24 greatest
//	32 rows
const (
	pageSize   = 4096
	headerSize = 32
	pageMagic  = 0x31527247 // "GrR1"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	errTorn    = errors.New("torn or never finished")
	errDamaged = errors.New("damaged: its checksum is wrong")
	errFormat  = errors.New("damaged: a row makes no sense")
)

// header of a page.
type header struct {
	used, rows  int
	least, most int64 // microseconds since 1970
}

// seal makes a page of a block: page is pageSize bytes, its rows up to used in place.
func seal(page []byte, h header) {
	le := binary.LittleEndian
	clear(page[h.used:])
	le.PutUint32(page[0:], pageMagic)
	le.PutUint16(page[8:], uint16(h.used))
	le.PutUint16(page[10:], uint16(h.rows))
	le.PutUint32(page[12:], 0)
	le.PutUint64(page[16:], uint64(h.least))
	le.PutUint64(page[24:], uint64(h.most))
	le.PutUint32(page[4:], crc32.Checksum(page[8:h.used], castagnoli))
}

// unseal checks a page and reads its header.
func unseal(page []byte) (header, error) {
	le := binary.LittleEndian
	if len(page) < pageSize || le.Uint32(page) != pageMagic {
		return header{}, errTorn
	}
	h := header{
		used: int(le.Uint16(page[8:])), rows: int(le.Uint16(page[10:])),
		least: int64(le.Uint64(page[16:])), most: int64(le.Uint64(page[24:])),
	}
	if h.used < headerSize || h.used > pageSize || crc32.Checksum(page[8:h.used], castagnoli) != le.Uint32(page[4:]) {
		return header{}, errDamaged
	}
	return h, nil
}

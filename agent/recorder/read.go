package recorder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"gauger/collectors"
	"gauger/outbox/disk"
)

// Rows gives the rows with from <= At < to of the points, in the order in which they came; a zero time is no bound, and no points
// are all. A block that cannot be read is skipped, with one error that names it. One file is open at a time, and one block in memory.
// The open block is included; what comes after the call is not.
func (r *Ring) Rows(from, to time.Time, points ...collectors.Point) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		r.mu.Lock()
		pages := r.files.page
		var numbers []int
		for _, f := range r.files.all {
			numbers = append(numbers, f.number)
		}
		left := r.left // is never written to
		var open []byte
		if r.block.rows > 0 {
			open = slices.Clone(r.block.sealed())
		}
		r.mu.Unlock()
		s := newScan(from, to, points, yield)
		more := s.files(r.files.dir, numbers, pages)
		if more && left != nil {
			more = s.page(left, "the block that a killed run has left")
		}
		if more && open != nil {
			s.page(open, "the open block")
		}
	}
}

// scan is one pass over blocks.
type scan struct {
	from, to time.Time
	points   map[collectors.Point]bool // nil: all
	reader   reader
	yield    func(Row, error) bool
}

func newScan(from, to time.Time, points []collectors.Point, yield func(Row, error) bool) *scan {
	s := &scan{from: from, to: to, reader: reader{names: map[string]string{}}, yield: yield}
	if len(points) > 0 {
		s.points = map[collectors.Point]bool{}
	}
	for _, p := range points {
		s.points[p] = true
	}
	return s
}

// files goes through the files; false when the caller has had enough. Of the last one only so many pages count; -1: all.
func (s *scan) files(dir string, numbers []int, pages int) (more bool) {
	for i, n := range numbers {
		most := -1
		if i == len(numbers)-1 {
			most = pages
		}
		if !s.file(fileName(dir, n), most) {
			return false
		}
	}
	return true
}

func (s *scan) file(name string, pages int) (more bool) {
	in, err := disk.OpenFile(name, os.O_RDONLY, 0)
	if gone(err) {
		return true
	}
	if err != nil {
		return s.yield(Row{}, fmt.Errorf("read the recorder: %w", err))
	}
	defer in.Close()
	page := make([]byte, pageSize)
	for i := 0; i != pages; i++ {
		n, err := io.ReadFull(in, page)
		if errors.Is(err, io.EOF) {
			return true
		}
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return s.yield(Row{}, fmt.Errorf("read the recorder: %w", err))
		}
		if !s.page(page[:n], fmt.Sprintf("%s, block %d", name, i+1)) {
			return false
		}
	}
	return true
}

// page gives the rows of one block.
func (s *scan) page(page []byte, name string) (more bool) {
	h, err := unseal(page)
	if err == nil {
		if !s.from.IsZero() && h.most < s.from.UnixMicro() || !s.to.IsZero() && h.least > s.to.UnixMicro() {
			return true
		}
		more, err = s.reader.rows(page, h, s.row)
	}
	if err != nil {
		return s.yield(Row{}, fmt.Errorf("recorder: %s is skipped: %w", name, err))
	}
	return more
}

func (s *scan) row(r Row) (more bool) {
	if s.points != nil && !s.points[r.Point] || !r.within(s.from, s.to) {
		return true
	}
	return s.yield(r, nil)
}

// cursor reads a block's bytes; after anything that makes no sense it is bad, and gives zeroes.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) skip(n int) {
	if n <= 0 || n > len(c.rest) {
		c.rest, c.bad = nil, true
		return
	}
	c.rest = c.rest[n:]
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.rest)
	c.skip(n)
	return v
}

func (c *cursor) varint() int64 {
	v, n := binary.Varint(c.rest)
	c.skip(n)
	return v
}

func (c *cursor) byte() byte {
	if len(c.rest) == 0 {
		c.bad = true
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

// text reads a length and as many bytes.
func (c *cursor) text() []byte {
	n := c.uvarint()
	if n > uint64(len(c.rest)) {
		c.rest, c.bad = nil, true
		return nil
	}
	t := c.rest[:n]
	c.rest = c.rest[n:]
	return t
}

// reader takes blocks apart. One serves for many, so that a name is one string however often it comes.
type reader struct {
	block
	names map[string]string
	name  []byte
}

// rows calls yield with each row of a page that unseal has found good; false when yield has had enough.
func (rd *reader) rows(page []byte, h header, yield func(Row) bool) (more bool, err error) {
	rd.reset()
	in := &cursor{rest: page[headerSize:h.used]}
	for range h.rows {
		r := rd.row(in)
		if in.bad {
			return true, errFormat
		}
		if !yield(r) {
			return false, nil
		}
	}
	return true, nil
}

func (rd *reader) row(in *cursor) Row {
	head := in.byte()
	i := rd.expected()
	if head&ownPoint != 0 {
		i = int(min(in.uvarint(), pageSize))
	}
	if i == len(rd.tracks) {
		rd.readName(in)
	}
	if i >= len(rd.tracks) || in.bad {
		in.bad = true
		return Row{}
	}
	t := &rd.tracks[i]
	if head&ownTime != 0 {
		rd.wall = t.wall + t.beat + in.varint()
		rd.readOffset(in)
	}
	value := t.readValue(in, head>>form)
	rd.follow(i)
	return Row{
		At: time.UnixMicro(rd.wall).UTC(), Mono: time.Duration(rd.wall-rd.offset) * time.Microsecond, Boot: rd.boot,
		Point: t.point, Unit: t.unit, Value: value, Quality: collectors.Quality(head >> quality & 3),
	}
}

func (rd *reader) readOffset(in *cursor) {
	change := in.uvarint()
	rd.offset += unzigzag(change >> 1)
	if change&1 != 0 {
		rd.boot += in.varint()
	}
}

func (rd *reader) readName(in *cursor) {
	before := ""
	if len(rd.tracks) > 0 {
		before = string(rd.tracks[len(rd.tracks)-1].point)
	}
	shared := in.uvarint()
	if shared > uint64(len(before)) {
		in.bad = true
		return
	}
	rd.name = append(append(rd.name[:0], before[:shared]...), in.text()...)
	point := rd.one(rd.name)
	rd.add(collectors.Point(point), collectors.Unit(rd.one(in.text())))
}

// one is the one string for these bytes.
func (rd *reader) one(b []byte) string {
	if s, ok := rd.names[string(b)]; ok {
		return s
	}
	s := string(b)
	rd.names[s] = s
	return s
}

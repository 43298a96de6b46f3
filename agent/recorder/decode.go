package recorder

import (
	"encoding/binary"
	"time"

	"gauger/collectors"
)

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

// row reads the next row.
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

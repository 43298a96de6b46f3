package boltfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The page layout of bbolt's format 2, in the machine's byte order; sizes in bytes.
const (
	PageHeader  = 16 // id, flags, count, overflow
	ElementSize = 16 // of a leaf's or a branch's element
	inBucket    = 16 // root page and sequence before an inline bucket's page

	flagBranch   = 0x01 // of a page that leads to others
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10
	elemBucket   = 0x01

	FirstPage = 2 // of content, behind the two meta pages
	maxDepth  = 64

	noFreelist = math.MaxUint64 // in place of the list's page: free is what nothing reaches
)

var native = binary.NativeEndian

// page is one page with its overflow.
type page struct {
	at    int64 // offset in the file
	flags uint16
	buf   []byte

	id       uint64
	count    int
	overflow uint64
}

// read reads a page once; a second time, or a page that cannot be, is an error.
func (p *File) read(id uint64) (page, error) {
	if p.Reached.Has(id) {
		return page{}, fmt.Errorf("page %d is reached twice", id)
	}
	pg, err := p.load(id)
	if err != nil {
		return page{}, err
	}
	for n := id; n <= id+pg.overflow; n++ {
		if p.Reached.Has(n) {
			return page{}, fmt.Errorf("page %d is reached twice", n)
		}
	}
	for n := id; n <= id+pg.overflow; n++ {
		p.Reached.set(n)
	}
	return pg, nil
}

// load reads a page with its overflow.
func (p *File) load(id uint64) (page, error) {
	high := p.limit()
	if id < FirstPage || id >= high {
		return page{}, fmt.Errorf("page %d is outside the file", id)
	}
	pg, err := p.head(id)
	if err != nil {
		return page{}, err
	}
	if pg.id != id || pg.overflow >= high-id || pg.overflow > p.pages() {
		return page{}, fmt.Errorf("page %d has the header of another", id)
	}
	pg.buf = make([]byte, int64(pg.overflow+1)*p.pageSize)
	if _, err := p.f.ReadAt(pg.buf, pg.at); err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	return pg, nil
}

// head reads a page's header only, in its place or, where that holds another, where it strayed to.
func (p *File) head(id uint64) (page, error) {
	pg, err := p.headAt(int64(id) * p.pageSize)
	if at, strayed := p.displaced[id]; strayed && (err != nil || pg.id != id) {
		pg, err = p.headAt(at)
	}
	if err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	return pg, nil
}

func (p *File) headAt(at int64) (page, error) {
	var b [PageHeader]byte
	_, err := p.f.ReadAt(b[:], at)
	return headOf(b[:], at), err
}

func headOf(b []byte, at int64) page {
	return page{at: at, id: native.Uint64(b), flags: native.Uint16(b[8:]), count: int(native.Uint16(b[10:])),
		overflow: uint64(native.Uint32(b[12:]))}
}

// element of a leaf or branch: flags, key, and a leaf's value or a branch's child.
type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

func (pg page) element(i int) (e element, err error) {
	off := PageHeader + i*ElementSize
	if off+ElementSize > len(pg.buf) {
		return e, fmt.Errorf("page %d has no room for element %d", pg.id, i)
	}
	b := pg.buf[off:]
	var pos, ksize, vsize uint64
	if pg.flags == flagBranch {
		pos, ksize = uint64(native.Uint32(b)), uint64(native.Uint32(b[4:]))
		e.child = native.Uint64(b[8:])
	} else {
		e.flags = native.Uint32(b)
		pos, ksize, vsize = uint64(native.Uint32(b[4:])), uint64(native.Uint32(b[8:])), uint64(native.Uint32(b[12:]))
	}
	if pos+ksize+vsize > uint64(len(b)) {
		return e, fmt.Errorf("element %d of page %d ends outside the page", i, pg.id)
	}
	e.key, e.value = b[pos:pos+ksize], b[pos+ksize:pos+ksize+vsize]
	return e, nil
}

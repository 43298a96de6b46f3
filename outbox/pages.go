package outbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
)

// This file reads bbolt's pages by itself: no memory map, every offset checked, every page read once. So a damaged file
// can neither crash nor hang its reader, which bbolt's own check does not promise.

// The page layout of bbolt's format 2, in the machine's byte order.
const (
	pageHeader = 16 // id, flags, count, overflow
	elemSize   = 16 // of a leaf's or a branch's element
	inBucket   = 16 // root page and sequence before an inline bucket's page

	flagBranch   = 0x01
	flagLeaf     = 0x02
	flagMeta     = 0x04
	flagFreelist = 0x10
	elemBucket   = 0x01

	firstPage = 2 // behind the two meta pages
	maxDepth  = 64

	noFreelist = math.MaxUint64 // in place of the list's page: free is what nothing reaches
)

var native = binary.NativeEndian

// pageFile is a bbolt file as bytes.
type pageFile struct {
	f         *os.File
	size      int64
	pageSize  int64
	meta      pageMeta
	sound     bool // meta holds; otherwise pageSize is a guess
	metas     int  // sound meta pages in their places, of two
	reached   bitmap
	problems  problems
	lastKey   []byte           // of the bucket that is being walked
	buckets   map[string]bool  // that were met on the walk
	displaced map[uint64]int64 // pages that stand elsewhere than in their place (carve.go); nil: not looked for
}

type bitmap []uint64

func (m bitmap) has(id uint64) bool { return id/64 < uint64(len(m)) && m[id/64]&(1<<(id%64)) != 0 }
func (m bitmap) set(id uint64)      { m[id/64] |= 1 << (id % 64) }

// problems keeps the first few things that are wrong, and counts all.
type problems struct {
	first []error
	n     int
}

func (p *problems) add(err error) {
	if p.n++; len(p.first) < 10 {
		p.first = append(p.first, err)
	}
}

func (p *problems) err() error {
	if p.n == 0 {
		return nil
	}
	return fmt.Errorf("%d problems, the first: %w: %w", p.n, p.first[0], ErrDamaged)
}

// openPages opens the file and finds its newest sound meta page; without one, sound is false.
func openPages(path string) (*pageFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &pageFile{f: f, size: info.Size(), pageSize: int64(os.Getpagesize())}
	p.findMeta()
	p.reset()
	return p, nil
}

// reset makes the next walk the first one.
func (p *pageFile) reset() {
	p.reached, p.buckets, p.problems, p.lastKey = make(bitmap, p.limit()/64+1), map[string]bool{}, problems{}, nil
}

func (p *pageFile) pages() uint64 { return uint64(p.size / p.pageSize) }

// limit is the number behind the last page that there can be.
func (p *pageFile) limit() uint64 {
	n := p.pages()
	if p.displaced != nil { // a piece may be missing in the middle
		n = 2*n + 1024
	}
	if p.sound {
		n = min(n, p.meta.high)
	}
	return n
}

// page is one page with its overflow.
type page struct {
	at       int64 // where in the file it stands
	id       uint64
	flags    uint16
	count    int
	overflow uint64
	buf      []byte
}

// read reads a page once; a second time, or a page that cannot be, is an error.
func (p *pageFile) read(id uint64) (page, error) {
	if p.reached.has(id) {
		return page{}, fmt.Errorf("page %d is reached twice", id)
	}
	pg, err := p.load(id)
	if err != nil {
		return page{}, err
	}
	for n := id; n <= id+pg.overflow; n++ {
		if p.reached.has(n) {
			return page{}, fmt.Errorf("page %d is reached twice", n)
		}
	}
	for n := id; n <= id+pg.overflow; n++ {
		p.reached.set(n)
	}
	return pg, nil
}

// load reads a page with its overflow.
func (p *pageFile) load(id uint64) (page, error) {
	high := p.limit()
	if id < firstPage || id >= high {
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
func (p *pageFile) head(id uint64) (page, error) {
	pg, err := p.headAt(int64(id) * p.pageSize)
	if at, strayed := p.displaced[id]; strayed && (err != nil || pg.id != id) {
		pg, err = p.headAt(at)
	}
	if err != nil {
		return page{}, fmt.Errorf("read page %d: %w", id, err)
	}
	return pg, nil
}

func (p *pageFile) headAt(at int64) (page, error) {
	var b [pageHeader]byte
	_, err := p.f.ReadAt(b[:], at)
	return headOf(b[:], at), err
}

func headOf(b []byte, at int64) page {
	return page{at: at, id: native.Uint64(b), flags: native.Uint16(b[8:]), count: int(native.Uint16(b[10:])),
		overflow: uint64(native.Uint32(b[12:]))}
}

// element cuts element i of a leaf or branch: flags, key, and a leaf's value or a branch's child.
type element struct {
	flags      uint32
	key, value []byte
	child      uint64
}

func (pg page) element(i int) (e element, err error) {
	off := pageHeader + i*elemSize
	if off+elemSize > len(pg.buf) {
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

// visitor gets every key of a bucket. The bytes are only lent.
type visitor func(bucket string, key, value []byte)

// walk visits everything that can be reached from the root; what is wrong on the way is counted and passed over.
func (p *pageFile) walk(visit visitor) {
	if p.metas < 2 {
		p.problems.add(fmt.Errorf("%d of the 2 meta pages are sound", p.metas))
	}
	if p.meta.root == 0 {
		return
	}
	if p.sound && uint64(p.size) < p.meta.high*uint64(p.pageSize) {
		p.problems.add(fmt.Errorf("the file ends at byte %d, its pages at %d", p.size, p.meta.high*uint64(p.pageSize)))
	}
	p.tree("", p.meta.root, nil, 0, visit)
}

// tree walks from a page on; first is the key by which a branch leads to it, nil at a root. That must be the page's own
// first key: bbolt looks for it there when it writes the page anew, and would otherwise keep both.
func (p *pageFile) tree(bucket string, id uint64, first []byte, depth int, visit visitor) {
	pg, err := p.read(id)
	if err == nil && depth > maxDepth {
		err = fmt.Errorf("page %d is too deep", id)
	}
	if err == nil && pg.flags != flagBranch && pg.flags != flagLeaf {
		err = fmt.Errorf("page %d has flags %#x", id, pg.flags)
	}
	if err != nil {
		p.problems.add(fmt.Errorf("bucket %q: %w", bucket, err))
		return
	}
	if e, err := pg.element(0); first != nil && (err != nil || pg.count == 0 || !bytes.Equal(e.key, first)) {
		p.problems.add(fmt.Errorf("bucket %q: the branch above page %d has another key for it", bucket, id))
	}
	if pg.flags == flagLeaf {
		p.leaf(bucket, pg, visit)
		return
	}
	if pg.count == 0 {
		p.problems.add(fmt.Errorf("bucket %q: branch page %d is empty", bucket, id))
	}
	for i := range pg.count {
		e, err := pg.element(i)
		if err != nil {
			p.problems.add(err)
			continue
		}
		p.tree(bucket, e.child, e.key, depth+1, visit)
	}
}

// leaf visits a leaf's elements; an element that is a bucket is walked, from its root or in place.
func (p *pageFile) leaf(bucket string, pg page, visit visitor) {
	for i := range pg.count {
		e, err := pg.element(i)
		if err != nil {
			p.problems.add(err)
			continue
		}
		if p.lastKey != nil && bytes.Compare(p.lastKey, e.key) >= 0 {
			p.problems.add(fmt.Errorf("bucket %q: keys of page %d are out of order", bucket, pg.id))
		}
		p.lastKey = bytes.Clone(e.key)
		if e.flags&elemBucket == 0 {
			visit(bucket, e.key, e.value)
			continue
		}
		if bucket != "" || len(e.value) < inBucket {
			p.problems.add(fmt.Errorf("bucket %q in %q cannot be", e.key, bucket))
			continue
		}
		p.buckets[string(e.key)] = true
		p.inner(string(e.key), e.value, visit)
		p.lastKey = bytes.Clone(e.key)
	}
}

func (p *pageFile) inner(name string, value []byte, visit visitor) {
	p.lastKey = nil
	if root := native.Uint64(value); root != 0 {
		p.tree(name, root, nil, 0, visit)
		return
	}
	p.inline(name, value, visit)
}

func (p *pageFile) inline(name string, value []byte, visit visitor) {
	buf := value[inBucket:]
	if len(buf) < pageHeader || native.Uint16(buf[8:]) != flagLeaf {
		p.problems.add(fmt.Errorf("bucket %q: its inline page is none", name))
		return
	}
	p.leaf(name, page{flags: flagLeaf, count: int(native.Uint16(buf[10:])), buf: buf}, visit)
}

// freePages reads the list of free pages; ok is false when there is none or it cannot be trusted.
func (p *pageFile) freePages() (free bitmap, ok bool) {
	free = make(bitmap, len(p.reached))
	if p.meta.freelist == noFreelist {
		return free, false
	}
	pg, err := p.read(p.meta.freelist)
	if err != nil || pg.flags != flagFreelist {
		return free, false
	}
	n, at := uint64(pg.count), pageHeader
	if pg.count == 0xFFFF {
		n, at = native.Uint64(pg.buf[at:]), at+8
	}
	if n > uint64(len(pg.buf)-at)/8 {
		return free, false
	}
	last := uint64(firstPage - 1)
	for i := range n {
		id := native.Uint64(pg.buf[uint64(at)+8*i:])
		if id <= last || id >= p.limit() || p.reached.has(id) {
			return free, false
		}
		free.set(id)
		last = id
	}
	return free, true
}

// orphans visits the leaves that wanted asks for and that were not reached from the root.
func (p *pageFile) orphans(wanted func(id uint64) bool, visit visitor) {
	for id := uint64(firstPage); id < p.limit(); id++ {
		if p.reached.has(id) || !wanted(id) {
			continue
		}
		pg, err := p.head(id)
		if err != nil || pg.id != id || pg.flags != flagLeaf {
			continue
		}
		if pg, err = p.read(id); err == nil {
			p.orphanLeaf(pg, visit)
		}
	}
}

func (p *pageFile) orphanLeaf(pg page, visit visitor) {
	p.lastKey = nil
	for i := range pg.count {
		e, err := pg.element(i)
		if err != nil {
			continue
		}
		switch {
		case e.flags&elemBucket == 0:
			visit("", e.key, e.value)
		case len(e.value) >= inBucket && native.Uint64(e.value) == 0:
			p.lastKey = nil
			p.inline(string(e.key), e.value, visit)
		}
	}
}

func (p *pageFile) close() error { return p.f.Close() }

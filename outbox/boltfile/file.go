package boltfile

import (
	"errors"
	"fmt"
	"os"

	"gauger/outbox/disk"
)

// File is a bbolt file as bytes.
type File struct {
	Size     int64           // bytes
	Sound    bool            // a meta page holds; otherwise the page size is a guess
	Metas    int             // sound meta pages in their places, of two
	Reached  PageSet         // pages that were read since the last reset
	Problems Problems        // that were met on the walk
	Buckets  map[string]bool // that were met on the walk

	f         *os.File
	layout    Layout
	pageSize  int64
	meta      pageMeta
	lastKey   []byte           // of the bucket that is being walked
	displaced map[uint64]int64 // offsets of pages that stand elsewhere than in their place; nil: not looked for
}

// PageSet has a bit for each page.
type PageSet []uint64

// Has reports whether a page is in the set.
func (m PageSet) Has(id uint64) bool { return id/64 < uint64(len(m)) && m[id/64]&(1<<(id%64)) != 0 }
func (m PageSet) set(id uint64)      { m[id/64] |= 1 << (id % 64) }

// Problems keeps the first few things that are wrong, and counts all.
type Problems struct {
	First []error
	N     int
}

// Add counts a problem.
func (p *Problems) Add(err error) {
	if p.N++; len(p.First) < 10 {
		p.First = append(p.First, err)
	}
}

// Err joins them in one error; nil: there are none.
func (p *Problems) Err() error {
	if p.N == 0 {
		return nil
	}
	if p.N == 1 {
		return fmt.Errorf("1 problem: %w", p.First[0])
	}
	return fmt.Errorf("%d problems, the first: %w", p.N, p.First[0])
}

// Layout tells of the file what its pages alone do not: which root is the newest, and whether one leads to everything.
type Layout struct {
	// Bucket is the name of the bucket that says the generation. It must be small enough to be inline.
	Bucket string
	// Generation reads one value of that bucket; ok is false where the value is another one, or not sound.
	Generation func(key, value []byte) (gen uint64, ok bool)
	// Missing names a bucket that should be among the found ones; "": none.
	Missing func(found map[string]bool) string
}

// Open opens the file and finds its newest sound meta page; without one, Sound is false.
func Open(path string, l Layout) (*File, error) {
	f, err := disk.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &File{f: f, layout: l, Size: info.Size(), pageSize: int64(os.Getpagesize())}
	p.findMeta()
	p.reset()
	return p, nil
}

// reset makes the next walk the first one.
func (p *File) reset() {
	p.Reached, p.Buckets, p.Problems, p.lastKey = make(PageSet, p.limit()/64+1), map[string]bool{}, Problems{}, nil
}

// Handle is the open file, for a lock on it.
func (p *File) Handle() *os.File { return p.f }

// PageCount counts the pages that bbolt uses, the meta pages among them.
func (p *File) PageCount() uint64 { return p.meta.high }

// Need counts the bytes that these pages take.
func (p *File) Need() uint64 { return p.meta.high * uint64(p.pageSize) }

func (p *File) pages() uint64 { return uint64(p.Size / p.pageSize) }

// limit is the number behind the last page that there can be.
func (p *File) limit() uint64 {
	n := p.pages()
	if p.displaced != nil { // a piece may be missing in the middle
		n = 2*n + 1024
	}
	if p.Sound {
		n = min(n, p.meta.high)
	}
	return n
}

// FreePages reads the list of free pages; ok is false when there is none or it cannot be trusted.
func (p *File) FreePages() (free PageSet, ok bool) {
	free = make(PageSet, len(p.Reached))
	if p.meta.freelist == noFreelist {
		return free, false
	}
	pg, err := p.read(p.meta.freelist)
	if err != nil || pg.flags != flagFreelist {
		return free, false
	}
	n, at := uint64(pg.count), PageHeader
	if pg.count == 0xFFFF {
		n, at = native.Uint64(pg.buf[at:]), at+8
	}
	if n > uint64(len(pg.buf)-at)/8 {
		return free, false
	}
	last := uint64(FirstPage - 1)
	for i := range n {
		id := native.Uint64(pg.buf[uint64(at)+8*i:])
		if id <= last || id >= p.limit() || p.Reached.Has(id) {
			return free, false
		}
		free.set(id)
		last = id
	}
	return free, true
}

// Close closes the file.
func (p *File) Close() error { return p.f.Close() }

// HasFreelist reports whether the file keeps a list of its free pages.
func (p *File) HasFreelist() bool { return p.meta.freelist != noFreelist }

package outbox

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sort"
	"syscall"
)

// This file finds what a damaged file does not lead to any more: pages that stand elsewhere than in their place, since
// a piece was put in or is missing or two were exchanged, and the root, when no meta page tells it.

const (
	// scanStep is how much of the file is looked at at a time.
	scanStep = 1 << 20
	// scanHead is what must be seen of a page to take it for one: its header and its first element.
	scanHead = pageHeader + elemSize
	// readBlock is how much is given up where the disk cannot read.
	readBlock = 4096
	// maxRoots bounds how many roots are tried when no meta page tells the newest.
	maxRoots = 3
)

// candidateRoot is a page that was a root once: its buckets are those of a box, the counts and their generation among them.
type candidateRoot struct {
	id, gen uint64
}

// findDisplaced goes through the whole file, byte by byte, and notes the pages that are not in their places, the tops and the
// branches that may be a root.
func (p *pageFile) findDisplaced() (tops, branches []uint64, err error) {
	p.displaced = map[uint64]int64{}
	high := p.limit()
	buf := make([]byte, scanStep+scanHead)
	for start := int64(0); start < p.size; start += scanStep {
		n, err := readOver(p.f, buf, start)
		if err != nil {
			return nil, nil, err
		}
		for i := 0; i < scanStep && i+scanHead <= n; i++ {
			flags := native.Uint16(buf[i+8:])
			if flags == 0 || flags > flagFreelist {
				continue
			}
			at := start + int64(i)
			if flags == flagMeta && p.metas == 0 {
				if m, pageSize, ok := p.readMeta(at); ok {
					p.adoptMeta(m, pageSize)
				}
				continue
			}
			pg := headOf(buf[i:], at)
			if pg.id < firstPage || pg.id >= high || !plausible(pg, buf[i+pageHeader:]) {
				continue
			}
			if at != int64(pg.id)*p.pageSize {
				p.displaced[pg.id] = at
			}
			switch {
			case flags == flagLeaf && native.Uint32(buf[i+pageHeader:])&elemBucket != 0:
				tops = append(tops, pg.id)
			case flags == flagBranch:
				branches = append(branches, pg.id)
			}
		}
	}
	p.reset()
	return tops, branches, nil
}

// readOver reads as much as there is from a place in the file on. Blocks that the disk cannot read any more are zeros.
func readOver(f *os.File, buf []byte, start int64) (n int, err error) {
	if n, err = f.ReadAt(buf, start); errors.Is(err, syscall.EIO) {
		for n, err = 0, nil; n < len(buf) && err == nil; {
			block, got := buf[n:min(n+readBlock, len(buf))], 0
			if got, err = f.ReadAt(block, start+int64(n)); errors.Is(err, syscall.EIO) {
				clear(block)
				got, err = len(block), nil
			}
			n += got
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// plausible reports whether bytes look like a page: behind its elements come, without a gap, the first one's key and
// value. A list of free pages must not be empty: three numbers of a list in a row look like the header of an empty one.
func plausible(pg page, first []byte) bool {
	behind := uint32(pg.count) * elemSize
	switch {
	case pg.overflow > 1<<16:
		return false
	case pg.flags == flagLeaf:
		return pg.count > 0 && native.Uint32(first) <= elemBucket && native.Uint32(first[4:]) == behind
	case pg.flags == flagBranch:
		return pg.count > 0 && native.Uint32(first) == behind
	}
	return pg.flags == flagFreelist && pg.count > 0
}

// findRoot makes the newest root the one to walk from. A meta page that holds is believed, unless the other one is
// damaged and a younger root leads to no problem: then it was the damaged one's. Without a sound meta page the generation
// alone tells; the list of free pages is not known then.
func (p *pageFile) findRoot() error {
	high := p.meta.high
	if p.metas == 1 {
		p.meta.high = max(high, p.pages()) // the other one may have told of more
	}
	ids, branches, err := p.findDisplaced()
	if err != nil {
		return err
	}
	was := p.meta
	if p.metas == 1 {
		was.high = high
	}
	own, known := uint64(0), false
	if p.sound {
		own, known = p.rootGeneration(p.meta.root)
	}
	if p.sound && (p.metas == 2 || !known) {
		p.meta = was
		return nil
	}
	if tops := p.youngerRoots(ids, own); !p.adoptRoot(tops, branches) {
		p.meta = was
		if !p.sound && len(tops) > 0 {
			p.meta.root = tops[0].id
		}
	}
	return nil
}

// adoptRoot makes the newest top that leads to no problem, or its parent, the root; false: there is none.
func (p *pageFile) adoptRoot(tops []candidateRoot, branches []uint64) bool {
	high := p.meta.high
	for _, t := range tops[:min(maxRoots, len(tops))] {
		for _, root := range append(p.parentsOf(branches, t.id), t.id) {
			p.meta = pageMeta{root: root, high: high}
			if p.soundFromRoot() {
				return true
			}
		}
	}
	return false
}

// youngerRoots reads the generations of tops, and returns those above own, the newest first.
func (p *pageFile) youngerRoots(ids []uint64, own uint64) (tops []candidateRoot) {
	for _, id := range ids {
		if gen, ok := p.rootGeneration(id); ok && (gen > own || !p.sound) {
			tops = append(tops, candidateRoot{id: id, gen: gen})
		}
	}
	sort.Slice(tops, func(i, j int) bool { return tops[i].gen > tops[j].gen })
	return tops
}

// parentsOf are the branches that have a page for a child: the root has one when it does not fit on one page.
func (p *pageFile) parentsOf(branches []uint64, child uint64) (ids []uint64) {
	for _, id := range branches {
		pg, err := p.load(id)
		if err != nil {
			continue
		}
		for i := range pg.count {
			if e, err := pg.element(i); err == nil && e.child == child {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// soundFromRoot walks from the root and reports whether nothing is wrong and nothing is missing on the way.
func (p *pageFile) soundFromRoot() bool {
	p.reset()
	p.tree("", p.meta.root, nil, 0, func(string, []byte, []byte) {})
	well := p.problems.n == 0 && p.missingBucket() == ""
	p.reset()
	return well
}

// missingBucket names a bucket that the walk should have met and has not; "": none.
func (p *pageFile) missingBucket() string {
	want := []string{bucketState, bucketMeta}
	for name := range p.buckets {
		if _, stream := splitBucket(name); stream != "" {
			want = append(want, prefixQueue+stream, prefixDead+stream, prefixAttempts+stream)
		}
	}
	for _, name := range want {
		if !p.buckets[name] {
			return name
		}
	}
	return ""
}

// rootGeneration returns the generation of the root that a page is or that leads to it; false: it is none.
func (p *pageFile) rootGeneration(id uint64) (gen uint64, ok bool) {
	for range maxDepth {
		pg, err := p.load(id)
		if err != nil {
			return 0, false
		}
		next := uint64(0)
		for i := range pg.count {
			e, err := pg.element(i)
			if err != nil {
				return 0, false
			}
			switch {
			case pg.flags == flagBranch && bytes.Compare(e.key, []byte(bucketMeta)) <= 0:
				next = e.child
			case pg.flags == flagLeaf && string(e.key) == bucketMeta && e.flags == elemBucket && len(e.value) >= inBucket:
				return p.sealedGeneration(e.value)
			}
		}
		id = next
	}
	return 0, false
}

// sealedGeneration reads the generation out of the bucket of counts, which is small enough to be inline.
func (p *pageFile) sealedGeneration(bucket []byte) (gen uint64, ok bool) {
	if native.Uint64(bucket) != 0 {
		return 0, false
	}
	quiet := *p
	quiet.problems, quiet.lastKey = problems{}, nil
	quiet.inline(bucketMeta, bucket, func(_ string, key, value []byte) {
		if string(key) != keyGeneration {
			return
		}
		if _, g, err := unseal(bucketMeta, key, value); err == nil {
			gen, ok = g, true
		}
	})
	return gen, ok
}

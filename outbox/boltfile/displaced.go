package boltfile

import (
	"bytes"
	"sort"

	"gauger/outbox/disk"
)

// This file finds what a damaged file does not lead to any more: pages that stand elsewhere than in their place, since
// a piece was put in or is missing or two were exchanged, and the root, when no meta page tells it.

const (
	// scanStep bytes of the file are looked at at a time.
	scanStep = 1 << 20
	// scanHead bytes of a page must be seen to take it for one: its header and its first element.
	scanHead = PageHeader + ElementSize
	// maxRoots bounds how many roots are tried when no meta page tells the newest.
	maxRoots = 3
)

// candidateRoot is a page that was a root once: its buckets are those of a box, the counts and their generation among them.
type candidateRoot struct {
	id, gen uint64
}

// findDisplaced goes through the whole file, byte by byte, and notes the pages that are not in their places, and the leaves and
// branches that may be a root.
func (p *File) findDisplaced() (leaves, branches []uint64, err error) {
	p.displaced = map[uint64]int64{}
	high := p.limit()
	buf := make([]byte, scanStep+scanHead)
	for start := int64(0); start < p.Size; start += scanStep {
		n, err := disk.ReadThrough(p.f, buf, start)
		if err != nil {
			return nil, nil, err
		}
		for i := 0; i < scanStep && i+scanHead <= n; i++ {
			flags := native.Uint16(buf[i+8:])
			if flags == 0 || flags > flagFreelist {
				continue
			}
			at := start + int64(i)
			if flags == flagMeta && p.Metas == 0 {
				if m, pageSize, ok := p.readMeta(at); ok {
					p.adoptMeta(m, pageSize)
				}
				continue
			}
			pg := headOf(buf[i:], at)
			if pg.id < FirstPage || pg.id >= high || !plausible(pg, buf[i+PageHeader:]) {
				continue
			}
			if at != int64(pg.id)*p.pageSize {
				p.displaced[pg.id] = at
			}
			switch {
			case flags == flagLeaf && native.Uint32(buf[i+PageHeader:])&elemBucket != 0:
				leaves = append(leaves, pg.id)
			case flags == flagBranch:
				branches = append(branches, pg.id)
			}
		}
	}
	p.reset()
	return leaves, branches, nil
}

// plausible reports whether bytes look like a page: behind its elements come, without a gap, the first one's key and
// value. A list of free pages must not be empty: three numbers of a list in a row look like the header of an empty one.
func plausible(pg page, first []byte) bool {
	behind := uint32(pg.count) * ElementSize
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

// FindRoot makes the newest root the one to walk from. A meta page that holds is believed, unless the other one is
// damaged and a younger root leads to no problem: then it was the damaged one's. Without a sound meta page the generation
// alone tells; the list of free pages is not known then.
func (p *File) FindRoot() error {
	high := p.meta.high
	if p.Metas == 1 {
		p.meta.high = max(high, p.pages()) // the other one may have told of more
	}
	leaves, branches, err := p.findDisplaced()
	if err != nil {
		return err
	}
	was := p.meta
	if p.Metas == 1 {
		was.high = high
	}
	own, known := uint64(0), false
	if p.Sound {
		own, known = p.rootGeneration(p.meta.root)
	}
	if p.Sound && (p.Metas == 2 || !known) {
		p.meta = was
		return nil
	}
	if roots := p.youngerRoots(leaves, own); !p.adoptRoot(roots, branches) {
		p.meta = was
		if !p.Sound && len(roots) > 0 {
			p.meta.root = roots[0].id
		}
	}
	return nil
}

// adoptRoot makes the newest root that leads to no problem, or its parent, the root; false: there is none.
func (p *File) adoptRoot(roots []candidateRoot, branches []uint64) bool {
	high := p.meta.high
	for _, t := range roots[:min(maxRoots, len(roots))] {
		for _, root := range append(p.parentsOf(branches, t.id), t.id) {
			p.meta = pageMeta{root: root, high: high}
			if p.soundFromRoot() {
				return true
			}
		}
	}
	return false
}

// youngerRoots reads the generations of roots, and returns those above own, the newest first.
func (p *File) youngerRoots(ids []uint64, own uint64) (roots []candidateRoot) {
	for _, id := range ids {
		if gen, ok := p.rootGeneration(id); ok && (gen > own || !p.Sound) {
			roots = append(roots, candidateRoot{id: id, gen: gen})
		}
	}
	sort.Slice(roots, func(i, j int) bool { return roots[i].gen > roots[j].gen })
	return roots
}

// parentsOf are the branches that have a page for a child: the root has one when it does not fit on one page.
func (p *File) parentsOf(branches []uint64, child uint64) (ids []uint64) {
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
func (p *File) soundFromRoot() bool {
	p.reset()
	p.tree("", p.meta.root, nil, 0, func(string, []byte, []byte) {})
	well := p.Problems.N == 0 && p.layout.Missing(p.Buckets) == ""
	p.reset()
	return well
}

// rootGeneration returns the generation of the root that a page is or that leads to it; false: it is none.
func (p *File) rootGeneration(id uint64) (gen uint64, ok bool) {
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
			case pg.flags == flagBranch && bytes.Compare(e.key, []byte(p.layout.Bucket)) <= 0:
				next = e.child
			case pg.flags == flagLeaf && string(e.key) == p.layout.Bucket && e.flags == elemBucket && len(e.value) >= inBucket:
				return p.sealedGeneration(e.value)
			}
		}
		id = next
	}
	return 0, false
}

// sealedGeneration reads the generation out of its bucket, which is small enough to be inline.
func (p *File) sealedGeneration(bucket []byte) (gen uint64, ok bool) {
	if native.Uint64(bucket) != 0 {
		return 0, false
	}
	quiet := *p
	quiet.Problems, quiet.lastKey = Problems{}, nil
	quiet.inline(p.layout.Bucket, bucket, func(_ string, key, value []byte) {
		if g, sound := p.layout.Generation(key, value); sound {
			gen, ok = g, true
		}
	})
	return gen, ok
}

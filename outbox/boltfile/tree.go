package boltfile

import (
	"bytes"
	"fmt"
)

// Visitor gets every key of a bucket. The bytes are only lent.
type Visitor func(bucket string, key, value []byte)

// Walk visits everything that can be reached from the root; what is wrong on the way is counted and passed over.
func (p *File) Walk(visit Visitor) {
	if p.Metas < 2 {
		p.Problems.Add(fmt.Errorf("%d of the 2 meta pages are sound", p.Metas))
	}
	if p.meta.root == 0 {
		return
	}
	if p.Sound && uint64(p.Size) < p.Need() {
		p.Problems.Add(fmt.Errorf("the file ends at byte %d, its pages at %d", p.Size, p.Need()))
	}
	p.tree("", p.meta.root, nil, 0, visit)
}

// tree walks from a page on; first is the key by which a branch leads to it, nil at a root. That must be the page's own
// first key: bbolt looks for it there when it writes the page anew, and would otherwise keep both.
func (p *File) tree(bucket string, id uint64, first []byte, depth int, visit Visitor) {
	pg, err := p.read(id)
	if err == nil && depth > maxDepth {
		err = fmt.Errorf("page %d is too deep", id)
	}
	if err == nil && pg.Flags != FlagBranch && pg.Flags != flagLeaf {
		err = fmt.Errorf("page %d has flags %#x", id, pg.Flags)
	}
	if err != nil {
		p.Problems.Add(fmt.Errorf("bucket %q: %w", bucket, err))
		return
	}
	if e, err := pg.Element(0); first != nil && (err != nil || pg.count == 0 || !bytes.Equal(e.Key, first)) {
		p.Problems.Add(fmt.Errorf("bucket %q: the branch above page %d has another key for it", bucket, id))
	}
	if pg.Flags == flagLeaf {
		p.leaf(bucket, pg, visit)
		return
	}
	if pg.count == 0 {
		p.Problems.Add(fmt.Errorf("bucket %q: branch page %d is empty", bucket, id))
	}
	for i := range pg.count {
		e, err := pg.Element(i)
		if err != nil {
			p.Problems.Add(err)
			continue
		}
		p.tree(bucket, e.child, e.Key, depth+1, visit)
	}
}

// leaf visits a leaf's elements; an element that is a bucket is walked, from its root or in place.
func (p *File) leaf(bucket string, pg Page, visit Visitor) {
	for i := range pg.count {
		e, err := pg.Element(i)
		if err != nil {
			p.Problems.Add(err)
			continue
		}
		if p.lastKey != nil && bytes.Compare(p.lastKey, e.Key) >= 0 {
			p.Problems.Add(fmt.Errorf("bucket %q: keys of page %d are out of order", bucket, pg.id))
		}
		p.lastKey = bytes.Clone(e.Key)
		if e.flags&elemBucket == 0 {
			visit(bucket, e.Key, e.value)
			continue
		}
		if bucket != "" || len(e.value) < inBucket {
			p.Problems.Add(fmt.Errorf("bucket %q in %q cannot be", e.Key, bucket))
			continue
		}
		p.Buckets[string(e.Key)] = true
		p.inner(string(e.Key), e.value, visit)
		p.lastKey = bytes.Clone(e.Key)
	}
}

func (p *File) inner(name string, value []byte, visit Visitor) {
	p.lastKey = nil
	if root := native.Uint64(value); root != 0 {
		p.tree(name, root, nil, 0, visit)
		return
	}
	p.inline(name, value, visit)
}

func (p *File) inline(name string, value []byte, visit Visitor) {
	buf := value[inBucket:]
	if len(buf) < PageHeader || native.Uint16(buf[8:]) != flagLeaf {
		p.Problems.Add(fmt.Errorf("bucket %q: its inline page is none", name))
		return
	}
	p.leaf(name, Page{Flags: flagLeaf, count: int(native.Uint16(buf[10:])), Buf: buf}, visit)
}

// Orphans visits the leaves that wanted asks for and that were not reached from the root.
func (p *File) Orphans(wanted func(id uint64) bool, visit Visitor) {
	for id := uint64(FirstPage); id < p.limit(); id++ {
		if p.Reached.Has(id) || !wanted(id) {
			continue
		}
		pg, err := p.head(id)
		if err != nil || pg.id != id || pg.Flags != flagLeaf {
			continue
		}
		if pg, err = p.read(id); err == nil {
			p.orphanLeaf(pg, visit)
		}
	}
}

func (p *File) orphanLeaf(pg Page, visit Visitor) {
	p.lastKey = nil
	for i := range pg.count {
		e, err := pg.Element(i)
		if err != nil {
			continue
		}
		switch {
		case e.flags&elemBucket == 0:
			visit("", e.Key, e.value)
		case len(e.value) >= inBucket && native.Uint64(e.value) == 0:
			p.lastKey = nil
			p.inline(string(e.Key), e.value, visit)
		}
	}
}

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
	if err == nil && pg.flags != flagBranch && pg.flags != flagLeaf {
		err = fmt.Errorf("page %d has flags %#x", id, pg.flags)
	}
	if err != nil {
		p.Problems.Add(fmt.Errorf("bucket %q: %w", bucket, err))
		return
	}
	if e, err := pg.element(0); first != nil && (err != nil || pg.count == 0 || !bytes.Equal(e.key, first)) {
		p.Problems.Add(fmt.Errorf("bucket %q: the branch above page %d has another key for it", bucket, id))
	}
	if pg.flags == flagLeaf {
		p.leaf(bucket, pg, visit)
		return
	}
	if pg.count == 0 {
		p.Problems.Add(fmt.Errorf("bucket %q: branch page %d is empty", bucket, id))
	}
	for i := range pg.count {
		e, err := pg.element(i)
		if err != nil {
			p.Problems.Add(err)
			continue
		}
		p.tree(bucket, e.child, e.key, depth+1, visit)
	}
}

// leaf visits a leaf's elements; an element that is a bucket is walked, from its root or in place.
func (p *File) leaf(bucket string, pg page, visit Visitor) {
	for i := range pg.count {
		e, err := pg.element(i)
		if err != nil {
			p.Problems.Add(err)
			continue
		}
		if p.lastKey != nil && bytes.Compare(p.lastKey, e.key) >= 0 {
			p.Problems.Add(fmt.Errorf("bucket %q: keys of page %d are out of order", bucket, pg.id))
		}
		p.lastKey = bytes.Clone(e.key)
		if e.flags&elemBucket == 0 {
			visit(bucket, e.key, e.value)
			continue
		}
		if bucket != "" || len(e.value) < inBucket {
			p.Problems.Add(fmt.Errorf("bucket %q in %q cannot be", e.key, bucket))
			continue
		}
		name := string(e.key)
		p.Buckets[name], p.lastKey = true, nil
		if root := native.Uint64(e.value); root != 0 {
			p.tree(name, root, nil, 0, visit)
		} else {
			p.inline(name, e.value, visit)
		}
		p.lastKey = bytes.Clone(e.key)
	}
}

func (p *File) inline(name string, value []byte, visit Visitor) {
	buf := value[inBucket:]
	if len(buf) < PageHeader || native.Uint16(buf[8:]) != flagLeaf {
		p.Problems.Add(fmt.Errorf("bucket %q: its inline page is none", name))
		return
	}
	p.leaf(name, page{flags: flagLeaf, count: int(native.Uint16(buf[10:])), buf: buf}, visit)
}

// Orphans visits the leaves that wanted asks for and that were not reached from the root.
func (p *File) Orphans(wanted func(id uint64) bool, visit Visitor) {
	for id := uint64(FirstPage); id < p.limit(); id++ {
		if p.Reached.Has(id) || !wanted(id) {
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

func (p *File) orphanLeaf(pg page, visit Visitor) {
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

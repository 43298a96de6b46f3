package boltfile

import "hash/fnv"

// A file begins with two meta pages, written in turn: the newer sound one says where everything is.
const (
	metaSize    = 64
	metaSummed  = 56
	metaMagic   = 0xED0CDAED
	metaVersion = 2
)

type pageMeta struct {
	root, freelist, high, txid uint64
}

// findMeta tries both places of every page size that bbolt may have used.
func (p *File) findMeta() {
	for size := int64(1024); size <= 64<<10; size *= 2 {
		for _, at := range []int64{0, size} {
			if m, pageSize, ok := p.readMeta(at); ok && pageSize == size {
				p.Metas++
				p.adoptMeta(m, pageSize)
			}
		}
	}
}

// adoptMeta goes by a meta page unless a newer one was found.
func (p *File) adoptMeta(m pageMeta, pageSize int64) {
	if !p.Sound || m.txid > p.meta.txid {
		p.meta, p.pageSize, p.Sound = m, pageSize, true
	}
}

func (p *File) readMeta(at int64) (m pageMeta, pageSize int64, ok bool) {
	buf := make([]byte, PageHeader+metaSize)
	if _, err := p.f.ReadAt(buf, at); err != nil {
		return m, 0, false
	}
	b := buf[PageHeader:]
	sum := fnv.New64a()
	sum.Write(b[:metaSummed])
	if native.Uint32(b) != metaMagic || native.Uint32(b[4:]) != metaVersion || native.Uint64(b[metaSummed:]) != sum.Sum64() {
		return m, 0, false
	}
	m = pageMeta{root: native.Uint64(b[16:]), freelist: native.Uint64(b[32:]), high: native.Uint64(b[40:]), txid: native.Uint64(b[48:])}
	return m, int64(native.Uint32(b[8:])), true
}

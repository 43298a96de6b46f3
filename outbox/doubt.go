package outbox

import (
	"bytes"
	"maps"
	"slices"
)

// This file judges the records of a damaged file that may be old copies.

// maxDoubtful bounds the records in doubt of one stream.
const maxDoubtful = 4096

// reachBack reports whether the receipts show every record of a stream that left it since its counts were written: what
// the same root leads to and no receipt shows is current then, also when no meta page says that the root is the newest.
func (v *salvager) reachBack(stream string, r *row) bool {
	total, counted := v.b.receipts.total(stream), r.led.Delivered+r.led.Dropped
	return r.known && total >= counted && total-counted <= uint64(len(r.receipts))
}

// complete reports whether the receipts show every record of a stream that ever left it.
func (v *salvager) complete(stream string, r *row) bool {
	total := v.b.receipts.total(stream)
	return v.reachBack(stream, r) && total <= uint64(len(r.receipts))
}

// missing is how many records the counts have and the current pages have not, at most what is kept in memory.
func (r *row) missing() int {
	if !r.known {
		return maxDoubtful
	}
	if r.led.Waiting <= r.found.Waiting {
		return 0
	}
	return int(min(r.led.Waiting-r.found.Waiting, maxDoubtful))
}

// short reports whether the counts say that records are missing still. When none is, a page that seems to be in use and
// that nothing leads to is an old one: the list of free pages has no checksum.
func (r *row) short() bool { return !r.known || r.led.Waiting > r.found.Waiting }

// doubt keeps a record that may be old. A queue loses its oldest first, so the newest ones are the likely ones.
func (r *row) doubt(seq uint64, value []byte) {
	if r.doubtful == nil {
		r.doubtful = map[uint64][]byte{}
	}
	r.doubtful[seq] = bytes.Clone(value)
	if len(r.doubtful) > 2*maxDoubtful {
		r.prune()
	}
}

// prune forgets all but the newest, as many as are missing.
func (r *row) prune() {
	seqs := slices.Sorted(maps.Keys(r.doubtful))
	for _, seq := range seqs[:max(len(seqs)-r.missing(), 0)] {
		delete(r.doubtful, seq)
	}
}

// judge makes dead letters of the damaged records and of those in doubt; where the receipts clear up the doubt they are sent.
func (v *salvager) judge() {
	for _, name := range slices.Sorted(maps.Keys(v.rows)) {
		r := v.rows[name]
		for seq, value := range r.spoilt {
			if r.known && seq >= r.led.next {
				continue // its number was never given, and will be another record's: it is lost, and counted so
			}
			key, highest := seqKey(seq), r.highest
			v.letter(name, key, value, "the record was damaged in the file and was not sent: "+checkRecord(name, key, value).Error())
			r.highest = highest // a damaged record's number may be damaged too
		}
		r.prune()
		sure := v.complete(name, r)
		for seq, value := range r.doubtful {
			if key := seqKey(seq); sure && !v.placed(name, key) {
				v.queue(name, key, value)
				continue
			}
			v.doubtful++
			v.letter(name, seqKey(seq), value, "found in a damaged file where it may be an old copy: it may have been delivered")
		}
	}
}

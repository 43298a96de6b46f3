package outbox

import (
	"bytes"
	"maps"
	"slices"
)

// This file judges the records of a damaged file that may be old copies.

// maxStaleCopies bounds the stale copies of one stream that are kept in memory.
const maxStaleCopies = 4096

// receiptsReachBack reports whether the receipts show every record of a stream that left it since its counts were written: what
// the same root leads to and no receipt shows is current then, also when no meta page says that the root is the newest.
func (v *salvager) receiptsReachBack(r *salvagedStream) bool {
	total, counted := v.b.receipts.Total(r.name), r.counts.Delivered+r.counts.Dropped
	return r.known && total >= counted && total-counted <= uint64(len(r.receipts))
}

// receiptsComplete reports whether the receipts show every record of a stream that ever left it.
func (v *salvager) receiptsComplete(r *salvagedStream) bool {
	return v.receiptsReachBack(r) && v.b.receipts.Total(r.name) <= uint64(len(r.receipts))
}

// missingRecords counts the records that the counts have and the current pages have not, at most what is kept in memory. When none is, a
// page that seems to be in use and that nothing leads to is an old one: the list of free pages has no checksum.
func (r *salvagedStream) missingRecords() int {
	if !r.known {
		return maxStaleCopies
	}
	if r.counts.Waiting <= r.found.Waiting {
		return 0
	}
	return int(min(r.counts.Waiting-r.found.Waiting, maxStaleCopies))
}

// keepStaleCopy keeps a record that may be old. A queue loses its oldest first, so the newest ones are the likely ones.
func (r *salvagedStream) keepStaleCopy(seq uint64, value []byte) {
	if r.staleCopies == nil {
		r.staleCopies = map[uint64][]byte{}
	}
	r.staleCopies[seq] = bytes.Clone(value)
	if len(r.staleCopies) > 2*maxStaleCopies {
		r.pruneStaleCopies()
	}
}

// pruneStaleCopies forgets all but the newest, as many as are missing.
func (r *salvagedStream) pruneStaleCopies() {
	seqs := slices.Sorted(maps.Keys(r.staleCopies))
	for _, seq := range seqs[:max(len(seqs)-r.missingRecords(), 0)] {
		delete(r.staleCopies, seq)
	}
}

// decideStaleCopies makes dead letters of the damaged records and of those that may be stale copies; where the receipts
// clear up the doubt they are sent.
func (v *salvager) decideStaleCopies() {
	for _, name := range slices.Sorted(maps.Keys(v.streams)) {
		r := v.streams[name]
		for seq, value := range r.damaged {
			if r.known && seq >= r.counts.nextSeq {
				continue // its number was never given, and will be another record's: it is lost, and counted so
			}
			key, highest := seqKey(seq), r.highest
			v.putAsDeadLetter(r, key, value, "the record was damaged in the file and was not sent: "+checkRecord(name, key, value).Error())
			r.highest = highest // a damaged record's number may be damaged too
		}
		r.pruneStaleCopies()
		sure := v.receiptsComplete(r)
		for seq, value := range r.staleCopies {
			if key := seqKey(seq); sure && !v.alreadyPlaced(r, key) {
				v.putQueued(r, key, value)
				continue
			}
			v.staleCopies++
			v.putAsDeadLetter(r, seqKey(seq), value, "found in a damaged file where it may be an old copy: it may have been delivered; if the service has it, confirm it, else retry it")
		}
	}
}

package outbox

import (
	"fmt"
	"sort"

	"go.etcd.io/bbolt"
)

const (
	// keepEvery: of a stream that is thinned, one record in so many stays. Eight, since the file gives a page back only
	// when less than a quarter of it is left.
	keepEvery = 8
	// spareShare: once room is made, such a part of the whole more, so that it is not made for every record.
	spareShare = 20
	// deadShare is the part of a stream's room that its dead letters may take, where the stream gives way at all.
	deadShare = 4
)

// evictionPlan lists what gives way for one Update: first whatever a stream has beyond its own share, then, when all streams
// together have too much, one stream after the other.
type evictionPlan struct {
	b          *Box
	tx         *bbolt.Tx
	evictions  []eviction
	planned    map[recordRef]bool
	freedBytes int64
	fullStream string // the Never stream that has no room left of its own
}

// eviction lists what one stream gives up, out of its queue or its dead letters.
type eviction struct {
	s        *stream
	bucket   string
	seqs     []uint64
	bytes    uint64
	upTo     uint64 // where thinning goes on
	ownShare bool   // the stream has used up its own share, not all streams the quota
}

// makeRoom stages evictions into g until what the running Tx adds fits, or returns ErrFull and stages nothing. The lock
// is held.
func (r *evictionPlan) makeRoom(g *group, add uint64) error {
	if add == 0 {
		return nil
	}
	over := r.used() + int64(add) - r.b.recordLimit()
	need := over
	if over <= 0 && !r.beyondShare() {
		// Half-empty pages can fill the file while the records alone would fit.
		if over = r.b.inUse.Load() - r.b.quota.Load()/20*19; over <= 0 || r.b.evictedForPages {
			r.b.toldFull = false
			return nil
		}
		r.b.evictedForPages, need = true, 0
	}
	r.planned = map[recordRef]bool{}
	err := r.b.view("make room in the outbox", func(tx *bbolt.Tx) error {
		r.tx = tx
		r.planShares()
		if over > r.freedBytes {
			r.planQuota(over + r.b.recordLimit()/spareShare - r.freedBytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if r.freedBytes < need || r.fullStream != "" {
		return r.refuseFull(r.fullStream, add)
	}
	r.b.toldFull = false
	for _, e := range r.evictions {
		r.stageEviction(g, e)
	}
	return nil
}

// beyondShare reports whether the running Tx takes a stream beyond its share.
func (r *evictionPlan) beyondShare() bool {
	for _, s := range r.b.streams {
		if r.excess(s) > 0 {
			return true
		}
	}
	return false
}

// excess counts the bytes beyond its share that a stream uses with what the running Tx adds; 0 where it adds nothing.
func (r *evictionPlan) excess(s *stream) int64 {
	if s.stagedBytes == 0 || s.Share <= 0 {
		return 0
	}
	return s.used() + int64(s.stagedBytes) - r.shareLimit(s)
}

// refuseFull tells once that nothing more is taken, and returns the error.
func (r *evictionPlan) refuseFull(stream string, add uint64) error {
	what := "the outbox"
	if stream != "" {
		what = "the share of " + stream
	}
	if !r.b.toldFull {
		r.b.toldFull = true
		r.b.note(Note{Kind: NoteFull, Stream: stream}, "%s is full: %d bytes are used in all and nothing that may give way is left; new records are refused", what, r.used())
	}
	return fmt.Errorf("store %d bytes beside %d of %d in %s: %w", add, r.used(), r.b.recordLimit(), what, ErrFull)
}

// planShares brings every stream that the running Tx adds to back into its share. What one Tx adds may be more than that: then
// the stream holds that alone.
func (r *evictionPlan) planShares() {
	for _, s := range r.b.streams {
		over := r.excess(s)
		if over <= 0 {
			continue
		}
		if s.Keep == Never {
			r.fullStream = s.Name
			continue
		}
		room := r.shareLimit(s)
		want := uint64(over + room/spareShare)
		if tooDead := int64(s.counts.deadBytes) - room/deadShare; tooDead > 0 {
			want -= r.planBucket(s, s.deadBucket, min(want, uint64(tooDead+room/spareShare)), true)
		}
		r.planStream(s, want, true)
	}
}

// planQuota lets the streams give way in their order until want bytes are free.
func (r *evictionPlan) planQuota(want int64) {
	var giving []*stream
	for _, s := range r.b.streams {
		if s.Keep != Never {
			giving = append(giving, s)
		}
	}
	sort.Slice(giving, func(i, j int) bool {
		if giving[i].Keep != giving[j].Keep {
			return giving[i].Keep > giving[j].Keep
		}
		return giving[i].Name < giving[j].Name
	})
	for _, s := range giving {
		if want <= 0 {
			return
		}
		want -= int64(r.planStream(s, uint64(want), false))
	}
}

// planStream takes from one stream's queue, and when that is empty from its dead letters, until want bytes are free.
func (r *evictionPlan) planStream(s *stream, want uint64, own bool) (bytes uint64) {
	bytes = r.planBucket(s, s.queueBucket, want, own)
	if bytes < want {
		bytes += r.planBucket(s, s.deadBucket, want-bytes, own)
	}
	return bytes
}

// planBucket walks one bucket from its oldest record; a queue that is thinned keeps one in eight, goes round when it comes to
// the end, and in the end keeps none.
func (r *evictionPlan) planBucket(s *stream, bucket string, want uint64, own bool) (bytes uint64) {
	e := eviction{s: s, bucket: bucket, ownShare: own}
	keep := 0
	if s.Keep == ThinFirst && bucket == s.queueBucket {
		e.upTo, keep = s.thinnedUpTo, keepEvery
	}
	for e.bytes < want {
		before, from := e.bytes, e.upTo
		r.planPass(&e, keep, want)
		if e.bytes >= want || from == 0 && e.bytes == before {
			break
		}
		e.upTo = 0
	}
	if len(e.seqs) > 0 {
		r.evictions, r.freedBytes = append(r.evictions, e), r.freedBytes+int64(e.bytes)
	}
	return e.bytes
}

// planPass goes from e.upTo to the end of the bucket or until enough is found.
func (r *evictionPlan) planPass(e *eviction, keep int, want uint64) {
	c := r.tx.Bucket([]byte(e.bucket)).Cursor()
	n := 0
	for k, v := c.Seek(seqKey(e.upTo + 1)); k != nil && e.bytes < want; k, v = c.Next() {
		seq, ok := keySeq(k)
		at := recordRef{bucket: e.bucket, seq: seq}
		if !ok || r.planned[at] || e.bucket == e.s.queueBucket && e.s.inFlight[seq] || r.b.leaving[at] {
			continue
		}
		e.upTo = seq
		if n++; keep > 0 && n%keep == 0 {
			continue
		}
		r.planned[at] = true
		size := storedCost(v)
		if e.bucket == e.s.deadBucket {
			size = deadLetterCost(v[min(sealHeader, len(v)):])
		}
		e.seqs, e.bytes = append(e.seqs, seq), e.bytes+size
	}
}

// stageEviction removes what gives way, and tells it.
func (r *evictionPlan) stageEviction(g *group, e eviction) {
	for _, seq := range e.seqs {
		r.b.stageRemoval(g, e.s, e.bucket, seq)
	}
	n, led, what := uint64(len(e.seqs)), &e.s.counts, e.s.Name
	if e.bucket == e.s.queueBucket {
		led.Waiting -= n
		led.bytes -= e.bytes
		e.s.thinnedUpTo = e.upTo
	} else {
		led.Dead -= n
		led.deadBytes -= e.bytes
		what = "dead letters of " + what
	}
	led.Evicted += n
	why := "the outbox's quota"
	if e.ownShare {
		why = "the share of " + e.s.Name + " in the outbox"
	}
	r.b.note(Note{Kind: NoteEvicted, Stream: e.s.Name, Count: len(e.seqs)}, "%s is used up: %d of the oldest %s gave way, %d of the stream in all", why, n, what, led.Evicted)
}

// used counts the bytes of the records and dead letters of all streams. The lock is held.
func (r *evictionPlan) used() (n int64) {
	for _, s := range r.b.streams {
		n += s.used()
	}
	return n
}

// shareLimit counts the bytes that a stream may use.
func (r *evictionPlan) shareLimit(s *stream) int64 {
	if s.Share <= 0 {
		return r.b.recordLimit()
	}
	return r.b.recordLimit() * int64(s.Share) / 100
}

package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"gauger/outbox/boltfile"
	"gauger/outbox/disk"
	"gauger/outbox/receipts"
)

// salvage carries what is sound in the damaged file into a fresh one and sets the damaged one aside.
//
// What can be reached from the root is current. What lies on a page that is neither reached nor free is current too: its
// way was damaged. What lies anywhere else may be old, delivered long ago; a record found only there becomes a dead
// letter for a person to judge, since sending it could make a doubled ticket and forgetting it could lose one.
//
// What is reserved behind the damaged file's end makes room for the fresh one, and on a full disk the damaged files that
// were kept before.
func salvage(b *Box, cause error) (*salvager, error) {
	err := disk.Release(b.path)
	var v *salvager
	if err == nil {
		v, err = salvageOnce(b)
	}
	if disk.IsFull(err) && removeDamaged(b.path) == nil {
		v, err = salvageOnce(b)
	}
	if err != nil {
		return nil, fmt.Errorf("mend %s: %w", b.path, err)
	}
	v.cause = cause
	return v, nil
}

// salvageOnce fills the fresh file and exchanges the two.
func salvageOnce(b *Box) (v *salvager, err error) {
	p, err := boltfile.Open(b.path, boxLayout)
	if err != nil {
		return nil, err
	}
	defer p.Close() //nolint:errcheck // opened for reading only
	for _, s := range b.streams {
		*s = *newStream(s.Stream)
	}
	v = &salvager{b: b, p: p, streams: map[string]*salvagedStream{}, state: map[string]sealedState{}, inTree: true}
	err = catchFaults("salvage", func() error {
		if v.fresh, err = newBuilder(b.path+".new", b.quota.Load()); err != nil {
			return err
		}
		if err := v.run(); err != nil {
			return errors.Join(err, v.fresh.abort())
		}
		if err := v.fresh.db.Close(); err != nil {
			return err
		}
		v.aside, err = setAside(b.path, b.path+".new")
		return err
	})
	return v, err
}

// salvager sorts what the pages hold into the fresh file.
type salvager struct {
	b       *Box
	p       *boltfile.File
	fresh   *fileBuilder
	streams map[string]*salvagedStream // per stream
	state   map[string]sealedState
	// written is the state's checksum by the youngest generation.
	written          []byte
	newestGeneration uint64 // that generation
	inTree           bool   // what is visited is reached from the root
	stateFound       bool   // the state that the root leads to is what was written
	current          bool   // what is visited is current
	generation       uint64
	vague            []string // streams of which the marks may not know the last records
	walkProblems     int      // problems on the way from the root
	err              error    // of writing the fresh file
	cause            error    // why the file is mended
	aside            string   // the damaged file's new name

	countsReached bool // the root leads to the counts,
	countsDamaged bool // and one of them is damaged

	records, deadLetters, staleCopies int
	lost                              uint64
}

// salvagedStream collects one stream.
type salvagedStream struct {
	name        string
	counts      streamCounts // of the youngest counts that were found
	generation  uint64
	found       streamCounts // what was carried over
	known       bool         // counts were found,
	current     bool         // and both meta pages lead to them
	highest     uint64
	receipts    map[uint64]savedReceipt
	oldest      uint64 // sequence number before which receipts no longer tell
	staleCopies map[uint64][]byte
	damaged     map[uint64][]byte // damaged where they wait: a sound copy elsewhere is as good
}

// savedReceipt is the part of a receipt that salvage needs.
type savedReceipt struct {
	sum     uint32
	outcome receipts.Outcome
}

// sealedState is one sealed value and its generation.
type sealedState struct {
	value      []byte
	generation uint64
	old        bool // it may be older than what was there
}

func (v *salvager) run() error {
	for name := range v.b.streams {
		v.streamOf(name)
	}
	if err := v.p.FindRoot(); err != nil {
		return err
	}
	v.current = v.p.Sound
	v.p.Walk(v.visit)
	v.walkProblems, v.inTree, v.stateFound = v.p.Problems.N, false, v.stateComplete()
	if v.p.Problems.N > 0 && v.p.Sound {
		free, ok := v.p.FreePages()
		v.current = ok
		v.p.Orphans(func(id uint64) bool { return !free.Has(id) }, v.visit)
	}
	if v.incomplete() || !v.stateFound && !v.stateComplete() {
		v.current = false
		v.p.Orphans(func(uint64) bool { return true }, v.visit)
	}
	v.decideStaleCopies()
	if v.err == nil {
		v.err = v.writeCounts()
	}
	return v.err
}

// incomplete reports whether the pages that are current hold less than the counts say. A stream without counts has had
// no record; what stray pages say of it comes from a transaction that never ended.
func (v *salvager) incomplete() bool {
	for _, r := range v.streams {
		if !r.known && (v.countsDamaged || !v.countsReached) || r.counts.Waiting > r.found.Waiting || r.counts.Dead > r.found.Dead {
			return true
		}
	}
	return false
}

func (v *salvager) streamOf(stream string) *salvagedStream {
	if r := v.streams[stream]; r != nil {
		return r
	}
	r := &salvagedStream{name: stream, receipts: map[uint64]savedReceipt{}, damaged: map[uint64][]byte{}}
	v.streams[stream] = r
	first := uint64(math.MaxUint64)
	v.noteErr(v.b.receipts.Each(stream, 0, func(s receipts.Receipt) {
		r.receipts[s.Seq] = savedReceipt{s.RecordSum, s.Outcome}
		if s.Number < first {
			first, r.oldest = s.Number, s.Seq
		}
	}))
	if first <= 1 {
		r.oldest = 0 // none was given up
	}
	return r
}

func (v *salvager) noteErr(err error) {
	if v.err == nil && err != nil {
		v.err = err
	}
}

// visit takes one value. A bucket whose name does not fit its content is looked for by the checksum.
func (v *salvager) visit(bucket string, key, value []byte) {
	if v.err != nil || v.takeValue(bucket, key, value) {
		return
	}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(v.streams)) {
		others = append(others, prefixQueue+name, prefixDead+name, prefixAttempts+name)
	}
	others = append(others, bucketState, bucketMeta)
	if slices.ContainsFunc(others, func(other string) bool { return v.takeValue(other, key, value) }) {
		return
	}
	kind, stream := splitBucket(bucket)
	v.countsDamaged = v.countsDamaged || v.inTree && kind == bucketMeta
	if seq, ok := keySeq(key); ok && v.inTree && kind == prefixQueue && v.streams[stream] != nil {
		v.streams[stream].damaged[seq] = bytes.Clone(value)
	}
}

// takeValue takes the value if it is sound under this bucket.
func (v *salvager) takeValue(bucket string, key, value []byte) bool {
	kind, stream := splitBucket(bucket)
	if kind == prefixQueue {
		if stream == "" || checkRecord(stream, key, value) != nil {
			return false
		}
		v.takeRecord(stream, key, value)
		return true
	}
	content, gen, err := unseal(bucket, key, value)
	if err != nil {
		return false
	}
	switch kind {
	case prefixDead:
		v.putDeadLetter(v.streamOf(stream), key, value, content)
	case prefixAttempts:
		v.noteErr(v.fresh.putIfAbsent(bucket, key, value))
	case bucketState:
		if old, ok := v.state[string(key)]; (!ok || gen > old.generation) && (v.inTree || !v.stateFound) {
			v.state[string(key)] = sealedState{value: bytes.Clone(value), generation: gen, old: !v.current}
		}
	case bucketMeta:
		v.takeCounts(string(key), content, gen)
	}
	v.generation = max(v.generation, gen)
	return true
}

func (v *salvager) takeCounts(stream string, content []byte, gen uint64) {
	if stream == keyGeneration {
		v.countsReached = v.countsReached || v.inTree
		if gen > v.newestGeneration {
			v.written, v.newestGeneration = bytes.Clone(content), gen
		}
		return
	}
	var l streamCounts
	if r := v.streamOf(stream); l.decode(content) == nil && (!r.known || gen > r.generation) {
		r.counts, r.generation, r.known, r.current = l, gen, true, v.inTree && v.p.Metas == 2
	}
}

// takeRecord carries a sound record over, unless it is known to be delivered; where it may be old, as a dead letter.
func (v *salvager) takeRecord(stream string, key, value []byte) {
	seq, _ := keySeq(key)
	r := v.streamOf(stream)
	spoilt := r.damaged[seq]
	waits := len(spoilt) >= recordHeader && storedSum(spoilt) == storedSum(value) // of that key and no other
	current := v.current && (v.inTree || r.missingRecords() > 0) || waits || v.inTree && v.receiptsReachBack(r)
	if s, ok := r.receipts[seq]; ok && (!current || s.outcome == receipts.Delivered && s.sum == storedSum(value)) {
		return
	}
	if !current {
		if seq > r.oldest && !v.alreadyPlaced(r, key) {
			r.keepStaleCopy(seq, value)
		}
		return
	}
	if waits {
		delete(r.damaged, seq)
	}
	if !v.alreadyPlaced(r, key) {
		v.putQueued(r, key, value)
	}
}

// putQueued carries a record over to be sent.
func (v *salvager) putQueued(r *salvagedStream, key, value []byte) {
	v.place(r, prefixQueue, key, value)
	v.records++
	r.found.Waiting++
	r.found.bytes += storedCost(value)
}

// place writes a record or a dead letter of a stream.
func (v *salvager) place(r *salvagedStream, prefix string, key, value []byte) {
	v.noteErr(v.fresh.putIfAbsent(prefix+r.name, key, value))
	seq, _ := keySeq(key)
	r.highest = max(r.highest, seq)
}

func (v *salvager) alreadyPlaced(r *salvagedStream, key []byte) bool {
	for _, prefix := range []string{prefixQueue, prefixDead} {
		has, err := v.fresh.hasKey(prefix+r.name, key)
		v.noteErr(err)
		if has {
			return true
		}
	}
	return false
}

// putAsDeadLetter makes a dead letter of raw bytes.
func (v *salvager) putAsDeadLetter(r *salvagedStream, key, value []byte, why string) {
	content := encodeDeadLetter(deadHeader{at: time.Now(), reason: why}, value)
	v.putDeadLetter(r, key, seal(prefixDead+r.name, key, v.generation, content), content)
}

func (v *salvager) putDeadLetter(r *salvagedStream, key, value, content []byte) {
	if v.alreadyPlaced(r, key) {
		return
	}
	v.place(r, prefixDead, key, value)
	v.deadLetters++
	r.found.Dead++
	r.found.deadBytes += deadLetterCost(content)
}

// leftByReceipts counts the records that are missing and that the receipts show as delivered, and as dropped: counts that
// were found on an old page, or not at all, do not have them. A receipt that was given up counts as a delivery.
func (v *salvager) leftByReceipts(r *salvagedStream, l streamCounts) (delivered, dropped uint64) {
	total, counted := v.b.receipts.Total(r.name), l.Delivered+l.Dropped
	if total <= counted {
		return 0, 0
	}
	left := total - counted
	if r.known {
		left = min(left, max(l.Accepted, l.placed())-l.placed())
	}
	for _, t := range r.receipts {
		if t.outcome == receipts.Dropped {
			dropped++
		}
	}
	dropped = min(left, max(dropped, l.Dropped)-l.Dropped)
	return left - dropped, dropped
}

// writeCounts writes state and counts. What the old counts say beyond what was found is lost, and said so.
func (v *salvager) writeCounts() error {
	for name, a := range v.state {
		if err := v.fresh.putIfAbsent(bucketState, []byte(name), a.value); err != nil {
			return err
		}
	}
	for _, r := range v.streams {
		r.counts.LostUnknown = r.counts.LostUnknown || v.lossUncertain(r)
	}
	v.generation++
	key := []byte(keyGeneration)
	if err := v.fresh.putIfAbsent(bucketMeta, key, seal(bucketMeta, key, v.generation, v.sumState().encode())); err != nil {
		return err
	}
	for name, r := range v.streams {
		l := r.counts
		l.Waiting, l.Dead, l.bytes, l.deadBytes = r.found.Waiting, r.found.Dead, r.found.bytes, r.found.deadBytes
		l.nextSeq = max(l.nextSeq, r.highest+1, v.b.receipts.HighestSeq(name)+1, 1)
		delivered, dropped := v.leftByReceipts(r, l)
		l.Delivered, l.Dropped = l.Delivered+delivered, l.Dropped+dropped
		v.lost += l.writeOff()
		key := []byte(name)
		if err := v.fresh.putIfAbsent(bucketMeta, key, seal(bucketMeta, key, v.generation, l.encode())); err != nil {
			return err
		}
		for _, prefix := range []string{prefixQueue, prefixDead, prefixAttempts} {
			if _, err := v.fresh.bucket(prefix + name); err != nil {
				return err
			}
		}
	}
	if _, err := v.fresh.bucket(bucketState); err != nil {
		return err
	}
	return v.fresh.flush()
}

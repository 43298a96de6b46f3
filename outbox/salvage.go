package outbox

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// salvage carries what is sound in the damaged file into a fresh one and sets the damaged one aside.
//
// What can be reached from the root is current. What lies on a page that is neither reached nor free is current too: its
// way was damaged. What lies anywhere else may be old, delivered long ago; a record found only there becomes a dead
// letter for a person to judge, since sending it could make a doubled ticket and forgetting it could lose one.
//
// What is reserved behind the damaged file's end makes room for the fresh one, and on a full disk the damaged files that
// were kept before.
func (b *Box) salvage(cause error) (*salvager, error) {
	err := releaseBlocks(b.path)
	var v *salvager
	if err == nil {
		v, err = b.mend()
	}
	if noSpace(err) && removeDamaged(b.path) == nil {
		v, err = b.mend()
	}
	if err != nil {
		return nil, fmt.Errorf("mend %s: %w", b.path, err)
	}
	v.cause = cause
	return v, nil
}

// mend fills the fresh file and exchanges the two.
func (b *Box) mend() (v *salvager, err error) {
	p, err := openPages(b.path)
	if err != nil {
		return nil, err
	}
	defer p.close() //nolint:errcheck // opened for reading only
	for _, s := range b.streams {
		*s = *newStream(s.Stream)
	}
	v = &salvager{b: b, p: p, rows: map[string]*row{}, state: map[string]aged{}, inTree: true}
	err = guard("salvage", func() error {
		if v.out, err = newBuilder(b.path+".new", b.opt.MaxBytes); err != nil {
			return err
		}
		if err := v.run(); err != nil {
			return errors.Join(err, v.out.abort())
		}
		if err := v.out.db.Close(); err != nil {
			return err
		}
		v.aside, err = setAside(b.path, b.path+".new")
		return err
	})
	return v, err
}

// salvager sorts what the pages hold into the fresh file.
type salvager struct {
	b     *Box
	p     *pageFile
	out   *builder
	rows  map[string]*row // per stream
	state map[string]aged
	// written is what the youngest generation says of the state.
	written []byte
	newest  uint64 // that generation
	inTree  bool   // what is visited is reached from the root
	whole   bool   // the state that the root leads to is what was written
	proven  bool   // what is visited is current
	gen     uint64
	walked  int    // problems on the way from the root
	err     error  // of writing the fresh file
	cause   error  // why the file is mended
	aside   string // the damaged file's new name

	counted bool // the root leads to the counts,
	spoilt  bool // and one of them is damaged

	records, letters, doubtful int
	lost                       uint64
}

// row is what is known of one stream.
type row struct {
	led      ledger // of the youngest counts that were found
	gen      uint64
	found    ledger // what was carried over
	known    bool   // counts were found,
	current  bool   // and both meta pages lead to them
	highest  uint64
	receipts map[uint64]taken
	oldest   uint64 // sequence number before which receipts no longer tell
	doubtful map[uint64][]byte
	spoilt   map[uint64][]byte // damaged where they wait: a sound copy elsewhere is as good
}

// taken is what a receipt says of a record.
type taken struct {
	sum   uint32
	state State
}

// aged is one sealed value and its generation.
type aged struct {
	value []byte
	gen   uint64
	old   bool // it may be older than what was there
}

func (v *salvager) run() error {
	for name := range v.b.streams {
		v.rowOf(name)
	}
	if err := v.p.findRoot(); err != nil {
		return err
	}
	v.proven = v.p.sound
	v.p.walk(v.visit)
	v.walked, v.inTree, v.whole = v.p.problems.n, false, v.stateWhole()
	if v.p.problems.n > 0 && v.p.sound {
		free, ok := v.p.freePages()
		v.proven = ok
		v.p.orphans(func(id uint64) bool { return !free.has(id) }, v.visit)
	}
	if v.incomplete() || !v.whole && !v.stateWhole() {
		v.proven = false
		v.p.orphans(func(uint64) bool { return true }, v.visit)
	}
	v.judge()
	if v.err == nil {
		v.err = v.finish()
	}
	return v.err
}

// incomplete reports whether the pages that are current hold less than the counts say. A stream without counts has had
// no record; what stray pages say of it comes from a transaction that never ended.
func (v *salvager) incomplete() bool {
	for _, r := range v.rows {
		if !r.known && (v.spoilt || !v.counted) || r.led.Waiting > r.found.Waiting || r.led.Dead > r.found.Dead {
			return true
		}
	}
	return false
}

func (v *salvager) rowOf(stream string) *row {
	if r := v.rows[stream]; r != nil {
		return r
	}
	r := &row{receipts: map[uint64]taken{}, spoilt: map[uint64][]byte{}}
	v.rows[stream] = r
	first := uint64(math.MaxUint64)
	v.fail(v.b.receipts.each(stream, 0, func(s slot) {
		r.receipts[s.seq] = taken{s.sum, s.state}
		if s.number < first {
			first, r.oldest = s.number, s.seq
		}
	}))
	if first <= 1 {
		r.oldest = 0 // none was given up
	}
	return r
}

func (v *salvager) fail(err error) {
	if v.err == nil && err != nil {
		v.err = err
	}
}

// visit takes one value. A bucket whose name does not fit its content is looked for by the checksum.
func (v *salvager) visit(bucket string, key, value []byte) {
	if v.err != nil {
		return
	}
	if v.take(bucket, key, value) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(v.rows)) {
		for _, prefix := range []string{prefixQueue, prefixDead, prefixMarks} {
			if v.take(prefix+name, key, value) {
				return
			}
		}
	}
	if v.take(bucketState, key, value) || v.take(bucketMeta, key, value) {
		return
	}
	kind, stream := splitBucket(bucket)
	v.spoilt = v.spoilt || v.inTree && kind == bucketMeta
	if seq, ok := keySeq(key); ok && v.inTree && kind == prefixQueue && v.rows[stream] != nil {
		v.rows[stream].spoilt[seq] = bytes.Clone(value)
	}
}

// take takes the value if it is sound under this bucket.
func (v *salvager) take(bucket string, key, value []byte) bool {
	kind, stream := splitBucket(bucket)
	if kind == prefixQueue {
		if stream == "" || checkRecord(stream, key, value) != nil {
			return false
		}
		v.record(stream, key, value)
		return true
	}
	content, gen, err := unseal(bucket, key, value)
	if err != nil {
		return false
	}
	switch kind {
	case prefixDead:
		v.deadLetter(stream, key, value, content)
	case prefixMarks:
		_, err := v.out.put(bucket, key, value)
		v.fail(err)
	case bucketState:
		if old, ok := v.state[string(key)]; (!ok || gen > old.gen) && (v.inTree || !v.whole) {
			v.state[string(key)] = aged{value: bytes.Clone(value), gen: gen, old: !v.proven}
		}
	case bucketMeta:
		v.counts(string(key), content, gen)
	}
	v.gen = max(v.gen, gen)
	return true
}

func (v *salvager) counts(stream string, content []byte, gen uint64) {
	if stream == keyGeneration {
		v.counted = v.counted || v.inTree
		if gen > v.newest {
			v.written, v.newest = bytes.Clone(content), gen
		}
		return
	}
	var l ledger
	if r := v.rowOf(stream); l.decode(content) == nil && (!r.known || gen > r.gen) {
		r.led, r.gen, r.known, r.current = l, gen, true, v.inTree && v.p.metas == 2
	}
}

// record carries a sound record over, unless it is known to be delivered; where it may be old, as a dead letter.
func (v *salvager) record(stream string, key, value []byte) {
	seq, _ := keySeq(key)
	r := v.rowOf(stream)
	spoilt := r.spoilt[seq]
	waits := len(spoilt) >= recordHeader && sumOf(spoilt) == sumOf(value) // of that key and no other
	current := v.proven && (v.inTree || r.short()) || waits || v.inTree && v.reachBack(stream, r)
	if s, ok := r.receipts[seq]; ok && (!current || s.state == Delivered && s.sum == sumOf(value)) {
		return
	}
	if !current {
		if seq > r.oldest && !v.placed(stream, key) {
			r.doubt(seq, value)
		}
		return
	}
	if waits {
		delete(r.spoilt, seq)
	}
	if !v.placed(stream, key) {
		v.queue(stream, key, value)
	}
}

// queue carries a record over to be sent.
func (v *salvager) queue(stream string, key, value []byte) {
	_, err := v.out.put(prefixQueue+stream, key, value)
	v.fail(err)
	seq, _ := keySeq(key)
	r := v.rowOf(stream)
	v.records++
	r.found.Waiting++
	r.found.bytes += recordSize(value)
	r.highest = max(r.highest, seq)
}

func (v *salvager) placed(stream string, key []byte) bool {
	for _, prefix := range []string{prefixQueue, prefixDead} {
		has, err := v.out.has(prefix+stream, key)
		v.fail(err)
		if has {
			return true
		}
	}
	return false
}

// letter makes a dead letter of raw bytes.
func (v *salvager) letter(stream string, key, value []byte, why string) {
	bucket := prefixDead + stream
	content := encodeTomb(tomb{at: time.Now(), reason: why}, value)
	v.deadLetter(stream, key, seal(bucket, key, v.gen, content), content)
}

func (v *salvager) deadLetter(stream string, key, value, content []byte) {
	if v.placed(stream, key) {
		return
	}
	_, err := v.out.put(prefixDead+stream, key, value)
	v.fail(err)
	seq, _ := keySeq(key)
	r := v.rowOf(stream)
	v.letters++
	r.found.Dead++
	r.found.deadBytes += deadSize(content)
	r.highest = max(r.highest, seq)
}

// alsoLeft is how many of the records that are missing the receipts show as delivered, and how many as dropped: counts that
// were found on an old page, or not at all, do not have them. A receipt that was given up counts as a delivery.
func (v *salvager) alsoLeft(stream string, r *row, l ledger) (delivered, dropped uint64) {
	total, counted := v.b.receipts.total(stream), l.Delivered+l.Dropped
	if total <= counted {
		return 0, 0
	}
	left := total - counted
	if r.known {
		sum := counted + l.Waiting + l.Dead + l.Evicted + l.Lost
		left = min(left, max(l.Accepted, sum)-sum)
	}
	for _, t := range r.receipts {
		if t.state == Dropped {
			dropped++
		}
	}
	dropped = min(left, max(dropped, l.Dropped)-l.Dropped)
	return left - dropped, dropped
}

// finish writes state and counts. What the old counts say beyond what was found is lost, and said so.
func (v *salvager) finish() error {
	for name, a := range v.state {
		if _, err := v.out.put(bucketState, []byte(name), a.value); err != nil {
			return err
		}
	}
	for name, r := range v.rows {
		r.led.LostUnknown = r.led.LostUnknown || v.uncertain(name, r)
	}
	v.gen++
	key := []byte(keyGeneration)
	if _, err := v.out.put(bucketMeta, key, seal(bucketMeta, key, v.gen, v.stateTally().encode())); err != nil {
		return err
	}
	for name, r := range v.rows {
		l := r.led
		l.Waiting, l.Dead, l.bytes, l.deadBytes = r.found.Waiting, r.found.Dead, r.found.bytes, r.found.deadBytes
		l.next = max(l.next, r.highest+1, v.b.receipts.last(name)+1, 1)
		delivered, dropped := v.alsoLeft(name, r, l)
		l.Delivered, l.Dropped = l.Delivered+delivered, l.Dropped+dropped
		l.Accepted = max(l.Accepted, l.next-1) // every number was given to a record
		sum := l.Delivered + l.Waiting + l.Dead + l.Evicted + l.Dropped + l.Lost
		if l.Accepted > sum {
			v.lost += l.Accepted - sum
			l.Lost += l.Accepted - sum
		}
		l.Accepted = max(l.Accepted, sum)
		key := []byte(name)
		if _, err := v.out.put(bucketMeta, key, seal(bucketMeta, key, v.gen, l.encode())); err != nil {
			return err
		}
		for _, prefix := range []string{prefixQueue, prefixDead, prefixMarks} {
			if _, err := v.out.bucket(prefix + name); err != nil {
				return err
			}
		}
	}
	if _, err := v.out.bucket(bucketState); err != nil {
		return err
	}
	return v.out.flush()
}

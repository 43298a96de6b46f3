package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// growAfter is how many full requests must be taken before a limit that "too large" halved is doubled again.
const growAfter = 100

// settle acts on the receipts of one request.
func (d *drain) settle(ctx context.Context, batch []Record, receipts []Receipt) error {
	by := map[Class][]int{}
	for i := range batch {
		if i >= len(receipts) {
			receipts = append(receipts, Receipt{Class: Ambiguous, Message: "the sender gave no receipt"})
		}
		by[receipts[i].Class] = append(by[receipts[i].Class], i)
	}
	if stored := by[Stored]; len(stored) > 0 {
		if err := d.delivered(ctx, batch, receipts, stored); err != nil {
			return err
		}
	}
	if err := d.unclear(ctx, batch, receipts, by[Ambiguous]); err != nil {
		return err
	}
	for _, class := range []Class{Wait, Key, Path} {
		if at := by[class]; len(at) > 0 {
			d.kept(batch, receipts, at)
		}
	}
	if at := by[TooLarge]; len(at) > 1 {
		if err := d.shrink(len(batch)); err != nil {
			return err
		}
	} else if len(at) == 1 {
		d.alone(batch[at[0]].Seq, receipts[at[0]])
	}
	d.poisoned(batch, receipts, by[Poison])
	return nil
}

// delivered deletes what the service has, its receipt in the ring first.
func (d *drain) delivered(ctx context.Context, batch []Record, receipts []Receipt, at []int) error {
	slots := make([]slot, 0, len(at))
	for _, i := range at {
		slots = append(slots, d.b.slotOf(d.s, batch[i], Delivered, receipts[i].Status, receipts[i].CorrelationID))
	}
	d.b.keepReceipts(d.s, slots)
	full := len(at) == d.s.most()
	err := d.putDown(ctx, func(g *group) error {
		for _, i := range at {
			d.b.stageDelivered(g, d.s, batch[i])
		}
		d.grow(g, full)
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range at {
		d.refused.forget(batch[i].Seq)
	}
	d.b.mu.Lock()
	d.s.taken(d.b, batch, at)
	d.b.mu.Unlock()
	d.halved, d.singly = 0, false
	d.refused.accepted()
	d.success()
	return nil
}

// slotOf is the receipt that the ring keeps of a record.
func (b *Box) slotOf(s *stream, r Record, state State, status int, corr string) slot {
	kept := slot{state: state, status: status, seq: r.Seq, at: time.Now(), since: r.At, corr: corr, sum: r.sum}
	if b.opt.Label != nil {
		kept.label = b.opt.Label(s.Name, r)
	}
	return kept
}

// keepReceipts writes to the ring. Not being able to costs the receipts only: the counts are in the box.
func (b *Box) keepReceipts(s *stream, slots []slot) {
	if err := b.receipts.add(s.Name, s.Journal, slots); err != nil {
		b.note(Note{Kind: NoteTrouble, Stream: s.Name, Message: fmt.Sprintf(
			"the receipts of %s could not be kept, the records are delivered all the same: %v", s.Name, err)})
	}
	if stream, ok := b.receipts.gaveUp(); ok {
		b.note(Note{Kind: NoteReceipts, Stream: stream, Message: fmt.Sprintf(
			"the oldest receipts of %s go before their %.0f days are over: the room for receipts is used up", stream, b.receipts.keep.Hours()/24)})
	}
}

func (b *Box) stageDelivered(g *group, s *stream, r Record) {
	s.unqueue(g, r.Seq)
	s.top.Store(max(s.top.Load(), r.Seq))
	s.led.Waiting--
	s.led.Delivered++
	s.led.bytes -= sizeOf(r)
}

// sizeOf is what the record counts toward the quota.
func sizeOf(r Record) uint64 {
	return pageCost(recordHeader + len(r.Address) + len(r.Body))
}

// unclear counts an attempt that may have stored the records, and keeps them together for the next one. An attempt that
// ended because the process ends is not counted: its mark says enough.
func (d *drain) unclear(ctx context.Context, batch []Record, receipts []Receipt, at []int) error {
	if len(at) == 0 || ctx.Err() != nil {
		return nil
	}
	d.refused.last = receipts[at[0]]
	d.frozen = d.frozen[:0]
	err := d.b.submit(func(g *group) error {
		for _, i := range at {
			d.b.stageAmbiguous(g, d.s, batch[i], receipts[i].describe())
			d.frozen = append(d.frozen, batch[i].Seq)
		}
		return nil
	})
	d.backOff(Ambiguous, longest(receipts, at))
	return err
}

// kept leaves the records in the queue and waits, unless their place alone is to blame; a piece of a refused batch stays a
// piece.
func (d *drain) kept(batch []Record, receipts []Receipt, at []int) {
	d.refused.last = receipts[at[0]]
	wasAmbiguous := false
	seqs := make([]uint64, 0, len(at))
	d.b.mu.Lock()
	for _, i := range at {
		if m := d.s.marks[batch[i].Seq]; m != nil {
			wasAmbiguous = wasAmbiguous || m.attempt() > 0
			m.row = 0
		}
		seqs = append(seqs, batch[i].Seq)
	}
	d.b.mu.Unlock()
	if d.divided(batch, seqs, wasAmbiguous, receipts[at[0]]) {
		return
	}
	blamed, handled := d.setApart(batch, seqs, wasAmbiguous, receipts[at[0]])
	switch {
	case blamed:
		return
	case handled:
	case wasAmbiguous:
		d.frozen = append(d.frozen, seqs...) // the same bytes go together again
	case len(d.pieces) > 0:
		d.pieces = append([][]uint64{seqs}, d.pieces...)
	}
	before := d.delay
	d.backOff(receipts[at[0]].Class, longest(receipts, at))
	d.delay = max(d.delay, before)
}

func longest(receipts []Receipt, at []int) (wish time.Duration) {
	for _, i := range at {
		wish = max(wish, receipts[i].RetryAfter)
	}
	return wish
}

// poisoned takes a refused batch apart, or judges a record that was refused alone. When only some records of a batch
// were refused, the service itself has told them apart. The smaller half goes first: so the way to the first record is
// the shortest, which is the one that may have to go a second time, nothing having been accepted before it.
func (d *drain) poisoned(batch []Record, receipts []Receipt, at []int) {
	if len(at) > 1 && len(at) == len(batch) {
		half := len(at) / 2
		d.pieces = append([][]uint64{seqsOf(batch[:half]), seqsOf(batch[half:])}, d.pieces...)
		d.refused.last = receipts[0]
		return
	}
	for _, i := range at {
		d.alone(batch[i].Seq, receipts[i])
	}
}

func seqsOf(batch []Record) []uint64 {
	seqs := make([]uint64, len(batch))
	for i, r := range batch {
		seqs[i] = r.Seq
	}
	return seqs
}

// shrink halves the records per request, and remembers it over restarts.
func (d *drain) shrink(n int) error {
	limit := uint64(max(n/2, 1))
	d.frozen, d.pieces = nil, nil
	d.fullTaken = 0
	err := d.b.submit(func(g *group) error {
		d.s.led.limit = limit
		g.touch(d.s)
		return nil
	})
	d.b.note(Note{Kind: NoteShrunk, Stream: d.s.Name, Count: int(limit), Message: fmt.Sprintf(
		"%s: a request of %d records was too large; from now on at most %d go together", d.s.Name, n, limit)})
	return err
}

// grow doubles a halved limit after many full requests were taken. The lock is held.
func (d *drain) grow(g *group, full bool) {
	if d.s.led.limit == 0 || !full {
		return
	}
	if d.fullTaken++; d.fullTaken < growAfter {
		return
	}
	d.fullTaken = 0
	if d.s.led.limit *= 2; d.s.led.limit >= uint64(d.s.Batch) {
		d.s.led.limit = 0
	}
	g.touch(d.s)
}

// bury makes a record a dead letter.
func (b *Box) bury(s *stream, seq uint64, value []byte, t tomb) error {
	err := b.submit(func(g *group) error {
		b.stageDead(g, s, seq, value, t)
		return nil
	})
	if err == nil {
		b.noteDead(s, seq, t)
	}
	return err
}

func (b *Box) noteDead(s *stream, seq uint64, t tomb) {
	b.note(Note{Kind: NoteDeadLetter, Stream: s.Name, Seq: seq, Count: 1, Message: fmt.Sprintf(
		"record %d of %s became a dead letter: %s", seq, s.Name, t.reason)})
}

func (b *Box) stageDead(g *group, s *stream, seq uint64, value []byte, t tomb) {
	b.stageRemoval(g, s, s.queue, seq)
	content := encodeTomb(t, value)
	g.putSealed(s.deadBucket, seqKey(seq), content)
	s.led.Waiting--
	s.led.Dead++
	s.led.bytes -= recordSize(value)
	s.led.deadBytes += deadSize(content)
}

func deadSize(content []byte) uint64 { return pageCost(sealHeader + len(content)) }

// buryRotten makes dead letters of records whose bytes cannot be trusted; they are never sent.
func (b *Box) buryRotten(s *stream, all []rotten) error {
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, r := range all {
			delete(s.inFlight, r.seq)
		}
	}()
	for _, r := range all {
		reason := "the record was damaged in the file and was not sent: " + r.why.Error()
		if !errors.Is(r.why, errChecksum) {
			reason = "the record cannot be read and was not sent: " + r.why.Error()
		}
		if err := b.bury(s, r.seq, r.value, tomb{at: time.Now(), reason: reason}); err != nil {
			return err
		}
	}
	return nil
}

package outbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gauger/outbox/receipts"
)

// growLimitAfter counts the full requests that must be taken before a limit that "too large" halved is doubled again.
const growLimitAfter = 100

// apply acts on the answers of one request.
func (d *drain) apply(ctx context.Context, batch []Record, answers []Answer) error {
	by := map[Class][]int{}
	for i := range batch {
		if i >= len(answers) {
			answers = append(answers, Answer{Class: Ambiguous, Message: "the sender gave no receipt"})
		}
		by[answers[i].Class] = append(by[answers[i].Class], i)
	}
	if stored := by[Stored]; len(stored) > 0 {
		if err := d.applyStored(ctx, batch, answers, stored); err != nil {
			return err
		}
	}
	if err := d.applyAmbiguous(ctx, batch, answers, by[Ambiguous]); err != nil {
		return err
	}
	for _, class := range []Class{Wait, Key, Path} {
		if at := by[class]; len(at) > 0 {
			d.applyKept(batch, answers, at)
		}
	}
	if at := by[TooLarge]; len(at) > 1 {
		if err := d.shrinkLimit(len(batch)); err != nil {
			return err
		}
	} else if len(at) == 1 {
		d.refusedAlone(batch[at[0]].Seq, answers[at[0]])
	}
	d.applyPoison(batch, answers, by[Poison])
	return nil
}

// applyStored deletes what the service has, its receipt first.
func (d *drain) applyStored(ctx context.Context, batch []Record, answers []Answer, at []int) error {
	kept := make([]receipts.Receipt, 0, len(at))
	for _, i := range at {
		kept = append(kept, d.b.receiptFor(d.s, batch[i], answers[i].Status, answers[i].CorrelationID))
	}
	d.b.writeReceipts(d.s, kept)
	full := len(at) == d.s.batchLimit()
	err := d.persist(ctx, func(g *group) error {
		for _, i := range at {
			d.b.stageDelivered(g, d.s, batch[i])
		}
		d.growLimit(g, full)
		return nil
	})
	if err != nil {
		return err
	}
	for _, i := range at {
		d.poison.forget(batch[i].Seq)
	}
	d.b.mu.Lock()
	d.s.noteTaken(d.b, batch, at)
	d.b.mu.Unlock()
	d.bisections, d.oneByOne = 0, false
	d.poison.noteAccepted()
	d.noteSuccess()
	return nil
}

// receiptFor makes the receipt of a record.
func (b *Box) receiptFor(s *stream, r Record, status int, correlation string) receipts.Receipt {
	kept := receipts.Receipt{Outcome: receipts.Delivered, Status: status, Seq: r.Seq, At: time.Now(), Enqueued: r.At, Correlation: correlation, RecordSum: r.sum}
	if b.opt.Label != nil {
		kept.Label = b.opt.Label(s.Name, r)
	}
	return kept
}

// writeReceipts keeps receipts. Not being able to costs the receipts only: the counts are in the box.
func (b *Box) writeReceipts(s *stream, kept []receipts.Receipt) {
	if err := b.receipts.Add(s.Name, s.Journal, kept); err != nil {
		b.note(Note{Kind: NoteTrouble, Stream: s.Name, Message: fmt.Sprintf(
			"the receipts of %s could not be kept, the records are delivered all the same: %v", s.Name, err)})
	}
	if stream, ok := b.receipts.GaveUpEarly(); ok {
		b.note(Note{Kind: NoteReceipts, Stream: stream, Message: fmt.Sprintf(
			"the oldest receipts of %s go before their %.0f days are over: the room for receipts is used up", stream, b.receipts.KeepsFor().Hours()/24)})
	}
}

func (b *Box) stageDelivered(g *group, s *stream, r Record) {
	s.unqueue(g, r.Seq)
	s.highestDelivered.Store(max(s.highestDelivered.Load(), r.Seq))
	s.counts.Waiting--
	s.counts.Delivered++
	s.counts.bytes -= recordCost(r)
}

// recordCost counts in bytes, as the quota does.
func recordCost(r Record) uint64 {
	return pageCost(recordHeader + len(r.Address) + len(r.Body))
}

// applyAmbiguous counts an attempt that may have stored the records, and keeps them together for the next one. An attempt that
// ended because the process ends is not counted: the journal says enough.
func (d *drain) applyAmbiguous(ctx context.Context, batch []Record, answers []Answer, at []int) error {
	if len(at) == 0 || ctx.Err() != nil {
		return nil
	}
	d.poison.lastAnswer = answers[at[0]]
	d.frozen = d.frozen[:0]
	err := d.b.submit(func(g *group) error {
		for _, i := range at {
			d.b.stageAmbiguous(g, d.s, batch[i], answers[i].describe())
			d.frozen = append(d.frozen, batch[i].Seq)
		}
		return nil
	})
	d.backOff(Ambiguous, longestRetryAfter(answers, at))
	return err
}

// applyKept leaves the records in the queue and waits, unless their destination alone is to blame; a piece of a refused batch stays a
// piece.
func (d *drain) applyKept(batch []Record, answers []Answer, at []int) {
	d.poison.lastAnswer = answers[at[0]]
	wasAmbiguous := false
	seqs := make([]uint64, 0, len(at))
	d.b.mu.Lock()
	for _, i := range at {
		if m := d.s.attempts[batch[i].Seq]; m != nil {
			wasAmbiguous = wasAmbiguous || m.maybeStored() > 0
			m.inARow = 0
		}
		seqs = append(seqs, batch[i].Seq)
	}
	d.b.mu.Unlock()
	if d.bisect(batch, seqs, wasAmbiguous, answers[at[0]]) {
		return
	}
	blamed, handled := d.noteNotTaken(batch, seqs, wasAmbiguous, answers[at[0]])
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
	d.backOff(answers[at[0]].Class, longestRetryAfter(answers, at))
	d.delay = max(d.delay, before)
}

func longestRetryAfter(answers []Answer, at []int) (wish time.Duration) {
	for _, i := range at {
		wish = max(wish, answers[i].RetryAfter)
	}
	return wish
}

// applyPoison takes a refused batch apart, or judges a record that was refused alone. When only some records of a batch
// were refused, the service itself has told them apart. The smaller half goes first: so the way to the first record is
// the shortest, which is the one that may have to go a second time, nothing having been accepted before it.
func (d *drain) applyPoison(batch []Record, answers []Answer, at []int) {
	if len(at) > 1 && len(at) == len(batch) {
		half := len(at) / 2
		d.pieces = append([][]uint64{seqsOf(batch[:half]), seqsOf(batch[half:])}, d.pieces...)
		d.poison.lastAnswer = answers[0]
		return
	}
	for _, i := range at {
		d.refusedAlone(batch[i].Seq, answers[i])
	}
}

func seqsOf(batch []Record) []uint64 {
	seqs := make([]uint64, len(batch))
	for i, r := range batch {
		seqs[i] = r.Seq
	}
	return seqs
}

// shrinkLimit halves the records per request, and remembers it over restarts.
func (d *drain) shrinkLimit(n int) error {
	limit := uint64(max(n/2, 1))
	d.frozen, d.pieces = nil, nil
	d.fullTaken = 0
	err := d.b.submit(func(g *group) error {
		d.s.counts.limit = limit
		g.touch(d.s)
		return nil
	})
	d.b.note(Note{Kind: NoteShrunk, Stream: d.s.Name, Count: int(limit), Message: fmt.Sprintf(
		"%s: a request of %d records was too large; from now on at most %d go together", d.s.Name, n, limit)})
	return err
}

// growLimit doubles a halved limit after many full requests were taken. The lock is held.
func (d *drain) growLimit(g *group, full bool) {
	if d.s.counts.limit == 0 || !full {
		return
	}
	if d.fullTaken++; d.fullTaken < growLimitAfter {
		return
	}
	d.fullTaken = 0
	if d.s.counts.limit *= 2; d.s.counts.limit >= uint64(d.s.Batch) {
		d.s.counts.limit = 0
	}
	g.touch(d.s)
}

// makeDeadLetter makes a record a dead letter.
func (b *Box) makeDeadLetter(s *stream, seq uint64, value []byte, t deadHeader) error {
	err := b.submit(func(g *group) error {
		b.stageDeadLetter(g, s, seq, value, t)
		return nil
	})
	if err == nil {
		b.noteDeadLetter(s, seq, t)
	}
	return err
}

func (b *Box) noteDeadLetter(s *stream, seq uint64, t deadHeader) {
	b.note(Note{Kind: NoteDeadLetter, Stream: s.Name, Seq: seq, Count: 1, Message: fmt.Sprintf(
		"record %d of %s became a dead letter: %s", seq, s.Name, t.reason)})
}

func (b *Box) stageDeadLetter(g *group, s *stream, seq uint64, value []byte, t deadHeader) {
	b.stageRemoval(g, s, s.queueBucket, seq)
	content := encodeDeadLetter(t, value)
	g.putSealed(s.deadBucket, seqKey(seq), content)
	s.counts.Waiting--
	s.counts.Dead++
	s.counts.bytes -= storedCost(value)
	s.counts.deadBytes += deadLetterCost(content)
}

func deadLetterCost(content []byte) uint64 { return pageCost(sealHeader + len(content)) }

// deadLetterCorrupt makes dead letters of records whose bytes cannot be trusted; they are never sent.
func (b *Box) deadLetterCorrupt(s *stream, all []corruptRecord) error {
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
		if err := b.makeDeadLetter(s, r.seq, r.value, deadHeader{at: time.Now(), reason: reason}); err != nil {
			return err
		}
	}
	return nil
}

package outbox

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gauger/outbox/receipts"
)

// growLimitAfter counts the full requests that must be taken before a limit that "too large" halved is doubled again.
const growLimitAfter = 100

// apply acts on the answers of one request, and notes of what stays in the queue that it had one.
func (d *drain) apply(ctx context.Context, batch []Record, answers []Answer) error {
	if err := d.judge(ctx, batch, answers); err != nil {
		return err
	}
	return d.journalAnswer(batch)
}

func (d *drain) judge(ctx context.Context, batch []Record, answers []Answer) error {
	by := map[Class][]int{}
	for i := range batch {
		if i >= len(answers) {
			answers = append(answers, Answer{Class: Ambiguous, Message: "the sender gave no receipt"})
		}
		if answers[i].Class != Ambiguous {
			d.endAside(batch[i])
		}
		at := by[answers[i].Class]
		if at == nil {
			at = make([]int, 0, len(batch))
		}
		by[answers[i].Class] = append(at, i)
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
	if at := by[TooLarge]; len(at) > 1 && d.tooLargeGrown(batch) {
		d.lastAnswer = answers[at[0]]
	} else if len(at) > 1 {
		if err := d.shrinkLimit(len(batch)); err != nil {
			return err
		}
	} else if len(at) == 1 {
		d.refusedAlone(batch[at[0]].Seq, answers[at[0]])
	}
	d.applyPoison(batch, answers, by[Poison])
	return nil
}

// applyStored deletes what the service has, its receipt first. The deletion of a batch that was taken as a whole may wait for the
// next one's.
func (d *drain) applyStored(ctx context.Context, batch []Record, answers []Answer, at []int) error {
	kept := make([]receipts.Receipt, 0, len(at))
	stored := batch
	if len(at) < len(batch) {
		stored = nil
	}
	for _, i := range at {
		kept = append(kept, d.b.receiptFor(d.s, batch[i], answers[i].Status, answers[i].CorrelationID))
		if len(at) < len(batch) {
			stored = append(stored, batch[i])
		}
	}
	d.b.writeReceipts(d.s, kept)
	before, err := d.takeHeld()
	defer d.release(before)
	switch {
	case err != nil:
		return err
	case before == nil && len(stored) == len(batch) && d.mayLeaveLater(stored):
		if err := d.deleteWithNext(stored); err != nil {
			return err
		}
	case before == nil && len(stored) == len(batch) && d.mayHold(stored):
		d.hold(stored)
	default:
		if err := d.delete(ctx, slices.Concat(before, stored), len(stored) == d.s.batchLimit()); err != nil {
			return err
		}
	}
	for _, r := range stored {
		d.poison.forget(r.Seq)
	}
	d.b.mu.Lock()
	d.s.noteTaken(&d.b.notes, stored)
	d.b.mu.Unlock()
	d.bisections, d.oneByOne = 0, false
	d.poison.noteAccepted()
	d.breaker = breaker{turn: d.breaker.turn}
	d.noteSuccess()
	return nil
}

// delete commits that records are gone; full: the last of them were all that a request may have.
func (d *drain) delete(ctx context.Context, stored []Record, full bool) error {
	began := time.Now()
	defer func() { d.deleteTook = time.Since(began) }()
	return d.persist(ctx, func(g *group) error {
		d.growLimit(g, full)
		return d.deletion(stored)(g)
	})
}

// applyAmbiguous counts an attempt that may have stored the records, and keeps them together for the next one. One that ended
// because the process ends is counted as the next start reads it in the journal.
func (d *drain) applyAmbiguous(ctx context.Context, batch []Record, answers []Answer, at []int) error {
	if len(at) == 0 {
		return nil
	}
	if ctx.Err() != nil {
		d.b.mu.Lock()
		defer d.b.mu.Unlock()
		for _, i := range at {
			if m := d.s.attempts[batch[i].Seq]; m != nil && !m.begun.IsZero() {
				m.endCutOff()
			}
		}
		return nil
	}
	d.lastAnswer = answers[at[0]]
	d.sameAgain = d.sameAgain[:0]
	inARow := 0
	err := d.b.submit(func(g *group) error {
		for _, i := range at {
			inARow = max(inARow, d.stageAmbiguous(g, batch[i], answers[i]))
			d.sameAgain = append(d.sameAgain, batch[i].Seq)
		}
		return nil
	})
	if d.unclearWait = 0; inARow > 0 {
		d.unclearWait = waitAfterUnclear(inARow)
	}
	if len(at) == len(batch) && d.neverComesThrough(batch) {
		d.tooLargeGrown(batch)
	}
	if d.onlyThis {
		d.sameAgain, d.onlyThis = nil, false
		return err
	}
	if len(batch) == 1 {
		if others, aside := d.letOthersBy(batch[0], inARow); aside {
			d.sameAgain, d.unclearWait = nil, others
		}
	}
	d.backOff(Ambiguous, longestRetryAfter(answers, at))
	return err
}

// applyKept leaves the records in the queue and waits, unless their destination alone is to blame; a piece of a refused
// batch stays a piece.
func (d *drain) applyKept(batch []Record, answers []Answer, at []int) {
	d.lastAnswer = answers[at[0]]
	wasAmbiguous := false
	seqs := make([]uint64, 0, len(at))
	d.b.mu.Lock()
	for _, i := range at {
		if m := d.s.attempts[batch[i].Seq]; m != nil {
			wasAmbiguous = wasAmbiguous || m.maybeStored() > 0
			m.inARow, m.late = 0, 0
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
		d.sameAgain = append(d.sameAgain, seqs...) // the same bytes go together again
	case len(d.halves) > 0:
		d.halves = append([][]uint64{seqs}, d.halves...)
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
		d.halves = append([][]uint64{seqsOf(batch[:half]), seqsOf(batch[half:])}, d.halves...)
		d.lastAnswer = answers[0]
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
	d.sameAgain, d.halves = nil, nil
	d.fullTaken = 0
	err := d.b.submit(func(g *group) error {
		d.s.counts.limit = limit
		g.touch(d.s)
		return nil
	})
	d.b.note(Note{Kind: NoteShrunk, Stream: d.s.Name, Count: int(limit)}, "%s: a request of %d records was too large; from now on at most %d go together", d.s.Name, n, limit)
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

// noteNotTaken notes that a whole request was not taken. It reports whether its destination is to blame, so that the
// others need not wait; handled is false where the request says nothing of a single destination.
func (d *drain) noteNotTaken(batch []Record, seqs []uint64, maybeStored bool, answer Answer) (blamed, handled bool) {
	if len(seqs) < len(batch) || batch[0].Address == "" && (len(batch) > 1 || answer.laterForAll()) {
		return false, false
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	p, now := destinationOf(batch[0]), time.Now()
	a := d.s.failing[p]
	if a == nil {
		a = &failingDestination{destination: p, firstSeq: batch[0].Seq, backOff: newBackOff(firstProbe, isolatedCap),
			report: Isolated{Address: p.address, Seq: p.seq, Since: now}}
		d.s.failing[p] = a
		a.othersTaken = d.s.highestDelivered.Load() > a.firstSeq // something behind it was taken while it waited: also before a restart
	}
	a.othersTaken = a.othersTaken || p.address == "" && d.poison.siblingAccepted // so was the rest of its batch
	a.lastTry, a.sameAgain, a.report.Answer = now, nil, answer
	a.firstSeq = min(a.firstSeq, batch[0].Seq)
	if maybeStored {
		a.sameAgain = seqs
	}
	if a.address != "" {
		d.halves = nil // of the same address: they are found again
	}
	if a.othersTaken {
		a.strikes, a.othersTaken = a.strikes+1, false
	}
	if a.strikes < 1 || answer.Class == Wait && a.strikes < strikesForWait {
		return false, true
	}
	if a.isolatedUntil.IsZero() {
		d.b.note(Note{Kind: NoteIsolated, Stream: d.s.Name, Address: a.address, Seq: a.seq, Count: 1},
			"%s is not taken (%s), while others are; it waits by itself and is tried again now and then: check that id", a.destination, answer.describe())
	}
	a.isolatedUntil = now.Add(max(a.backOff.NextBackOff(), answer.RetryAfter))
	return true, true
}

// bisect looks by halves for the record without an address because of which its batch is not taken, an event of an unknown
// object. Where nothing is taken in between it may be all of them: then one record goes by itself.
func (d *drain) bisect(batch []Record, seqs []uint64, maybeStored bool, answer Answer) bool {
	if answer.laterForAll() || maybeStored || len(seqs) < 2 || len(seqs) < len(batch) || batch[0].Address != "" {
		return false
	}
	if d.bisections >= maxBisections {
		d.oneByOne, d.halves = true, nil // they are found again
		return false
	}
	half := len(seqs) / 2
	d.bisections++
	d.halves = append([][]uint64{seqs[:half], seqs[half:]}, d.halves...)
	return true
}

// journalAttempt writes, for the records of a Journal stream, that a request for them begins.
func (d *drain) journalAttempt(batch []Record) error {
	s := d.s
	if !s.Journal {
		return nil
	}
	return d.b.submit(func(g *group) error {
		for _, r := range batch {
			m := s.attemptsOf(r.Seq)
			m.inARow, m.parkedUntil = inARowAfter(m), time.Time{}
			m.started, m.begun, m.cutOff = true, time.Now(), false
			g.putSealed(s.attemptsBucket, seqKey(r.Seq), m.encode())
		}
		return nil
	})
}

// journalAnswer writes, for those records of a Journal stream that a clear answer leaves in the queue, that the request has ended:
// else the next start would take it for one that may have stored them.
func (d *drain) journalAnswer(batch []Record) error {
	s := d.s
	if !s.Journal {
		return nil
	}
	return d.b.submit(func(g *group) error {
		for _, r := range batch {
			if m := s.attempts[r.Seq]; m != nil && !m.begun.IsZero() {
				m.begun = time.Time{}
				g.putSealed(s.attemptsBucket, seqKey(r.Seq), m.encode())
			}
		}
		return nil
	})
}

// stageAmbiguous counts an attempt without a clear answer, and parks a journaled record after the fifth in a row, or while others are taken. It
// returns how many in a row there are; 0: they are over, or are not limited.
func (d *drain) stageAmbiguous(g *group, r Record, answer Answer) (inARow int) {
	s, now := d.s, time.Now()
	m := s.attemptsOf(r.Seq)
	m.add(now, cmp.Or(answer.Message, answer.describe()))
	m.inARow++
	if m.late++; !answer.Late {
		m.late = 0
	}
	m.begun = time.Time{}
	if !s.Journal { // it is not parked, and the service cannot know it again
		return min(m.inARow, parkAfter-1)
	}
	inARow = m.inARow
	if a := s.failing[destinationOf(r)]; a != nil && a.unclear {
		d.onlyThis = a.othersTaken
	}
	if m.inARow >= parkAfter || d.onlyThis {
		s.rejoin(destinationOf(r))
		inARow, m.parkedUntil = 0, now.Add(parkFor)
		d.b.note(Note{Kind: NoteParked, Stream: s.Name, Seq: r.Seq, Count: m.Count},
			"record %d of %s was sent %d times without a clear answer (%s): it may be at the service; it waits for a person or a day",
			r.Seq, s.Name, m.Count, answer.describe())
	}
	g.putSealed(s.attemptsBucket, seqKey(r.Seq), m.encode())
	return inARow
}

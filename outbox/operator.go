package outbox

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"gauger/outbox/receipts"
)

// changeStep counts the records that one commit of Retry, Drop or Confirm moves.
const changeStep = 256

// maxComplaints bounds how many records an error of theirs names.
const maxComplaints = 10

// changeEach runs change for every number, in steps of one commit, and joins what did not work. The receipts that change
// returns are kept before the commit, those of a step together: each time costs a sync, and the lock is held.
func (b *Box) changeEach(s *stream, seqs []uint64, change func(*group, uint64) ([]receipts.Receipt, error)) (n int, err error) {
	b.noteBringingBack(s, 1)
	defer b.noteBringingBack(s, -1)
	var complaints []error
	for step := range slices.Chunk(seqs, changeStep) {
		done := 0
		err := b.submit(func(g *group) error {
			var receipts []receipts.Receipt
			for _, seq := range step {
				kept, err := change(g, seq)
				if err != nil {
					complaints = append(complaints, err)
					continue
				}
				receipts = append(receipts, kept...)
				done++
			}
			if len(receipts) > 0 {
				b.writeReceipts(s, receipts)
			}
			return nil
		})
		if err != nil {
			return n, err
		}
		n += done
	}
	b.tell()
	if more := len(complaints) - maxComplaints; more > 0 {
		complaints = append(complaints[:maxComplaints], fmt.Errorf("and %d more", more))
	}
	return n, errors.Join(complaints...)
}

// noteBringingBack notes that old records of a stream are coming back, or are there.
func (b *Box) noteBringingBack(s *stream, more int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.bringingBack, s.allIsolatedBelow = s.bringingBack+more, 0
}

func (b *Box) retryOne(g *group, s *stream, seq uint64) error {
	if m := s.attempts[seq]; m != nil && !m.parkedUntil.IsZero() {
		m.parkedUntil, m.inARow = time.Time{}, 0
		g.putSealed(s.attemptsBucket, seqKey(seq), m.encode())
		g.wake(s)
		return nil
	}
	v, err := b.fetchStored(s.deadBucket, seq)
	if err != nil {
		return err
	}
	if v == nil {
		if v, err = b.fetchStored(s.queueBucket, seq); err != nil {
			return err
		}
		if v == nil {
			return fmt.Errorf("retry record %d of %s: %w", seq, s.Name, ErrRecord)
		}
		s.retryDestination(seq, addressOf(v))
		g.wake(s)
		return nil // it waits, and whoever drains is told to try
	}
	_, value, err := unsealDeadLetter(s, seqKey(seq), v)
	if err == nil {
		_, err = decodeRecord(s.Name, seqKey(seq), value)
	}
	if err != nil {
		return fmt.Errorf("retry record %d of %s: its bytes cannot be trusted, it can only be dropped: %w", seq, s.Name, err)
	}
	b.stageRemoval(g, s, s.deadBucket, seq)
	g.put(s.queueBucket, seqKey(seq), value)
	if s.Journal { // it was refused, so that the service has seen it
		m := s.attemptsOf(seq)
		m.started = true
		g.putSealed(s.attemptsBucket, seqKey(seq), m.encode())
	}
	for _, a := range s.failing {
		a.firstSeq = min(a.firstSeq, seq)
	}
	g.wake(s)
	s.counts.Dead--
	s.counts.Waiting++
	s.counts.deadBytes -= deadLetterCost(v[sealHeader:])
	s.counts.bytes += storedCost(value)
	return nil
}

// refusal is an ErrRefused in words of its own.
type refusal string

func (r refusal) Error() string { return string(r) }

// Is makes it an ErrRefused.
func (refusal) Is(target error) bool { return target == ErrRefused }

// takeOut takes one record out of the queue or the dead letters, for ever, and gives the receipt of it, its outcome still open,
// and the record as far as its bytes can be trusted.
func (b *Box) takeOut(g *group, s *stream, seq uint64, doing string) (kept receipts.Receipt, r Record, err error) {
	if s.inFlight[seq] {
		return kept, r, fmt.Errorf("%s record %d of %s: %w", doing, seq, s.Name, refusal("it is being sent; try again in a moment"))
	}
	v, err := b.fetchStored(s.queueBucket, seq)
	if err != nil {
		return kept, r, err
	}
	record := v
	kept = receipts.Receipt{Seq: seq, At: time.Now(), Unclear: s.attempts[seq].maybeStored()}
	if v != nil {
		s.retryDestination(seq, addressOf(v)) // what waited by itself may be nothing now
		b.stageRemoval(g, s, s.queueBucket, seq)
		s.counts.Waiting--
		s.counts.bytes -= storedCost(v)
	} else {
		if v, err = b.fetchStored(s.deadBucket, seq); err != nil {
			return kept, r, err
		}
		if v == nil {
			return kept, r, fmt.Errorf("%s record %d of %s: %w", doing, seq, s.Name, ErrRecord)
		}
		b.stageRemoval(g, s, s.deadBucket, seq)
		s.counts.Dead--
		s.counts.deadBytes -= deadLetterCost(v[sealHeader:])
		if _, record, err = unsealDeadLetter(s, seqKey(seq), v); err != nil {
			record = nil // damaged: it can be taken out all the same
		}
	}
	if kept.Enqueued = kept.At; record != nil {
		if r, err = decodeRecord(s.Name, seqKey(seq), record); err == nil {
			kept.Enqueued, kept.RecordSum = r.At, storedSum(record)
		}
	}
	return kept, r, nil
}

func (b *Box) dropOne(g *group, s *stream, seq uint64, why string) ([]receipts.Receipt, error) {
	kept, _, err := b.takeOut(g, s, seq, "drop")
	if err != nil {
		return nil, err
	}
	s.counts.Dropped++
	kept.Outcome, kept.Label = receipts.Dropped, why
	return []receipts.Receipt{kept}, nil
}

func (b *Box) confirmOne(g *group, s *stream, seq uint64, words string) ([]receipts.Receipt, error) {
	v, err := b.fetchStored(s.queueBucket, seq)
	if err != nil {
		return nil, err
	}
	if v != nil && s.neverSent(seq) {
		return nil, fmt.Errorf("confirm record %d of %s: %w", seq, s.Name, refusal(
			"gauger never sent it, so the service cannot have it from gauger; if somebody typed it there, `gauger outbox drop` it with --why"))
	}
	kept, r, err := b.takeOut(g, s, seq, "confirm")
	if err != nil {
		return nil, err
	}
	s.counts.Delivered++
	kept.Outcome, kept.Confirmed = receipts.Delivered, words
	if r.Body != nil {
		kept.Label = b.labelOf(s, r)
	}
	return []receipts.Receipt{kept}, nil
}

// Retry puts dead letters back into the queue, at their old place, and ends the wait of parked records; without numbers,
// of all there are. It returns how many; a number that is neither, or whose bytes are damaged, is an error, and the
// others are done all the same.
func (b *Box) Retry(stream string, seqs ...uint64) (int, error) {
	s := b.streams[stream]
	if s == nil {
		return 0, fmt.Errorf("retry %q: %w", stream, ErrStream)
	}
	if len(seqs) == 0 {
		var err error
		if seqs, err = b.retryable(s); err != nil {
			return 0, err
		}
	}
	return b.changeEach(s, seqs, func(g *group, seq uint64) ([]receipts.Receipt, error) { return nil, b.retryOne(g, s, seq) })
}

// retryable lists the sound dead letters and the parked records.
func (b *Box) retryable(s *stream) (seqs []uint64, err error) {
	for e, err := range b.All(s.Name, Dead, 0) {
		if err != nil {
			return nil, err
		}
		if e.Raw == nil {
			seqs = append(seqs, e.Record.Seq)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for seq, m := range s.attempts {
		if !m.parkedUntil.IsZero() {
			seqs = append(seqs, seq)
		}
	}
	slices.Sort(seqs)
	return seqs, nil
}

// Drop gives records up, waiting ones or dead letters, for ever. why is kept with the receipts. It returns how many; a
// number that is not there, or that is just being sent, is an error, and the others are done all the same.
func (b *Box) Drop(stream string, why string, seqs ...uint64) (int, error) {
	s := b.streams[stream]
	if s == nil {
		return 0, fmt.Errorf("drop from %q: %w", stream, ErrStream)
	}
	return b.changeEach(s, seqs, func(g *group, seq uint64) ([]receipts.Receipt, error) { return b.dropOne(g, s, seq, why) })
}

// Confirm counts records as delivered, waiting ones or dead letters, since a person has seen them at the service: they are not
// sent any more. The words, who and why, are kept with the receipts. It returns as Drop does.
func (b *Box) Confirm(stream string, words string, seqs ...uint64) (int, error) {
	s := b.streams[stream]
	switch {
	case s == nil:
		return 0, fmt.Errorf("confirm in %q: %w", stream, ErrStream)
	case s.Held:
		return 0, fmt.Errorf("confirm in %s: %w", stream, refusal("it is never sent, so that no service has it"))
	case words == "":
		return 0, fmt.Errorf("confirm in %s: %w", stream, refusal("nobody says that the service has it"))
	}
	return b.changeEach(s, seqs, func(g *group, seq uint64) ([]receipts.Receipt, error) { return b.confirmOne(g, s, seq, words) })
}

package outbox

import (
	"fmt"
	"slices"
	"time"
)

const (
	// maxRefusedInARow: when more records are refused alone, one after the other, it is the service that is doubted and
	// not the records.
	maxRefusedInARow = 10
	// maxCandidates bounds what is remembered of refused records; the others are simply tried again.
	maxCandidates = 16
)

// poisonDetector remembers the records that were refused. One that was refused alone is a candidate. It is confirmed, and
// becomes a dead letter, when it was refused alone after something beside it or behind it was accepted; so an interface
// that refuses everything costs nothing. All of it is forgotten at a restart: the records are in the queue, and the
// evidence is gathered again.
type poisonDetector struct {
	candidates      []candidate
	refusedInARow   int  // records refused alone since the last success
	siblingAccepted bool // something of the batch that is being taken apart was accepted
}

type candidate struct {
	seq            uint64
	answer         Answer // what the service said of it alone
	othersAccepted bool   // something was accepted since: the next refusal is the last
	confirmed      bool
}

func (r *poisonDetector) index(seq uint64) int {
	return slices.IndexFunc(r.candidates, func(s candidate) bool { return s.seq == seq })
}

func (r *poisonDetector) isCandidate(seq uint64) bool { return r.index(seq) >= 0 }

func (r *poisonDetector) forget(seq uint64) {
	r.candidates = slices.DeleteFunc(r.candidates, func(s candidate) bool { return s.seq == seq })
}

// lone is the one record that was refused, where no other was; 0: several were, or none.
func (r *poisonDetector) lone() uint64 {
	if len(r.candidates) != 1 {
		return 0
	}
	return r.candidates[0].seq
}

// secondTry returns a record that was refused once and may now be refused for good.
func (r *poisonDetector) secondTry() (uint64, bool) {
	i := slices.IndexFunc(r.candidates, func(s candidate) bool { return s.othersAccepted })
	if i < 0 {
		return 0, false
	}
	return r.candidates[i].seq, true
}

// noteAccepted notes a success: whatever was refused before may be refused for good now.
func (r *poisonDetector) noteAccepted() {
	r.refusedInARow, r.siblingAccepted = 0, true
	for i := range r.candidates {
		r.candidates[i].othersAccepted = true
	}
}

// noteRefused notes a record that was refused alone.
func (r *poisonDetector) noteRefused(seq uint64, answer Answer) {
	r.refusedInARow++
	i := r.index(seq)
	if i < 0 {
		if len(r.candidates) == maxCandidates {
			return
		}
		i = len(r.candidates)
		r.candidates = append(r.candidates, candidate{seq: seq})
	}
	s := &r.candidates[i]
	s.answer = answer
	s.confirmed = s.othersAccepted || r.siblingAccepted
}

// fewCandidates says that not many different records are refused: a new one may be another matter, and is tried at once.
func (r *poisonDetector) fewCandidates() bool { return len(r.candidates) < maxRefusedInARow }

// withdrawEvidence takes the evidence back: so many were refused since something was accepted that the interface itself
// has changed.
func (r *poisonDetector) withdrawEvidence() {
	r.siblingAccepted = false
	for i := range r.candidates {
		r.candidates[i].othersAccepted, r.candidates[i].confirmed = false, false
	}
}

// refusedAlone judges one record that was refused by itself.
func (d *drain) refusedAlone(seq uint64, answer Answer) {
	d.lastAnswer = answer
	if answer.Proved {
		d.poison.noteAccepted()
	}
	d.poison.noteRefused(seq, answer)
	if d.breaker.open {
		d.notePaused()
		d.backOff(Poison, answer.RetryAfter)
	} else if d.poison.refusedInARow > maxRefusedInARow {
		d.openBreaker()
	}
}

// quarantineConfirmed makes dead letters of the confirmed, once the batch that they came in has been taken apart.
func (d *drain) quarantineConfirmed() error {
	if d.unfinished() {
		return nil
	}
	for _, s := range slices.Clone(d.poison.candidates) {
		if !s.confirmed {
			continue
		}
		if err := d.quarantine(s); err != nil {
			return err
		}
		d.poison.forget(s.seq)
	}
	return nil
}

// quarantine makes a dead letter of one record, unless a person or the quota was faster.
func (d *drain) quarantine(c candidate) error {
	t := deadHeader{at: time.Now(), class: c.answer.Class, status: c.answer.Status, correlation: c.answer.CorrelationID, reason: c.answer.describe()}
	found := false
	err := d.b.submit(func(g *group) error {
		value, err := d.b.fetchStored(d.s.queueBucket, c.seq)
		if found = value != nil; found {
			if n := d.s.attempts[c.seq].maybeStored(); n > 0 {
				t.reason += fmt.Sprintf(unclearBefore+"%d times without a clear answer", n)
			}
			d.b.stageDeadLetter(g, d.s, c.seq, value, t)
		}
		return err
	})
	if err == nil && found {
		d.b.noteDeadLetter(d.s, c.seq, t)
		d.b.tell() // at once: when nothing is left to send, the drain's next step may be days away
	}
	return err
}

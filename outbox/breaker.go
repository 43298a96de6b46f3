package outbox

import (
	"time"
)

// breaker is the circuit breaker of one drain: while it is open everything is refused, and only probes go.
type breaker struct {
	open   bool
	cursor uint64 // the newest record that was probed
	turn   int    // whose turn it is to be probed, of three
}

// selectProbe picks one record while everything is refused: in turn the next that was not tried yet, further and further down
// the queue, the newest, which may have been made by a version that does better, and one that was refused. Where the queue
// has no other any more, what was not taken for its destination has the turns of the first two.
func (d *drain) selectProbe(p *selection, now time.Time) error {
	r, br := &d.poison, &d.breaker
	br.turn = (br.turn + 1) % 3
	if br.turn < 2 || len(r.candidates) == 0 {
		rule := queueFilter{after: br.cursor, newest: br.turn == 1, limit: 1, skip: r.isCandidate}
		if err := d.collect(p, rule, now); err != nil {
			return err
		}
		if len(p.batch) > 0 {
			if !rule.newest {
				br.cursor = p.batch[0].Seq
			}
			return nil
		}
		br.cursor = 0
		if a := d.s.nextDestination(now); a != nil && len(r.candidates) > 0 {
			return d.collectFrom(p, a, now)
		}
	}
	for len(p.batch) == 0 && len(r.candidates) > 0 {
		first := r.candidates[0]
		r.candidates = append(r.candidates[1:], first)
		if err := d.collectExactly(p, []uint64{first.seq}, now); err != nil {
			return err
		}
		if len(p.batch) == 0 {
			r.forget(first.seq)
		}
	}
	if len(p.batch) == 0 {
		d.lookAgain = true
		br.open = br.cursor != 0 // nothing is left that was refused
	}
	return nil
}

// openBreaker stops the stream but for probes; whoever is told is told at the first probe that is refused too.
func (d *drain) openBreaker() {
	d.halves = nil
	d.breaker.open = true
	d.poison.withdrawEvidence()
	d.backOff(Poison, 0)
}

func (d *drain) notePaused() {
	if d.toldTrouble {
		return
	}
	d.toldTrouble = true
	n := Note{Kind: NotePaused, Stream: d.s.Name, Seq: d.poison.lone()}
	if n.Seq != 0 {
		d.b.note(n, "%s: the service refuses record %d (%s), and there is no other to compare it with; it is kept, and tried from time to time", d.s.Name, n.Seq, d.lastAnswer.describe())
		return
	}
	d.b.note(n, "%s: the service refuses everything (%s); nothing is given up, one record is tried from time to time", d.s.Name, d.lastAnswer.describe())
}

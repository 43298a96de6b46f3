package outbox

import (
	"fmt"
	"slices"
	"time"
)

const (
	// maxInRow is how many records may be refused alone, one after the other, before it is the service that is doubted and
	// not the records.
	maxInRow = 10
	// maxSuspects bounds what is remembered of refused records; the others are simply tried again.
	maxSuspects = 16
)

// refusals is what a drain knows of records that were refused. One that was refused alone is a suspect. It is guilty, and
// becomes a dead letter, when it was refused alone after something beside it or behind it was accepted; so an interface
// that refuses everything costs nothing. All of it is forgotten at a restart: the records are in the queue, and the
// evidence is gathered again.
type refusals struct {
	suspects []suspect
	row      int     // records refused alone since the last success
	batchOK  bool    // something of the batch that is being taken apart was accepted
	open     bool    // the breaker: everything is refused, only probes go
	cursor   uint64  // the newest record that was probed
	turn     int     // whose turn it is to be probed
	last     Receipt // for the words of a note
}

type suspect struct {
	seq     uint64
	answer  Receipt // what the service said of it alone
	vouched bool    // something was accepted since: the next refusal is the last
	guilty  bool
}

func (r *refusals) index(seq uint64) int {
	return slices.IndexFunc(r.suspects, func(s suspect) bool { return s.seq == seq })
}

func (r *refusals) has(seq uint64) bool { return r.index(seq) >= 0 }

func (r *refusals) forget(seq uint64) {
	r.suspects = slices.DeleteFunc(r.suspects, func(s suspect) bool { return s.seq == seq })
}

// second returns a record that was refused once and may now be refused for good.
func (r *refusals) second() (uint64, bool) {
	i := slices.IndexFunc(r.suspects, func(s suspect) bool { return s.vouched })
	if i < 0 {
		return 0, false
	}
	return r.suspects[i].seq, true
}

// accepted notes a success: whatever was refused before may be refused for good now.
func (r *refusals) accepted() {
	r.row, r.batchOK, r.open, r.cursor = 0, true, false, 0
	for i := range r.suspects {
		r.suspects[i].vouched = true
	}
}

// refuse notes a record that was refused alone.
func (r *refusals) refuse(seq uint64, answer Receipt) {
	r.last = answer
	r.row++
	i := r.index(seq)
	if i < 0 {
		if len(r.suspects) == maxSuspects {
			return
		}
		i = len(r.suspects)
		r.suspects = append(r.suspects, suspect{seq: seq})
	}
	s := &r.suspects[i]
	s.answer = answer
	s.guilty = s.vouched || r.batchOK
}

// few says that not many different records are refused: a new one may be another matter, and is tried at once.
func (r *refusals) few() bool { return len(r.suspects) < maxInRow }

// doubt takes the evidence back: so many were refused since something was accepted that the interface itself has changed.
func (r *refusals) doubt() {
	r.open, r.batchOK = true, false
	for i := range r.suspects {
		r.suspects[i].vouched, r.suspects[i].guilty = false, false
	}
}

// alone judges one record that was refused by itself.
func (d *drain) alone(seq uint64, answer Receipt) {
	d.refused.refuse(seq, answer)
	if d.refused.open {
		d.tellPaused()
		d.backOff(Poison, answer.RetryAfter)
	} else if d.refused.row > maxInRow {
		d.open()
	}
}

// open stops the stream but for probes; whoever is told is told at the first probe that is refused too.
func (d *drain) open() {
	d.pieces = nil
	d.refused.doubt()
	d.backOff(Poison, 0)
}

// sentence makes dead letters of the guilty, once the batch that they came in has been taken apart.
func (d *drain) sentence() error {
	if d.unfinished() {
		return nil
	}
	for _, s := range slices.Clone(d.refused.suspects) {
		if !s.guilty {
			continue
		}
		if err := d.condemn(s); err != nil {
			return err
		}
		d.refused.forget(s.seq)
	}
	return nil
}

// condemn makes a dead letter of one record, unless a person or the quota was faster.
func (d *drain) condemn(c suspect) error {
	t := tomb{at: time.Now(), class: c.answer.Class, status: c.answer.Status, corr: c.answer.CorrelationID, reason: c.answer.describe()}
	found := false
	err := d.b.submit(func(g *group) error {
		value, err := d.b.fetch(d.s.queue, c.seq)
		if found = value != nil; found {
			d.b.stageDead(g, d.s, c.seq, value, t)
		}
		return err
	})
	if err == nil && found {
		d.b.noteDead(d.s, c.seq, t)
		d.b.tell() // at once: when nothing is left to send, the drain's next step may be days away
	}
	return err
}

func (d *drain) tellPaused() {
	if d.told {
		return
	}
	d.told = true
	n := Note{Kind: NotePaused, Stream: d.s.Name, Message: fmt.Sprintf("%s: the service refuses everything (%s); nothing is given up, one record is tried from time to time",
		d.s.Name, d.refused.last.describe())}
	if len(d.refused.suspects) == 1 {
		n.Seq = d.refused.suspects[0].seq
		n.Message = fmt.Sprintf("%s: the service refuses record %d (%s), and there is no other to compare it with; it is kept, and tried from time to time",
			d.s.Name, n.Seq, d.refused.last.describe())
	}
	d.b.note(n)
}

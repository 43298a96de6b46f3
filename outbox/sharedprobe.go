package outbox

import "time"

const (
	// sharedFrom is the wait from which on the streams of a box take turns; shorter ones are over too soon to matter.
	sharedFrom = 10 * time.Second
	// probeAhead: another stream may try so much earlier than the one who tried last, so that each has its turn.
	probeAhead = time.Second
)

// sharedProbe is the newest attempt at a service that could not be reached. All streams of a box see the same service, so
// that one of them tries for all: as many requests as a single stream would make, however many wait. Who gets through
// wakes the others.
type sharedProbe struct {
	by      *stream
	wait    time.Duration // what by waits between two attempts
	nextTry time.Time     // when it tries again
}

// failed notes an attempt of a stream that has failed, or is about to be made: the others stay away while it waits or tries.
func (p *sharedProbe) failed(by *stream, wait time.Duration, now time.Time) {
	*p = sharedProbe{by: by, wait: wait, nextTry: now.Add(wait)}
}

// stayAway says how long a stream that waits ownWait between its attempts stays away still, since another has tried
// meanwhile, in vain for this one too; zero: it tries. A stream whose waits are much shorter has seen the service more
// recently, and asks nobody.
func (p *sharedProbe) stayAway(s *stream, ownWait time.Duration, now time.Time) time.Duration {
	if p.by == nil || p.by == s || !p.by.unreachable.Load() || ownWait < max(sharedFrom, p.wait/2) {
		return 0
	}
	return max(p.nextTry.Sub(now)-probeAhead, 0)
}

// shareProbe notes an attempt that has failed. Only one at a service out of reach counts.
func (d *drain) shareProbe(now time.Time) {
	d.ownWait = d.delay
	if !d.s.unreachable.Load() {
		return // it may hold the lock
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.b.probe.failed(d.s, d.ownWait, now)
}

// nextProbe is asked when the stream has sat out its wait. It returns how long to stay away still; zero: go.
func (d *drain) nextProbe(now time.Time) time.Duration {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if !d.s.unreachable.Load() {
		return 0
	}
	if left := d.b.probe.stayAway(d.s, d.ownWait, now); left > 0 {
		d.ownWait = max(d.ownWait, d.waits.NextBackOff())
		return left
	}
	d.b.probe.failed(d.s, d.ownWait, now)
	return 0
}

// resumeUnclear goes on with the wait of the records whose last answer was not clear: a restart is no reason to send them sooner.
func (d *drain) resumeUnclear() {
	now := time.Now()
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if !d.s.Journal {
		return
	}
	unclear := 0
	for seq, m := range d.s.attempts {
		left := m.nextAfterUnclear(now)
		if left <= 0 {
			continue
		}
		if m.Last.After(d.troubleSince) {
			d.troubleSince, d.lastAnswer = m.Last, Answer{Class: Ambiguous, Message: m.Seen}
		}
		unclear++
		v, err := d.b.fetchStored(d.s.queueBucket, seq)
		if m.inARow < asideAfter || err != nil || v == nil {
			d.delay = max(d.delay, left)
			continue
		}
		r := Record{Seq: seq, Address: string(addressOf(v))}
		d.s.setAside(r, destinationOf(r), now.Add(left)).lastTry = m.Last
	}
	if first := d.s.firstUnclear(); first != nil && unclear > 1 {
		d.waylost, d.delay = true, max(time.Until(d.s.nextTry(first)), 0)
	}
}

// endAside lets a record that has a clear answer now go with the others again.
func (d *drain) endAside(r Record) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if a := d.s.failing[destinationOf(r)]; a != nil && a.unclear {
		d.s.rejoin(a.destination)
	}
}

// letOthersBy sets a record of a Journal stream aside, behind its second attempt in a row without a clear answer, and says how long the others
// wait. One that goes by tells whether the record is to blame or the way: where it has no clear answer either, it is the way, and only the
// first goes on, at its own times, until something is taken. That another stream's records are taken meanwhile lets one more by.
func (d *drain) letOthersBy(r Record, inARow int) (others time.Duration, aside bool) {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	s, p := d.s, destinationOf(r)
	first := s.firstUnclear()
	witness := first != nil && first.destination != p // of another one nobody knows whether it or the way is to blame
	if !s.Journal || inARow == 0 || inARow < asideAfter && !witness {
		return 0, false
	}
	before := s.failing[p]
	elsewhere := before != nil && d.takenElsewhere(before.lastTry)
	s.setAside(r, p, time.Now().Add(d.unclearWait))
	d.waylost = d.waylost || witness
	if d.waylost && !elsewhere {
		return max(time.Until(s.nextTry(s.firstUnclear())), time.Millisecond), true
	}
	return min(d.unclearWait, waitAfterUnclear(1)), true
}

// takenElsewhere says that the service has taken records of another stream since then. The lock is held.
func (d *drain) takenElsewhere(since time.Time) bool {
	for _, s := range d.b.streams {
		if s != d.s && s.drainStatus.Taken.After(since) {
			return true
		}
	}
	return false
}

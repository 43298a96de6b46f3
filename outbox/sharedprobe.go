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

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

// shareProbe notes an attempt that has failed. Only one at a service out of reach counts.
func (d *drain) shareProbe(now time.Time) {
	d.ownWait = d.delay
	if !d.s.unreachable.Load() {
		return // it may hold the lock
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.b.probe = sharedProbe{by: d.s, wait: d.ownWait, nextTry: now.Add(d.ownWait)}
}

// nextProbe is asked when a stream has sat out its wait. It returns how long to stay away still, since another has tried
// meanwhile, in vain for this stream too; zero: go. A stream whose waits are much shorter has seen the service more
// recently, and asks nobody.
func (d *drain) nextProbe(now time.Time) time.Duration {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if !d.s.unreachable.Load() {
		return 0
	}
	k := d.b.probe
	if k.by != nil && k.by != d.s && k.by.unreachable.Load() && d.ownWait >= max(sharedFrom, k.wait/2) {
		if left := k.nextTry.Sub(now) - probeAhead; left > 0 {
			d.ownWait = max(d.ownWait, d.waits.NextBackOff())
			return left
		}
	}
	d.b.probe = sharedProbe{by: d.s, wait: d.ownWait, nextTry: now.Add(d.ownWait)} // the others stay away while it tries
	return 0
}

package outbox

import "time"

const (
	// turnsFrom is the wait from which on the streams of a box take turns; shorter ones are over too soon to matter.
	turnsFrom = 10 * time.Second
	// turnAhead is how much earlier than the one who knocked last another may knock, so that each has its turn.
	turnAhead = time.Second
)

// knock is the newest attempt at a service that could not be reached. All streams of a box see the same service, so
// that one of them knocks for all: as many requests as a single stream would make, however many wait. Who gets through
// rouses the others.
type knock struct {
	by    *stream
	wait  time.Duration // what by waits between two attempts
	until time.Time     // when it tries again
}

// knocked notes an attempt that has failed. Only one at a service out of reach counts.
func (d *drain) knocked(now time.Time) {
	d.away = d.delay
	if !d.s.cutOff.Load() {
		return // it may hold the lock
	}
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	d.b.knock = knock{by: d.s, wait: d.away, until: now.Add(d.away)}
}

// turn is asked when a stream has sat out its wait. It returns how long to stay away still, since another has knocked
// meanwhile, in vain for this stream too; zero: go. A stream whose waits are much shorter has seen the service more
// recently, and asks nobody.
func (d *drain) turn(now time.Time) time.Duration {
	d.b.mu.Lock()
	defer d.b.mu.Unlock()
	if !d.s.cutOff.Load() {
		return 0
	}
	k := d.b.knock
	if k.by != nil && k.by != d.s && k.by.cutOff.Load() && d.away >= max(turnsFrom, k.wait/2) {
		if left := k.until.Sub(now) - turnAhead; left > 0 {
			d.away = max(d.away, d.waits.NextBackOff())
			return left
		}
	}
	d.b.knock = knock{by: d.s, wait: d.away, until: now.Add(d.away)} // the others stay away while it tries
	return 0
}

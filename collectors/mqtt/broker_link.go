package mqtt

import (
	"errors"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

const (
	// firstPause and longestPause bound the wait between two attempts to connect.
	firstPause   = 250 * time.Millisecond
	longestPause = 2 * time.Minute
	// steady is the least life of a connection that counts as one. Two clients with the same id throw each other out
	// at once, over and over, and that must look like the trouble it is.
	steady = 10 * time.Second
)

// brokerLink carries the state of the connection from the goroutine that keeps it to the committer.
type brokerLink struct {
	wake chan struct{}

	mu      sync.Mutex
	now     linkState
	answers map[string]byte // the broker's latest answer about each topic
}

// linkState is the state of a session's connection.
type linkState struct {
	up              bool
	since           time.Time   // beginning of this connection, or end of the last
	troubleSince    time.Time   // beginning of the present trouble: the end of the last steady connection
	silentSince     time.Time   // that connection ended since the broker had not been heard from then on; zero: it ended otherwise
	tries           int         // attempts since then that failed or did not last
	err             error       // of the latest
	broker          string      // the one that is connected, or that was tried last
	conn            *packetConn // this connection; nil before the first
	connectedBefore bool        // there was a connection before, in this run
	thrownOut       int         // times in a row that a broker let us in and the connection did not last
}

// begin says that there is no connection yet.
func (l *brokerLink) begin(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = linkState{since: at, troubleSince: at}
}

// restored says that a connection is open and its subscriptions are made.
func (l *brokerLink) restored(at time.Time, via *packetConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.up, l.now.since, l.now.connectedBefore, l.now.conn = true, at, true, via
	signal(l.wake)
}

func (l *brokerLink) trying(broker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.broker = broker
}

// lost says that the connection has ended, or that no broker let us in.
func (l *brokerLink) lost(at time.Time, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	lasted := at.Sub(l.now.since) >= steady
	if l.now.thrownOut++; !l.now.up || lasted {
		l.now.thrownOut = 0
	}
	if l.now.up {
		if lasted {
			l.now.troubleSince, l.now.silentSince, l.now.tries = at, time.Time{}, 0
			if errors.Is(why, errSilent) {
				l.now.silentSince = l.now.conn.lastHeard()
			}
		}
		l.now.since = at
	}
	l.now.up, l.now.err = false, why
	l.now.tries++
	signal(l.wake)
}

// setAnswers hands over the broker's answers to a subscription.
func (l *brokerLink) setAnswers(answers map[string]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	merged := map[string]byte{} // a new one: the committer may be reading the old
	maps.Copy(merged, l.answers)
	maps.Copy(merged, answers)
	l.answers = merged
	signal(l.wake)
}

// state is the present state, with the broker's answer about each topic.
func (l *brokerLink) state() (linkState, map[string]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, l.answers
}

// pause is the wait before the next attempt: a quarter of the time that the trouble has lasted, so that a short
// absence is over soon after the broker is back and a long one does not wear out the line; with jitter, so that a
// hundred sites do not come back together.
func (l *brokerLink) pause(at time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := min(max(at.Sub(l.now.troubleSince)/4, firstPause), longestPause)
	return d/2 + rand.N(d/2)
}

// maxNotices bounds the notices that wait; more than that is a storm, and its oldest words are worth least.
const maxNotices = 256

// notices wait for the committer to hand them to the host, in order.
type notices struct {
	wake    chan struct{}
	mu      sync.Mutex
	waiting []collectors.Notice
}

func (q *notices) add(n collectors.Notice) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) >= maxNotices {
		q.waiting = q.waiting[1:]
	}
	q.waiting = append(q.waiting, n)
	signal(q.wake)
}

// first is the oldest notice that waits, if there is one.
func (q *notices) first() (collectors.Notice, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return collectors.Notice{}, false
	}
	return q.waiting[0], true
}

// drop takes the first notice, which was handed over, off the list.
func (q *notices) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		q.waiting = q.waiting[1:]
	}
}

// addMemoryFailed tells of something that could not be recalled or remembered; nothing is lost by that but time.
func (q *notices) addMemoryFailed(source string, err error) {
	if now := time.Now(); err != nil {
		q.add(collectors.Notice{Rule: eventrules.MemoryFailed, Source: source, Since: now, Until: now, Note: err.Error()})
	}
}

// powerOfTen bounds what is told of something that repeats: the first, the tenth, the hundredth time and so on.
func powerOfTen(n uint64) bool {
	for n >= 10 && n%10 == 0 {
		n /= 10
	}
	return n == 1
}

package mqtt

import (
	"sync"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

// maxNotices bounds the notices that wait; more than that is a storm, and its oldest words are worth least.
const maxNotices = 256

// notices wait for the committer to hand them to the host, in order.
type notices struct {
	wake    chan struct{}
	mu      sync.Mutex
	waiting []collectors.Notice
}

// add leaves a notice.
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

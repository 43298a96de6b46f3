package mqtt

import (
	"context"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

const (
	// queueItems and queueBytes bound what has arrived and is not yet committed.
	queueItems = 4096
	queueBytes = 4 << 20
	// groupItems is the most that one commit takes, so that a long queue does not make a long transaction.
	groupItems = 1024
	// roomOfGroup is the most that is kept for the next group: a slice that grows to groupItems has room for some more.
	roomOfGroup = 2 * groupItems
	// receiveWindow is the usual number of unacknowledged messages that a broker lets out at a time.
	receiveWindow = 20
	// groupWait is the longest wait for a group to fill; stillness ends it earlier.
	groupWait  = 2 * time.Millisecond
	groupQuiet = 500 * time.Microsecond
)

// arrival is one message as it came.
type arrival struct {
	paho.Message
	conn    *packetConn
	at      time.Time
	waited  bool // it may have waited at the broker for any length of time
	sentLen int  // payload bytes that were sent, when packetConn has cut it; else 0
}

// queue is the hand-over from the library's callback to the committer: bounded in number and in bytes.
type queue struct {
	mu    sync.Mutex
	items []arrival
	spare []arrival // empty, for the next items; nil: there is none
	bytes int
	ready chan struct{} // something is there
	room  chan struct{} // something was taken
}

func newQueue() *queue {
	return &queue{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// put appends one message, and waits while the queue is full: so the network pushes back on the broker.
// It gives up when stop is closed, and then the message was not taken.
func (q *queue) put(a arrival, stop <-chan struct{}) bool {
	for {
		if q.tryPut(a) {
			signal(q.ready)
			return true
		}
		select {
		case <-q.room:
		case <-stop:
			return false
		}
	}
}

func (q *queue) tryPut(a arrival) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := len(a.Payload()) + len(a.Topic())
	if len(q.items) >= queueItems || len(q.items) > 0 && q.bytes+size > queueBytes {
		return false
	}
	if q.items == nil {
		q.items, q.spare = q.spare, nil
	}
	q.items = append(q.items, a)
	q.bytes += size
	return true
}

// take removes up to groupItems messages, oldest first.
func (q *queue) take() []arrival {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.items), groupItems)
	taken := q.items[:n:n]
	q.items = q.items[n:]
	if len(q.items) == 0 {
		q.items = nil
	} else {
		signal(q.ready)
	}
	for _, a := range taken {
		q.bytes -= len(a.Payload()) + len(a.Topic())
	}
	signal(q.room)
	return taken
}

// reuse takes back a group that was taken, and that nobody uses any more. (A part of the items ends where the rest begins.)
func (q *queue) reuse(group []arrival) {
	if cap(group) > roomOfGroup {
		return
	}
	clear(group)
	q.mu.Lock()
	defer q.mu.Unlock()
	if cap(group) > cap(q.spare) {
		q.spare = group[:0]
	}
}

// takeGroup takes what has arrived. While messages keep coming and the broker's window is not full it waits a moment
// for more, since a commit costs the same for one as for many.
func (q *queue) takeGroup(ctx context.Context) []arrival {
	group := q.take()
	limit := time.NewTimer(groupWait)
	defer limit.Stop()
	for len(group) > 0 && len(group) < receiveWindow {
		still := time.NewTimer(groupQuiet)
		select {
		case <-q.ready:
			group = append(group, q.take()...)
			still.Stop()
			continue
		case <-still.C:
		case <-limit.C:
		case <-ctx.Done():
		}
		still.Stop()
		break
	}
	return group
}

// signal leaves word in a channel of capacity one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// acknowledge tells the broker that a group is kept. What came through a connection that is gone cannot be
// acknowledged any more; the broker sends it again, and then it is recognised.
func acknowledge(group []arrival) {
	for len(group) > 0 {
		via, n := group[0].conn, 0
		for ; n < len(group) && group[n].conn == via; n++ {
			group[n].Ack()
		}
		via.sendAcks(n)
		group = group[n:]
	}
}

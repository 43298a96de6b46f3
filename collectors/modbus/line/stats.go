package line

import (
	"sync"
	"sync/atomic"
	"time"
)

// Stats counts what a line has seen since the program started.
type Stats struct {
	Requests   uint64 // requests that had the line
	Timeouts   uint64 // requests that got no answer in time
	Exceptions uint64 // answers that were refusals
	BadFrames  uint64 // requests whose answer could not be used: torn, wrong length, wrong function, checksum
	Late       uint64 // answers dropped because they belonged to an earlier request
	CrossTalk  uint64 // answers dropped because another unit or function sent them
	Opened     uint64 // times that the socket or port was opened; reconnects are this less one
	Mismatches uint64 // values that two requests did not agree on
	Down       uint64 // requests for which the socket or port could not be opened, or went away
	// OtherMaster is when another master was last heard, once it was heard often enough to be no chance; zero: none was.
	OtherMaster time.Time
	// Busy is the time that requests had the line, their time-outs and silences included.
	Busy time.Duration
	// Load is the share of the last minute or two in which they did, from 0 to 1.
	Load float64
}

type counters struct {
	requests, timeouts, exceptions, badFrames, late, crossTalk, opened, mismatches, down atomic.Uint64

	otherMaster   atomic.Uint64 // how often another one was heard,
	otherMasterAt atomic.Int64  // and when, in unix nanoseconds

	busyTime busyTime
}

// otherMasterSure requests of another master are no chance.
const otherMasterSure = 3

func (c *counters) noteOtherMaster(now time.Time) {
	c.otherMaster.Add(1)
	c.otherMasterAt.Store(now.UnixNano())
}

func (c *counters) lastOtherMaster() (at time.Time) {
	if c.otherMaster.Load() >= otherMasterSure {
		at = time.Unix(0, c.otherMasterAt.Load())
	}
	return at
}

func (c *counters) read() Stats {
	busy, load := c.busyTime.measure(time.Now())
	return Stats{
		Busy:       busy,
		Load:       load,
		Requests:   c.requests.Load(),
		Timeouts:   c.timeouts.Load(),
		Exceptions: c.exceptions.Load(),
		BadFrames:  c.badFrames.Load(),
		Late:       c.late.Load(),
		CrossTalk:  c.crossTalk.Load(),
		Opened:     c.opened.Load(),
		Mismatches: c.mismatches.Load(),
		Down:       c.down.Load(),

		OtherMaster: c.lastOtherMaster(),
	}
}

// busyTime measures how much of its time a line is taken.
type busyTime struct {
	mu    sync.Mutex
	busy  time.Duration
	since time.Time   // taken since then; zero: free
	marks [2]busyMark // the last full minutes, the older first
}

// busyMark is the busy time so far, at an instant.
type busyMark struct {
	at   time.Time
	busy time.Duration
}

// loadWindow is over how long at least the load is measured, once so much time has passed.
const loadWindow = time.Minute

func (u *busyTime) begin(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.slideWindow(now)
	u.since = now
}

func (u *busyTime) end(now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.busy += now.Sub(u.since)
	u.since = time.Time{}
	u.slideWindow(now)
}

// slideWindow moves the window on. The lock is held.
func (u *busyTime) slideWindow(now time.Time) {
	if u.marks[1].at.IsZero() {
		u.marks = [2]busyMark{{now, u.busy}, {now, u.busy}}
	}
	if now.Sub(u.marks[1].at) >= loadWindow {
		u.marks = [2]busyMark{u.marks[1], {now, u.busy}}
	}
}

// measure is the time that the line was busy, and the share of the window.
func (u *busyTime) measure(now time.Time) (busy time.Duration, load float64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	busy = u.busy
	if !u.since.IsZero() {
		busy += now.Sub(u.since)
	}
	if window := now.Sub(u.marks[0].at); window > 0 && !u.marks[0].at.IsZero() {
		load = (busy - u.marks[0].busy).Seconds() / window.Seconds()
	}
	return busy, load
}

package line

import (
	"slices"
	"sync"
	"time"
)

// Round is the last answered round of requests to a device.
type Round struct {
	Device string
	Every  time.Duration // its interval now
	Took   time.Duration // that its requests had the line
	At     time.Time
}

// lastRounds keeps the last one of each device of a line.
type lastRounds struct {
	mu  sync.Mutex
	all []Round
}

// NoteRound keeps the last answered round of a device that is polled on the line.
func (l *Line) NoteRound(done Round) {
	r := &l.lastRounds
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.all, func(x Round) bool { return x.Device == done.Device }); i >= 0 {
		r.all[i] = done
		return
	}
	r.all = append(r.all, done)
}

// Rounds are the last answered rounds of the devices that are polled on the line.
func (l *Line) Rounds() []Round {
	r := &l.lastRounds
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

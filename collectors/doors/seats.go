package doors

import (
	"maps"
	"sync"
	"time"
)

// Seats are places of which there are few: connections, streams. The zero value has none.
type Seats struct {
	All  int // places there are
	Each int // that one may have; 0: all of them

	mu    sync.Mutex
	taken int
	by    map[string]int
}

// Take takes a place for somebody; the empty name has no limit of its own.
func (s *Seats) Take(who string) bool { return s.take(who) == "" }

// take says what is full, if something is.
func (s *Seats) take(who string) (full string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case who != "" && s.Each > 0 && s.by[who] >= s.Each:
		return ThePeer
	case s.taken >= s.All:
		return Everybody
	}
	if s.by == nil {
		s.by = map[string]int{}
	}
	s.taken++
	s.by[who]++
	return ""
}

// Leave gives a place back.
func (s *Seats) Leave(who string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.by[who]--; s.by[who] == 0 {
		delete(s.by, who)
	}
}

// Rate is how often something may be, a burst of it at once. The zero value is no limit.
type Rate struct {
	Every time.Duration
	Burst int
}

// Meter keeps everybody to a rate. Who it has forgotten has a whole burst again, as has who was quiet for so long.
type Meter struct {
	rate Rate
	mu   sync.Mutex
	full map[string]time.Time // when the burst will be whole again
}

// NewMeter keeps to a rate.
func NewMeter(rate Rate) *Meter { return &Meter{rate: rate, full: map[string]time.Time{}} }

// remembered is how many peers a meter knows before it looks for those that it may forget, and mostRemembered how many at most.
const (
	remembered     = 64
	mostRemembered = 1024
)

// Take counts one, and is 0; or says how long it is too early, and does not count it. The empty name has no limit.
func (m *Meter) Take(who string) time.Duration {
	if m.rate.Every == 0 || who == "" {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if len(m.full) > remembered {
		maps.DeleteFunc(m.full, func(_ string, t time.Time) bool { return t.Before(now) })
	}
	for someone := range m.full { // a flood of addresses is not remembered whole
		if len(m.full) < mostRemembered {
			break
		}
		delete(m.full, someone)
	}
	full := m.full[who]
	if full.Before(now) {
		full = now
	}
	if early := full.Sub(now) - m.rate.Every*time.Duration(m.rate.Burst-1); early > 0 {
		return early
	}
	m.full[who] = full.Add(m.rate.Every)
	return 0
}

package tank

import "gauger/agent/tank/stats"

const (
	episodeDay  = 86400.0 // s within which the same fault is reported once
	jumpLately  = 3600.0  // s before it in which a jump says that somebody works on the sensor
	handledNear = 4.0     // in by which a sensor that somebody had in hands is hung up elsewhere
)

// faults of a tank's sensor and clock, and when they last were.
type faults struct {
	badValues repeatedFault // values that cannot be
	spikes    repeatedFault // jumps that came back

	clockSteppedAt float64 // when the clock of its readings last stepped
	clockStep      float64 // and by how much, s
	jumpedAt       float64 // when the level last jumped without flow
	jumpedUpAt     float64 // when it last jumped up
	handledAt      float64 // when the first of the jumps that end with the newest was, no hour apart
	unfrozeAt      float64 // when a frozen value last came to life
	stuckReported  bool    // that the value stands now
}

// jumped remembers a jump without flow.
func (f *faults) jumped(at float64) {
	if f.jumpedAt == 0 || at-f.jumpedAt >= jumpLately {
		f.handledAt = at
	}
	f.jumpedAt = at
}

// repeatedFault is an episode of a fault that comes again and again, and is reported once a day at most.
type repeatedFault struct {
	active      bool
	start, last float64
	n           int
	reportedAt  float64 // when the newest episode was reported
	lastValue   float64
}

// add counts one more.
func (f *repeatedFault) add(t, v float64) {
	if !f.active {
		*f = repeatedFault{active: true, start: t, reportedAt: f.reportedAt}
	}
	f.last, f.n = t, f.n+1
	if stats.Finite(v) {
		f.lastValue = v
	}
}

// due says that an episode is over, or has gone on for a day since it was last reported, and is
// worth an event. What comes within a day of that one is reported together.
func (f *repeatedFault) due(now, quiet float64, few int) bool {
	told := f.reportedAt
	if told > f.start || told < 0 {
		told = 0
	}
	over := now-f.last >= quiet
	switch {
	case !f.active || f.n < few && !over:
		return false
	case f.n < few:
		*f = repeatedFault{reportedAt: told}
		return false
	case told > 0 && now-told < episodeDay || !over && now-f.start < episodeDay:
		return false
	}
	return true
}

// smallDraws are the draws below the least load that are reported together.
type smallDraws struct {
	active       bool
	start, last  float64
	n            int
	bbl, lastBbl float64
	returned     float64 // bbl of them that came back
}

// add counts one more; what came back of it, or 0.
func (s *smallDraws) add(d draw, bbl, returned float64) {
	if !s.active {
		*s = smallDraws{active: true, start: d.end}
	}
	s.returned += returned
	s.last, s.n = d.end, s.n+1
	if stats.Finite(bbl) {
		s.lastBbl, s.bbl = bbl, s.bbl+bbl
	}
	s.start = min(s.start, d.start)
}

// slowLosses are falls at rest that are too slow for a draw.
type slowLosses struct {
	checkAt float64 // when to look for one again
	loss    slowLoss
}

// slowLoss is one that goes on.
type slowLoss struct {
	active      bool
	start, last float64
	kind        int
	inches, top float64 // fallen so far, from this level
}

// The kinds of slow loss.
const (
	lossUnexplained = 1
	lossMoved       = 2 // the oil went to another tank
)

func (l slowLoss) asDraw() draw {
	return draw{start: l.start, end: l.last, samples: 1, opening: gauge{level: l.top}, closing: gauge{level: l.top - l.inches}}
}

func (l slowLoss) bbl(t *Tank) float64 { return t.volume(l.asDraw()) }

package tank

import "gauger/agent/tank/stats"

// tankState is what is known of one tank between two inputs. It is copied at every change;
// its slices are shared between the copies and only ever appended to or replaced.
// Times are site seconds, levels inches.
type tankState struct {
	clock        clock
	timeUnknown  bool // a restart took a time that nobody knows
	stampedByBox bool // its newest reading had the box's own clock; not stored, the next one tells

	seen      bool
	last      point   // newest believed reading
	heldSince float64 // when its value first appeared
	pending   pending // readings that are not believed yet
	interval  interval
	noise     noise
	bin       bin

	recent    []sample          // cleaned levels, thinned with age
	history   []sample          // a level every ten minutes
	water     []sample          // oil/water interface
	aux       [auxKinds][]point // by place
	firstSeen []float64         // when the draws that are not decided yet were first seen

	drawing                    bool    // a draw may be under way or waits for its confirmation
	searchFrom                 float64 // where to begin to look for it
	lastFallAt                 float64 // when the level last fell like a draw
	decidedTo                  float64 // everything up to here is decided
	judgeAt                    float64 // when to look again
	hintStoredAt               float64 // when a first hint was last stored
	storedLevel                float64 // level that was last stored
	lastDrawStart, lastDrawEnd float64 // the newest draw that was decided

	clockSteppedAt float64 // when the clock of its readings last stepped
	clockStep      float64 // and by how much, s
	jumpedAt       float64 // when the level last jumped without flow
	jumpedUpAt     float64 // when it last jumped up
	unfrozeAt      float64 // when a frozen value last came to life
	stuckReported  bool    // the value that stands now was told of
	lossCheckAt    float64 // when to look for a slow loss again

	reported   []reportedLoad // the newest loads that were reported
	reviewedTo float64        // up to where they were looked over again
	retimeAt   float64        // when to tell their times again, by a clock that was set

	badValues     episode // values that cannot be; sum is when the newest episode of them was told of
	spikes        episode // jumps that came back; sum as of bad
	smallDraws    episode // draws below the least load
	smallReturned float64 // bbl of them that came back
	slowLoss      episode // a slow loss: sum is its inches, at where it began
}

// point is a value at a time.
type point struct{ t, v float64 }

// episode is one episode of something, until it is reported.
type episode struct {
	active      bool
	start, last float64
	n           int
	sum, at     float64
}

func (s *episode) add(t, v float64) {
	if !s.active {
		*s = episode{active: true, start: t}
	}
	s.last, s.n = t, s.n+1
	if stats.Finite(v) {
		s.at, s.sum = v, s.sum+v
	}
}

// again counts one more of what is told of once a day at most.
func (s *episode) again(t, v float64) {
	if !s.active {
		*s = episode{active: true, start: t, sum: s.sum}
	}
	s.last, s.n = t, s.n+1
	if stats.Finite(v) {
		s.at = v
	}
}

// tell says that an episode is over, or has gone on for a day since it was last told of, and is
// worth an event. What comes within a day of that one is told of together.
func (s *episode) tell(now, quiet float64, few int) bool {
	told := s.sum
	if told > s.start || told < 0 {
		told = 0
	}
	over := now-s.last >= quiet
	switch {
	case !s.active || s.n < few && !over:
		return false
	case s.n < few:
		*s = episode{sum: told}
		return false
	case told > 0 && now-told < episodeDay || !over && now-s.start < episodeDay:
		return false
	}
	return true
}

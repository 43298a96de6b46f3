package tank

import "gauger/agent/tank/stats"

// vessel is what is known of one tank between two inputs. It is copied at every change;
// its slices are shared between the copies and only ever appended to or replaced.
// Times are site seconds, levels inches.
type vessel struct {
	clk    clock
	unsure bool // a restart took a time that nobody knows
	boxed  bool // its newest reading had the box's own clock; not stored, the next one tells

	seen  bool
	last  point   // newest believed reading
	since float64 // when its value first appeared
	pend  pending // readings that are not believed yet
	pace  pace
	noise noise
	bin   bin

	buf   []sample        // cleaned levels, thinned with age
	hist  []sample        // a level every ten minutes
	water []sample        // oil/water interface
	other [others][]point // by place
	begun []float64       // when the draws that are not decided yet were first seen

	hot                bool    // a draw may be under way or waits for its confirmation
	onset              float64 // where to begin to look for it
	fell               float64 // when the level last fell like a draw
	done               float64 // everything up to here is decided
	due                float64 // when to look again
	hinted             float64 // when a first hint was last stored
	kept               float64 // level that was last stored
	lastStart, lastEnd float64 // the newest draw that was decided

	steppedAt float64 // when the clock of its readings last stepped
	stepped   float64 // and by how much, s
	jumpAt    float64 // when the level last jumped without flow
	roseAt    float64 // when it last jumped up
	thawedAt  float64 // when a frozen value last came to life
	stuckTold bool    // the value that stands now was told of
	leakDue   float64 // when to look for a slow loss again

	told    []told  // the newest loads that were reported
	revised float64 // up to where they were looked over again
	redate  float64 // when to tell their times again, by a clock that was set

	bad    spell   // values that cannot be; sum is when the newest episode of them was told of
	spike  spell   // jumps that came back; sum as of bad
	small  spell   // draws below the least load
	rolled float64 // bbl of them that came back
	loss   spell   // a slow loss: sum is its inches, at where it began
}

// point is a value at a time.
type point struct{ t, v float64 }

// spell is one episode of something, until it is reported.
type spell struct {
	open        bool
	start, last float64
	n           int
	sum, at     float64
}

func (s *spell) add(t, v float64) {
	if !s.open {
		*s = spell{open: true, start: t}
	}
	s.last, s.n = t, s.n+1
	if stats.Finite(v) {
		s.at, s.sum = v, s.sum+v
	}
}

// again counts one more of what is told of once a day at most.
func (s *spell) again(t, v float64) {
	if !s.open {
		*s = spell{open: true, start: t, sum: s.sum}
	}
	s.last, s.n = t, s.n+1
	if stats.Finite(v) {
		s.at = v
	}
}

// tell says that an episode is over, or has gone on for a day since it was last told of, and is
// worth an event. What comes within a day of that one is told of together.
func (s *spell) tell(now, quiet float64, few int) bool {
	told := s.sum
	if told > s.start || told < 0 {
		told = 0
	}
	over := now-s.last >= quiet
	switch {
	case !s.open || s.n < few && !over:
		return false
	case s.n < few:
		*s = spell{sum: told}
		return false
	case told > 0 && now-told < episodeDay || !over && now-s.start < episodeDay:
		return false
	}
	return true
}

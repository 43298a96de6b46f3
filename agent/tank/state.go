package tank

import "math"

// State is where the tanks of a site stand. The zero value knows nothing. A State is a
// value: Next leaves the one it was given as it was.
type State struct {
	mark     uint64
	started  bool
	boot     int64
	box      int64
	base     float64 // real s at which this boot's Mono was 0
	now      float64 // newest real time, s
	bootedAt float64 // when this boot was first seen, s
	storedAt float64 // site time of the last growth of mark
	boxClock clock
	tanks    []*tankState
}

const (
	storeHot   = 60.0
	storeSlow  = 300.0 // a tank's level moved
	storeIdle  = 900.0
	storeMoved = 0.25  // in
	storeFar   = 1.5   // in; so much of a tank that is filled up is not lost again
	sparse     = 240.0 // s between readings of which each is dear
	silentFor  = 120.0 // s without a reading, after which what came before is stored
)

// Mark grows when this state has to be stored before going on: at the first sign of a draw,
// each minute of site time while one is under way and for 15 minutes after a restart, each
// 5 minutes while a level moves, each 15 minutes otherwise, with every reading where they are
// minutes apart, once when readings stop, and with every outcome.
func (st State) Mark() uint64 { return st.mark }

// cloned is a copy whose vessels may be replaced.
func (st State) cloned(n int) State {
	v := make([]*tankState, n)
	copy(v, st.tanks)
	for i := range v {
		if v[i] == nil {
			v[i] = &tankState{}
		}
	}
	st.tanks = v
	return st
}

// Next takes one input and gives the next state and what was decided. st must not be used
// again once Next was called on its successor; when the successor is dropped, as after a
// commit that failed, st may be used again.
func (s Site) Next(st State, in Input) (State, []Outcome) {
	if in.Kind >= kindCount || in.Kind != Tick && (in.Tank < 0 || in.Tank >= len(s.tanks)) {
		return st, nil
	}
	st = st.cloned(len(s.tanks))
	s.advance(&st, in)
	r := &update{site: s, st: &st}
	switch in.Kind {
	case Tick:
		r.tick(in)
	case Level:
		r.level(in)
	default:
		r.auxiliary(in)
	}
	r.growMark()
	return st, r.out
}

// update is one call of Next at work.
type update struct {
	site     Site
	st       *State
	out      []Outcome
	storeNow bool // a draw began: store now

	jumped   bool    // the level has just jumped to another one
	jumpedTo float64 // in
}

// writable is a vessel that may be written to.
func (r *update) writable(i int) *tankState {
	n := *r.st.tanks[i]
	r.st.tanks[i] = &n
	return &n
}

// growMark lets the mark grow when it is time to.
func (r *update) growMark() {
	now := r.st.now * r.site.speed
	if r.storeNow || len(r.out) > 0 || now-r.st.storedAt >= r.storeEvery(now) || r.st.mark == 0 {
		r.st.mark++
		r.st.storedAt = now
		for i, v := range r.st.tanks {
			if v.storedLevel != v.last.v {
				r.writable(i).storedLevel = v.last.v
			}
		}
	}
}

// storeEvery is how long the stored state may be behind, s.
func (r *update) storeEvery(now float64) float64 {
	every := storeIdle
	for _, v := range r.st.tanks {
		every = min(every, v.storeEvery(now, r.st.storedAt))
	}
	if now-r.st.bootedAt*r.site.speed < storeIdle { // a box that restarts once may do it again
		every = storeHot
	}
	return every
}

// storeEvery is how long the stored state of one tank may be behind, s.
func (v *tankState) storeEvery(now, stored float64) float64 {
	moved := math.Abs(v.last.v-v.storedLevel) - 4*v.noise.sigma
	fresh := v.last.t > stored
	switch {
	case v.drawing && now-v.lastFallAt < storeIdle, moved > storeFar:
		return storeHot
	case fresh && (v.interval.usual >= sparse || now-v.last.t > math.Max(silentFor, 3*v.interval.usual)):
		return storeHot
	case moved > storeMoved:
		return storeSlow
	}
	return storeIdle
}

func (r *update) tick(in Input) {
	step := 0.0
	if in.One {
		step = r.st.boxClock.adjust(UnixSeconds(in.At), r.st.base+in.Mono.Seconds(), r.site.speed)
	}
	r.st.boxClock.place(UnixSeconds(in.At), r.st.now, 60, r.site.speed)
	for i := range r.site.tanks {
		v := r.writable(i)
		if step != 0 && v.stampedByBox && v.clock.known && !v.clock.resync { // what was stamped by the box's clock goes with it, also when nothing came since
			r.followBoxClock(i, v)
		}
		r.conclude(i, v, r.st.now*r.site.speed)
	}
}

// followBoxClock sets the clock of a tank's readings as the box's was set.
func (r *update) followBoxClock(i int, v *tankState) {
	step := r.st.boxClock.offset - v.clock.offset
	if math.Abs(step) <= clockSlack/r.site.speed {
		return // a reading was there first
	}
	v.clock.shift(step)
	r.clockMoved(i, v, r.st.now*r.site.speed, step, false)
}

// auxiliary takes everything that is not a level.
func (r *update) auxiliary(in Input) {
	if !in.Good || !r.site.tanks[in.Tank].plausible(in) {
		return
	}
	v := r.writable(in.Tank)
	now := r.st.now * r.site.speed
	switch in.Kind {
	case Interface:
		v.keepWater(now, in.Value)
	default:
		v.keepAux(auxPlace(in.Kind), now, in.Value)
	}
}

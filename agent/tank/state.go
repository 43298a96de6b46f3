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
	u := &update{siteTanks: siteTanks{s, &st}}
	switch in.Kind {
	case Tick:
		u.tick(in)
	case Level:
		u.level(in)
	default:
		u.auxiliary(in)
	}
	u.growMark()
	return st, u.out
}

// siteTanks are the tanks of a site and their state: what one tank does is judged beside the others.
type siteTanks struct {
	site Site
	st   *State
}

// update is one call of Next at work.
type update struct {
	siteTanks
	out      []Outcome
	storeNow bool // a draw began: store now

	jumped   bool    // the level has just jumped to another one
	jumpedTo float64 // in
}

// writable is a vessel that may be written to.
func (u *update) writable(i int) *tankState {
	n := *u.st.tanks[i]
	u.st.tanks[i] = &n
	return &n
}

// growMark lets the mark grow when it is time to.
func (u *update) growMark() {
	now := u.st.now * u.site.speed
	if u.storeNow || len(u.out) > 0 || now-u.st.storedAt >= u.storeEvery(now) || u.st.mark == 0 {
		u.st.mark++
		u.st.storedAt = now
		for i, ts := range u.st.tanks {
			if ts.stored.level != ts.last.v {
				u.writable(i).stored.level = ts.last.v
			}
		}
	}
}

// storeEvery is how long the stored state may be behind, s.
func (u *update) storeEvery(now float64) float64 {
	every := storeIdle
	for _, ts := range u.st.tanks {
		every = min(every, ts.storeEvery(now, u.st.storedAt))
	}
	if now-u.st.bootedAt*u.site.speed < storeIdle { // a box that restarts once may do it again
		every = storeHot
	}
	return every
}

// storeEvery is how long the stored state of one tank may be behind, s.
func (ts *tankState) storeEvery(now, stored float64) float64 {
	moved := math.Abs(ts.last.v-ts.stored.level) - 4*ts.noise.sigma
	fresh := ts.last.t > stored
	switch {
	case ts.drawing && now-ts.lastFallAt < storeIdle, moved > storeFar:
		return storeHot
	case fresh && (ts.interval.usual >= sparse || now-ts.last.t > math.Max(silentFor, 3*ts.interval.usual)):
		return storeHot
	case moved > storeMoved:
		return storeSlow
	}
	return storeIdle
}

func (u *update) tick(in Input) {
	step := 0.0
	if in.One {
		step = u.st.boxClock.adjust(UnixSeconds(in.At), u.st.base+in.Mono.Seconds(), u.site.speed)
	}
	u.st.boxClock.place(UnixSeconds(in.At), u.st.now, 60, u.site.speed)
	for i := range u.site.tanks {
		ts := u.writable(i)
		if step != 0 && ts.stampedByBox && ts.clock.known && !ts.clock.resync { // what was stamped by the box's clock goes with it, also when nothing came since
			u.followBoxClock(i, ts)
		}
		u.conclude(i, ts, u.st.now*u.site.speed)
	}
}

// followBoxClock sets the clock of a tank's readings as the box's was set.
func (u *update) followBoxClock(i int, ts *tankState) {
	step := u.st.boxClock.offset - ts.clock.offset
	if math.Abs(step) <= clockSlack/u.site.speed {
		return // a reading was there first
	}
	ts.clock.shift(step)
	u.clockMoved(i, ts, u.st.now*u.site.speed, step, false)
}

// auxiliary takes everything that is not a level.
func (u *update) auxiliary(in Input) {
	if !in.Good || !u.site.tanks[in.Tank].plausible(in) {
		return
	}
	ts := u.writable(in.Tank)
	now := u.st.now * u.site.speed
	switch in.Kind {
	case Interface:
		ts.aux.keepWater(now, in.Value)
	default:
		ts.aux.keep(auxPlace(in.Kind), now, in.Value)
	}
}

package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	reportedMost = 4 // loads of a tank that are remembered
	usualLeast   = 3 // of them that show what is usual
)

// State is all that is known of the tanks of a site. The zero value knows nothing. A State is a
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
	lost     lostTime
	tanks    []*tankState
}

// lostTime is a restart with a clock that was not set, so that nobody knows yet how long it took: the real time from which on it
// counts anew, and the clock's offset until then. The zero one is none.
type lostTime struct{ at, offset float64 }

// Mark grows when this state has to be stored before going on: at the first sign of a draw,
// each minute of site time while one is under way and for 15 minutes after a restart, each
// 5 minutes while a level moves, each 15 minutes otherwise, with every reading where they are
// minutes apart, once when readings stop, and with every outcome.
func (st State) Mark() uint64 { return st.mark }

// fineFrom is the time from which on the samples of a tank are kept as they are: the rest that an opening may be taken from, before a draw that is
// under way or that its next sample may show, and another tank's draw, which its rise may explain.
func (st State) fineFrom(ts *tankState) float64 {
	from := ts.last.t
	for _, other := range st.tanks {
		if other.drawing {
			from = math.Min(from, math.Max(other.searchFrom, ts.last.t-fineFor))
		}
	}
	if ts.drawing {
		from = math.Min(from, ts.searchFrom)
	}
	return from - undoneFine
}

// cloned is a copy whose tanks may be replaced.
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

// tank is what is known of a tank; nil where that is nothing.
func (st *State) tank(i int) *tankState {
	if i < 0 || i >= len(st.tanks) {
		return nil
	}
	return st.tanks[i]
}

// Loading says whether a draw from a tank has begun and is not decided yet.
func (st State) Loading(tank int) bool {
	ts := st.tank(tank)
	return ts != nil && ts.drawing
}

// advance moves the site's time to an input, over a restart where there was one.
func (s Site) advance(st *State, in Input) {
	mono := in.Mono.Seconds()
	if !st.started {
		st.started, st.boot, st.box, st.base = true, in.Boot, in.Box, -mono
		return
	}
	back := st.base+mono < st.now-60 && !st.delayedByBroker(in, st.base+mono) // a clock that never steps did: its base is another
	switch {
	case in.Boot != st.boot && in.Box != 0 && in.Box == st.box: // the clock that never steps tells how long the program was away
		st.boot, st.bootedAt = in.Boot, math.Max(st.now, st.base+mono)
	case in.Boot != st.boot || back:
		s.restart(st, in, mono)
	}
	st.box = in.Box
	st.now = math.Max(st.now, st.base+mono)
}

// delayedByBroker says that an input is as old by its stamp as by its monotonic clock: a broker kept it for a box that was away.
func (st *State) delayedByBroker(in Input, real float64) bool {
	c := st.source(in)
	return c.known && math.Abs(UnixSeconds(in.At)-c.offset-real) <= clockSlack
}

func (s Site) restart(st *State, in Input, mono float64) {
	c := st.source(in)
	away := 0.0
	if c.known {
		away = UnixSeconds(in.At) - (c.likely() + st.now)
	}
	most := longestAway / s.speed
	lost := !c.known || away < -clockSlack || away > most
	least := 0.0
	if away < -neverSetStep && st.lost.at == 0 {
		least = 1 // what came before is told from what comes
		st.lost = lostTime{st.now + least, c.likely()}
	}
	st.boot = in.Boot
	st.bootedAt = st.now + math.Max(least, math.Min(away, most))
	st.base = st.bootedAt - mono
	for i, ts := range st.tanks {
		n := *ts
		n.clock.resync = n.clock.resync || lost
		n.timeUnknown = n.timeUnknown || lost
		st.tanks[i] = &n
	}
	st.boxClock.resync = st.boxClock.resync || lost
}

// source is the clock that an input was stamped by, or any other that is known.
func (st *State) source(in Input) clock {
	if in.Kind == Tick {
		return st.clockOf(-1)
	}
	return st.clockOf(in.Tank)
}

// clockOf is the clock of a tank's readings, or any that is known.
func (st *State) clockOf(i int) clock {
	if ts := st.tank(i); ts != nil && ts.clock.known {
		return ts.clock
	}
	if st.boxClock.known {
		return st.boxClock
	}
	for _, ts := range st.tanks {
		if ts != nil && ts.clock.known {
			return ts.clock
		}
	}
	return st.boxClock
}

// tankState is the memory of one tank between two inputs. It is copied at every change; its slices are shared
// between the copies and only ever appended to or replaced. Times are site seconds, levels inches.
type tankState struct {
	clock        clock
	stampedByBox bool // its newest reading had the box's own clock; not stored, the next one tells

	readings
	levels levels
	aux    auxiliary
	drawPhase

	faults     faults
	smallDraws smallDraws
	slow       slowLosses
	reports    reports
	stored     storedMarks
}

// storedMarks remember what was stored last, so that the state is stored no oftener than it must be.
type storedMarks struct {
	level  float64
	hintAt float64 // when the first hint of a draw was
}

// reports are a tank's newest loads that were reported.
type reports struct {
	loads      []reportedLoad
	reviewedTo float64 // up to where they were looked over again
	retimeAt   float64 // when to tell their times again, by a clock that was set
}

// reportedLoad is a load that was reported.
type reportedLoad struct {
	key              int64 // Load.Began in milliseconds of unix time
	start, end       float64
	opening, closing float64 // in
	inflow           float64 // in/s, the most that was seen
	corrected        bool    // its levels were corrected
}

// keep keeps a load that is reported, for what may come to light.
func (r *reports) keep(l Load, d draw) {
	from := max(0, len(r.loads)-reportedMost+1)
	x := reported(d)
	x.key, x.opening, x.closing = l.Began.UnixMilli(), l.Open, l.Close
	r.loads = append(r.loads[from:len(r.loads):len(r.loads)], x)
}

// ended is when the newest of them did; -Inf where there is none.
func (r *reports) ended() float64 {
	if len(r.loads) == 0 {
		return math.Inf(-1)
	}
	return r.loads[len(r.loads)-1].end
}

// twice are the inches of a draw that are in a load of before too, which was under way at the same time.
func (r *reports) twice(d draw) (inches float64) {
	for _, x := range r.loads {
		if x.start < d.end && d.start < x.end {
			inches = max(inches, min(x.opening, d.opening.level)-max(x.closing, d.closing.level))
		}
	}
	return inches
}

// reported is a draw as a load that was reported.
func reported(d draw) reportedLoad {
	return reportedLoad{start: d.start, end: d.end, opening: d.opening.level, closing: d.closing.level, inflow: math.Max(d.usualInflow, d.fasterInflow())}
}

// usual are the barrels of the middle one of a tank's loads before; 0 where there were too few.
func (r *reports) usual(t *Tank) float64 {
	return r.middle(func(x reportedLoad) float64 { return t.barrels(x.opening, x.closing) })
}

// usualRate are the barrels a minute of the middle one, the same.
func (r *reports) usualRate(t *Tank) float64 {
	return r.middle(func(x reportedLoad) float64 {
		return 60 * t.barrels(x.opening, x.closing) / math.Max(60, x.end-x.start)
	})
}

func (r *reports) middle(of func(reportedLoad) float64) float64 {
	if len(r.loads) < usualLeast {
		return 0
	}
	all := make([]float64, len(r.loads))
	for k, x := range r.loads {
		all[k] = of(x)
	}
	return stats.Median(all)
}

// reportsOf is the resolution of a sensor's reports about a fall. A gateway that is read while it keeps a value has no deadband, however
// unevenly its values come.
func reportsOf(ts *tankState, from, to float64) resolution {
	r := ts.levels.resolutionAt(from, to)
	if iv := ts.interval; iv.cached() && iv.longest < iv.held {
		r.deadband = 0
	}
	return r
}

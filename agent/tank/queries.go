package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// What of the detector's state the tank book goes by. Times are site seconds, unless they are instants.

// CleanLevel is a level that the detector believed: cleaned, the mean of some seconds.
type CleanLevel struct {
	Seconds float64
	In      float64
	Sigma   float64   // noise, inches
	Held    float64   // s within which a value that comes again is a gateway's repeat, and no reading; 0 where no beat is known
	At      time.Time // by the newest clock
}

// Latest is the newest cleaned level of a tank; false before the first.
func (s Site) Latest(st State, i int) (CleanLevel, bool) {
	ts := st.tank(i)
	if ts == nil || len(ts.levels.recent) == 0 {
		return CleanLevel{}, false
	}
	l := ts.levels.recent[len(ts.levels.recent)-1]
	held := 0.0
	if ts.interval.inPairs() {
		held = heldRegion * ts.interval.held
	}
	return CleanLevel{Seconds: l.t, In: float64(l.v), Sigma: ts.noise.sigma, Held: held, At: ts.clock.wall(l.t / s.speed)}, true
}

// Now is the site's time.
func (s Site) Now(st State) float64 { return st.now * s.speed }

// Rise is the volume in barrels that a tank gained between two times beyond its inflow; 0 where its level is not known.
func (s Site) Rise(st State, i int, from, to float64) float64 {
	return st.tanks[i].rise(&s.tanks[i], from, to)
}

// Inflow is what flows into a tank between two site seconds by what its production was before them, barrels: as usual, and at most.
func (s Site) Inflow(st State, i int, from, to float64) (usual, most float64) {
	ts, t, long := st.tanks[i], &s.tanks[i], math.Max(to-from, 0)
	in, per := ts.inflow(t, from), t.Table.PerInch(ts.last.v)
	usual = in.usual * long * per
	return usual, usual + in.mayRise(long)*per
}

// LeaptUp are the barrels by which a tank's level rose at most from one reading to the next between two site seconds, where no oil comes so
// fast; 0: it did not, or the value had stood still until then, and what a well makes meanwhile was shown at once.
func (s Site) LeaptUp(st State, i int, from, to float64) (bbl float64) {
	ts, t, held := st.tanks[i], &s.tanks[i], 0.0
	b := between(ts.levels.recent, from-ts.stuckAfter(t), to)
	for k := 1; k < len(b); k++ {
		dt, by := b[k].t-b[k-1].t, t.barrels(float64(b[k].v), float64(b[k-1].v))
		_, most := s.Inflow(st, i, b[k].t-held-dt, b[k].t)
		hung := held >= ts.stuckAfter(t)-2*dt && ts.noise.sigmaAtChange >= heldNoise
		if b[k].t >= from && !hung && by > math.Max(most, cameFaster*fillRate*dt/60) {
			bbl = math.Max(bbl, by)
		}
		if held += dt; by != 0 {
			held = 0
		}
	}
	return bbl
}

// StandsSince is since when, in site seconds, a tank's value stands still of which was reported that it is stuck; 0: none does.
func (s Site) StandsSince(st State, i int) float64 {
	if ts := st.tanks[i]; ts.faults.stuckReported && ts.stands(&s.tanks[i]) {
		return ts.heldSince
	}
	return 0
}

// SlowLoss is a fall that is too slow for a draw.
type SlowLoss struct {
	Open     bool    // it may go on
	Moved    bool    // its oil goes to another tank
	Bbl      float64 // so far, by the level
	In       float64 // barrels that flowed in meanwhile, by the rate before it
	From, To float64 // site s, between which the level went down
	GoesOn   bool    // it went down until a moment ago
}

// SlowLoss is the newest one of a tank.
func (s Site) SlowLoss(st State, i int) SlowLoss {
	ts := st.tanks[i]
	l := ts.slow.loss
	made, _ := s.Inflow(st, i, l.start, l.last)
	return SlowLoss{Open: l.active, Moved: l.active && l.kind == lossMoved, Bbl: l.bbl(&s.tanks[i]), In: made, From: l.start, To: l.last, GoesOn: l.active && ts.last.t-l.last < 2*lossEvery}
}

// Zeros are the wall clock's times at which this state's own time was 0: the box's clock, and the one that a tank's
// readings carry. They move when a clock was set, and are comparable over restarts. The zero time: not known.
func (st State) Zeros(tank int) (box, own time.Time) {
	if st.boxClock.known {
		box = st.boxClock.wall(0)
	}
	if ts := st.tank(tank); ts != nil && ts.clock.known {
		own = ts.clock.wall(0)
	}
	return box, own
}

// Newest is the box's time up to which this state knows; the zero time: it knows none.
func (st State) Newest() (at time.Time) {
	if st.boxClock.known {
		at = st.boxClock.wall(st.now)
	}
	return at
}

// Agrees says whether the box's clock, as it was last understood, agrees with now: it does not for some seconds after
// it was set. What was not told of the clock yet agrees with every clock.
func (st State) Agrees(now time.Time) bool {
	return !st.boxClock.known || math.Abs(UnixSeconds(now)-st.boxClock.offset-st.now) <= clockSlack
}

// Phase says in a word what the detector sees of a tank: waiting before the first reading, idle, drawing while the level
// falls, or confirming while the end of a draw waits for its confirmation.
func (st State) Phase(tank int) string {
	switch ts := st.tank(tank); {
	case ts == nil || !ts.seen:
		return "waiting"
	case !ts.drawing:
		return "idle"
	case ts.last.t-ts.lastFallAt > drawingFor || !ts.fallsNow():
		return "confirming"
	}
	return "drawing"
}

const (
	drawingFor = 300.0 // s after the last sign of a fall in which a draw counts as under way
	standsFor  = 120.0 // s, and readings, in which a level that stays where it is does not fall
	standsFew  = 3
)

// fallsNow says that the newest level lies below that of the minutes before it.
func (ts *tankState) fallsNow() bool {
	before, now, dt := ts.levels.fallSoFar(ts.last.t, math.Max(standsFor, standsFew*ts.interval.fresh()))
	return dt <= 0 || before-now > ts.noise.leastFall()
}

// Waiting are the falls of a tank that are not decided yet, in order.
func (s Site) Waiting(st State, tank int) []Verdict {
	if !st.Loading(tank) {
		return nil
	}
	ts, t := st.tanks[tank], &s.tanks[tank]
	draws, _ := ts.draws(t, s.speed, st.now*s.speed)
	var out []Verdict
	for _, d := range draws {
		w := s.verdict(tank, ts, d, Undecided, "the level has to stay down for "+spanText(t.Loads.Confirm.Seconds()))
		if w.Bbl < verdictLeast {
			continue
		}
		until := d.end + t.Loads.Confirm.Seconds()
		switch now := st.now * s.speed; {
		case !ts.stopped(d) || ts.brokeOff(t, d):
			w.Why, until = "the level was not seen to stop falling", 0
		case now <= until:
		case ts.frozenAtEnd(t, d, now):
			w.Why, until = "the value stands still since, as this sensor's never do, and is given time to move", ts.heldUntil(t)
		case ts.unrest(t, d, now):
			w.Why, until = "the sensor has jumped since, and is waited for until it rests", 0
		default:
			w.Why, until = "what the level does since is not over", 0
		}
		if until > 0 {
			w.Until = ts.clock.wall(until / s.speed)
		}
		out = append(out, w)
	}
	return out
}

// Moment is a level (inches) and when it stood.
type Moment struct {
	At time.Time `json:"at"`
	In float64   `json:"in"`
}

// Levels are the levels that the state still knows between two times: the last hours by the
// minute or finer, a day and more by ten minutes.
func (s Site) Levels(st State, tank int, from, to time.Time) []Moment {
	ts := st.tank(tank)
	if ts == nil {
		return nil
	}
	var out []Moment
	take := func(b []sample) {
		for _, p := range b {
			if at := ts.clock.wall(p.t / s.speed); !at.Before(from) && !at.After(to) {
				out = append(out, Moment{at, stats.Round(float64(p.v), 2)})
			}
		}
	}
	fine := math.Inf(1)
	if len(ts.levels.recent) > 0 {
		fine = ts.levels.recent[0].t
	}
	take(ts.levels.history[:searchTime(ts.levels.history, fine)])
	take(ts.levels.recent)
	return out
}

// Over says that a draw of a tank that is not decided yet goes on no more: for longer than a pause the level has stood, or
// nothing was read for longer than a gap is in this run.
func (s Site) Over(st State, i int) bool {
	if !st.Loading(i) || i >= len(s.tanks) {
		return false
	}
	ts, t := st.tanks[i], &s.tanks[i]
	silent := (st.now - math.Max(ts.last.t/s.speed, st.bootedAt)) * s.speed
	return ts.last.t-ts.lastFallAt > t.Loads.PauseMerge.Seconds() || silent > ts.interval.gapMin(t, s.speed)
}

// Outlook is a tank's level now, if what went on when it was last read goes on. Levels are inches.
type Outlook struct {
	At        time.Time // of the newest level
	In        float64   // that level
	Next      float64   // what it would be now
	Low, High float64   // between which it may be now: a draw may have ended meanwhile, a well may make more or nothing
	Noise     float64   // by which two levels differ at once without flow
	Rate      float64   // inches a second, the fastest that is believed
	Falls     float64   // inches a second at which a draw was going on; 0: none was
	PerInch   float64   // barrels
}

// drawFaster is the factor by which a draw may go on faster than it was seen to.
const drawFaster = 1.5

// fallLine is the line by which a draw is going on, where one is.
func (ts *tankState) fallLine() (line, bool) {
	if !ts.drawing || ts.last.t-ts.lastFallAt > fallWindow {
		return line{}, false
	}
	from := ts.last.t - fallWindow
	if n := len(ts.firstSeen); n > 0 {
		from = math.Max(from, ts.firstSeen[n-1])
	}
	l, ok := fit(between(ts.levels.recent, from, ts.last.t))
	return l, ok && l.slope < 0
}

// Outlook looks ahead from the newest level of a tank to a time by the clock of its readings; false before the first level.
func (s Site) Outlook(st State, i int, at time.Time) (Outlook, bool) {
	ts := st.tank(i)
	if ts == nil || !ts.seen {
		return Outlook{}, false
	}
	t := &s.tanks[i]
	o := Outlook{
		At: ts.clock.wall(ts.last.t / s.speed), In: ts.last.v,
		Noise: ts.noiseFloor(t), Rate: t.maxRate(ts.last.v), PerInch: t.Table.PerInch(ts.last.v),
	}
	away := stats.Clamp(at.Sub(o.At).Seconds()*s.speed, 0, longestAway)
	if l, ok := ts.fallLine(); ok {
		o.Falls, o.Next = -l.slope, math.Max(ts.last.v+l.slope*away, 0)
		o.Low, o.High = math.Max(ts.last.v+drawFaster*l.slope*away, 0)-o.Noise, ts.last.v+o.Noise
		return o, true
	}
	in := ts.inflow(t, ts.last.t)
	rise, more := in.usual*away, in.mayRise(away)
	room := math.Max(float64(t.Height)-freeboard-ts.last.v, 0)
	o.Next, o.Low, o.High = ts.last.v+math.Min(rise, room), ts.last.v-o.Noise, ts.last.v+math.Min(rise+more, room)+o.Noise
	return o, true
}

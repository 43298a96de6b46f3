package tank

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// ever is before every time.
var ever = math.Inf(-1)

// Arranged is the state for another list of tanks: from says, for each of them, which tank of this state it was; a
// number that is none begins anew.
func (st State) Arranged(from []int) State {
	tanks := make([]*tankState, len(from))
	for i, k := range from {
		tanks[i] = cmp.Or(st.tank(k), &tankState{})
	}
	st.tanks = tanks
	st.mark++
	return st
}

// Joined is the state with one tank more, which another instance of the program has watched until now: tank k of its state. A load
// that is under way goes on. The two count their time from different instants, which their clocks tell.
func (st State) Joined(from State, k int, speed float64) (State, error) {
	theirs := from.clockOf(k)
	if k >= len(from.tanks) || !from.started || !theirs.known {
		return st, errors.New("nothing is known of its time")
	}
	if !st.started {
		begun := from
		begun.mark, begun.tanks = st.mark, st.tanks
		st = begun
	}
	ours := theirs
	if c := st.boxClock; c.known && from.boxClock.known {
		ours, theirs = c, from.boxClock
	} else if c := st.clockOf(-1); c.known {
		ours = c
	}
	ahead := theirs.offset - ours.offset // of their zero before ours, real s
	if ahead < 0 {                       // no time is before the zero, which stands for none
		st = st.shifted(-ahead, ever, speed)
	} else {
		st = st.cloned(len(st.tanks))
		from = from.shifted(ahead, ever, speed)
	}
	st.tanks, st.now = append(st.tanks, from.tanks[k]), math.Max(st.now, from.now)
	st.mark++
	return st, nil
}

// shifted is the state with its times since one later by so many real seconds, so that its clocks say of them what they said before.
func (st State) shifted(by, since, speed float64) State {
	by = float64(grains(by*speed, timeGrain)) * timeGrain / speed
	st.base, st.now, st.bootedAt, st.storedAt = st.base+by, st.now+by, st.bootedAt+by, st.storedAt+by*speed
	st.boxClock.shift(by)
	if st.lost.at > 0 {
		st.lost = lostTime{st.lost.at + by, st.lost.offset - by}
	}
	st = st.cloned(len(st.tanks))
	for i, old := range st.tanks {
		ts := *old
		if since == ever || !ts.clock.resync { // else it is still that of before
			ts.clock.shift(by)
		}
		ts.shift(by*speed, since*speed)
		st.tanks[i] = &ts
	}
	return st
}

// wasAway is told that a clock was set by a step. If it tells at last how long the program was away, that time is put between what came
// before and what came since; it is given in real seconds.
func (u *update) wasAway(c clock, step float64) float64 {
	lost := u.st.lost
	if lost.at == 0 || step < neverSetStep {
		return 0
	}
	u.st.lost = lostTime{}
	away, was := c.offset-lost.offset, u.st.now
	if away <= 0 || away*u.site.speed > longestAway {
		return 0
	}
	*u.st = u.st.shifted(away, lost.at, u.site.speed)
	return u.st.now - was
}

func (c *clock) shift(by float64) {
	if c.known {
		c.offset -= by
	}
	if c.agreed > 0 {
		c.candidate, c.candidateFrom = c.candidate-by, c.candidateFrom+by
	}
}

// shift moves every time since another that a tank remembers; 0 stands for none.
func (ts *tankState) shift(by, since float64) {
	later := func(t *float64) {
		if *t >= since {
			*t += by
		}
	}
	f, l := &ts.faults, &ts.slow.loss
	for _, t := range []*float64{&ts.last.t, &ts.heldSince, &ts.pending.first.t, &ts.pending.last.t, &ts.bin.first, &ts.searchFrom, &ts.lastFallAt,
		&ts.judgeAt, &ts.decidedTo, &ts.lastDrawStart, &ts.lastDrawEnd, &ts.stored.hintAt, &f.jumpedAt, &f.jumpedUpAt, &f.handledAt, &f.unfrozeAt, &f.clockSteppedAt,
		&f.badValues.start, &f.badValues.last, &f.badValues.reportedAt, &f.spikes.start, &f.spikes.last, &f.spikes.reportedAt,
		&ts.smallDraws.start, &ts.smallDraws.last, &ts.slow.checkAt, &l.start, &l.last, &ts.reports.reviewedTo, &ts.reports.retimeAt} {
		if *t != 0 {
			later(t)
		}
	}
	ts.firstSeen = slices.Clone(ts.firstSeen)
	for k := range ts.firstSeen {
		later(&ts.firstSeen[k])
	}
	ts.reports.loads = slices.Clone(ts.reports.loads)
	for k := range ts.reports.loads {
		later(&ts.reports.loads[k].start)
		later(&ts.reports.loads[k].end)
	}
	for _, b := range []*[]sample{&ts.levels.recent, &ts.levels.history, &ts.aux.water} {
		*b = slices.Clone(*b)
		for k := range *b {
			later(&(*b)[k].t)
		}
	}
	for i := range ts.aux.values {
		ts.aux.values[i] = slices.Clone(ts.aux.values[i])
		for k := range ts.aux.values[i] {
			later(&ts.aux.values[i][k].t)
		}
	}
}

// Converted is the state after a tank began to be measured in another way: what is known of its levels must not look
// like a movement. An interface of which nobody knows how its levels read now is forgotten.
func (st State) Converted(i int, level, water Conversion) State {
	if i < 0 || i >= len(st.tanks) || level == Unchanged && water == Unchanged {
		return st
	}
	st = st.cloned(len(st.tanks))
	ts := *st.tanks[i]
	if level != Unchanged {
		ts.convert(level)
	}
	switch {
	case water.Ratio == 0:
		ts.aux.water = nil
	case water != Unchanged:
		ts.aux.water = convertedSamples(ts.aux.water, water, waterMost)
	}
	st.tanks[i] = &ts
	st.mark++
	return st
}

// Concluded decides every draw of a tank now: its gauge says no more of them. What was read so far is no part of a later one.
func (s Site) Concluded(st State, i int) (State, []Outcome) {
	if !st.Loading(i) || i >= len(s.tanks) {
		return st, nil
	}
	st = st.cloned(len(s.tanks))
	u := &update{siteTanks: siteTanks{s, &st}, storeNow: true}
	ts := u.writable(i)
	u.flush(i, ts)
	u.judgeDraws(i, ts, st.now*s.speed, true)
	ts.decidedTo, ts.pending = math.Max(ts.decidedTo, ts.last.t), pending{}
	u.growMark()
	return st, u.out
}

// Conversion turns inches by one way of measuring a tank into inches by another: times Ratio, and Add more. A Ratio of 0
// says that nobody knows how.
type Conversion struct{ Ratio, Add float64 }

// Unchanged is the conversion that changes nothing.
var Unchanged = Conversion{Ratio: 1}

// Of is a level by the new way.
func (c Conversion) Of(in float64) float64 { return c.Ratio*in + c.Add }

// Back is a level by the old way.
func (c Conversion) Back(in float64) float64 { return (in - c.Add) / c.Ratio }

// convert turns every level that is known of a tank.
func (ts *tankState) convert(c Conversion) {
	for _, x := range []*float64{&ts.last.v, &ts.pending.first.v, &ts.pending.last.v, &ts.stored.level, &ts.slow.loss.top} {
		*x = c.Of(*x)
	}
	ts.bin.sv = c.Ratio*ts.bin.sv + c.Add*float64(ts.bin.n)
	ts.levels.recent, ts.levels.history = convertedSamples(ts.levels.recent, c, recentMost), convertedSamples(ts.levels.history, c, historyMost)
	for _, x := range []*float64{&ts.slow.loss.inches, &ts.noise.sigma, &ts.noise.sigmaAtChange, &ts.noise.fast, &ts.noise.lastStep, &ts.noise.digit} {
		*x *= c.Ratio
	}
	for k := range ts.noise.scatters {
		ts.noise.scatters[k] *= float32(c.Ratio)
	}
	ts.reports.loads = append([]reportedLoad(nil), ts.reports.loads...)
	for k := range ts.reports.loads {
		l := &ts.reports.loads[k]
		l.opening, l.closing, l.inflow = c.Of(l.opening), c.Of(l.closing), c.Ratio*l.inflow
	}
}

// convertedSamples is a copy of samples by another way of measuring, with the room that they grow into.
func convertedSamples(b []sample, c Conversion, most int) []sample {
	if b == nil {
		return nil
	}
	out := make([]sample, len(b), max(len(b), most))
	for k, s := range b {
		s.v = grained(s.t, c.Of(float64(s.v)), 1).v
		out[k] = s
	}
	return out
}

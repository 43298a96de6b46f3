package tank

import (
	"errors"
	"fmt"

	"gauger/agent/tank/codec"
)

// MostTanks is the number of tanks beyond which a stored state is damaged.
const MostTanks = 4096

const stateFormat = 4 // 1 had no reported loads, 2 did not know the box's boot, 3 not what came back of small draws

var errNotFinite = errors.New("it holds a number that is none")

// archive is the walk over a state.
type archive struct{ *codec.Archive }

// MarshalBinary is the state to store: some KiB a tank. Of the water and of temperatures it leaves out what no draw needs.
func (st State) MarshalBinary() ([]byte, error) {
	a := archive{codec.Write(stateFormat)}
	slim := st.trimmed()
	a.state(&slim)
	return a.Bytes()
}

// UnmarshalBinary takes a stored state back.
func (st *State) UnmarshalBinary(b []byte) error {
	if len(b) == 0 || b[0] == 0 || b[0] > stateFormat {
		return errors.New("reading the state of the tanks: its format is not known")
	}
	a := archive{codec.Read(b)}
	var n State
	a.state(&n)
	if err := a.Err(); err != nil {
		return fmt.Errorf("reading the state of the tanks: %w", err)
	}
	*st = n
	return nil
}

func (a archive) state(st *State) {
	a.Uint(&st.mark)
	a.Flag(&st.started)
	a.Int(&st.boot)
	a.Floats(&st.base, &st.now, &st.bootedAt, &st.storedAt)
	a.clock(&st.boxClock)
	if a.NotFinite() && a.Reading {
		a.Fail(errNotFinite)
	}
	n := a.Count(len(st.tanks), MostTanks)
	if a.Reading {
		st.tanks = make([]*tankState, n)
	}
	for i := range st.tanks {
		if a.Err() != nil {
			return
		}
		if a.Reading {
			st.tanks[i] = &tankState{}
		}
		at := a.Len()
		if a.tank(st.tanks[i]); !a.NotFinite() {
			continue
		}
		st.tanks[i] = &tankState{} // this tank begins anew; the others are as they were
		if !a.Reading {
			a.Cut(at)
			a.tank(st.tanks[i])
		}
	}
	if a.Format >= 3 {
		a.Int(&st.box)
	}
	more := st.lost.at > 0
	for _, ts := range st.tanks {
		more = more || ts.faults.handledAt > 0
	}
	if !a.Reading && more || a.Reading && a.Format == stateFormat && a.Len() > 0 { // a version that does not know of it leaves it unread
		a.Floats(&st.lost.at, &st.lost.offset)
		for k := 0; k < n && a.Len() > 0; k++ {
			a.Floats(&st.tanks[k].faults.handledAt)
		}
		if a.NotFinite() {
			st.lost = lostTime{}
		}
	}
}

// trimmed is a copy with no more than a restart needs: a program that goes on from it decides as the one before would have.
func (st State) trimmed() State {
	full := st
	st.tanks = make([]*tankState, len(full.tanks))
	for i, other := range full.tanks {
		ts := *other
		back := full.fineFrom(other)
		ts.aux.water = ts.aux.water[min(searchTime(ts.aux.water, back), max(0, len(ts.aux.water)-64)):]
		for k := range ts.aux.values {
			ts.aux.values[k] = storedPoints(ts.aux.values[k], back)
		}
		st.tanks[i] = &ts
	}
	return st
}

// storedPoints are the values since a time, the one that was known then, and at least the last 48.
func storedPoints(b []point, from float64) []point {
	k := max(0, len(b)-48)
	for k > 0 && b[k-1].t >= from {
		k--
	}
	return b[max(0, k-1):]
}

func (a archive) tank(ts *tankState) {
	a.clock(&ts.clock)
	a.Flag(&ts.timeUnknown)
	a.Flag(&ts.seen)
	a.Flag(&ts.drawing)
	a.Floats(&ts.last.t, &ts.last.v, &ts.heldSince)
	a.Ints(&ts.pending.count, &ts.pending.distinct)
	a.Floats(&ts.pending.first.t, &ts.pending.first.v, &ts.pending.last.t, &ts.pending.last.v)
	a.Ints(&ts.interval.n, &ts.interval.changes)
	a.Floats(&ts.interval.mean, &ts.interval.usual, &ts.interval.longest, &ts.interval.held, &ts.interval.heldDev)
	a.Floats(&ts.noise.sigma, &ts.noise.sigmaAtChange, &ts.noise.fast, &ts.noise.lastStep)
	a.scatters(&ts.noise)
	a.Ints(&ts.bin.n)
	a.Floats(&ts.bin.first, &ts.bin.st, &ts.bin.sv)
	a.Floats(&ts.searchFrom, &ts.lastFallAt, &ts.decidedTo, &ts.judgeAt, &ts.stored.hintAt, &ts.faults.jumpedAt, &ts.faults.unfrozeAt, &ts.slow.checkAt, &ts.faults.jumpedUpAt, &ts.lastDrawStart, &ts.lastDrawEnd, &ts.stored.level, &ts.faults.clockSteppedAt, &ts.faults.clockStep)
	a.Flag(&ts.faults.stuckReported)
	a.Flag(&ts.pending.slight)
	for _, f := range []*repeatedFault{&ts.faults.badValues, &ts.faults.spikes} {
		a.episode(&f.active, &f.n, &f.start, &f.last, &f.reportedAt, &f.lastValue)
	}
	s, l := &ts.smallDraws, &ts.slow.loss
	a.episode(&s.active, &s.n, &s.start, &s.last, &s.bbl, &s.lastBbl)
	a.episode(&l.active, &l.kind, &l.start, &l.last, &l.inches, &l.top)
	n := a.Count(len(ts.firstSeen), firstSeenMost)
	if a.Reading {
		ts.firstSeen = make([]float64, n)
	}
	for i := range ts.firstSeen {
		a.Floats(&ts.firstSeen[i])
	}
	a.samples(&ts.levels.recent, recentMost)
	a.samples(&ts.levels.history, historyMost)
	a.samples(&ts.aux.water, waterMost)
	for k := range ts.aux.values {
		a.points(&ts.aux.values[k])
	}
	if a.Format >= 2 {
		a.reported(ts)
	}
	if a.Format >= 4 {
		a.Floats(&ts.smallDraws.returned)
	}
}

func (a archive) episode(active *bool, n *int, figures ...*float64) {
	a.Flag(active)
	a.Ints(n)
	a.Floats(figures...)
}

func (a archive) reported(ts *tankState) {
	a.Floats(&ts.reports.reviewedTo, &ts.reports.retimeAt)
	n := a.Count(len(ts.reports.loads), reportedMost)
	if a.Reading {
		ts.reports.loads = make([]reportedLoad, n)
	}
	for i := range ts.reports.loads {
		l := &ts.reports.loads[i]
		a.Int(&l.key)
		a.Floats(&l.start, &l.end, &l.opening, &l.closing, &l.inflow)
		a.Flag(&l.corrected)
	}
}

func (a archive) clock(c *clock) {
	a.Flag(&c.known)
	a.Flag(&c.resync)
	a.Floats(&c.offset, &c.newest, &c.candidate, &c.candidateFrom)
	a.Ints(&c.agreed)
}

func (a archive) scatters(z *noise) {
	z.n = a.Count(z.n, len(z.scatters)-1)
	for i := range z.n {
		d := float64(z.scatters[i])
		a.Floats(&d)
		z.scatters[i] = float32(d)
	}
}

// samples go as differences, to timeGrain and levelGrain.
func (a archive) samples(b *[]sample, most int) {
	n := a.Count(len(*b), most)
	if a.Reading {
		*b = make([]sample, n, max(n, min(most, n*2+64)))
	}
	var t, v int64
	for i := range *b {
		s := &(*b)[i]
		a.Check(s.t, float64(s.v))
		dt, dv := grains(s.t, timeGrain)-t, grains(float64(s.v), levelGrain)-v
		a.Int(&dt)
		a.Int(&dv)
		k := uint64(s.n)<<1 | uint64(s.flags&1)
		a.Uint(&k)
		t, v = t+dt, v+dv
		if a.Reading {
			*s = sample{t: float64(t) * timeGrain, v: float32(float64(v) * levelGrain), n: uint16(k >> 1), flags: uint16(k & 1)}
		}
	}
}

func (a archive) points(b *[]point) {
	n := a.Count(len(*b), auxMost)
	if a.Reading && n > 0 {
		*b = make([]point, n)
	}
	for i := range *b {
		a.Floats(&(*b)[i].t, &(*b)[i].v)
	}
}

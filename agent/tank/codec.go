package tank

import (
	"errors"
	"fmt"
	"math"

	"gauger/agent/tank/codec"
)

const (
	stateFormat = 4 // 1 had no reported loads, 2 did not know the box's boot, 3 not what came back of small draws
	MostTanks   = 4096
	timeGrain   = 0.05      // s
	levelGrain  = 1.0 / 512 // in
	storedRest  = 2700.0    // s of samples that are stored as they are, before a draw or before now
)

var errNotFinite = errors.New("it holds a number that is none")

// archive is the walk over a state.
type archive struct{ *codec.Archive }

// MarshalBinary is the state to store: some KiB a tank. Readings older than the last three quarters
// of an hour are left out, but for what a draw under way needs.
func (st State) MarshalBinary() ([]byte, error) {
	a := archive{codec.Write(stateFormat)}
	slim := st.slim()
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
	a.Flag(&st.begun)
	a.Int(&st.boot)
	a.Floats(&st.base, &st.now, &st.booted, &st.stored)
	a.clock(&st.tick)
	if a.NotFinite() && a.Reading {
		a.Fail(errNotFinite)
	}
	n := a.Count(len(st.tanks), MostTanks)
	if a.Reading {
		st.tanks = make([]*vessel, n)
	}
	for i := range st.tanks {
		if a.Err() != nil {
			return
		}
		if a.Reading {
			st.tanks[i] = &vessel{}
		}
		at := a.Len()
		if a.vessel(st.tanks[i]); !a.NotFinite() {
			continue
		}
		st.tanks[i] = &vessel{} // this tank begins anew; the others are as they were
		if !a.Reading {
			a.Cut(at)
			a.vessel(st.tanks[i])
		}
	}
	if a.Format >= 3 {
		a.Int(&st.box)
	}
}

// slim is a copy with no more than a restart needs: a run that goes on from it decides what the one before would have.
func (st State) slim() State {
	from := st.needed()
	full := st.tanks
	st.tanks = make([]*vessel, len(full))
	for i, w := range full {
		v := *w
		back := v.fineFrom()
		v.buf, v.water = v.toStore(from), v.water[min(lower(v.water, back), max(0, len(v.water)-64)):]
		for k := range v.other {
			v.other[k] = storedPoints(v.other[k], back)
		}
		st.tanks[i] = &v
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

// needed is the time from which on the levels of every tank are needed: one that rose while
// another fell explains it.
func (st *State) needed() float64 {
	from := math.Inf(1)
	for _, v := range st.tanks {
		if v.hot {
			from = math.Min(from, v.onset-1200)
		}
	}
	return from
}

// fineFrom is the time from which on a tank's own samples are stored as they are: the rest that an opening may be taken
// from, before a draw that is under way or that the next sample may show.
func (v *vessel) fineFrom() float64 {
	from := v.last.t
	if v.hot {
		from = math.Min(from, v.onset)
	}
	return from - storedRest
}

// toStore is what of the buffer a restart needs: all since fineFrom; of a draw that is under way in another tank the
// rest minute by minute; and of a value that stands still what was before it.
func (v *vessel) toStore(needed float64) []sample {
	if len(v.buf) == 0 {
		return nil
	}
	fine := v.fineFrom()
	from := math.Min(fine, math.Min(needed, v.since-1200))
	out := make([]sample, 0, 512)
	for _, s := range between(v.buf, from, math.Inf(1)) {
		n := len(out)
		if s.t < fine && n > 0 && s.t-out[n-1].t < v.storeGap(s.t) {
			continue
		}
		out = append(out, s)
	}
	return tailSamples(out, bufferMost-8)
}

// storeGap is the time between stored samples that are not recent.
func (v *vessel) storeGap(t float64) float64 {
	if t > v.since+coarse {
		return 10 * coarse // the value stands: they are all the same
	}
	return coarse
}

func tailSamples(b []sample, n int) []sample { return b[max(0, len(b)-n):] }

func (a archive) vessel(v *vessel) {
	a.clock(&v.clk)
	a.Flag(&v.unsure)
	a.Flag(&v.seen)
	a.Flag(&v.hot)
	a.Floats(&v.last.t, &v.last.v, &v.since)
	a.Ints(&v.pend.n, &v.pend.distinct)
	a.Floats(&v.pend.first.t, &v.pend.first.v, &v.pend.last.t, &v.pend.last.v)
	a.Ints(&v.pace.n, &v.pace.runs)
	a.Floats(&v.pace.mean, &v.pace.usual, &v.pace.long, &v.pace.run, &v.pace.dev)
	a.Floats(&v.noise.sigma, &v.noise.held, &v.noise.fast, &v.noise.before)
	a.differences(&v.noise)
	a.Ints(&v.bin.n)
	a.Floats(&v.bin.first, &v.bin.st, &v.bin.sv)
	a.Floats(&v.onset, &v.fell, &v.done, &v.due, &v.hinted, &v.jumpAt, &v.thawedAt, &v.leakDue, &v.roseAt, &v.lastStart, &v.lastEnd, &v.kept, &v.steppedAt, &v.stepped)
	a.Flag(&v.stuckTold)
	a.Flag(&v.pend.faint)
	for _, s := range []*spell{&v.bad, &v.spike, &v.small, &v.loss} {
		a.Flag(&s.open)
		a.Ints(&s.n)
		a.Floats(&s.start, &s.last, &s.sum, &s.at)
	}
	n := a.Count(len(v.begun), 64)
	if a.Reading {
		v.begun = make([]float64, n)
	}
	for i := range v.begun {
		a.Floats(&v.begun[i])
	}
	a.samples(&v.buf, bufferMost)
	a.samples(&v.hist, histMost)
	a.samples(&v.water, waterMost)
	for k := range v.other {
		a.points(&v.other[k])
	}
	if a.Format >= 2 {
		a.told(v)
	}
	if a.Format >= 4 {
		a.Floats(&v.rolled)
	}
}

// told are the reported loads.
func (a archive) told(v *vessel) {
	a.Floats(&v.revised, &v.redate)
	n := a.Count(len(v.told), toldMost)
	if a.Reading {
		v.told = make([]told, n)
	}
	for i := range v.told {
		l := &v.told[i]
		a.Int(&l.key)
		a.Floats(&l.start, &l.end, &l.open, &l.close, &l.inflow)
		a.Flag(&l.wrong)
	}
}

func (a archive) clock(c *clock) {
	a.Flag(&c.known)
	a.Flag(&c.resync)
	a.Floats(&c.off, &c.newest, &c.cand, &c.from)
	a.Ints(&c.strike)
}

// differences are what the noise is being learned from.
func (a archive) differences(z *noise) {
	z.n = a.Count(z.n, len(z.d)-1)
	for i := range z.n {
		d := float64(z.d[i])
		a.Floats(&d)
		z.d[i] = float32(d)
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
		k := uint64(s.n)<<1 | uint64(s.f&1)
		a.Uint(&k)
		t, v = t+dt, v+dv
		if a.Reading {
			*s = sample{t: float64(t) * timeGrain, v: float32(float64(v) * levelGrain), n: uint16(k >> 1), f: uint16(k & 1)}
		}
	}
}

func grains(v, grain float64) int64 { return int64(math.Round(v / grain)) }

func (a archive) points(b *[]point) {
	n := a.Count(len(*b), otherMost)
	if a.Reading && n > 0 {
		*b = make([]point, n)
	}
	for i := range *b {
		a.Floats(&(*b)[i].t, &(*b)[i].v)
	}
}

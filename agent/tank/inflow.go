package tank

import "math"

const (
	inflowDay   = 24 * 3600.0
	inflowLong  = 4 * 3600.0
	inflowShort = 3600.0
	inflowMost  = 0.01   // in/s; 0.6 in/min
	fillRate    = 2.5    // bbl/min; a faster rise is not production
	fullWithin  = 18.0   // in below the top of the shell at which a well is shut in
	resumeFirst = 180.0  // s after a draw before what flows in again is measured
	resumeTrust = 2400.0 // s of measuring that weigh as much as the hours before
)

// production is what flows into a tank at rest, inches per second.
type production struct {
	last  float64 // now
	usual float64 // while the tank has room: a full one is shut in
}

// inflow is the production before a time, from the history at rest. The last hour overrules
// the last four where they differ by more than the chance of a separator's dumps.
func (v *vessel) inflow(t *Tank, at float64) production {
	per := t.Table.PerInch(v.last.v)
	long, ok := v.climb(at, inflowLong, per, math.Inf(1))
	if !ok {
		return production{}
	}
	p := production{last: long, usual: long}
	short, ok := v.climb(at, inflowShort, per, math.Inf(1))
	if ok && v.unlike(short, long, inflowShort, per) {
		p.last, p.usual = short, short
	}
	if h, known := v.levelBefore(at); known && h >= float64(t.Height)-fullWithin {
		if room, ok := v.climb(at, inflowDay, per, h-1.5); ok {
			p.usual = room
		}
	}
	p.last, p.usual = clamp(p.last, 0, inflowMost), clamp(p.usual, 0, inflowMost)
	return p
}

// unlike says that two slopes over a time differ by more than dumps and noise make by chance.
func (v *vessel) unlike(a, b, over, per float64) bool {
	dumps := math.Max(0, b) * over * per / dumpBbl
	return math.Abs(a-b)*over*per/dumpBbl > 2*math.Sqrt(dumps)+1+2*v.noise.sigma*per/dumpBbl
}

func (v *vessel) levelBefore(at float64) (float64, bool) {
	k := lower(v.hist, at)
	if k == 0 {
		return 0, false
	}
	return float64(v.hist[k-1].v), true
}

// climb is the mean slope of the history at rest in the time before at, as far as the level
// was below top; a quarter of that time has to be known.
func (v *vessel) climb(at, over, per, top float64) (float64, bool) {
	var rise, time float64
	for i := lower(v.hist, at-over); i < len(v.hist); i++ {
		h := v.hist[i]
		if h.t > at {
			break
		}
		if i == 0 || h.f == apart || float64(h.v) > top {
			continue
		}
		dv, dt := float64(h.v-v.hist[i-1].v), h.t-v.hist[i-1].t
		if math.Abs(dv)*per > fillRate*dt/60 {
			continue
		}
		rise, time = rise+dv, time+dt
	}
	return rise / math.Max(time, 1), time >= math.Min(over, inflowLong)/4
}

// resumed is the inflow from a fall on: what is usual, and what the rest after it shows.
func (v *vessel) resumed(t *Tank, f fall, until float64, made production) float64 {
	b := between(v.buf, f.to.t+resumeFirst, until)
	if len(b) < 4 || t.Group != "" {
		return made.usual
	}
	k := min(len(b)/4, 5)
	dt := b[len(b)-1].t - b[0].t
	a, z := median(values(b[:k+1])), median(values(b[len(b)-k-1:]))
	dt -= (b[k].t - b[0].t + b[len(b)-1].t - b[len(b)-k-1].t) / 2
	per := t.Table.PerInch(f.to.v)
	if dt < 900 || (z-a)*per > fillRate*dt/60 {
		return made.usual
	}
	shown := clamp((z-a)/dt, 0, inflowMost)
	if v.unlike(shown, made.usual, dt, per) {
		return shown
	}
	return (made.usual*resumeTrust + shown*dt) / (resumeTrust + dt)
}

package tank

import (
	"math"

	"gauger/agent/tank/stats"
)

const (
	paceFast   = 1.0 / 16
	paceTime   = 7200.0     // s over which the usual interval is forgotten
	longTime   = 8 * 3600.0 // s over which the longest interval is forgotten
	heldMost   = 400.0      // s; longest time that a gateway's cached value is taken to be fresh
	heldRegion = 1.6        // a value held this many times longer than usual is a still level, not a cache
)

// pace is how often readings come and how often their value changes. A gateway that is
// polled faster than its sensor reports repeats the same value; a reading by exception
// comes seldom while nothing moves.
type pace struct {
	n        int
	mean     float64 // mean interval, s
	usual    float64 // interval in which a random instant lies, s
	long     float64 // longest interval of late, s
	runs     int
	run, dev float64 // mean time a value stays at rest, and its mean deviation
}

// came learns one interval between readings.
func (p *pace) came(dt float64) {
	if p.n >= 16 {
		dt = math.Min(dt, math.Max(60, 4*p.usual))
	}
	dt = math.Min(dt, 3600)
	p.n++
	first := 1 / float64(min(p.n, 1<<20))
	p.mean += math.Max(paceFast, first) * (dt - p.mean)
	p.long = math.Max(dt, p.long*math.Exp(-dt/longTime))
	p.usual += math.Max(1-math.Exp(-dt/paceTime), first) * (dt - p.usual)
}

// changed learns how long a value stayed.
func (p *pace) changed(dt float64) {
	dt = math.Min(dt, 2*heldMost)
	p.runs++
	a := math.Max(1.0/12, 1/float64(min(p.runs, 1<<20)))
	p.dev += a * (math.Abs(dt-p.run) - p.dev)
	p.run += a * (dt - p.run)
}

// cached says that values are held and repeated at an even beat.
func (p *pace) cached() bool {
	return p.runs >= 8 && p.run >= 2.5*p.mean && p.run <= heldMost && p.dev < 0.35*p.run
}

// noise is how much readings scatter.
type noise struct {
	sigma  float64 // standard deviation of a sample
	held   float64 // sigma when the value last changed: a frozen one has none
	fast   float64 // mean scatter of the last readings, slosh included
	before float64 // the last step
	d      [31]float32
	n      int
}

// stepped learns one step between readings that are dt apart. What a steady flow moves is
// in the step before as well and does not count; a minute apart, slosh cannot be told.
func (z *noise) stepped(d, dt float64) {
	x := math.Min(math.Abs(d-z.before)/1.7, 6)
	if dt >= 30 {
		x = 0
	}
	z.fast += (x - z.fast) / 8
	z.before = d
}

// differs learns how far the middle one of three samples lies from the line between its
// neighbours, so that a steady flow is no noise.
func (z *noise) differs(a, b, c sample) {
	w := (b.t - a.t) / (c.t - a.t)
	e := float64(b.v) - (float64(a.v)*(1-w) + float64(c.v)*w)
	z.d[z.n] = float32(math.Abs(e) / math.Sqrt(1+w*w+stats.Square(1-w)))
	if z.n++; z.n < len(z.d) {
		return
	}
	v := make([]float64, len(z.d))
	for i, x := range z.d {
		v[i] = float64(x)
	}
	m := math.Min(stats.Median(v)/0.6745, 3)
	if z.sigma == 0 {
		z.sigma = m
	}
	z.sigma += 0.2 * (m - z.sigma)
	z.n = 0
}

// coarse is the noise to the next power of two.
func (z *noise) coarse() float64 { return math.Exp2(math.Ceil(math.Log2(math.Max(z.sigma, 0.01)))) }

package tankbook

import (
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

// The slope of a stock at rest. Between a separator's dumps, and beside a production meter, the
// stock of a tight tank stands still but for the drift of its sensor, which comes back day by day.
// So what is fitted is one slope and the first two harmonics of the day, common to all rests, and
// a level of its own for each rest, which is eliminated before the sums are kept: a day takes the
// same few figures however many rests it has, and days can be added.

const (
	terms      = 5 // days since the rest began; cosine and sine of the day, and of half of it
	pairs      = terms * (terms + 1) / 2
	wavesIn    = 1.0 // inches of drift that are usual: the amplitude of the day
	rippleIn   = 0.3 // and of half of it
	fitLeast   = 12  // readings; fewer tell nothing
	likeLeast  = 1e-3
	coarseMove = 0.3 // share of steps that move, below which a sensor's steps are coarse
)

// restSums are the moments of one rest, stocks counted from its first.
type restSums struct {
	n, z, zz float64
	x, xz    [terms]float64
	xx       [pairs]float64
	from, z0 float64 // where it began: s, bbl
	last     float64 // the newest stock less z0
	head     float64 // sum of the first few
	to       float64
}

const headFew = 5

// basis are the functions of time that a stock at rest may follow.
func basis(from, t float64) [terms]float64 {
	s, c := math.Sincos(2 * math.Pi * math.Mod(t, day) / day)
	return [terms]float64{(t - from) / day, c, s, 2*c*c - 1, 2 * s * c}
}

// add takes one stock, and what it differs from the one before into the day's sums.
func (s *restSums) add(f *daySums, t, z float64) {
	if s.n == 0 {
		*s = restSums{from: t, z0: z}
	}
	z -= s.z0
	if s.n > 0 {
		f.addStep(z-s.last, 1)
	}
	s.accumulate(t, z, 1)
	s.last, s.to = z, t
}

// takeBack takes back the newest stock; before is the one that is the newest then.
func (s *restSums) takeBack(f *daySums, e, before stockAt) {
	s.accumulate(e.t, e.net-s.z0, -1)
	s.last, s.to = before.net-s.z0, before.t
	f.addStep(e.net-before.net, -1)
}

// accumulate adds a stock to the moments, or with -1 takes it from them.
func (s *restSums) accumulate(t, z, by float64) {
	if s.n < headFew && by > 0 || s.n <= headFew && by < 0 {
		s.head += by * z
	}
	x := basis(s.from, t)
	s.n, s.z, s.zz = s.n+by, s.z+by*z, s.zz+by*z*z
	k := 0
	for i := range terms {
		s.x[i] += by * x[i]
		s.xz[i] += by * x[i] * z
		for j := range i + 1 {
			s.xx[k] += by * x[i] * x[j]
			k++
		}
	}
}

// daySums is the sums of all rests of a day, each about its own mean.
type daySums struct {
	n, rests, seconds   float64
	zz, rough           float64 // squares about the means, and of the steps from stock to stock, bbl2
	steps, moved, rises float64 // steps, those that were not zero, and rises between two rests
	fell                float64 // bbl by which the rests went down, from begin to end each
	xz                  [terms]float64
	xx                  [pairs]float64
}

// addStep counts what one stock differs from the one before.
func (f *daySums) addStep(by, n float64) {
	f.steps += n
	f.rough += n * stats.Square(by)
	if by != 0 {
		f.moved += n
	}
}

// addRest adds a rest that is over; end is the mean of its last stocks.
func (f *daySums) addRest(s *restSums, end float64) {
	if s.n >= 2 {
		f.n, f.rests, f.seconds = f.n+s.n, f.rests+1, f.seconds+s.to-s.from
		f.zz += s.zz - s.z*s.z/s.n
		if s.n >= 2*headFew { // else begin and end are the same stocks, and what a pump brings at its edges looks like a fall
			f.fell += s.head/headFew - (end - s.z0)
		}
		k := 0
		for i := range terms {
			f.xz[i] += s.xz[i] - s.x[i]*s.z/s.n
			for j := range i + 1 {
				f.xx[k] += s.xx[k] - s.x[i]*s.x[j]/s.n
				k++
			}
		}
	}
	*s = restSums{}
}

func (f daySums) with(o daySums) daySums {
	f.n, f.rests, f.seconds, f.zz, f.rough = f.n+o.n, f.rests+o.rests, f.seconds+o.seconds, f.zz+o.zz, f.rough+o.rough
	f.steps, f.moved, f.rises, f.fell = f.steps+o.steps, f.moved+o.moved, f.rises+o.rises, f.fell+o.fell
	for i := range f.xz {
		f.xz[i] += o.xz[i]
	}
	for i := range f.xx {
		f.xx[i] += o.xx[i]
	}
	return f
}

// slope is the change of the stock at rest in barrels a day, and its standard error; false when
// the readings do not tell. Errors that follow each other, as of a sensor with coarse steps or
// one that sticks, are weighed by how much smoother the rest is than noise would be.
func (f daySums) slope(perInch float64) (perDay, err float64, ok bool) {
	free := f.n - f.rests - terms
	if f.n < fitLeast || free < fitLeast/2 || f.steps == 0 {
		return 0, 0, false
	}
	white := math.Max(f.rough/(2*f.steps), 1e-8)
	a := f.xx
	for i, wave := range [terms]float64{0, wavesIn, wavesIn, rippleIn, rippleIn} {
		if i > 0 {
			a[i*(i+3)/2] += white / stats.Square(wave*math.Max(perInch, 1e-3))
		}
	}
	b, inverse, ok := solve(a, f.xz)
	if !ok {
		return 0, 0, false
	}
	left := f.zz
	k := 0
	for i := range terms {
		left -= 2 * b[i] * f.xz[i]
		for j := range i + 1 {
			w := 2.0
			if j == i {
				w = 1
			}
			left += w * b[i] * b[j] * f.xx[k]
			k++
		}
	}
	scatter := math.Max(left/free, 1e-8)
	like := stats.Clamp(white/scatter, likeLeast, 1)
	return b[0], math.Sqrt(scatter * inverse * (2 - like) / like), true
}

// stepSize is the size of the steps that a coarse sensor makes, in barrels; 0 for one whose noise
// is finer than its steps.
func (f daySums) stepSize() float64 {
	if f.moved == 0 || f.moved >= coarseMove*f.steps {
		return 0
	}
	return math.Sqrt(f.rough / f.moved)
}

// solve finds b of a b = y for a positive definite a (lower triangle, row by row), and the first element of the inverse of a.
func solve(a [pairs]float64, y [terms]float64) (b [terms]float64, inverse float64, ok bool) {
	var m [terms][terms + 2]float64 // a, y, and the first column of unity
	k := 0
	for i := range terms {
		for j := range i + 1 {
			m[i][j], m[j][i] = a[k], a[k]
			k++
		}
		m[i][terms] = y[i]
	}
	m[0][terms+1] = 1
	for k := range terms {
		if !(m[k][k] >= 1e-12) {
			return b, 0, false
		}
		for i := range terms {
			f := m[i][k] / m[k][k]
			for j := k; i != k && j < terms+2; j++ {
				m[i][j] -= f * m[k][j]
			}
		}
	}
	for i := range terms {
		b[i] = m[i][terms] / m[i][i]
	}
	return b, m[0][terms+1] / m[0][0], true
}

// endsError is the standard error of a day's change of stock by what its sensor cannot tell at the
// two gauge-offs, barrels.
func (f daySums) endsError(t *tank.Tank, perInch float64) float64 {
	return math.Sqrt2 * math.Hypot(repeatability(t.Sensor)*perInch, f.stepSize()/math.Sqrt(12))
}

// repeatability of a kind of sensor from one day to the next, inches.
func repeatability(sensor string) float64 {
	switch sensor {
	case "ultrasonic":
		return 0.25
	case "hydrostatic":
		return 0.2
	case "float", "analog":
		return 0.1
	}
	return 0.05
}

const day = 86400.0

// stockAt is a stock at a time: the tank's, and less what the meter counted where there is one.
type stockAt struct{ t, net, stock, meter, level float64 }

// movement is a change of the stock between two rests.
type movement struct {
	from, to float64 // s; unix seconds once it is in a day's book
	bbl      float64
}

// overlaps says that two stretches of time have an instant in common.
func (m movement) overlaps(o movement) bool { return m.from <= o.to && m.to >= o.from }

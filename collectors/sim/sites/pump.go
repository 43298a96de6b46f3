package sites

import (
	"math"
	"math/rand/v2"
)

// pumping is the state of a draw that a pump's law depends on.
type pumping struct {
	seconds int     // since the pump started, pauses not counted
	moved   float64 // bbl
	want    float64 // bbl
	head    float64 // in above the heel
}

// law is a factor of a pump's rate.
type law func(pumping) float64

// toTruck is where a draw goes that leaves the site.
const toTruck = -1

// draw moves oil out of a tank: into a truck, into another tank, or down the drain.
type draw struct {
	from, to int // tanks
	start    int // s; where it follows another draw, seconds after that one's end
	follows  *draw
	bbl      float64 // wanted
	rate     float64 // bbl/min
	laws     []law
	pauses   []pause

	// What the hose does once the pump stands: oil that runs back into the tank (negative) or on into the truck.
	hose        float64 // bbl
	hoseSeconds float64 // time constant

	kind, class  string
	hidden       gap   // in which the recording shows nothing of it
	togetherWith *draw // the last draw of a row that the recording shows as one

	state      pumping
	paused     int // s still to stand
	done       bool
	begun      int // s
	stopped    int // s, of the pump
	ended      int // s, of all flow
	left       float64
	sinceFull  int
	hoseMoved  float64
	hoseSpent  bool
	nextPauses int
}

// pause stands the pump after so many barrels.
type pause struct {
	after   float64
	seconds int
}

// slowStart opens the valve over so many seconds.
func slowStart(seconds float64) law {
	return func(p pumping) float64 { return min(1, (float64(p.seconds)+1)/seconds) }
}

// fading pumps slower the less head there is: a share of the rate is lost when the tank is down to the heel.
func fading(share, from float64) law {
	return func(p pumping) float64 { return 1 - share*(1-min(1, max(0, p.head)/from)) }
}

// dying fades over the last barrels, as a driver closes the valve to top off the compartment.
func dying(last, least float64) law {
	return func(p pumping) float64 { return max(least, min(1, (p.want-p.moved)/last)) }
}

// priming sucks hard, loses its prime, and catches again.
func priming(surge, lost float64, at, length int) law {
	return func(p pumping) float64 {
		switch {
		case p.seconds < at:
			return surge
		case p.seconds < at+length:
			return lost
		}
		return 1
	}
}

// gravity flows with the root of the head.
func gravity(full float64) law {
	return func(p pumping) float64 { return math.Sqrt(max(0.02, p.head/full)) }
}

// sputtering sucks air beside oil near the heel.
func sputtering(inches float64) law {
	return func(p pumping) float64 {
		if p.head > inches {
			return 1
		}
		return 0.25 + 0.5*p.head/inches*(1+math.Sin(float64(p.seconds)/4))
	}
}

// uneven wanders by a share within minutes, as an engine does.
func uneven(r *rand.Rand, share float64) law {
	a, b := r.Float64()*6, r.Float64()*6
	slow, quick := 200+400*r.Float64(), 20+40*r.Float64()
	return func(p pumping) float64 {
		t := float64(p.seconds)
		return 1 + share*(0.7*math.Sin(t/slow+a)+0.3*math.Sin(t/quick+b))
	}
}

// step moves the draw by one second and returns what leaves the tank, bbl; negative where the hose gives back.
func (d *draw) step(s int, head float64) float64 {
	if !d.done {
		return d.pump(s, head)
	}
	if d.hoseSpent {
		return 0
	}
	d.sinceFull++
	// An exponential that is cut off after four time constants, and scaled so that all of the hose has moved by then.
	whole := 1 - math.Exp(-4)
	upTo := d.hose * (1 - math.Exp(-float64(d.sinceFull)/d.hoseSeconds)) / whole
	if float64(d.sinceFull) >= 4*d.hoseSeconds || d.hose == 0 {
		upTo, d.hoseSpent = d.hose, true
	}
	out := upTo - d.hoseMoved
	d.hoseMoved = upTo
	d.left += out
	if out != 0 {
		d.ended = s + 1
	}
	return out
}

func (d *draw) pump(s int, head float64) float64 {
	if d.paused > 0 {
		d.paused--
		return 0
	}
	if d.nextPauses < len(d.pauses) && d.left >= d.pauses[d.nextPauses].after {
		d.paused = d.pauses[d.nextPauses].seconds
		d.nextPauses++
		return 0
	}
	if d.state.seconds == 0 {
		d.begun = s
	}
	d.state.moved, d.state.want, d.state.head = d.left, d.bbl, head
	rate := d.rate / 60
	for _, factor := range d.laws {
		rate *= factor(d.state)
	}
	d.state.seconds++
	out := max(0, min(rate, d.bbl-d.left))
	d.left += out
	if d.left >= d.bbl-1e-6 || head <= 0 || d.state.seconds > 6*3600 {
		d.done, d.stopped, d.ended = true, s+1, s+1
	}
	return out
}

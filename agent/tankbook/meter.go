package tankbook

import "math"

const (
	trailMost       = 300
	trailEvery      = 60.0  // s between counts that are kept
	meterMost       = 10.0  // bbl/min; faster is no production
	meterSlack      = 10.0  // bbl
	meterAgree      = 3     // readings in a row that make another count the meter's
	rollLeast       = 1000. // a count that falls from below this was reset
	nextCountBegins = -1.0  // in place of the time of the newest count: the next one has nothing to do with it
)

// meterCount is a count of the meter: barrels at a site second.
type meterCount struct{ t, v float64 }

// meter follows a totaliser over its rollovers and resets.
type meter struct {
	known     bool
	sum       float64 // bbl counted since the book began
	last      float64 // newest count
	at        float64 // unix s
	candidate float64 // a count that makes no sense yet
	agreed    int
}

// add is one reading of the count.
func (m *meter) add(at, total float64) {
	if !m.known || m.at == nextCountBegins {
		*m = meter{known: true, sum: m.sum, last: total, at: at}
		return
	}
	most := meterSlack + meterMost*math.Max(0, at-m.at)/60
	came := total - m.last
	if came < 0 {
		came = m.rolledOver(total, most)
	}
	if came >= 0 && came <= most {
		m.sum, m.last, m.at, m.agreed = m.sum+came, total, at, 0
		return
	}
	if m.agreed == 0 || math.Abs(total-m.candidate) > most {
		m.agreed = 0
	}
	m.candidate = total
	if m.agreed++; m.agreed >= meterAgree {
		if total >= 0 && total < m.last && total <= most { // it began anew at zero
			m.sum += total
		}
		m.last, m.at, m.agreed = total, at, 0
	}
}

// rolledOver are the barrels that came when the count is less than before: it went over a round number of tens, or
// -1 where that cannot be.
func (m *meter) rolledOver(total, most float64) float64 {
	for top := rollLeast; top <= 1e12; top *= 10 {
		if came := total + top - m.last; m.last < top && came >= 0 && came <= most {
			return came
		}
	}
	return -1
}

package tank

import (
	"cmp"
	"fmt"
	"math"

	"gauger/agent/tank/stats"
)

const (
	hiddenShare  = 0.25                             // share by which the duration of a draw that nobody saw is not known
	witnessFirst = 120.0                            // s from a gauge at which the rest has no part in the gauge any more
	witnessLast  = 420.0                            // s to which it is asked what it says of the gauge
	mostOfIt     = 1.5                              // times the one gauge's error that the other's is, where most of the volume's is there
	witnessAway  = (witnessFirst + witnessLast) / 2 // s
)

// ErrorBasis is what Load.ErrorBbl was made of: the barrels before calibration, and the class that the factors go by: the kind of
// sensor, apart where it speaks in coarse steps, or, for a tank of a group, the equaliser, which is of more weight there.
type ErrorBasis struct {
	Bbl   float64
	Class string
}

// errorBasis is the error of a draw's volume before calibration.
func (l *levels) errorBasis(t *Tank, d draw) ErrorBasis {
	b := ErrorBasis{Bbl: 2 * l.volumeError(t, d), Class: cmp.Or(t.Sensor, "radar")}
	switch {
	case t.Group != "":
		b.Class = "equaliser"
	case d.step >= coarseLeast:
		b.Class += " in steps"
	}
	return b
}

// calibrated is the error that 19 of 20 volumes are within, in wide simulation.
func (b ErrorBasis) calibrated() float64 {
	if f, ok := errorFactors[b.Class]; ok {
		return f * b.Bbl
	}
	return b.Bbl
}

// volumeError is the standard error of the volume between the gauges of a draw, barrels. What
// is not known of the inflow pushes both gauges the same way. Of a draw that nobody saw
// neither the duration is known, nor which part of the gap was before it, when a full
// tank's well was shut in. Where the rest some minutes from a gauge says otherwise than the
// gauge, one of the two is wrong.
func (l *levels) volumeError(t *Tank, d draw) float64 {
	per := t.Table.PerInch((d.opening.level + d.closing.level) / 2)
	lean := d.opening.carried + d.closing.carried
	hidden := 0.0
	if d.samples == 0 && d.opening.carried > 0 && d.closing.carried > 0 {
		hidden = math.Hypot(hiddenShare*(d.end-d.start)*d.inflowAfter, lean*(d.inflowAfter-d.inflowBefore)/math.Sqrt(12))
	}
	since, slope := math.Max(d.within.lo, d.start-witnessLast), d.inflowBefore
	if d.opening.since > 0 && d.opening.samples > restFew && d.opening.since <= d.start-witnessAway { // it rises as the well's pump makes it
		since, slope = math.Max(since, d.opening.since), d.opening.slope
	}
	end := math.Max(d.end, d.evened)
	most := 0.0
	if t.Sensor != "hydrostatic" && t.Group == "" { // which come up behind a truck without oil, or from another tank
		most = l.mostRisen(d.start-fineFor, d.start-witnessLast, witnessAway) - d.step
	}
	before := d.inflow.beyond(-witness(l.recent, per, line{d.start, d.opening.level, slope}, since, d.start-witnessFirst), most)
	after := d.inflow.beyond(witness(d.rest(l), per, line{end, d.closing.level, d.inflowAfter}, end+witnessFirst, math.Min(d.within.hi, end+witnessLast)), most)
	if d.opening.risen || d.hatch > 0 {
		before = 0 // the rest there was before oil lifted it, or a hatch was opened
	}
	switch {
	case d.late > 0:
		before, after = 0, 0 // what was shown there is the level's of earlier
	case d.foam > 0:
		after = 0 // the rest there was foam
	}
	return per * math.Sqrt(stats.Square(d.opening.err)+stats.Square(d.closing.err)+2*stats.Square(t.sensorError())+stats.Square(d.inflow.err*lean)+stats.Square(hidden)+(stats.Square(before)+stats.Square(after))/4)
}

// unsureBy says at which gauge most of a draw's uncertainty lies, and what the sensor or its gateway keeps back.
func (d draw) unsureBy() (text string) {
	switch o, c := d.opening.err, d.closing.err; {
	case o > mostOfIt*c:
		text = ", most of it at its opening"
	case c > mostOfIt*o:
		text = ", most of it at its closing"
	}
	switch {
	case d.step >= coarseLeast:
		text += fmt.Sprintf(": its level comes in steps of %.2f in", d.step)
	case d.deadband > 0:
		text += fmt.Sprintf(": it is only told when it has moved by %.2f in", d.deadband)
	}
	return text
}

// beyond is what a witness strays further than what flows in does in so short a time, or, where it says that oil came in between the two and a
// well makes any, than what came at once at most before: a dump minutes from a sharp gauge is none of its error.
func (p production) beyond(came, most float64) float64 {
	may := math.Sqrt(p.straysOver(witnessAway))
	if came > 0 && p.usual > 0 {
		may = math.Max(may, most-p.usual*witnessAway)
	}
	return math.Max(0, math.Abs(came)-may)
}

// witness is by how much the rest among some samples in a time, the middle of it, strays from a gauge that the inflow
// carries there, in inches; 0 where nothing was read, or where the tank was filled.
func witness(b []sample, per float64, gauge line, from, to float64) float64 {
	if b = between(b, from, to); len(b) == 0 {
		return 0
	}
	first, last := b[:(len(b)+1)/2], b[len(b)/2:]
	rose := stats.Median(values(last)) - stats.Median(values(first))
	if rose*per > fillSlow/60*(last[0].t-first[0].t) && rose > 0 {
		return 0
	}
	return stats.Median(values(b)) - gauge.at((b[0].t+b[len(b)-1].t)/2)
}

package tankbook

import (
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	tightBbl   = 5.0  // bbl a day that fell between rests, beyond which the fall itself is the loss
	blurBbl    = 4.0  // bbl a day of standard error beyond which nothing is seen
	coarseRise = 3.0  // rises a day that such a sensor hides the rest between
	usualLeast = 3    // days of steady inflow that make it usual
	usualStep  = 0.45 // of the limit: by more two days of a steady inflow do not differ
	usualFar   = 0.05 // share of the usual by which production may fall short and still be a loss
	usualNear  = 3.0  // bbl a day, likewise
	usualMost  = 10   // days that are remembered
)

func (w *bookkeeper) closedDay(i int, p *tankPage) Day {
	s, t := &p.yesterday, w.site.Tank(i)
	got := s.sumReceived(t.Group != "")
	metered := w.metered(i, p)
	if !metered {
		p.unloaded = w.findUnloaded(i, p)
		p.findLift()
	}
	d := Day{
		Tank: t.ID, From: unix(s.from), To: unix(s.to), Measured: metered, Lact: t.Lact, Water: s.water, TransfersOut: s.transferredOut,
		TransfersIn: got, Other: s.other, RunList: append([]Run(nil), s.runs...), Remarks: s.remarks,
	}
	for _, r := range s.runs {
		d.Runs += r.Bbl
	}
	for _, m := range s.unexplained {
		if m.bbl < 0 || metered {
			d.Other -= m.bbl
		}
	}
	for _, x := range s.parts {
		d.OtherParts = append(d.OtherParts, w.partOf(x))
	}
	if s.hasOpening {
		d.OpeningIn, d.Opening = new(s.opening.level), new(s.opening.stock+s.openingInRun)
		d.OpeningInRun = s.openingInRun
	} else {
		d.Remarks = append(d.Remarks, "incomplete: no stock at the gauge-off that began it")
	}
	if s.hasClosing {
		d.ClosingIn, d.Closing = new(s.closing.level), new(s.closing.stock+s.closingInRun)
		d.ClosingInRun = s.closingInRun
	} else {
		d.Remarks = append(d.Remarks, "incomplete: no stock at the gauge-off that ended it")
	}
	per := t.Table.PerInch(s.closing.level)
	ends := s.rest.endsError(t, per)
	slope, err, seen := s.rest.slope(per)
	d.Blind = w.blindBecause(t, s, slope, err, seen, metered)
	if d.Blind == "" {
		d.Error = 2 * math.Hypot(err, ends)
	}
	if s.hasOpening && s.hasClosing {
		w.closeBalance(&d, p, slope, metered)
	}
	if d.Residual != nil && (metered || *d.Production == 0) { // the gauge-offs alone speak
		d.Error = 2 * math.Sqrt(s.variance+stats.Square(ends)+stats.Square(tank.DumpBbl)/3*float64(len(s.runs)))
	}
	if t.Lact && !metered && d.Production != nil {
		d.sellsByMeter(s)
	}
	return d
}

// sellsByMeter says what the level of a tank whose oil a meter sells cannot tell: while the well fills it as fast as the meter takes, it
// stands as in a tank at rest. What was seen to leave at once is known, and so is what the level rose by, as the least that came.
func (d *Day) sellsByMeter(s *openDay) {
	const meter = "the meter that sells this tank's oil (`sales: lact`)"
	switch {
	case *d.Production <= idleBbl:
		d.Production, d.Residual, d.Error = nil, nil, 0
		d.Blind = "a meter sells the oil of this tank, and whether it ran the level does not tell"
		s.remark("PRODUCED is not known: the level stood or fell slowly, as it does while the well fills the tank as fast as " + meter + " takes")
	case d.Other < idleBbl:
		s.remark("PRODUCED is the least that came: what " + meter + " took while the level rose is not in it")
	}
	d.Remarks = s.remarks
}

// round rounds a day's barrels, and more of its figures, to so many places; what is no number is left out.
func (d *Day) round(places int, maybe []**float64, more []*float64) {
	for i := range d.OtherParts {
		more = append(more, &d.OtherParts[i].Bbl)
	}
	for _, p := range append(maybe, &d.Opening, &d.Closing, &d.Production, &d.Residual) {
		switch {
		case *p == nil:
		case !stats.Finite(**p):
			*p = nil
		default:
			*p = new(stats.Round(**p, places))
		}
	}
	for _, v := range append(more, &d.Runs, &d.Water, &d.TransfersOut, &d.TransfersIn, &d.Other, &d.OpeningInRun, &d.ClosingInRun) {
		if *v = stats.Round(*v, places); !stats.Finite(*v) {
			*v = 0
		}
	}
}

// tidy rounds a day's figures to a thousandth, as they are stored.
func (d *Day) tidy() {
	more := []*float64{&d.Error}
	for i := range d.RunList {
		r := &d.RunList[i]
		more = append(more, &r.GaugeBbl, &r.Inflow, &r.Bbl)
	}
	d.round(3, []**float64{&d.OpeningIn, &d.ClosingIn, &d.Sees}, more)
}

// Foot rounds a day's barrels to the hundredths in which they are printed, so that the row adds up to the cent. What rounding leaves over is
// in what the balance is solved for: the production, or where that is metered or none, the residual.
func (d *Day) Foot() {
	d.round(2, nil, nil)
	switch {
	case d.Opening == nil || d.Closing == nil || d.Production == nil || d.Residual == nil:
	case d.Measured || *d.Production == 0:
		d.Residual = new(stats.Round(*d.Residual+came(d)-*d.Production, 2))
	default:
		d.Production = new(stats.Round(came(d), 2))
	}
}

// came is the one balance of the book: the barrels that came on days that follow each other, by the stocks before and after them, what left
// between, and what of it is unexplained. Both stocks have to be known.
func came(days ...*Day) float64 {
	bbl := *days[len(days)-1].Closing - *days[0].Opening
	for _, d := range days {
		bbl = bbl + d.Runs + d.Water + d.TransfersOut - d.TransfersIn + d.Other
		if d.Residual != nil {
			bbl -= *d.Residual
		}
	}
	return bbl
}

// blindBecause says why the rests of a day tell nothing of a loss; empty when they do.
func (w *bookkeeper) blindBecause(t *tank.Tank, s *openDay, slope, err float64, seen, metered bool) string {
	f := s.rest
	switch {
	case t.Group != "":
		return "the equaliser moves oil between the tanks"
	case s.steppedAt != 0:
		return "the level stepped, or was lifted"
	case s.slowTransfer:
		return "oil ran slowly out of it, and is booked"
	case !seen || err > blurBbl:
		return "too little of the day was at rest"
	case metered:
		return ""
	case f.moved < coarseMove*f.steps && f.rises > coarseRise:
		return "the sensor's steps are coarser than what is lost between two rises"
	case slope > math.Max(2*err, w.rules.LossLimit/2):
		return "oil flows in steadily"
	}
	return ""
}

// closeBalance divides the change of the stock into what is known, what was produced and what is
// left over.
func (w *bookkeeper) closeBalance(d *Day, p *tankPage, slope float64, metered bool) {
	s := &p.yesterday
	change := came(d)
	if metered {
		made := s.closing.meter - s.opening.meter
		d.Production, d.Residual = new(made), new(change-made)
		return
	}
	days := (s.to - s.from) / day
	left := 0.0
	switch {
	case d.Blind == "" && s.rest.fell > tightBbl:
		left = -s.rest.fell
	case d.Blind == "":
		left = slope * days
	default:
		s.inflowAtRest = p.inflowOutsideRuns(change, days)
		if usual, ok := p.steadyInflow(w.rules.LossLimit); ok && plausibleLack(s.inflowAtRest-usual, usual) {
			left = (s.inflowAtRest - usual) * days
		}
	}
	left -= s.lossBbl
	if change-left < idleBbl && s.steppedAt == 0 { // nothing was produced: the gauge-offs alone speak
		left = change
	}
	d.Production, d.Residual = new(change-left), new(left)
}

const idleBbl = 0.5 // bbl a day below which nothing came

// plausibleLack says that what is missing of a steady inflow may have been lost; more than that,
// and the well made less.
func plausibleLack(left, due float64) bool {
	return math.Abs(left) <= math.Max(usualNear, usualFar*due)
}

// steadyInflow are the barrels a day that a tank with steady inflow makes; false while its days are too few or differ.
func (p *tankPage) steadyInflow(limit float64) (usual float64, ok bool) {
	n := len(p.usualInflow)
	for k := 1; k < n; k++ {
		if math.Abs(p.usualInflow[k]-p.usualInflow[k-1]) > usualStep*limit {
			return 0, false
		}
	}
	if n < usualLeast || p.yesterday.steppedAt != 0 {
		return 0, false
	}
	return stats.Median(append([]float64(nil), p.usualInflow[n-usualLeast:]...)), true
}

// inflowOutsideRuns are the barrels a day that came in while no run was under way: the inflow during a run
// is an estimate.
func (p *tankPage) inflowOutsideRuns(change, days float64) float64 {
	for _, r := range p.yesterday.runs {
		change -= r.Inflow
		days -= r.End.Sub(r.Start).Hours() / 24
	}
	return change / math.Max(days, 0.1)
}

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

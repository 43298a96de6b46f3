package tankbook

import (
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	lossErrors = 3.0  // standard errors by which a loss has to stand out
	lossShare  = 0.75 // of the limit that counts over two or three days
	lossSudden = 3.0  // times the limit that the gauge-offs of a day have to show where its rests show nothing
	tightBbl   = 5.0  // bbl a day that fell between rests, beyond which the fall itself is the loss
	blurBbl    = 4.0  // bbl a day of standard error beyond which nothing is seen
	moveShare  = 0.05 // of a transfer or a water draw that may have flowed in or not: its standard error
	coarseMove = 0.3  // share of steps that move, below which a sensor's steps are coarse
	lossGrown  = 2.0  // times as fast as told, and it is told of again
	coarseRise = 3.0  // rises a day that such a sensor hides the rest between
)

// repeatability is how well a kind of sensor repeats itself from one day to the next, inches.
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

// ends is the standard error of a day's change of stock by what its sensor cannot tell at the
// two gauge-offs, barrels.
func (f stills) ends(t *tank.Tank, perInch float64) float64 {
	return math.Sqrt2 * math.Hypot(repeatability(t.Sensor)*perInch, f.grain()/math.Sqrt(12))
}

// balance makes the closed day of what was written.
func (w *bookkeeper) balance(i int, p *page) Day {
	s, t := &p.due, w.site.Tank(i)
	got := s.received()
	metered := w.metered(i, p)
	if !metered {
		p.lifted()
	}
	d := Day{
		Tank: t.ID, From: unix(s.from), To: unix(s.to), Measured: metered, Water: s.water, TransfersOut: s.given,
		TransfersIn: got, Other: s.other, RunList: append([]Run(nil), s.runs...), Remarks: s.remarks,
	}
	for _, r := range s.runs {
		d.Runs += r.Bbl
	}
	for _, m := range s.moves {
		if m.bbl < 0 || metered {
			d.Other -= m.bbl
		}
	}
	if s.opened {
		d.OpeningIn, d.Opening = new(s.open.level), new(s.open.stock+s.openRun)
	} else {
		d.Remarks = append(d.Remarks, "incomplete: no stock at the gauge-off that began it")
	}
	if s.shut {
		d.ClosingIn, d.Closing = new(s.end.level), new(s.end.stock+s.endRun)
	} else {
		d.Remarks = append(d.Remarks, "incomplete: no stock at the gauge-off that ended it")
	}
	per := t.Table.PerInch(s.end.level)
	ends := s.still.ends(t, per)
	slope, err, seen := s.still.slope(per)
	d.Blind = w.blind(t, s, slope, err, seen, metered)
	if d.Blind == "" {
		d.Error = 2 * math.Hypot(err, ends)
	}
	if s.opened && s.shut {
		w.explain(&d, p, slope, metered)
	}
	if d.Residual != nil && (metered || *d.Production == 0) { // the gauge-offs alone speak
		d.Error = 2 * math.Sqrt(s.doubt+stats.Square(ends)+stats.Square(tank.DumpBbl)/3*float64(len(s.runs)))
	}
	return d
}

// tidy rounds a day's figures to a thousandth of a barrel; what is no number is left out.
func (d *Day) tidy() {
	for _, p := range []**float64{&d.OpeningIn, &d.ClosingIn, &d.Opening, &d.Closing, &d.Production, &d.Residual, &d.Sees} {
		if *p == nil {
			continue
		}
		if !stats.Finite(**p) {
			*p = nil
			continue
		}
		*p = new(stats.Round(**p, 3))
	}
	for _, v := range []*float64{&d.Runs, &d.Water, &d.TransfersOut, &d.TransfersIn, &d.Other, &d.Error} {
		if *v = stats.Round(*v, 3); !stats.Finite(*v) {
			*v = 0
		}
	}
	for i := range d.RunList {
		r := &d.RunList[i]
		for _, v := range []*float64{&r.GaugeBbl, &r.Inflow, &r.Bbl} {
			if *v = stats.Round(*v, 3); !stats.Finite(*v) {
				*v = 0
			}
		}
	}
}

// blind says why the rests of a day tell nothing of a loss; empty when they do.
func (w *bookkeeper) blind(t *tank.Tank, s *sheet, slope, err float64, seen, metered bool) string {
	f := s.still
	switch {
	case t.Group != "":
		return "the equaliser moves oil between the tanks"
	case s.upset != 0:
		return "the level stepped, or was lifted"
	case s.seeps:
		return "oil runs slowly over to another tank"
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

// explain divides the change of the stock into what is known, what was produced and what is
// left over.
func (w *bookkeeper) explain(d *Day, p *page, slope float64, metered bool) {
	s := &p.due
	change := *d.Closing - *d.Opening + d.Runs + d.Water + d.TransfersOut - d.TransfersIn + d.Other
	if metered {
		made := s.end.meter - s.open.meter
		d.Production, d.Residual = new(made), new(change-made)
		return
	}
	days := (s.to - s.from) / day
	left := 0.0
	switch {
	case d.Blind == "" && s.still.fell > tightBbl:
		left = -s.still.fell
	case d.Blind == "":
		left = slope * days
	default:
		s.made = p.atRest(change, days)
		if usual, ok := p.habit(w.rules.LossLimit); ok && plausibleLack(s.made-usual, usual) {
			left = (s.made - usual) * days
		}
	}
	left -= s.told
	if change-left < idleBbl && s.upset == 0 { // nothing was produced: the gauge-offs alone speak
		left = change
	}
	d.Production, d.Residual = new(change-left), new(left)
}

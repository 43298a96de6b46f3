package tankbook

import (
	"fmt"
	"math"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	lossErrors = 3.0  // standard errors by which a loss has to stand out
	lossShare  = 0.75 // of the limit that counts over two or three days
	lossSudden = 3.0  // times the limit that the gauge-offs of a day have to show where its rests show nothing
	lossGrown  = 2.0  // times as fast as reported, and it is reported again
)

// lossEstimate of the last days, in barrels a day, with its standard error.
type lossEstimate struct {
	days     int
	bblADay  float64
	err      float64
	since    float64
	believed bool
}

// findLoss looks for one in the day that is being closed and the two before it, and tells of it
// once. It says in the day's book what would have been seen.
func (w *bookkeeper) findLoss(i int, p *tankPage, d *Day) *tank.Event {
	s, t := &p.yesterday, w.site.Tank(i)
	per := t.Table.PerInch(s.closing.level)
	var worst lossEstimate
	least := 0.0
	if d.Blind == "" {
		worst, least = w.lossAtRest(p, per, s.rest.endsError(t, per))
		d.Sees = new(least)
	} else if short, least, ok := p.lossByInflow(w.rules.LossLimit, d); ok {
		worst, d.Sees = short, new(least)
	}
	if !worst.believed {
		limit := w.rules.LossLimit
		if d.Blind == "" && d.Measured {
			limit *= lossSudden
		}
		if l := p.lossByBalance(limit, s.leftOver(d), s.rest.endsError(t, per)); l.believed || l.days > 0 && l.bblADay > worst.bblADay {
			worst = l
		}
	}
	if d.Sees == nil && d.Measured && d.Residual != nil {
		d.Sees = new(math.Max(w.rules.LossLimit, lossErrors*d.Error/2))
	}
	p.keepForLater(s, d, w.rules.LossLimit)
	return w.lossEvent(i, p, worst)
}

// lossAtRest is the loss by the slope at rest of the last one, two or three days: the first window
// in which it stands out, and else the longest; and the least that would have.
func (w *bookkeeper) lossAtRest(p *tankPage, per, ends float64) (lossEstimate, float64) {
	sum, since := p.yesterday.rest, p.yesterday.from
	var l lossEstimate
	least := math.Inf(1)
	for k := 0; ; k++ {
		slope, err, ok := sum.slope(per)
		n := float64(k + 1)
		err = math.Hypot(err, ends/n)
		limit := w.rules.LossLimit
		if k > 0 {
			limit *= lossShare
		}
		if ok {
			least = math.Min(least, math.Max(limit, lossErrors*err))
		}
		if ok && !l.believed {
			l = lossEstimate{days: k + 1, bblADay: -slope, err: err, since: since}
			l.believed = l.bblADay > limit && l.bblADay > lossErrors*err
		}
		if k == len(p.restBefore) || p.restBefore[k].n == 0 {
			return l, least
		}
		sum, since = sum.with(p.restBefore[k]), since-day
	}
}

func (s *openDay) leftOver(d *Day) leftOver {
	if d.Residual == nil || s.steppedAt != 0 || s.slowTransfer || !d.Measured && *d.Production > idleBbl {
		return leftOver{}
	}
	return leftOver{true, *d.Residual + s.lossBbl, s.variance + stats.Square(tank.DumpBbl)/3*float64(len(s.runs))}
}

// lossByBalance is the loss by the balance of the last one, two or three days.
func (p *tankPage) lossByBalance(limit float64, now leftOver, ends float64) lossEstimate {
	var sum, doubt float64
	var l lossEstimate
	for k, x := range [3]leftOver{now, p.leftBefore[0], p.leftBefore[1]} {
		if !x.known {
			break
		}
		n := float64(k + 1)
		sum, doubt = sum-x.bbl, doubt+x.variance
		edge := limit
		if k > 0 {
			edge *= lossShare
		}
		l = lossEstimate{days: k + 1, bblADay: sum / n, err: math.Sqrt(doubt+stats.Square(ends)) / n, since: p.yesterday.from - float64(k)*day}
		if l.believed = l.bblADay > edge && l.bblADay > lossErrors*l.err; l.believed {
			break
		}
	}
	return l
}

// lossByInflow is the same for a tank with steady inflow: by what it produced less than on its own
// days before. False when they differ too much to tell.
func (p *tankPage) lossByInflow(limit float64, d *Day) (worst lossEstimate, least float64, ok bool) {
	usual, ok := p.steadyInflow(limit)
	if !ok || d.Residual == nil || d.Measured || !plausibleLack(limit, usual) {
		return worst, 0, false
	}
	sum := 0.0
	for k, lost := range [3]float64{-*d.Residual, p.shortBefore[0], p.shortBefore[1]} {
		n := float64(k + 1)
		sum += lost
		edge := limit
		if k > 0 {
			edge *= lossShare
		}
		worst = lossEstimate{days: k + 1, bblADay: sum / n, err: usualStep * limit / 2, since: p.yesterday.from - float64(k)*day}
		worst.believed = worst.bblADay > edge
		if worst.believed {
			break
		}
	}
	return worst, limit * lossShare, true
}

// keepForLater keeps what the next days are compared with.
func (p *tankPage) keepForLater(s *openDay, d *Day, limit float64) {
	p.restBefore[1], p.restBefore[0] = p.restBefore[0], daySums{}
	if s.steppedAt == 0 && d.Blind == "" {
		p.restBefore[0] = s.rest
	}
	p.shortBefore[1], p.shortBefore[0] = p.shortBefore[0], 0
	p.leftBefore[1], p.leftBefore[0] = p.leftBefore[0], s.leftOver(d)
	if d.Residual == nil || d.Measured || s.steppedAt != 0 || d.Blind == "" {
		return
	}
	p.shortBefore[0] = -*d.Residual
	if usual, ok := p.steadyInflow(limit); ok && s.inflowAtRest < usual-limit/2 && plausibleLack(s.inflowAtRest-usual, usual) {
		return // it may be a loss: no habit
	}
	p.usualInflow = append(p.usualInflow[max(0, len(p.usualInflow)-usualMost+1):len(p.usualInflow):len(p.usualInflow)], s.inflowAtRest)
}

// lossEvent raises a loss once, when it begins to stand out and the detector has not reported it.
func (w *bookkeeper) lossEvent(i int, p *tankPage, l lossEstimate) *tank.Event {
	s, t := &p.yesterday, w.site.Tank(i)
	known := p.lossOpen
	switch {
	case l.believed && !p.lossOpen:
		p.lossOpen, p.lossSince = true, l.since
	case p.lossOpen && l.days > 0 && !l.believed && l.bblADay+2*l.err < w.rules.LossLimit:
		p.lossOpen, p.reportedLossRate = false, 0
	}
	if !l.believed || known || s.lossReported {
		return nil
	}
	p.reportedLossRate = l.bblADay
	span := "production day " + w.localDate(s.from)
	if l.days > 1 {
		span = fmt.Sprintf("production days %s to %s", w.localDate(l.since), w.localDate(s.from))
	}
	return &tank.Event{Rule: eventrules.UnexplainedLoss, Tank: t.ID, Start: unix(l.since), End: unix(s.to), Bbl: l.bblADay * float64(l.days), Note: fmt.Sprintf(
		"tank %s: the tank book of %s is short of %.1f bbl, %.1f bbl a day, give or take %.1f", t.ID, span, l.bblADay*float64(l.days), l.bblADay, 2*l.err)}
}

// localDate is the local date of a production day.
func (w *bookkeeper) localDate(from float64) string {
	return unix(from).In(w.rules.Zone).Format("2006-01-02")
}

package tankbook

import (
	"fmt"
	"math"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	lossErrors = 3.0  // standard errors by which a loss has to stand out
	lossShare  = 0.75 // of the limit that counts over two or three days
	lossSudden = 3.0  // times the limit that the gauge-offs of a day have to show where its rests show nothing
	lossGrown  = 2.0  // times as fast as reported, or as much, and it is reported again
	lossAgain  = 5.0  // days at the limit by which it has grown then
)

// lossEstimate of the last days, in barrels a day, with its standard error.
type lossEstimate struct {
	days     int
	bblADay  float64
	err      float64
	since    float64
	sees     float64 // the least loss that would stand out
	believed bool
}

// findLoss looks for one in the day that is being closed and the two before it, and tells of it
// once. It says in the day's book what would have been seen.
func (w *bookkeeper) findLoss(i int, p *tankPage, d *Day) *tank.Event {
	s, t := &p.yesterday, w.site.Tank(i)
	per := t.Table.PerInch(s.closing.level)
	worst, ends, seen := lossEstimate{}, s.rest.endsError(t, per), true
	if d.Blind == "" {
		worst = p.lossAtRest(w.rules.LossLimit, per, ends)
	} else {
		worst, seen = p.lossByInflow(w.rules.LossLimit, d)
	}
	if seen {
		d.Sees = new(worst.sees)
	}
	if !worst.believed {
		limit := w.rules.LossLimit
		if d.Blind == "" && d.Measured {
			limit *= lossSudden
		}
		if l := p.lossByBalance(limit, s.leftOver(d), ends); l.believed || l.days > 0 && l.bblADay > worst.bblADay {
			worst = l
		}
	}
	if d.Sees == nil && d.Measured && d.Residual != nil {
		d.Sees = new(math.Max(w.rules.LossLimit, lossErrors*d.Error/2))
	}
	p.keepForLater(s, d, w.rules.LossLimit)
	return w.lossEvent(i, p, worst)
}

// overDays is the loss of the last one, two or three days: the first window in which it stands out, and else the longest. of says what a
// window of so many days lacks, in barrels a day with its standard error; false where that is not known.
func (p *tankPage) overDays(most int, limit float64, of func(days int) (bblADay, err float64, ok bool)) (l lossEstimate) {
	sees := math.Inf(1)
	for n := 1; n <= most; n++ {
		edge := limit
		if n > 1 {
			edge *= lossShare
		}
		lost, err, ok := of(n)
		if !ok {
			continue
		}
		sees = math.Min(sees, math.Max(edge, lossErrors*err))
		if !l.believed {
			l = lossEstimate{days: n, bblADay: lost, err: err, since: p.yesterday.from - float64(n-1)*day, believed: lost > edge && lost > lossErrors*err}
		}
	}
	l.sees = sees
	return l
}

// lossAtRest is the loss by the slope at rest.
func (p *tankPage) lossAtRest(limit, per, ends float64) lossEstimate {
	sum, most := p.yesterday.rest, 1
	for most <= len(p.daysBefore) && p.daysBefore[most-1].rest.n > 0 {
		most++
	}
	return p.overDays(most, limit, func(n int) (float64, float64, bool) {
		if n > 1 {
			sum = sum.with(p.daysBefore[n-2].rest)
		}
		slope, err, ok := sum.slope(per)
		return -slope, math.Hypot(err, ends/float64(n)), ok
	})
}

func (s *openDay) leftOver(d *Day) leftOver {
	if d.Residual == nil || s.steppedAt != 0 || s.slowTransfer || !d.Measured && *d.Production > idleBbl {
		return leftOver{}
	}
	return leftOver{true, *d.Residual + s.lossBbl, s.variance + stats.Square(tank.DumpBbl)/3*float64(len(s.runs))}
}

// lossByBalance is the loss by what the balance leaves over.
func (p *tankPage) lossByBalance(limit float64, now leftOver, ends float64) lossEstimate {
	var sum, doubt float64
	known := true
	return p.overDays(1+len(p.daysBefore), limit, func(n int) (float64, float64, bool) {
		x := now
		if n > 1 {
			x = p.daysBefore[n-2].left
		}
		known = known && x.known
		sum, doubt = sum-x.bbl, doubt+x.variance
		return sum / float64(n), math.Sqrt(doubt+stats.Square(ends)) / float64(n), known
	})
}

// lossByInflow is the loss of a tank with steady inflow: by what it produced less than on its own days before. False when they differ too
// much to tell.
func (p *tankPage) lossByInflow(limit float64, d *Day) (l lossEstimate, ok bool) {
	usual, ok := p.steadyInflow(limit)
	if !ok || d.Residual == nil || d.Measured || !plausibleLack(limit, usual) {
		return l, false
	}
	sum := -*d.Residual
	return p.overDays(1+len(p.daysBefore), limit, func(n int) (float64, float64, bool) {
		if n > 1 {
			sum += p.daysBefore[n-2].short
		}
		return sum / float64(n), usualStep * limit / 2, true
	}), true
}

// keepForLater keeps what the next days are compared with.
func (p *tankPage) keepForLater(s *openDay, d *Day, limit float64) {
	p.daysBefore = [2]dayBefore{{left: s.leftOver(d)}, p.daysBefore[0]}
	if s.steppedAt == 0 && d.Blind == "" {
		p.daysBefore[0].rest = s.rest
	}
	if d.Residual == nil || d.Measured || s.steppedAt != 0 || d.Blind == "" {
		return
	}
	p.daysBefore[0].short = -*d.Residual
	if usual, ok := p.steadyInflow(limit); ok && s.inflowAtRest < usual-limit/2 && plausibleLack(s.inflowAtRest-usual, usual) {
		return // it may be a loss: no habit
	}
	p.usualInflow = newest(p.usualInflow, s.inflowAtRest, usualMost)
}

// lossEvent raises a loss when it begins to stand out and the detector has not reported it, and again whenever twice as much is gone as was
// told, or it goes twice as fast.
func (w *bookkeeper) lossEvent(i int, p *tankPage, l lossEstimate) *tank.Event {
	s, t, limit := &p.yesterday, w.site.Tank(i), w.rules.LossLimit
	known := p.lossOpen
	switch {
	case l.believed && !p.lossOpen:
		p.lossOpen, p.lossSince = true, l.since
	case p.lossOpen && l.days > 0 && !l.believed && l.bblADay+2*l.err < limit:
		p.lossOpen, p.reportedLossRate = false, 0
	case p.lossOpen && l.days == 0 && p.reportedLossRate == 0 && !s.lossReported && !w.site.SlowLoss(w.st, i).Open:
		p.lossOpen = false // it was seen in the level, and is over
	}
	if !p.lossOpen {
		p.lost, p.lostTold = 0, 0
		return nil
	}
	gone := math.Max(l.bblADay, 0)
	if !known || p.lost == 0 { // of the days before too
		gone *= float64(l.days)
	}
	p.lost += gone
	if s.lossReported { // by the detector
		p.lostTold = p.lost
	}
	least := math.Max(lossAgain*limit, (lossGrown-1)*p.lostTold)
	faster := p.reportedLossRate > 0 && l.bblADay >= lossGrown*p.reportedLossRate && l.bblADay-p.reportedLossRate > lossErrors*l.err
	if !l.believed || s.lossReported || known && p.lost-p.lostTold < least && !faster {
		return nil
	}
	span, goesOn := "production day "+w.localDate(s.from), ""
	if p.lossSince < s.from {
		span = fmt.Sprintf("production days %s to %s", w.localDate(p.lossSince), w.localDate(s.from))
	}
	if known {
		goesOn = "; it goes on"
	}
	if p.reportedLossRate > 0 {
		goesOn += fmt.Sprintf(", and was told as %.1f bbl", p.lostTold)
	}
	p.reportedLossRate, p.lostTold = math.Max(p.reportedLossRate, l.bblADay), p.lost
	return &tank.Event{Rule: eventrules.UnexplainedLoss, Tank: t.ID, Start: unix(p.lossSince), End: unix(s.to), Bbl: p.lost, Note: fmt.Sprintf(
		"tank %s: the tank book of %s is short of %.1f bbl, %.1f bbl a day, give or take %.1f%s", t.ID, span, p.lost, l.bblADay, 2*l.err, goesOn)}
}

// Losing says since when oil is missing from a tank, as long as it goes on; zero: none is.
func (b Book) Losing(i int) time.Time {
	if p := b.page(i); p != nil && p.lossOpen {
		return unix(p.lossSince)
	}
	return time.Time{}
}

// HasReported says that the book has reported a loss that the detector reports: the same one, unless it has grown.
func (b Book) HasReported(i int, e tank.Event) bool {
	p, days := b.page(i), math.Max(e.End.Sub(e.Start).Hours()/24, 0.01)
	return e.Slow && p != nil && e.Bbl/days < lossGrown*p.reportedLossRate
}

// localDate is the local date of a production day.
func (w *bookkeeper) localDate(from float64) string {
	return unix(from).In(w.rules.Zone).Format("2006-01-02")
}

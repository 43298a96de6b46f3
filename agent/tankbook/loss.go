package tankbook

import (
	"fmt"
	"math"

	"gauger/agent/tank"
	"gauger/agent/tank/stats"
	"gauger/eventrules"
)

const (
	usualLeast = 3    // days of steady inflow that make it usual
	usualMost  = 10   // days that are remembered
	usualStep  = 0.45 // of the limit: by more two days of a steady inflow do not differ
	usualFar   = 0.05 // share of the usual by which production may fall short and still be a loss
	usualNear  = 3.0  // bbl a day, likewise
)

// plausibleLack says that what is missing of a steady inflow may have been lost; more than that,
// and the well made less.
func plausibleLack(left, due float64) bool {
	return math.Abs(left) <= math.Max(usualNear, usualFar*due)
}

// lack is what the last days lost in barrels a day, and its standard error.
type lack struct {
	days     int
	lost     float64
	err      float64
	since    float64
	believed bool
}

// loss looks for one in the day that is being closed and the two before it, and tells of it
// once. It says in the day's book what would have been seen.
func (w *bookkeeper) loss(i int, p *page, d *Day) *tank.Event {
	s, t := &p.due, w.site.Tank(i)
	per := t.Table.PerInch(s.end.level)
	var worst lack
	least := 0.0
	if d.Blind == "" {
		worst, least = w.leak(p, per, s.still.ends(t, per))
		d.Sees = new(least)
	} else if short, least, ok := p.lacking(w.rules.LossLimit, d); ok {
		worst, d.Sees = short, new(least)
	}
	if !worst.believed {
		limit := w.rules.LossLimit
		if d.Blind == "" && d.Measured {
			limit *= lossSudden
		}
		if l := p.over(limit, s.left(d), s.still.ends(t, per)); l.believed || l.days > 0 && l.lost > worst.lost {
			worst = l
		}
	}
	if d.Sees == nil && d.Measured && d.Residual != nil {
		d.Sees = new(math.Max(w.rules.LossLimit, lossErrors*d.Error/2))
	}
	p.remember(s, d, w.rules.LossLimit)
	return w.tell(i, p, worst)
}

// leak is the loss by the slope at rest of the last one, two or three days: the first window
// in which it stands out, and else the longest; and the least that would have.
func (w *bookkeeper) leak(p *page, per, ends float64) (lack, float64) {
	sum, since := p.due.still, p.due.from
	var l lack
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
			l = lack{days: k + 1, lost: -slope, err: err, since: since}
			l.believed = l.lost > limit && l.lost > lossErrors*err
		}
		if k == len(p.past) || p.past[k].n == 0 {
			return l, least
		}
		sum, since = sum.plus(p.past[k]), since-day
	}
}

// left is what the balance of a day leaves over, where that rests on the gauge-offs alone: beside
// a meter, and for a tank into which nothing came.
type left struct {
	known         bool
	bbl, variance float64 // residual without what was told; variance of the runs
}

const idleBbl = 0.5 // bbl a day below which nothing came

func (s *sheet) left(d *Day) left {
	if d.Residual == nil || s.upset != 0 || s.seeps || !d.Measured && *d.Production > idleBbl {
		return left{}
	}
	return left{true, *d.Residual + s.told, s.doubt + stats.Square(tank.DumpBbl)/3*float64(len(s.runs))}
}

// over is the loss by the balance of the last one, two or three days.
func (p *page) over(limit float64, now left, ends float64) lack {
	var sum, doubt float64
	var l lack
	for k, x := range [3]left{now, p.left[0], p.left[1]} {
		if !x.known {
			break
		}
		n := float64(k + 1)
		sum, doubt = sum-x.bbl, doubt+x.variance
		edge := limit
		if k > 0 {
			edge *= lossShare
		}
		l = lack{days: k + 1, lost: sum / n, err: math.Sqrt(doubt+stats.Square(ends)) / n, since: p.due.from - float64(k)*day}
		if l.believed = l.lost > edge && l.lost > lossErrors*l.err; l.believed {
			break
		}
	}
	return l
}

// lacking is the same for a tank with steady inflow: by what it produced less than on its own
// days before. False when they differ too much to tell.
func (p *page) lacking(limit float64, d *Day) (worst lack, least float64, ok bool) {
	usual, ok := p.habit(limit)
	if !ok || d.Residual == nil || d.Measured || !plausibleLack(limit, usual) {
		return worst, 0, false
	}
	sum := 0.0
	for k, lost := range [3]float64{-*d.Residual, p.short[0], p.short[1]} {
		n := float64(k + 1)
		sum += lost
		edge := limit
		if k > 0 {
			edge *= lossShare
		}
		worst = lack{days: k + 1, lost: sum / n, err: usualStep * limit / 2, since: p.due.from - float64(k)*day}
		worst.believed = worst.lost > edge
		if worst.believed {
			break
		}
	}
	return worst, limit * lossShare, true
}

// habit is what a tank with steady inflow makes a day; false while its days are too few or differ.
func (p *page) habit(limit float64) (usual float64, ok bool) {
	n := len(p.usual)
	for k := 1; k < n; k++ {
		if math.Abs(p.usual[k]-p.usual[k-1]) > usualStep*limit {
			return 0, false
		}
	}
	if n < usualLeast || p.due.upset != 0 {
		return 0, false
	}
	return stats.Median(append([]float64(nil), p.usual[n-usualLeast:]...)), true
}

// atRest is what came in while no run was under way, barrels a day: what flowed in during a run
// is an estimate.
func (p *page) atRest(change, days float64) float64 {
	for _, r := range p.due.runs {
		change -= r.Inflow
		days -= r.End.Sub(r.Start).Hours() / 24
	}
	return change / math.Max(days, 0.1)
}

// remember keeps what the next days are compared with.
func (p *page) remember(s *sheet, d *Day, limit float64) {
	p.past[1], p.past[0] = p.past[0], stills{}
	if s.upset == 0 && d.Blind == "" {
		p.past[0] = s.still
	}
	p.short[1], p.short[0] = p.short[0], 0
	p.left[1], p.left[0] = p.left[0], s.left(d)
	if d.Residual == nil || d.Measured || s.upset != 0 || d.Blind == "" {
		return
	}
	p.short[0] = -*d.Residual
	if usual, ok := p.habit(limit); ok && s.made < usual-limit/2 && plausibleLack(s.made-usual, usual) {
		return // it may be a loss: no habit
	}
	p.usual = append(p.usual[max(0, len(p.usual)-usualMost+1):len(p.usual):len(p.usual)], s.made)
}

// tell raises a loss once, when it begins to stand out and the detector has not told of it.
func (w *bookkeeper) tell(i int, p *page, l lack) *tank.Event {
	s, t := &p.due, w.site.Tank(i)
	known := p.losing
	switch {
	case l.believed && !p.losing:
		p.losing, p.since = true, l.since
	case p.losing && l.days > 0 && !l.believed && l.lost+2*l.err < w.rules.LossLimit:
		p.losing, p.told = false, 0
	}
	if !l.believed || known || s.knows {
		return nil
	}
	p.told = l.lost
	span := "production day " + w.dayOf(s.from)
	if l.days > 1 {
		span = fmt.Sprintf("production days %s to %s", w.dayOf(l.since), w.dayOf(s.from))
	}
	return &tank.Event{Rule: eventrules.UnexplainedLoss, Tank: t.ID, Start: unix(l.since), End: unix(s.to), Bbl: l.lost * float64(l.days), Note: fmt.Sprintf(
		"tank %s: the tank book of %s is short of %.1f bbl, %.1f bbl a day, give or take %.1f", t.ID, span, l.lost*float64(l.days), l.lost, 2*l.err)}
}

// Knows says that the book has told of a loss that the detector tells of: the same one, unless it has grown.
func (b Book) Knows(i int, e tank.Event) bool {
	if !e.Slow || i < 0 || i >= len(b.pages) || b.pages[i] == nil {
		return false
	}
	days := math.Max(e.End.Sub(e.Start).Hours()/24, 0.01)
	return e.Bbl/days < lossGrown*b.pages[i].told
}

// dayOf is the local date of a production day.
func (w *bookkeeper) dayOf(from float64) string {
	return unix(from).In(w.rules.Zone).Format("2006-01-02")
}

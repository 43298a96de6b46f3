package tankbook

import (
	"fmt"
	"math"
	"slices"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tank/stats"
)

const (
	kindUnseen  = 1
	unseenAfter = 600.0     // s without a reading
	unseenTimes = 4.0       // times the interval of a tank that is read more rarely
	unseenDrift = 6 * 3600. // s in which a sensor's drift of the day goes its whole way
	unseenCross = 60.0      // s that what explains a change over a gap has to lie in it
	unseenShare = 0.5       // of such a change that oil which came from another tank explains
)

// addUnseen names what the level has changed over a gap in its readings, where production does not explain it: a sensor may have been
// changed, or oil was moved. Production is as usual meanwhile, or by its meter.
func (w *bookkeeper) addUnseen(i int, p *tankPage, e stockAt, sigma float64, metered bool) {
	was, t := p.last, w.site.Tank(i)
	long := e.t - was.t
	if was.t <= 0 || long <= math.Max(unseenAfter, unseenTimes*t.Every.Seconds()) {
		return
	}
	gap := movement{from: was.t + p.clockOffset, to: e.t + p.clockOffset}
	gap.bbl = e.stock - was.stock - p.receivedIn(gap)
	made, most := w.site.Inflow(w.st, i, was.t, e.t)
	doubt := (most - made) / 2
	if metered {
		made, doubt = e.meter-was.meter, 0
		most = math.Max(most, made)
	}
	per := t.Table.PerInch(was.level)
	least := math.Max(fallLeast, restBreak*sigma*per) + math.Min(1, long/unseenDrift)*wavesIn*per
	if metered {
		least += meterJump
	}
	if gap.bbl >= -least && gap.bbl <= most+least {
		if lack := made - gap.bbl; !metered && lack >= math.Max(t.Loads.MinLoad, unseenShare*made) && !w.othersRose(i, was.t, e.t, lack) {
			what := "nothing was read"
			if p.stood {
				what = "the sensor stood still"
			}
			p.today.remark(fmt.Sprintf("from %s %s: %.1f bbl more after it, where the well made %.1f at its rate before. %.1f bbl are missing, or came to another tank, or never: look for a load that nobody saw",
				w.clockSpan(gap.from, gap.to), what, gap.bbl, made, lack))
		}
		return
	}
	p.cutRest()
	x := namedPart{kind: kindUnseen, movement: movement{gap.from, gap.to, made - gap.bbl}, before: was.gauged(), after: e.gauged(), made: made, times: 1}
	if y := &p.yesterday; p.hasYesterday && y.hasClosing && gap.from < y.to && gap.to > y.to { // the stock at the gauge-off is by time, too
		part := x
		part.bbl *= (y.to - gap.from) / (gap.to - gap.from)
		x.bbl -= part.bbl
		y.addPart(part)
	}
	p.today.addPart(x)
	p.today.variance += stats.Square(doubt)
}

// takeBackHung makes a gap of the time for which a value hung that has come free with a level of now: the stock was that of its beginning,
// and at a gauge-off meanwhile nobody knows it.
func (w *bookkeeper) takeBackHung(p *tankPage, id string, wall float64, out []tank.Outcome) {
	for _, o := range out {
		e := o.Event
		if e == nil || e.Rule != eventrules.Stuck || e.Tank != id || math.Abs(tank.UnixSeconds(e.End)-wall) > unseenCross {
			continue
		}
		since, metered := tank.UnixSeconds(e.Start)-p.clockOffset, p.last.stock-p.last.net
		if len(p.counts) > 0 {
			since = math.Max(since, p.counts[0].t)
		}
		if since >= p.last.t {
			return
		}
		p.last.t, p.stood = since, true
		if metered != 0 {
			p.last.meter = p.meterAt(since)
			p.last.net = p.last.stock - p.last.meter
		}
		p.rest, p.inRest, p.moving = restSums{}, 0, p.moving && p.before.t < since // it was no rest
		p.cutRest()
		p.nearGaugeOff = slices.DeleteFunc(slices.Clone(p.nearGaugeOff), func(x stockAt) bool { return x.t > since })
		if y := &p.yesterday; p.hasYesterday && since+p.clockOffset < y.to {
			y.hasClosing, p.today.hasOpening = false, false
		}
	}
}

// othersRose says that other tanks rose beyond their usual by most of so many barrels between two site seconds, as far as they are read.
func (w *bookkeeper) othersRose(i int, from, to, bbl float64) bool {
	for j := range w.site.Len() {
		if j != i && w.b.page(j) != nil {
			bbl -= math.Max(0, w.site.Rise(w.st, j, from, to)) / allRose
		}
	}
	return bbl <= 0
}

// receivedIn are the barrels that are booked as come from other tanks in a time.
func (p *tankPage) receivedIn(gap movement) (bbl float64) {
	for _, s := range p.days() {
		for _, m := range s.transferredIn {
			if crosses(m, gap) {
				bbl += m.bbl
			}
		}
	}
	return bbl
}

// crosses says that two stretches of time have more than an edge in common.
func crosses(a, b movement) bool {
	return math.Min(a.to, b.to)-math.Max(a.from, b.from) > math.Min(unseenCross, (a.to-a.from)/2)
}

// anyChange over a gap is explained by what the detector has decided, and noChange by what takes days: that explains nothing of an hour.
func anyChange(namedPart) bool { return true }
func noChange(namedPart) bool  { return false }

// unseenUntil says that what the level did at a time is named as the change over a gap that ended then.
func (s *openDay) unseenUntil(at float64) bool {
	for _, x := range s.parts {
		if x.kind == kindUnseen && math.Abs(x.to-at) <= unseenCross {
			return true
		}
	}
	return false
}

// unseenWords say what was seen before a gap and after it.
func (w *bookkeeper) unseenWords(x namedPart) string {
	if x.times > 1 {
		return fmt.Sprintf("unseen over a gap %d times from %s", x.times, w.clockSpan(x.from, x.to))
	}
	text := fmt.Sprintf("unseen over a gap: no readings to believe from %s, %.2f in before and %.2f in after it, %s", w.clockSpan(x.from, x.to), x.before.in, x.after.in, moreOrLess(x.before, x.after))
	if math.Abs(x.made) >= leastRemeasured {
		text += fmt.Sprintf(", while %.2f bbl were produced", x.made)
	}
	if whole := x.before.bbl + x.made - x.after.bbl; math.Abs(whole) > math.Abs(x.bbl)+leastRemeasured {
		text += fmt.Sprintf("; the day has its share of these %.2f bbl by time", math.Abs(whole))
	}
	return text
}

// partOf is a part with its sentence.
func (w *bookkeeper) partOf(x namedPart) Part {
	what := w.unseenWords
	if partKinds[x.kind] == PartRemeasured {
		what = w.remeasuredWords
	}
	return Part{Kind: partKinds[x.kind], Bbl: x.bbl, What: what(x)}
}

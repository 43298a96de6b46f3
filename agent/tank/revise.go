package tank

import (
	"fmt"
	"math"
	"slices"
	"time"

	"gauger/agent/tank/stats"
)

const (
	reviewFor  = 24 * 3600.0 // s after its end for which a load may still be found wrong
	frozenFrom = 300.0       // s after its end in which a value that freezes hides the closing level
	othersSeen = 6 * 3600.0  // s after it came back for which the other tanks' levels are sure to be known
	mostBack   = 0.95        // share of what came back that is most of it
	asMuchBack = 0.1         // share of a fall by which what came back slowly is as much
	frozenOff  = 0.5         // in between the frozen value and the one after it that inflow does not explain
	clockMost  = 6 * 3600.0  // s between the draws of a pump on a clock, at most
	clockLate  = 0.05        // share of that by which they come early or late
	clockSize  = 0.1         // share of the smallest by which the largest is more
	clockSkips = 3           // times that a draw comes at, of which it may leave out all but one: it fell into a load, or was too small for one
	clockBack  = 0.9         // share of a draw that is there again when the next one begins
)

// correctLoads tells of the reported loads for which wrong finds a reason, each once.
func (u *update) correctLoads(i int, ts *tankState, now float64, wrong func(reportedLoad) Correction) {
	for k, l := range ts.reports.loads {
		if l.corrected || now-l.end > reviewFor {
			continue
		}
		if c := wrong(l); c.Note != "" {
			ts.reports.loads = append([]reportedLoad(nil), ts.reports.loads...)
			ts.reports.loads[k].corrected = true
			u.addCorrection(i, l, c)
		}
	}
}

func (u *update) addCorrection(i int, l reportedLoad, c Correction) {
	c.Tank, c.Began = u.site.tanks[i].ID, time.UnixMilli(l.key).UTC()
	c.Start, c.End = u.wall(i, l.start), u.wall(i, l.end)
	u.out = append(u.out, Outcome{Correction: &c})
}

// findReturned looks, every ten minutes, whether the oil of a load has come back after its confirmation: at a pump's rate,
// and beyond what flows in on other days.
func (u *update) findReturned(i int, ts *tankState, now float64) {
	n := len(ts.levels.history)
	if n == 0 || len(ts.reports.loads) == 0 || ts.drawing || ts.levels.history[n-1].t <= ts.reports.reviewedTo {
		return
	}
	ts.reports.reviewedTo = ts.levels.history[n-1].t
	t := &u.site.tanks[i]
	u.correctLoads(i, ts, now, func(l reportedLoad) Correction {
		fall := l.opening - l.closing
		back, since, until, last := ts.levels.wonBack(t, l, fillSlow)
		slow, from, to, level := ts.levels.wonBack(t, l, ts.levels.strange(t, l))
		if back < explainedShare*fall && math.Abs(slow-fall) <= asMuchBack*fall && ts.reports.reviewedTo-to >= bulgeRest { // as much as had left, and then no more
			back, since, until, last = slow, from, to, level
		}
		goesOn := until == ts.reports.reviewedTo && back < mostBack*fall // how much came is not known yet
		if goesOn || back < explainedShare*fall || ts.reports.reviewedTo-until > othersSeen || u.othersGave(i, since, until) >= explainedShare*back*t.Table.PerInch(l.closing) {
			return Correction{}
		}
		return Correction{BackBbl: t.barrels(l.closing+back, l.closing), BackFrom: u.wall(i, since), BackTo: u.wall(i, until), Note: fmt.Sprintf(
			"%.2f in came back within %s of its end, faster than the inflow, and the level is %.2f in: the oil may never have left the site", back, spanText(ts.reports.reviewedTo-l.end), last)}
	})
}

// wonBack are the most inches that the level has won since a load, beyond its inflow, at a rate in barrels a minute that its well has not, and from when until
// when. What was lost again counts against nothing that comes later; the next draw, or a step, ends the count.
func (l *levels) wonBack(t *Tank, load reportedLoad, rate float64) (back, since, until, last float64) {
	last = load.closing
	net, began, atUntil := 0.0, 0.0, 0.0
	k := searchTime(l.history, load.end+300)
	for k++; k < len(l.history); k++ {
		a, b := l.history[k-1], l.history[k]
		dt := b.t - a.t
		won := float64(b.v-a.v) - load.inflow*dt
		if float64(b.v-a.v) < -2*fallLeast*math.Max(1, dt/historyEvery) || dt > 3*historyEvery || b.flags == unlinked { // heartbeats come a quarter of an hour apart
			break
		}
		pumped := rate / 60 / t.Table.PerInch(float64(b.v))
		if net == 0 && won >= pumped*dt {
			began = a.t
		}
		if began > 0 {
			net = math.Max(0, net+won)
		}
		if net == 0 {
			began = 0
		}
		if net > back && net >= pumped*(b.t-began) {
			if back, since = net, began; mostBack*back >= atUntil {
				until, atUntil = b.t, back
			}
		}
		last = float64(b.v)
	}
	return back, since, until, last
}

// correctFrozen tells of the loads whose closing level was a value that stood still.
func (u *update) correctFrozen(i int, ts *tankState, since float64, to point) {
	u.correctLoads(i, ts, to.t, func(l reportedLoad) Correction {
		off := to.v - l.closing - l.inflow*(to.t-since)
		if since > l.end+frozenFrom || to.t <= l.end || math.Abs(to.v-l.closing) < frozenOff || math.Abs(off) < frozenOff {
			return Correction{}
		}
		return Correction{Note: fmt.Sprintf("the sensor stood still when it ended: closing %.2f in was not measured; when the value moved again it was %.2f in", l.closing, to.v)}
	})
}

// correctStepped tells of the loads whose fall a step of the level has undone at once: the sensor had been wrong. A step down, after which no more is gone than
// a truck holds, from where the level stood since the newest load, may be the rest of that: the sensor hung.
func (u *update) correctStepped(i int, ts *tankState, before float64, to point) {
	t, last := &u.site.tanks[i], len(ts.reports.loads)-1
	u.correctLoads(i, ts, to.t, func(l reportedLoad) (c Correction) {
		made, bbl, more, after := l.inflow*(to.t-l.end), t.barrels(l.opening, l.closing), t.barrels(before, to.v), spanText(to.t-l.end)
		stood := made >= backExact && math.Abs(before-l.closing) <= math.Min(backAgain, made/2) && l.end == ts.reports.loads[last].end
		undoes := to.v-before >= explainedShare*(l.opening-l.closing) && before >= l.closing-handledNear && to.v <= l.opening+made+handledNear
		switch {
		case undoes:
			c.Note = fmt.Sprintf("the level stepped up at once from %.2f to %.2f in %s after its end: the sensor may have been wrong all the time", before, to.v, after)
		case stood && t.Group == "" && more > wrongBbl(bbl) && (t.Loads.TruckMax == 0 || bbl+more <= t.Loads.TruckMax):
			c.Note = fmt.Sprintf("the level stepped down at once from %.2f to %.2f in %s after its end, and had not risen as the well makes it: the sensor may have hung, and the load be up to %.0f bbl larger", before, to.v, after, more)
		}
		return c
	})
}

// proven says that a draw's closing stands against a sensor that moved down at once behind it, by some inches at a time: it is there again, or had rested there
// for ten minutes, alive, and what fell is more than a truck holds or its pump draws, or the level had risen as the well makes it.
func (d draw) proven(ts *tankState, t *Tank, moved, by float64) bool {
	made := d.usualInflow * (ts.last.t - d.end)
	now := stats.Median(values(lastSamplesOf(ts.levels.recent, stepFew)))
	if ts.last.t > moved+stuckWait && math.Abs(now-d.closing.level-made) <= math.Min(backAgain+made/2, by/2) {
		return true
	}
	b := between(ts.levels.recent, math.Max(d.end+settleShort, moved-deadFirst), moved)
	if moved-d.end < deadFirst || changesIn(b) < stepFew || changesIn(b[len(b)/2:]) == 0 || !rests(b, d.closing.level, d.usualInflow) {
		return false
	}
	bbl, long := by*t.Table.PerInch(d.closing.level), moved-d.end
	rose := stats.Median(values(lastSamplesOf(b, jumpedRest))) - d.closing.level
	return bbl > t.pumpRate(d)/60*long || t.Loads.TruckMax > 0 && t.volume(d)+bbl > t.Loads.TruckMax || d.usualInflow*long >= backExact && rose >= d.usualInflow*long/2
}

// tellLeapt says of a draw that its sensor moved down at once behind it, by some inches at a time, unless that shows where its oil had stood.
func (d *draw) tellLeapt(ts *tankState, t *Tank, at, until, by float64) {
	if f, ok := freedBehind(ts, t, *d); ok && f.fell {
		return
	}
	d.note(!d.proven(ts, t, at, by), fmt.Sprintf("%s after it the level fell by %.1f in at once, faster than max_rate, which is not counted: the sensor moved, or had hung", spanText(until-d.end), by))
}

// freed is a float that hung, or a tape that dragged, from a load's end on, until it came free.
type freed struct {
	standing         // where and how long it stood
	above    float64 // in that it hung above the closing
	fell     bool    // it fell down to the oil, and was not reached by it
}

// freedBehind says whether a float stood behind a draw while its well made enough to show, and then came to where the oil was: fell there at once, or rose on
// from there. The closing is on the line that it shows since then.
func freedBehind(ts *tankState, t *Tank, d draw) (f freed, ok bool) {
	b := between(ts.levels.recent, d.end+settleShort, math.Min(d.leaptAt, d.end+t.Loads.Confirm.Seconds()))
	first := between(b, d.end, d.end+2*restNear)
	if t.Sensor != "float" || t.Group != "" || d.deadband > 0 || len(first) < stepFew {
		return f, false
	}
	level, off := stats.Median(values(first)), math.Max(deadOff, restSigmas*neighbourScatter(first))+d.step/2
	k := stoodAt(b, level, off)
	free := b[k:]
	if k == 0 || len(free) < jumpedRest || free[len(free)-1].t-free[0].t < restShort {
		return f, false
	}
	l, fits := fit(free)
	rate := math.Min(ts.levels.roseBefore(d.start, 2*levelFar), l.slope)
	f.standing = standing{from: d.end, to: free[0].t, level: level, off: off}
	f.above = level - stats.Median(values(free)) + rate*(free[len(free)/2].t-d.end)
	f.fell = float64(b[k-1].v-free[0].v) > off
	return f, fits && f.to-f.from >= hungLeast && rate*(f.to-f.from) >= math.Max(backExact, off)
}

// correctMoved tells of the loads of other tanks while a tank was not read, which holds as much more behind that as one of them took.
func (u *update) correctMoved(i int, ts *tankState, from, to point) {
	t := &u.site.tanks[i]
	made := ts.inflow(t, from.t).usual * (to.t - from.t) * t.Table.PerInch(from.v)
	gained := t.barrels(to.v, from.v) - made
	for j, o := range u.separate(i) {
		if gained >= arrivesShare*o.Loads.MinLoad && len(u.st.tanks[j].reports.loads) > 0 {
			u.correctLoads(j, u.writable(j), to.t, func(l reportedLoad) Correction {
				if bbl := o.barrels(l.opening, l.closing); l.end < from.t || l.start > to.t || gained < arrivesShare*bbl || bbl < arrivesShare*gained {
					return Correction{}
				}
				return Correction{Note: fmt.Sprintf("tank %s was not read meanwhile, and holds %.1f bbl more since, beyond its inflow: the oil may have been moved there and never left the site", t.ID, gained)}
			})
		}
	}
}

// taken are the barrels of a reported load with the most that flowed in meanwhile.
func (t *Tank) taken(l reportedLoad) float64 {
	return t.barrels(l.opening, l.closing) + l.inflow*(l.end-l.start)*t.Table.PerInch(l.opening)
}

// onClock are the two loads before one that a pump on a clock drew with it, as one does that sends power oil down the wells, and the seconds between them:
// alike, less than half a truckload, equally far apart, and what each took was there again before the next began.
func (t *Tank) onClock(loads []reportedLoad, d reportedLoad) (two []reportedLoad, every float64) {
	next, was := d, d
	for k := len(loads) - 1; k >= 0 && len(two) < 2; k-- {
		l := loads[k]
		least, most := min(t.taken(l), t.taken(d)), max(t.taken(l), t.taken(d))
		if most <= (1+clockSize)*least && most < t.Loads.TruckMax/2 && next.opening-l.closing >= clockBack*(l.opening-l.closing) {
			apart := was.start - l.start
			if every == 0 {
				every = apart
			}
			every, two, was = min(every, apart), append(two, l), l
		}
		next = l
	}
	if len(two) < 2 || every > clockMost {
		return nil, 0
	}
	for _, apart := range []float64{d.start - two[0].start, two[0].start - two[1].start} {
		if n := math.Round(apart / every); n > clockSkips || math.Abs(apart-n*every) > clockLate*every {
			return nil, 0
		}
	}
	return two, every
}

// tellClock doubts a draw that a pump on a clock may have made, and corrects those before, which nobody could know from trucks' loads.
func (u *update) tellClock(i int, ts *tankState, d *draw, now float64) {
	t := &u.site.tanks[i]
	two, every := t.onClock(ts.reports.loads, reported(*d))
	if len(two) == 0 || t.Group != "" { // whose tanks give a share each
		return
	}
	d.doubt("like two draws before it, some %s apart, and each was there again before the next: rather a pump on a clock, as for power oil, than a truck", spanText(every))
	u.correctLoads(i, ts, now, func(l reportedLoad) Correction {
		before := ts.reports.loads[:slices.IndexFunc(ts.reports.loads, func(x reportedLoad) bool { return x.key == l.key })]
		if told, _ := t.onClock(before, l); len(told) > 0 || !slices.ContainsFunc(two, func(x reportedLoad) bool { return x.key == l.key }) {
			return Correction{}
		}
		return Correction{Note: fmt.Sprintf("draws like it came again, some %s apart, and each was there again before the next: rather a pump on a clock, as for power oil, than a truck, and no oil may have left the site", spanText(every))}
	})
}

// waterDrawn says that water was drawn. In a group the interface of one tank falls as what all of them hold together.
func (s siteTanks) waterDrawn(i int, d draw) bool {
	if s.site.tanks[i].Group == "" {
		return s.st.tanks[i].aux.waterDrawn(&s.site.tanks[i], d, s.st.tanks[i].levels.about)
	}
	d.start, d.end = s.jointly(i, d)
	for j, o := range s.group(i) {
		together := func(at float64) (float64, bool) { // in inches of the one with the interface
			own, known := s.st.tanks[j].levels.about(at)
			mates, _ := s.joined(j, d)
			in, all := s.heldBy(mates, at, o.Table.PerInch(own))
			return own + in, known && all
		}
		top, before := together(d.start)
		low, behind := together(d.end)
		if d.opening.level, d.closing.level = top, low; before && behind && s.st.tanks[j].aux.waterDrawn(o, d, together) {
			return true
		}
	}
	return false
}

// asDraws are reported loads as draws.
func asDraws(told []reportedLoad) (out []draw) {
	for _, l := range told {
		out = append(out, draw{start: l.start, end: l.end, opening: gauge{level: l.opening}, closing: gauge{level: l.closing}})
	}
	return out
}

// cutByMates cuts the draws of a group's tank where another, from which a truck draws, showed two of them and has its ticket for the first: what still runs out
// of this one in between goes there, and the second begins before it has ceased.
func (s siteTanks) cutByMates(i int, draws []draw) []draw {
	for k := 0; k < len(draws); k++ {
		d := draws[k]
		for j, o := range s.mates(i) {
			_, least := s.joined(j, d)
			least *= o.Loads.MinLoad
			told, ended, next := s.st.tanks[j].reports.loads, math.Inf(-1), math.Inf(1)
			for _, x := range append(s.drawsOf(j), asDraws(told)...) {
				if x.start > d.start+joinWithin && x.start < math.Min(next, d.end-joinWithin) && o.volume(x) > math.Max(partBbl, least) {
					next = x.start
				}
			}
			for _, x := range told {
				if x.start < next && x.end > d.start {
					ended = math.Max(ended, x.end)
				}
			}
			high, seen := s.st.tanks[i].levels.held(next)
			low, known := s.st.tanks[i].levels.held(ended)
			if !seen || !known || next-ended < pauseSure || ended <= d.start+joinWithin {
				continue
			}
			first, then := d, d
			first.end, first.oilTo, first.closing, first.within.hi, first.next = ended, ended, gauge{level: low, samples: 1}, next, next
			first.endLine = line{ended, low, d.endLine.slope}
			then.start, then.opening, then.within.lo = next, gauge{level: high, samples: 1}, next
			for _, x := range []*draw{&first, &then} {
				x.parts, x.pause, x.pausedBbl, x.stood, x.early = 1, 0, 0, 0, 0
				x.samples = len(between(s.st.tanks[i].levels.recent, x.start, x.end))
			}
			draws = slices.Insert(slices.Clone(draws), k+1, then)
			draws[k] = first
			break
		}
	}
	return draws
}

// fellFrom is when what all tanks of a group hold began to fall, where they had only given to each other since a time, as a truck had left them uneven:
// that is no part of a load. The opening of one of them is its part of what all of them held in the minutes before, as no two are read at one instant.
func (s siteTanks) fellFrom(i int, d draw, since float64) (at float64, opening gauge, ok bool) {
	mates := 0
	for range s.mates(i) {
		mates++
	}
	all, share := s.joined(i, d)
	if mates == 0 || len(all) < mates {
		return 0, opening, false
	}
	all = append(all, i)
	long := math.Max(2*restNear, 2.5*s.st.tanks[i].interval.fresh())
	per, noise, ended := s.site.tanks[i].Table.PerInch(d.closing.level), 0.0, since-long
	for _, j := range all {
		noise = math.Hypot(noise, 2*restSigmas*s.st.tanks[j].noise.perSample()*s.site.tanks[j].Table.PerInch(d.closing.level)/per)
		for _, x := range s.drawsOf(j) {
			if x.end <= since {
				ended = math.Max(ended, x.end+showsTo)
			}
		}
	}
	sum := s.sumOf(all, ended, d.end, per)
	noise = math.Max(noise, 2*restSigmas*neighbourScatter(sum))
	first := searchTime(sum, since)
	k := first + fallsOn(sum[first:], since, partBbl/per+noise, noise)
	if k == len(sum) {
		return 0, opening, false
	}
	at = sum[k].t
	for _, j := range all {
		for _, l := range s.st.tanks[j].reports.loads { // one that was asked before
			if math.Abs(l.start-at) <= long && l.end > d.start {
				at = l.start
			}
		}
	}
	gave, came, from := 0.0, 0.0, math.Max(ended, math.Min(since, at-long))
	for _, j := range all {
		bbl := s.st.tanks[j].rise(&s.site.tanks[j], from, at)
		gave, came = gave+math.Max(0, -bbl), came+math.Max(0, bbl)
	}
	if gave <= partBbl || came < explainedShare*gave {
		return 0, opening, false
	}
	held := between(sum, math.Max(ended, at-long), at)
	if len(held) == 0 {
		held = sum[k : k+1]
	}
	own, seen := s.st.tanks[i].levels.held(at)
	in, known := s.heldBy(all, at, per)
	err := math.Hypot(s.st.tanks[i].noise.perSample(), share*neighbourScatter(held))
	return at, gauge{level: own + share*(stats.Median(values(held))-in), err: err, samples: len(held)}, seen && known
}

package tank

import (
	"cmp"
	"math"
	"slices"
)

const (
	coursePoints   = 16     // instants at which a rise is compared with the falls that may explain it
	fallingMost    = 8      // other falling tanks that are told apart
	explainsBetter = 0.25   // share of a draw by which it has to explain a rise better than the others do without it
	compareBbl     = 8.0    // bbl of a draw that are compared with the other tank at a time
	compareLongest = 900.0  // s; at most this long
	compareRuns    = 2      // stretches in a row that have to agree
	arrivesShare   = 0.85   // share of a transfer that its other tank shows at least, where nothing else happens to it
	movedLeast     = 180.0  // s in which a transfer into a tank is seen before or behind a draw from it
	returnedWithin = 3600.0 // s before a draw in which another tank that is back where it was may have fallen
	returnedLess   = 0.8    // share of its own fall above which a draw explains its rise
	returnedNear   = 0.02   // share of that fall by which it may be off
	aloneMost      = 0.05   // share of a draw that another tank of a group may fall by chance
)

// explainsRise says that what the other tanks rose over a draw came out of it: they rose as it fell. Where more tanks fell a rise is the oil of no
// more draws than add up to it. Of all choices of draws the one that follows the rise best has to hold this one, and without it none nearly as well.
func (s siteTanks) explainsRise(i int, d draw, removed float64) bool {
	from, to := d.start-showsFrom-d.opening.away, d.end+showsTo+d.closing.away
	givers := s.fallingTanks(i, from, to)
	_, rose := s.othersRose(i, from, to)
	all := removed
	for _, k := range givers[1:] {
		all -= s.st.tanks[k].rise(&s.site.tanks[k], from, to)
	}
	if len(givers) == 1 && d.samples == 0 || len(givers) > 1 && rose >= explainedShare*all {
		return true
	}
	if len(givers) > fallingMost {
		return false
	}
	risers := s.risingTanks(i, from, to)
	for _, k := range givers[1:] {
		from, to = s.widen(k, from, to)
	}
	with, without := math.Inf(1), math.Inf(1)
	came, fell := s.riseCourse(risers, from, to), make([][]float64, len(givers))
	for n, k := range givers {
		fell[n] = s.riseCourse([]int{k}, from, to)
	}
	for n := range came {
		if len(givers) == 1 {
			came[n] = math.Max(came[n], -fell[0][n]) // a truck may draw there, but nothing comes before it goes
		}
	}
	for choice := range 1 << len(givers) {
		if off := worstMiss(came, fell, choice); choice&1 == 1 {
			with = math.Min(with, off)
		} else {
			without = math.Min(without, off)
		}
	}
	return with <= (1-alikeRise)*removed && without-with >= explainsBetter*removed
}

// nothingElse says that a draw was seen from its beginning to its end, and that nothing was drawn meanwhile from the tanks that rose:
// then all of a transfer's oil shows in them.
func (s siteTanks) nothingElse(i int, d draw) bool {
	if d.samples == 0 || d.opening.away+d.closing.away > compareLongest {
		return false
	}
	for _, j := range s.risingTanks(i, d.start, d.end) {
		if slices.ContainsFunc(s.drawsOf(j), func(x draw) bool { return x.end > d.start-joinWithin && x.start < d.end+showsTo }) {
			return false
		}
	}
	return true
}

// fallingTanks are the tanks that fell as in a draw between two times, tank i first.
func (s siteTanks) fallingTanks(i int, from, to float64) []int {
	out := []int{i}
	for k, o := range s.others(i) {
		if -s.st.tanks[k].rise(o, from, to) >= o.Loads.MinLoad {
			out = append(out, k)
		}
	}
	return out
}

// risingTanks are the tanks outside its group that rose while tank i fell.
func (s siteTanks) risingTanks(i int, from, to float64) (out []int) {
	for j, o := range s.separate(i) {
		if s.st.tanks[j].rise(o, from, to) > 0 {
			out = append(out, j)
		}
	}
	return out
}

// drawsOf are the draws of a tank that was decided last and those that are under way.
func (s siteTanks) drawsOf(k int) []draw {
	ts := s.st.tanks[k]
	high, _ := ts.levels.about(ts.lastDrawStart)
	low, _ := ts.levels.about(ts.lastDrawEnd)
	ds := []draw{{start: ts.lastDrawStart, end: ts.lastDrawEnd, opening: gauge{level: high}, closing: gauge{level: low}}}
	if ts.drawing {
		more, _ := ts.draws(&s.site.tanks[k], s.site.speed, s.st.now*s.site.speed)
		ds = append(ds, more...)
	}
	return ds
}

// widen widens a time by the draws of a tank that reach into it.
func (s siteTanks) widen(k int, from, to float64) (lo, hi float64) {
	lo, hi = from, to
	for _, d := range s.drawsOf(k) {
		if d.end > from && d.start < to {
			lo, hi = math.Min(lo, d.start-showsFrom-d.opening.away), math.Max(hi, d.end+showsTo+d.closing.away)
		}
	}
	return lo, hi
}

// riseCourse are the barrels that some tanks rose together since a time, at each of coursePoints instants; NaN where
// a level is not known.
func (s siteTanks) riseCourse(tanks []int, from, to float64) []float64 {
	out := make([]float64, coursePoints)
	for n := range out {
		for _, j := range tanks {
			bbl, ok := s.st.tanks[j].riseKnown(&s.site.tanks[j], from, from+(to-from)*float64(n+1)/coursePoints, 2*levelFar)
			if !ok {
				bbl = math.NaN()
			}
			out[n] += bbl
		}
	}
	return out
}

// worstMiss is by how much, at the worst instant, a rise is not the sum of the chosen falls; infinite where no instant is known.
func worstMiss(came []float64, fell [][]float64, choice int) float64 {
	worst, known := 0.0, false
	for n, rose := range came {
		off := rose
		for k := range fell {
			if choice>>k&1 == 1 {
				off += fell[k][n]
			}
		}
		if !math.IsNaN(off) {
			worst, known = math.Max(worst, math.Abs(off)), true
		}
	}
	if !known {
		return math.Inf(1)
	}
	return worst
}

// othersDrained are the barrels that the tanks other than two lost between two times, as fast as a load.
func (s siteTanks) othersDrained(i, j int, from, to float64) (bbl float64) {
	for k, o := range s.others(i) {
		if out := -s.st.tanks[k].rise(o, from, to); k != j && out >= o.Loads.MinRate*(to-from)/60 {
			bbl += out
		}
	}
	return bbl
}

// filledWhileDrawn is the tank that a draw went into although that tank was drawn from as well:
// it rose as this one fell, except while it was falling itself.
func (s siteTanks) filledWhileDrawn(i int, d draw) (name string, ok bool) {
	own := &s.site.tanks[i]
	step := math.Min(compareLongest, math.Max(2*joinWithin, compareBbl/math.Max(own.pumpRate(d), 0.1)*60))
	for j, o := range s.separate(i) {
		if slices.ContainsFunc(s.drawsOf(j), func(x draw) bool { // a level that only swings rises and falls so by chance, and a meter's no truck draws
			turns, denies := s.turnsWith(i, j, d, x)
			return x.start < d.end && x.end > d.start && !denies && s.risesAsFalls(i, j, d, step) || o.Lact && turns
		}) {
			return o.ID, true
		}
	}
	return "", false
}

// risesAsFalls compares a draw of tank i, stretch by stretch, with tank j. A stretch of which either
// level is lost behind a gap, or in which nothing left, agrees with nothing.
func (s siteTanks) risesAsFalls(i, j int, d draw, step float64) bool {
	ts, other, t, o := s.st.tanks[i], s.st.tanks[j], &s.site.tanks[i], &s.site.tanks[j]
	silence := math.Max(ts.interval.gapMin(t, s.site.speed), other.interval.gapMin(o, s.site.speed))
	rising, row, drawn, neither := 0, 0, 0, 0
	for at := d.start + nodeEvery; at+step <= d.end; at += step {
		left, known := ts.riseKnown(t, at, at+step, silence)
		came, seen := other.riseKnown(o, at, at+step, silence)
		out := -left
		switch beside := s.othersDrained(i, j, at, at+step); {
		case !known || !seen:
			neither++
		case beside > 0 && came > 0 && came < explainedShare*(out+beside):
			row = 0 // it came out of either: no evidence for or against
			continue
		case out > 0 && came >= explainedShare*out && came <= out/explainedShare:
			row++
			rising = max(rising, row)
			continue
		case came <= -o.Loads.MinRate*step/60:
			drawn++
		default:
			neither++
		}
		row = 0
	}
	return rising >= compareRuns && drawn > 0 && neither <= 2
}

// jointly is when the draws of a group's tanks began and ended that a tank's draw is one with through the equaliser: those that were under way
// when it began, and what ended within jointLead behind it.
func (s siteTanks) jointly(i int, d draw) (start, end float64) {
	start, end = d.start, d.end
	for j := range s.mates(i) {
		for _, x := range append(s.drawsOf(j), asDraws(s.st.tanks[j].reports.loads)...) { // the last that was decided may be the equaliser's, behind its load
			if x.end > d.start && x.start >= s.st.tanks[i].lastDrawEnd && !s.fellAlone(j, x) {
				if _, settles := s.evenedOut(j, x); !settles {
					start = math.Min(start, x.start)
				}
			}
			if x.start < d.end && x.end < d.end+jointLead {
				end = math.Max(end, x.end)
			}
		}
	}
	return start, end
}

// cameFrom is a tank that was moved into one while that was drawn from, the barrels that came in during the draw, and whether they did at an
// edge of it.
func (s siteTanks) cameFrom(i int, d draw) (name string, bbl float64, edge bool) {
	for k, o := range s.separate(i) {
		for _, x := range s.drawsOf(k) {
			if s.movedInto(k, i, x, d) {
				return o.ID, -s.st.tanks[k].rise(o, math.Max(d.start, x.start), math.Min(d.end, x.end)), x.start < d.start || x.end > d.end
			}
		}
	}
	return "", 0, false
}

// startsAtPeak gives a draw the start and the opening that it had where another tank was still moved into this one: the highest level, for it
// rose until the pump drew, and fell the slower until nothing came in.
func (s siteTanks) startsAtPeak(i int, d *draw) {
	t, ts := &s.site.tanks[i], s.st.tanks[i]
	for k := range s.separate(i) {
		for _, x := range s.drawsOf(k) {
			if math.Abs(x.end-d.start) > joinWithin || !ts.filledFast(t, x.start, d.start) {
				continue
			}
			b := between(ts.levels.recent, x.start, d.start)
			if len(b) == 0 {
				continue
			}
			peak := slices.MaxFunc(b, func(a, c sample) int { return cmp.Compare(a.v, c.v) })
			above, err := float64(peak.v)-d.opening.level, math.Hypot(ts.noise.perSample(), d.opening.err)
			if peak.t < math.Min(x.end, d.start-joinWithin/2) && above > -restSigmas*err {
				d.start, d.opening = peak.t, gauge{level: float64(peak.v), err: math.Hypot(ts.noise.perSample(), above/4), samples: 1}
			}
		}
	}
}

// wentTo is a tank that was drawn from and that a draw went into, for a while at least.
func (s siteTanks) wentTo(i int, d draw) (name string) {
	for k, o := range s.separate(i) {
		if slices.ContainsFunc(s.drawsOf(k), func(x draw) bool { return s.movedInto(i, k, d, x) }) {
			return o.ID
		}
	}
	return ""
}

// movedInto says that a draw from one of two separate tanks went into the other, from which was drawn meanwhile: before that draw, or
// behind it, both were seen, the one rose as the other fell, and no third fell; or within it their levels turn with each other.
func (s siteTanks) movedInto(from, to int, d, theirs draw) bool {
	if d.end <= theirs.start || d.start >= theirs.end {
		return false
	} else if turns, denies := s.turnsWith(from, to, d, theirs); turns || denies {
		return turns
	}
	giver, taker := s.st.tanks[from], s.st.tanks[to]
	for _, beside := range []bounds{{d.start, math.Min(theirs.start-nodeEvery, d.end)}, {math.Max(theirs.end+showsTo, d.start), d.end}} {
		if beside.hi-beside.lo < movedLeast {
			continue
		}
		out, left := giver.riseKnown(&s.site.tanks[from], beside.lo, beside.hi, movedLeast)
		in, came := taker.riseKnown(&s.site.tanks[to], beside.lo, beside.hi, movedLeast)
		if out = -out; left && came && out >= partBbl && in >= explainedShare*out && in <= out/explainedShare && s.othersDrained(from, to, beside.lo, beside.hi) == 0 {
			return true
		}
	}
	return false
}

// startJointly gives a group's tank the start of the draw that pulls it down through the equaliser, however late it follows, as the last of a
// chain does; no sooner than it was decided what it gave before.
func (s siteTanks) startJointly(i int, ts *tankState, d *draw) {
	start, _ := s.jointly(i, *d)
	if at, opening, ok := s.fellFrom(i, *d, start); ok {
		d.stood = math.Max(0, d.stood-math.Max(0, at-d.start))
		d.start, d.opening, d.bySum, d.within.lo, d.early, d.pause = at, opening, true, at, 0, 0
	} else if start < d.start {
		ts.moveStart(&s.site.tanks[i], d, math.Inf(-1), start)
	}
}

const jointLead = 1200.0 // s by which a group's tank may follow the one that is drawn from

// evenedOut is the tank of the same group into which a fall went through an equaliser: what it lost the others gained, until the tanks were even
// where its closing is read then. settles says that it made even what a draw had left uneven before.
func (s siteTanks) evenedOut(i int, d draw) (name string, settles bool) {
	own := &s.site.tanks[i]
	gained, most, from := 0.0, 0.0, d.start
	for j := range s.mates(i) {
		for _, x := range s.drawsOf(j) {
			if x.end > d.start && x.start < from && x.start >= s.st.tanks[i].lastDrawEnd && !s.fellAlone(j, x) {
				from = x.start // what the pump took out of it before this one followed
			}
		}
	}
	for j, o := range s.mates(i) {
		other := s.st.tanks[j]
		was, before := other.levels.known(from)
		is, behind := other.levels.known(math.Max(d.end, d.evened)) // raw: it may rise faster than oil is believed to come
		if !before || !behind {
			continue
		}
		rose := o.barrels(is, was)
		if gained += rose; rose > most {
			name, most = o.ID, rose
			settles = other.lastDrawBefore(o, s.site.speed, d.end, s.st.now*s.site.speed) > d.start-evenLongest
		}
	}
	if gained < explainedShare*own.volume(d) {
		return "", false
	}
	return name, settles
}

// fellAlone says that no other tank of the group fell while this one was drawn from: the equaliser
// was shut. One that it filled at first, and that fell with this one from then on, did.
func (s siteTanks) fellAlone(i int, d draw) bool {
	own := &s.site.tanks[i]
	for j, o := range s.mates(i) {
		ts := s.st.tanks[j]
		was, before := ts.levels.held(d.start - showsFrom)
		is, behind := ts.levels.held(d.end)
		least := aloneMost * own.volume(d)
		high := was
		if b := between(ts.levels.recent, d.start, d.end); len(b) > 0 { // less what its noise adds
			high = math.Max(was, float64(b[highest(b)].v)-2*restSigmas*ts.noise.perSample())
		}
		if before && behind && (o.barrels(was, is) > least || o.barrels(high, is) > math.Max(partBbl, least)) {
			return false
		}
	}
	return true
}

// onlyReturned says that a tank which rose over a draw fell by far more than that itself within the hour before, and is back just where it was: its
// probe was lifted and let in again, or its oil went round, and the draw may have been a truck's. Where it fell by as much, it took in its oil.
func (s siteTanks) onlyReturned(i int, d draw, removed float64) bool {
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		is, seen := other.levels.about(math.Min(d.end+showsTo, other.last.t))
		for _, x := range s.drawsOf(j) {
			near := math.Max(backExact+backNoise*other.noise.perSample(), returnedNear*x.fall())
			if seen && x.start < d.end && x.end > d.start-returnedWithin && removed <= returnedLess*o.volume(x) && math.Abs(is-x.opening.level) <= near {
				return true
			}
		}
	}
	return false
}

// othersOwn are the barrels that wells of their own may have brought the site's other tanks over a draw: as fast as in any stretch as long as it of the hours before
// it, or right behind it, what they took in beyond what a tank lacked then of what its own well makes, which are barrels a second.
func (s siteTanks) othersOwn(i int, d draw, made float64) float64 {
	t, ts, most, long := &s.site.tanks[i], s.st.tanks[i], 0.0, math.Max(d.end-d.start, nodeEvery)
	theirs := func(from, to float64) {
		a, ok1 := ts.levels.about(from)
		b, ok2 := ts.levels.about(to)
		if ok1 && ok2 && to-from >= math.Min(long/2, fedBefore) {
			most = math.Max(most, (s.othersFilled(i, from, to)-math.Max(0, made*(to-from)-t.barrels(b, a)))/(to-from))
		}
	}
	for to := d.start; to-long >= math.Max(ts.decidedTo+resumeFirst, d.start-stillLook); to -= long / 2 {
		theirs(to-long, to)
	}
	theirs(d.end+resumeFirst, math.Min(d.end+resumeFirst+long, math.Min(d.next, ts.last.t)))
	return most * (d.end - d.start)
}

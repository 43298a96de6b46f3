package tank

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"

	"gauger/agent/tank/stats"
)

// siteTanks are the tanks of a site and their state: what one tank does is judged beside the others.
type siteTanks struct {
	site Site
	st   *State
}

// others are all tanks but one, mates those of them that an equaliser joins to it, group its mates and itself, and separate the rest.
func (s siteTanks) others(i int) iter.Seq2[int, *Tank] {
	return s.tanks(func(j int) bool { return j != i })
}
func (s siteTanks) mates(i int) iter.Seq2[int, *Tank] {
	return s.tanks(func(j int) bool { return j != i && s.joins(i, j) })
}
func (s siteTanks) group(i int) iter.Seq2[int, *Tank] {
	return s.tanks(func(j int) bool { return j == i || s.joins(i, j) })
}
func (s siteTanks) separate(i int) iter.Seq2[int, *Tank] {
	return s.tanks(func(j int) bool { return j != i && !s.joins(i, j) })
}

// joins says that an equaliser joins two tanks.
func (s siteTanks) joins(i, j int) bool {
	group := s.site.tanks[i].Group
	return group != "" && s.site.tanks[j].Group == group
}

func (s siteTanks) tanks(wanted func(j int) bool) iter.Seq2[int, *Tank] {
	return func(yield func(int, *Tank) bool) {
		for j := range s.site.tanks {
			if wanted(j) && !yield(j, &s.site.tanks[j]) {
				return
			}
		}
	}
}

// wall is the instant of a site time, by the clock of a tank's readings.
func (s siteTanks) wall(i int, at float64) time.Time {
	return s.st.tanks[i].clock.wall(at / s.site.speed)
}

// update is one call of Next at work.
type update struct {
	siteTanks
	out      []Outcome
	storeNow bool // a draw began: store now
}

// writable is a tank's state that may be written to.
func (u *update) writable(i int) *tankState {
	n := *u.st.tanks[i]
	u.st.tanks[i] = &n
	return &n
}

// addEvent tells of something between two site times.
func (u *update) addEvent(i int, rule string, start, end float64, note string) {
	id := u.site.tanks[i].ID
	e := &Event{Rule: rule, Tank: id, Note: "tank " + id + ": " + note, Start: u.wall(i, start), End: u.wall(i, math.Max(start, end))}
	u.out = append(u.out, Outcome{Event: e})
}

// addMovement tells of so many barrels that moved between two site times, and to which tank.
func (u *update) addMovement(i int, rule string, start, end, bbl float64, to, note string) *Event {
	u.addEvent(i, rule, start, end, note)
	e := u.out[len(u.out)-1].Event
	e.Bbl, e.To = bbl, to
	return e
}

// addVerdict keeps what became of a draw that is no load, and returns it.
func (u *update) addVerdict(i int, d draw, what, why string) *Verdict {
	w := u.site.verdict(i, u.st.tanks[i], d, what, why)
	if what == Recirculated { // what came back is no inflow
		w.Bbl = stats.Round(u.site.tanks[i].volume(d), 2)
	}
	if w.Bbl >= verdictLeast {
		u.out = append(u.out, Outcome{Verdict: &w})
	}
	return &w
}

func (s Site) verdict(i int, ts *tankState, d draw, what, why string) Verdict {
	t := &s.tanks[i]
	wall := func(at float64) time.Time { return ts.clock.wall(at / s.speed) }
	return Verdict{
		Tank: t.ID, What: what, Why: why, Start: wall(d.start), End: wall(d.end), Open: stats.Round(d.opening.level, 2), Close: stats.Round(d.closing.level, 2),
		Bbl: stats.Round(t.removedBbl(d), 2), Unseen: ts.hiddenSpan(d, s.speed),
	}
}

// hiddenSpan is the time between the two readings over which a draw fell that has none inside; nil: it has some.
func (ts *tankState) hiddenSpan(d draw, speed float64) *Span {
	if d.samples > 0 {
		return nil
	}
	from, to := ts.hiddenFall(d)
	return &Span{ts.clock.wall(from.t / speed), ts.clock.wall(to.t / speed)}
}

// hiddenFall are the two readings between which a draw fell that nobody saw.
func (ts *tankState) hiddenFall(d draw) (from, to sample) {
	b := ts.levels.recent[max(0, searchTime(ts.levels.recent, d.start)-1):min(len(ts.levels.recent), searchTime(ts.levels.recent, d.end)+2)]
	from, to = sample{t: d.start, v: float32(d.opening.level)}, sample{t: d.end, v: float32(d.closing.level)}
	fell := float32(0)
	for i := 1; i < len(b); i++ {
		if by := b[i-1].v - b[i].v; by > fell {
			from, to, fell = b[i-1], b[i], by
		}
	}
	return from, to
}

// verdictLeast is the volume in barrels below which a fall is not worth a verdict.
const verdictLeast = 1.0

// jumpedTo is another tank that jumped to a level between two times: a gateway gave this one's answers for its, or one answer for both.
func (s siteTanks) jumpedTo(i int, level, from, to float64) (name string) {
	for j, o := range s.others(i) {
		other := s.st.tanks[j]
		at := other.faults.jumpedAt
		v, ok := other.levels.about(math.Max(at, to))
		if p := other.pending; p.count > 0 && p.first.t >= from {
			at, v, ok = p.first.t, p.first.v, true
		}
		near := backExact + backNoise*math.Max(s.st.tanks[i].noise.perSample(), other.noise.perSample())
		if ok && at > 0 && at >= from && at <= to && math.Abs(v-level) <= near {
			name = o.ID
		}
	}
	return name
}

// doubtSignal tells of another tank whose readings are this one's to the last digit while a draw went on: one register, or one topic, is read for both, and
// so both have a ticket for one truck. Two sensors of one level differ by their noise, and by when their steps come.
func (s siteTanks) doubtSignal(i int, d *draw) {
	fall, late := between(s.st.tanks[i].levels.recent, d.start, d.end), s.st.tanks[i].interval.fresh()/2
	if changesIn(fall) < signalSteps {
		return
	}
	for j, o := range s.others(i) {
		same := 0
		for _, x := range fall {
			if slices.ContainsFunc(between(s.st.tanks[j].levels.recent, x.t-late, x.t+late), func(y sample) bool { return y.v == x.v }) {
				same++
			}
		}
		if same >= len(fall)-len(fall)/signalMissed {
			d.doubt("tank %s gave the very same readings meanwhile: one register or topic is read for both, and one truck has two tickets", o.ID)
		}
	}
}

const (
	signalSteps  = 5  // changes of a value that say whether another is the same
	signalMissed = 10 // readings of a fall, of which the other may have missed one

	trendMost   = 64      // samples
	trendBefore = 20 * 60 // s before the start
)

// trend thins the samples about a draw: of each cell of time the one with the middle level.
func (l *levels) trend(t *Tank, d draw, now, speed float64) *Trend {
	b := between(l.recent, d.start-trendBefore, math.Min(now, d.end+t.Loads.Confirm.Seconds()))
	if len(b) == 0 {
		return nil
	}
	width := math.Max(b[len(b)-1].t-b[0].t, 1) / trendMost
	cell := func(s sample) int { return min(int((s.t-b[0].t)/width), trendMost-1) }
	out := &Trend{}
	for lo := 0; lo < len(b); {
		hi := lo + 1
		for hi < len(b) && cell(b[hi]) == cell(b[lo]) {
			hi++
		}
		m := stats.Median(values(b[lo:hi]))
		s := slices.MinFunc(b[lo:hi], func(a, c sample) int { return cmp.Compare(math.Abs(float64(a.v)-m), math.Abs(float64(c.v)-m)) })
		out.Seconds = append(out.Seconds, int32(math.Round((s.t-d.start)/speed)))
		out.Level = append(out.Level, int32(math.Round(float64(s.v)*100)))
		lo = hi
	}
	return out
}

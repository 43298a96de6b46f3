package tank

import (
	"fmt"
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// siteTanks are the tanks of a site and their state: what one tank does is judged beside the others.
type siteTanks struct {
	site Site
	st   *State
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
func (u *update) addEvent(ts *tankState, i int, rule string, start, end float64, note string) {
	id := u.site.tanks[i].ID
	wall := func(at float64) time.Time { return ts.clock.wall(at / u.site.speed) }
	e := &Event{Rule: rule, Tank: id, Note: "tank " + id + ": " + note, Start: wall(start), End: wall(math.Max(start, end))}
	u.out = append(u.out, Outcome{Event: e})
}

// eventVolume says of the newest event how much oil it is about, and where that went.
func (u *update) eventVolume(bbl float64, to string) {
	e := u.out[len(u.out)-1].Event
	e.Bbl, e.To = bbl, to
}

// eventSlowLoss says of the newest event that it is a slow loss of so many barrels.
func (u *update) eventSlowLoss(bbl float64) {
	u.eventVolume(bbl, "")
	u.out[len(u.out)-1].Event.Slow = true
}

// spanText writes seconds for a person.
func spanText(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// addVerdict keeps what became of a draw that is no load, and returns it.
func (u *update) addVerdict(i int, ts *tankState, d draw, what, why string) *Verdict {
	w := u.site.verdict(i, ts, d, what, why)
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

const (
	returnedWithin = 3600.0 // s before a draw in which another tank that is back where it was may have fallen
	returnedNear   = 0.02   // share of that fall by which it may be off
)

// verdictLeast is the volume in barrels below which a fall is not worth a verdict.
const verdictLeast = 1.0

// jumpedTo is another tank that jumped to a level between two times: a gateway gave this one's answers for its, or one answer for both.
func (s siteTanks) jumpedTo(i int, level, from, to float64) (name string) {
	for j, other := range s.st.tanks {
		at := other.faults.jumpedAt
		v, ok := other.levels.about(math.Max(at, to))
		if p := other.pending; p.count > 0 && p.first.t >= from {
			at, v, ok = p.first.t, p.first.v, true
		}
		near := backExact + backNoise*math.Max(s.st.tanks[i].noise.perSample(), other.noise.perSample())
		if ok && j != i && at > 0 && at >= from && at <= to && math.Abs(v-level) <= near {
			name = s.site.tanks[j].ID
		}
	}
	return name
}

// onlyReturned says that a tank whose rise may be a draw's oil fell by as much itself within the hour before, and is back just where it was: its probe
// was lifted and let in again, or its oil went round, and the draw may have been a truck's.
func (s siteTanks) onlyReturned(i int, d draw, rose float64) bool {
	for j, o := range s.separate(i) {
		other := s.st.tanks[j]
		is, seen := other.levels.about(math.Min(d.end+showsTo, other.last.t))
		for _, x := range s.drawsOf(j) {
			near := math.Max(backExact+backNoise*other.noise.perSample(), returnedNear*(x.opening.level-x.closing.level))
			if seen && x.start < d.end && x.end > d.start-returnedWithin && o.volume(x) >= explainedShare*rose && math.Abs(is-x.opening.level) <= near {
				return true
			}
		}
	}
	return false
}

// fedElsewhere are the barrels by which the site's other tanks rose between two times beyond what they usually do, and its standard error.
// One that was drawn from says as much as it took in before that, or behind it, where that is most of the time; unseen is that one of them says nothing.
func (s siteTanks) fedElsewhere(i int, from, to float64) (bbl, err float64, unseen bool) {
	for j, o := range s.separate(i) {
		other, lo, hi := s.st.tanks[j], from, to
		for _, x := range s.drawsOf(j) {
			switch {
			case x.end <= lo || x.start >= hi:
			case x.start-lo > hi-x.end:
				hi = x.start
			default:
				lo = x.end
			}
		}
		rose, seen := other.riseKnown(o, lo, hi, other.readFar())
		if !seen || hi-lo < (to-from)/2 {
			unseen = true
			continue
		}
		made := other.inflow(o, lo)
		variance := stats.Square(made.err*(hi-lo)) + made.straysOver(hi-lo) + 2*stats.Square(other.noise.perSample())
		per := o.Table.PerInch(other.last.v)
		was := max(other.inflow(o, from).last, other.levels.roseBefore(from, fedBefore), other.levels.roseBefore(from, fedBefore/2)) // a full one that goes on rising is fed
		whole := (to - from) / (hi - lo)
		bbl, err = bbl+whole*(rose+(made.usual-was)*(hi-lo)*per), math.Hypot(err, whole*math.Sqrt(variance)*per)
	}
	return bbl, err, unseen
}

package tank

import "math"

// rise is the volume in barrels that a tank gained between two times beyond its inflow;
// 0 where its level is not known.
func (ts *tankState) rise(t *Tank, from, to float64) float64 {
	bbl, _ := ts.riseKnown(t, from, to, 2*levelFar)
	return bbl
}

// riseKnown is rise, and whether the levels are known where a silence of some seconds hides them.
func (ts *tankState) riseKnown(t *Tank, from, to, silence float64) (bbl float64, ok bool) {
	a, ok1 := ts.levels.within(from, silence)
	b, ok2 := ts.levels.within(to, silence)
	if !ok1 || !ok2 {
		return 0, false
	}
	va, _ := t.Table.Extrapolated(a)
	vb, _ := t.Table.Extrapolated(b)
	return vb - va - ts.inflow(t, from).usual*(to-from)*t.Table.PerInch(a), true
}

// othersRose is the tank that rose most in a time in which this one fell, and the barrels that
// all others rose beyond their own inflow.
func (s siteTanks) othersRose(i int, from, to float64) (name string, bbl float64) {
	best := 0.0
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != "" && o.Group == s.site.tanks[i].Group {
			continue
		}
		other := s.st.tanks[j]
		rose := other.rise(o, from, to)
		if rose > best {
			best, name = rose, o.ID
		}
		bbl += math.Max(0, rose)
	}
	return name, bbl
}

// othersRoseOver is the tank that rose most over a draw, and the barrels that all others rose: from
// before it to after it, also where a gap hid its ends.
func (s siteTanks) othersRoseOver(i int, d draw) (name string, bbl float64) {
	return s.othersRose(i, d.start-30-d.opening.away, d.end+150+d.closing.away)
}

// othersGaveBack says that what came back came out of another tank of the site, so that it does not
// undo the draw.
func (s siteTanks) othersGaveBack(i int, d draw, now float64) bool {
	to := math.Min(now, d.end+s.site.tanks[i].Loads.Confirm.Seconds())
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != "" && o.Group == s.site.tanks[i].Group {
			continue
		}
		if -s.st.tanks[j].rise(o, d.end+60, to) >= explainedShare*explainedShare*s.site.tanks[i].volume(d) {
			return true
		}
	}
	return false
}

// othersLost is the barrels that the site's other tanks lost between two times: then a rise is theirs.
func (s siteTanks) othersLost(i int, from, to float64) (bbl float64) {
	for j := range s.site.tanks {
		if j != i {
			bbl += math.Max(0, -s.st.tanks[j].rise(&s.site.tanks[j], from, to))
		}
	}
	return bbl
}

// regained are the inches of its fall that the level has won back since a draw, beyond the
// inflow, inches.
func (ts *tankState) regained(t *Tank, d draw, now float64) float64 {
	high := 0.0
	for _, n := range nodes(between(ts.levels.recent, d.end+60, now), nodeEvery) {
		if n.t > d.end+t.Loads.Confirm.Seconds() && n.v < d.closing.level+high {
			break
		}
		high = math.Max(high, n.v-d.closing.level-d.usualInflow*(n.t-d.end))
	}
	return high
}

// stillReturning says that oil is still coming back after the confirmation: it may yet prove
// a recirculation.
func (ts *tankState) stillReturning(t *Tank, d draw, now float64) bool {
	if now > d.end+4*t.Loads.Confirm.Seconds() {
		return false
	}
	a, ok1 := ts.levels.about(ts.last.t - 600)
	b, ok2 := ts.levels.about(ts.last.t - 20)
	per := t.Table.PerInch(b)
	flows := ok1 && ok2 && ts.last.t-600 > d.end && (b-a-d.usualInflow*580)*per >= t.Loads.MinRate*580/60
	back := b - d.closing.level - d.usualInflow*(ts.last.t-20-d.end) // as regained counts it
	return flows && back > 0.15*(d.opening.level-d.closing.level) && back < explainedShare*(d.opening.level-d.closing.level)
}

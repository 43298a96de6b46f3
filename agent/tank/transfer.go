package tank

import "math"

const (
	shareBbl  = 8.0   // bbl of a draw that are compared with the other tank at a time
	shareLong = 900.0 // s; at most this long
	aloneMost = 0.05  // share of a draw that another tank of a group may fall by chance
	shareRun  = 2     // stretches in a row that have to agree
)

// filledWhileDrawn is the tank that a draw went into although that tank was drawn from as well:
// it rose as this one fell, except while it was falling itself.
func (s siteTanks) filledWhileDrawn(i int, d draw) (name string, ok bool) {
	own := &s.site.tanks[i]
	step := math.Min(shareLong, math.Max(2*joinWithin, shareBbl/math.Max(own.pumpRate(d), 0.1)*60))
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != "" && o.Group == own.Group {
			continue
		}
		if s.risesAsFalls(i, j, d, step) {
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
	return rising >= shareRun && drawn > 0 && neither <= 2
}

// evenedOut is the tank of the same group into which a draw went through an equaliser that was
// opened with neither of them being hauled.
func (s siteTanks) evenedOut(i int, d draw) (name string, ok bool) {
	own := &s.site.tanks[i]
	if own.Group == "" {
		return "", false
	}
	for j := range s.site.tanks {
		o, other := &s.site.tanks[j], s.st.tanks[j]
		if j == i || o.Group != own.Group || other.lastDrawBefore(o, s.site.speed, d.end, s.st.now*s.site.speed) > d.start-nodeEvery {
			continue
		}
		if rose, ok := other.riseKnown(o, d.start-30, d.end+150, 2*levelFar); ok && rose >= explainedShare*own.volume(d) {
			return o.ID, true
		}
	}
	return "", false
}

// lastDrawBefore is when the newest draw that began before a time ended.
func (ts *tankState) lastDrawBefore(t *Tank, speed, before, now float64) float64 {
	last := ts.lastDrawEnd
	if !ts.drawing {
		return last
	}
	ds, _ := ts.draws(t, speed, now)
	for _, d := range ds {
		if d.start < before {
			last = math.Max(last, d.end)
		}
	}
	return last
}

// fellAlone says that no other tank of the group fell while this one was drawn from: the equaliser
// was shut.
func (s siteTanks) fellAlone(i int, d draw) bool {
	own := &s.site.tanks[i]
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j != i && o.Group == own.Group && -s.st.tanks[j].rise(o, d.start-30, d.end) > aloneMost*own.volume(d) {
			return false
		}
	}
	return true
}

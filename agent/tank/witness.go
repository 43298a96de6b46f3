package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

const (
	trendMost   = 64      // samples
	trendBefore = 20 * 60 // s before the start
	trendFar    = 15 * 60 // s after which a water level says nothing about an instant
)

// Trend is the level about a load, thinned, for people to look at.
type Trend struct {
	Seconds []int32 `json:"s"`      // after the load's start, by the wall clock; negative before it
	Level   []int32 `json:"in_100"` // hundredths of an inch
}

// Rivals is what else the fall of a load could have been, and the figures that speak against it.
type Rivals struct {
	MinLoad float64       `json:"min_load_bbl"`       // settings of then
	MinRate float64       `json:"min_rate"`           // barrels per minute
	Others  int           `json:"others"`             // other tanks of the site that are watched
	Rose    string        `json:"rose,omitempty"`     // the one of them that rose most meanwhile
	RoseBbl float64       `json:"rose_bbl"`           // barrels by which they all rose beyond their own inflow
	BackIn  float64       `json:"back_in"`            // inches that came back after the end, beyond the inflow
	Watched time.Duration `json:"watched_ns"`         // site time from the end to the decision
	WaterIn *float64      `json:"water_in,omitempty"` // inches by which the oil/water interface fell; nil: it is not measured
}

// addEvidence adds to a load what a reader of the ticket wants to see beside the figures.
func (s siteTanks) addEvidence(i int, ts *tankState, d draw, now float64, l *Load) {
	t := &s.site.tanks[i]
	l.OpenBbl, _ = t.Table.Extrapolated(d.opening.level)
	l.CloseBbl, _ = t.Table.Extrapolated(d.closing.level)
	l.ClosingTop, l.ClosingBottom = ts.aux.asOf(topAt, d.end), ts.aux.asOf(bottomAt, d.end)
	if t.Interface {
		l.OpenWater, l.CloseWater = ts.aux.waterAt(d.start), ts.aux.waterAt(d.end)
	}
	l.Trend = ts.levels.trend(t, d, now, s.site.speed)
	name, rose := s.othersRoseOver(i, d)
	l.Rivals = &Rivals{
		MinLoad: t.Loads.MinLoad, MinRate: t.Loads.MinRate,
		Rose: name, RoseBbl: stats.Round(rose, 1), BackIn: stats.Round(ts.regained(t, d, now), 1),
		Watched: time.Duration(math.Max(0, now-d.end)) * time.Second,
	}
	for j := range s.site.tanks {
		if o := &s.site.tanks[j]; j != i && (o.Group == "" || o.Group != t.Group) {
			l.Rivals.Others++
		}
	}
	if fell, ok := ts.aux.waterFell(d.start, d.end); ok && t.Interface {
		l.Rivals.WaterIn = new(stats.Round(fell, 1))
	}
}

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
		s := middle(b[lo:hi])
		out.Seconds = append(out.Seconds, int32(math.Round((s.t-d.start)/speed)))
		out.Level = append(out.Level, int32(math.Round(float64(s.v)*100)))
		lo = hi
	}
	return out
}

// middle is the sample whose level is the median of all.
func middle(b []sample) sample {
	m := stats.Median(values(b))
	best := b[0]
	for _, s := range b {
		if math.Abs(float64(s.v)-m) < math.Abs(float64(best.v)-m) {
			best = s
		}
	}
	return best
}

// waterAt is the level of the oil/water interface about an instant, inches; nil when it is not known.
func (x *auxiliary) waterAt(at float64) *float64 {
	b := between(x.water, at-trendFar, at)
	if len(b) == 0 {
		return nil
	}
	return new(stats.Median(values(b[max(0, len(b)-5):])))
}

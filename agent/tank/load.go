package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// makeLoad makes the record of a draw that is a run.
func (s siteTanks) makeLoad(i int, ts *tankState, d draw) Load {
	t := &s.site.tanks[i]
	wall := func(at float64) time.Time { return ts.clock.wall(at / s.site.speed) }
	l := Load{
		Tank: t.ID, Start: wall(d.start), End: wall(d.end), Began: wall(ts.drawBegan(d)),
		Open: d.opening.level, Close: d.closing.level, Sigma: ts.noise.sigma, Parts: d.parts,
		Gap:   time.Duration(d.gap * float64(time.Second)),
		Table: t.Table.Name(), Group: t.Group,
	}
	for _, x := range between(ts.levels.recent, d.start, d.end) {
		l.Samples += int(x.n)
	}
	per := t.Table.PerInch((l.Open + l.Close) / 2)
	l.GaugeBbl = t.volume(d)
	l.InflowBbl = d.inflowAfter * per * (d.end - d.start)
	l.InflowUnknown = !d.inflow.known && d.inflowAfter == 0
	l.RemovedBbl = l.GaugeBbl + l.InflowBbl
	l.Rate = l.RemovedBbl / (math.Max(d.end-d.start, 1) / 60)
	l.ErrorBbl = 2 * t.volumeError(d)
	if t.Group != "" {
		l.GroupBbl = s.groupBbl(i, d)
	}
	l.TopTemperature, l.BottomTemperature = ts.aux.asOf(topAt, d.start), ts.aux.asOf(bottomAt, d.start)
	l.Gravity, l.BSW = ts.aux.asOf(gravityAt, d.start), ts.aux.asOf(bswAt, d.start)
	l.Confidence, l.Review = s.confidence(t, ts, d, l)
	l.Unseen = ts.hiddenSpan(d, s.site.speed)
	says, factor := s.remarks(t, ts, d, l)
	l.Remarks, l.Confidence = says, stats.Round(factor*l.Confidence, 2)
	return l
}

// drawBegan is the start as it was fixed when the draw was first seen.
func (p *drawPhase) drawBegan(d draw) float64 {
	for _, b := range p.firstSeen {
		if b >= d.start-900 && b <= d.end {
			return b
		}
	}
	return d.start
}

// groupBbl is the gauged volume of all tanks of a group over a draw.
func (s siteTanks) groupBbl(i int, d draw) float64 {
	own := &s.site.tanks[i]
	sum := own.volume(d)
	for j := range s.site.tanks {
		o := &s.site.tanks[j]
		if j == i || o.Group != own.Group {
			continue
		}
		a, ok1 := s.st.tanks[j].levels.about(d.start - 30)
		b, ok2 := s.st.tanks[j].levels.about(d.end + own.Loads.GroupSettle.Seconds())
		if ok1 && ok2 {
			va, _ := o.Table.Extrapolated(a)
			vb, _ := o.Table.Extrapolated(b)
			sum += va - vb
		}
	}
	return sum
}

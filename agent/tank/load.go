package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// makeLoad makes the record of a draw that is a run.
func (r *update) makeLoad(i int, v *tankState, d draw) Load {
	t := &r.site.tanks[i]
	wall := func(at float64) time.Time { return v.clock.wall(at / r.site.speed) }
	l := Load{
		Tank: t.ID, Start: wall(d.start), End: wall(d.end), Began: wall(v.drawBegan(d)),
		Open: d.opening.level, Close: d.closing.level, Sigma: v.noise.sigma, Parts: d.parts,
		Gap:   time.Duration(d.gap * float64(time.Second)),
		Table: t.Table.Name(), Group: t.Group,
	}
	for _, s := range between(v.recent, d.start, d.end) {
		l.Samples += int(s.n)
	}
	per := t.Table.PerInch((l.Open + l.Close) / 2)
	l.GaugeBbl = t.volume(d)
	l.InflowBbl = d.inflowAfter * per * (d.end - d.start)
	l.InflowUnknown = !d.inflow.known && d.inflowAfter == 0
	l.RemovedBbl = l.GaugeBbl + l.InflowBbl
	l.Rate = l.RemovedBbl / (math.Max(d.end-d.start, 1) / 60)
	l.ErrorBbl = 2 * t.volumeError(d)
	if t.Group != "" {
		l.GroupBbl = r.groupBbl(i, d)
	}
	l.TopTemperature, l.BottomTemperature = v.asOf(topAt, d.start), v.asOf(bottomAt, d.start)
	l.Gravity, l.BSW = v.asOf(gravityAt, d.start), v.asOf(bswAt, d.start)
	l.Confidence, l.Review = r.confidence(t, v, d, l)
	l.Unseen = v.hiddenSpan(d, r.site.speed)
	says, factor := r.remarks(t, v, d, l)
	l.Remarks, l.Confidence = says, stats.Round(factor*l.Confidence, 2)
	return l
}

// drawBegan is the start as it was fixed when the draw was first seen.
func (v *tankState) drawBegan(d draw) float64 {
	for _, b := range v.firstSeen {
		if b >= d.start-900 && b <= d.end {
			return b
		}
	}
	return d.start
}

// groupBbl is the gauged volume of all tanks of a group over a draw.
func (r *update) groupBbl(i int, d draw) float64 {
	own := &r.site.tanks[i]
	sum := own.volume(d)
	for j := range r.site.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != own.Group {
			continue
		}
		a, ok1 := r.st.tanks[j].levelAbout(d.start - 30)
		b, ok2 := r.st.tanks[j].levelAbout(d.end + own.Loads.GroupSettle.Seconds())
		if ok1 && ok2 {
			va, _ := o.Table.Extrapolated(a)
			vb, _ := o.Table.Extrapolated(b)
			sum += va - vb
		}
	}
	return sum
}

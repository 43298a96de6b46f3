package tank

import (
	"fmt"
	"math"
	"time"
)

const (
	reviewUnder = 0.75 // confidence
	reviewError = 1.35 // times the greater of a barrel and a hundredth of the load
)

// load makes the record of a draw that is a run.
func (r *run) load(i int, v *vessel, d draw) Load {
	t := &r.site.tanks[i]
	wall := func(at float64) time.Time { return v.clk.wall(at / r.site.speed) }
	l := Load{
		Tank: t.ID, Start: wall(d.start), End: wall(d.end), Began: wall(v.began(d)),
		Open: d.open.v, Close: d.close.v, Sigma: v.noise.sigma, Parts: d.parts,
		Gap:   time.Duration(d.gap * float64(time.Second)),
		Table: t.Table.Name(), Group: t.Group,
	}
	for _, s := range between(v.buf, d.start, d.end) {
		l.Samples += int(s.n)
	}
	per := t.Table.PerInch((l.Open + l.Close) / 2)
	l.GaugeBbl = t.volume(d)
	l.InflowBbl = d.after * per * (d.end - d.start)
	l.RemovedBbl = l.GaugeBbl + l.InflowBbl
	l.Rate = l.RemovedBbl / (math.Max(d.end-d.start, 1) / 60)
	l.ErrorBbl = 2 * per * math.Hypot(d.open.doubt(v.noise.sigma, d.before, per), d.close.doubt(v.noise.sigma, d.after, per))
	if t.Group != "" {
		l.GroupBbl = r.grouped(i, d)
	}
	l.TopTemperature, l.BottomTemperature = v.asOf(topAt, d.start), v.asOf(bottomAt, d.start)
	l.Gravity, l.BSW = v.asOf(gravityAt, d.start), v.asOf(bswAt, d.start)
	l.Confidence, l.Review = r.doubts(t, v, d, l)
	if v.steppedAt >= d.start-3600 && v.stepped != 0 {
		l.Remarks = append(l.Remarks, fmt.Sprintf("clock stepped %+.0f s, times are by the new one", v.stepped))
		l.Confidence = round(0.8*l.Confidence, 2)
	}
	return l
}

// began is the start as it was fixed when the draw was first seen.
func (v *vessel) began(d draw) float64 {
	for _, b := range v.begun {
		if b >= d.start-900 && b <= d.end {
			return b
		}
	}
	return d.start
}

// doubt is the standard error of a gauge in inches, with what may have flowed in between
// it and its nearest sample. A noisy sensor drifts as well, by a part of its noise.
func (g gauge) doubt(sigma, inflow, per float64) float64 {
	away := math.Max(0, g.away-30)
	came := inflow * away
	dumps := math.Sqrt(came * dumpBbl / math.Max(per, 1e-6))
	return math.Sqrt(sq(g.err) + sq(0.4*sigma) + sq(0.3*came) + sq(dumps))
}

// grouped is the gauged volume of all tanks of a group over a draw.
func (r *run) grouped(i int, d draw) float64 {
	own := &r.site.tanks[i]
	sum := own.volume(d)
	for j := range r.site.tanks {
		o := &r.site.tanks[j]
		if j == i || o.Group != own.Group {
			continue
		}
		a, ok1 := r.st.tanks[j].about(d.start - 30)
		b, ok2 := r.st.tanks[j].about(d.end + own.Loads.GroupSettle.Seconds())
		if ok1 && ok2 {
			va, _ := o.Table.edge(a)
			vb, _ := o.Table.edge(b)
			sum += va - vb
		}
	}
	return sum
}

// doubts are the confidence in a load and why a person should look at it.
func (r *run) doubts(t *Tank, v *vessel, d draw, l Load) (float64, []string) {
	c := 1.0
	var why []string
	say := func(when bool, factor float64, format string, args ...any) {
		if !when {
			return
		}
		c *= factor
		if factor < reviewUnder {
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	gap := v.gapMin(t, r.site.speed)
	say(math.Max(d.open.away, d.close.away) >= gap, 0.5, "data gap %s at an edge", span(math.Max(d.open.away, d.close.away)))
	say(!v.stopped(d), 0.5, "the readings stopped while the level fell")
	say(d.inner == 0, 0.5, "no reading inside the load")
	_, low := t.Table.edge(l.Close)
	_, high := t.Table.edge(l.Open)
	say(low || high, 0.5, "outside table")
	say(l.ErrorBbl > reviewError*math.Max(1, 0.01*l.GaugeBbl), 0.7, "volume uncertain by %.1f bbl", l.ErrorBbl)
	say(t.Loads.TruckMax > 0 && l.GaugeBbl > t.Loads.TruckMax, 0.9, "")
	say(v.pace.usual > 120, 0.8, "")
	say(v.noise.sigma > 0.3, 0.9, "")
	say(t.Group != "", 0.9, "")
	say(t.Table.Name() == "geometry", 0.9, "")
	return round(c, 2), why
}

// span writes seconds for a person.
func span(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

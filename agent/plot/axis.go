package plot

import (
	"fmt"
	"math"
	"time"
)

// tickSteps are the distances between two labels of the time axis, in minutes; beyond a day they are days.
var tickSteps = []int{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2 * 1440, 7 * 1440, 14 * 1440, 28 * 1440, 91 * 1440, 365 * 1440}

const (
	ticksMost   = 15
	midnightsIn = 45 * 86400.0 // s; a longer picture has no line for each day
)

// ticks are the instants of the time axis, at whole local times, and whether they stand for days.
func (v *view) ticks() (all []time.Time, days bool) {
	step := tickSteps[len(tickSteps)-1]
	for _, s := range tickSteps {
		if (v.to-v.from)/60/float64(s) <= ticksMost {
			step = s
			break
		}
	}
	t := v.local(v.from)
	y, m, d := t.Date()
	if step >= 1440 {
		for t = time.Date(y, m, d, 0, 0, 0, 0, v.zone); seconds(t) <= v.to; t = t.AddDate(0, 0, step/1440) {
			all = append(all, t)
		}
		return v.within(all), true
	}
	// one day after the other, so that whole hours stay whole over a change to summer time
	for day := 0; seconds(t) <= v.to; day++ {
		for minute := 0; minute < 1440; minute += step {
			t = time.Date(y, m, d+day, 0, minute, 0, 0, v.zone)
			if t.Hour()*60+t.Minute() == minute { // else summer time has left this hour out
				all = append(all, t)
			}
		}
	}
	return v.within(all), false
}

func (v *view) within(all []time.Time) (in []time.Time) {
	for _, t := range all {
		if s := seconds(t); s >= v.from && s <= v.to {
			in = append(in, t)
		}
	}
	return in
}

// daily are the instants of one time of day; nil where the picture is too long for that.
func (v *view) daily(at time.Duration) (all []time.Time) {
	if v.to-v.from > midnightsIn {
		return nil
	}
	y, m, d := v.local(v.from).Date()
	for day := -1; ; day++ {
		t := time.Date(y, m, d+day, 0, 0, 0, 0, v.zone)
		t = time.Date(t.Year(), t.Month(), t.Day(), int(at.Hours()), int(at.Minutes())%60, 0, 0, v.zone)
		if seconds(t) > v.to {
			return all
		}
		all = append(all, t)
	}
}

// grid draws the lines of the time axis through a panel.
func (v *view) grid(c *canvas, b box) {
	ticks, _ := v.ticks()
	for _, t := range ticks {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#ececec"`)
	}
	for _, t := range v.within(v.daily(0)) {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#9a9a9a"`)
	}
	for _, t := range v.within(v.daily(v.day)) {
		x := v.x(seconds(t))
		c.line(x, b.y, x, b.y+b.h, `stroke="#9a9a9a" stroke-dasharray="7 4"`)
	}
}

// timeAxis writes times, dates and production days below the last panel.
func (v *view) timeAxis(c *canvas, y float64) {
	c.line(plotLeft, y, plotRight, y, `stroke="`+middle+`"`)
	var times, dates occupied
	ticks, days := v.ticks()
	if !days {
		for _, t := range v.within(v.daily(0)) {
			v.axisLabel(c, &dates, seconds(t), y+29, t.Format("Mon 2 Jan"), `font-weight="bold"`)
		}
		v.axisLabel(c, &dates, v.from, y+29, v.local(v.from).Format("Mon 2 Jan"), `font-weight="bold"`)
	}
	for _, t := range ticks {
		x := v.x(seconds(t))
		c.line(x, y, x, y+4, `stroke="`+middle+`"`)
		layout := "15:04"
		if days {
			layout = "Mon 2 Jan"
		}
		v.axisLabel(c, &times, seconds(t), y+15, t.Format(layout), "")
	}
	v.productionDays(c, y+36)
}

// axisLabel writes words centred below a time, if nothing stands there.
func (v *view) axisLabel(c *canvas, b *occupied, t, y float64, words, more string) {
	w := textWidth(words)
	x := math.Min(math.Max(v.x(t), plotLeft+w/2), plotRight-w/2)
	if b.occupy(box{x - w/2 - 3, y - fontSize, w + 6, lineSize}) {
		c.text(x, y, words, `text-anchor="middle" `+more)
	}
}

// productionDays names each production day between its two ends.
func (v *view) productionDays(c *canvas, y float64) {
	begins := v.daily(v.day)
	for i, t := range begins {
		from, to := seconds(t), seconds(t.AddDate(0, 0, 1))
		if i+1 < len(begins) {
			to = seconds(begins[i+1])
		}
		x1, x2 := math.Max(v.x(from), plotLeft), math.Min(v.x(to), plotRight)
		words := "production day " + t.Format("2 Jan")
		if x2-x1 < textWidth(words)+10 {
			words = t.Format("2 Jan")
		}
		if x2 <= x1 || x2-x1 < textWidth(words)+4 {
			continue
		}
		c.line(x1+2, y+1, x2-2, y+1, `stroke="`+middle+`" stroke-width="1.5"`)
		c.text((x1+x2)/2, y+12, words, `text-anchor="middle" font-size="10" fill="`+middle+`"`)
	}
}

// levelSteps are the distances between two labels of the level axis, in inches.
var levelSteps = []float64{1, 2, 3, 6, 12, 24, 36, 48, 60, 120, 240}

// levelAxis draws the level axis: feet and inches on the left, barrels by the tank's table on the right.
func (l *panelLayout) levelAxis(c *canvas) {
	step := levelSteps[len(levelSteps)-1]
	for _, s := range levelSteps {
		if (l.top-l.low)/s <= l.plot.h/34 {
			step = s
			break
		}
	}
	places := 0
	if step*l.panel.Table.PerInch((l.top+l.low)/2) < 5 {
		places = 1
	}
	for at := math.Ceil(l.low/step) * step; at <= l.top; at += step {
		y := l.y(at)
		c.line(plotLeft, y, plotRight, y, `stroke="#ececec"`)
		c.text(plotLeft-6, y+4, footInch(at), `text-anchor="end"`)
		if bbl, err := l.panel.Table.Barrels(at); err == nil {
			c.text(plotRight+6, y+4, fmt.Sprintf("%.*f bbl", places, bbl), `fill="`+middle+`"`)
		}
	}
}

// footInch is a whole number of inches as feet and inches.
func footInch(in float64) string {
	n := int(math.Round(in))
	sign := ""
	if n < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf(`%s%d' %d"`, sign, n/12, n%12)
}

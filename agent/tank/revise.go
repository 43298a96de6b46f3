package tank

import (
	"fmt"
	"math"
	"time"
)

// Correction is what became known of a load after it was reported: something about its levels, which Note says, or its
// times by a clock that was set since.
type Correction struct {
	Tank       string
	Began      time.Time // the load's, as it was reported: it names the load
	Note       string    // about its levels, in a sentence; empty: it is about its times
	Start, End time.Time // the load's times by the newest clock
	Settled    bool      // the clock has not been set again for a while
}

const (
	toldFor   = 24 * 3600.0 // s after its end for which a load may still be found wrong
	toldMost  = 4           // loads of a tank that are remembered
	shiftLong = 60.0        // s; a smaller step of the clock leaves the times as they are
	shiftHold = 2 * 3600.0  // s after which a step of the clock will not be taken back any more
	stoodFrom = 300.0       // s after its end in which a value that freezes hides the closing level
	stoodOff  = 0.5         // in between the frozen value and the one after it that inflow does not explain
)

// told is a load that was reported.
type told struct {
	key         int64 // Load.Began in milliseconds of unix time
	start, end  float64
	open, close float64 // in
	inflow      float64 // in/s, the most that was seen
	wrong       bool    // its levels were corrected
}

// remember keeps a load that is reported, for what may come to light.
func (v *vessel) remember(l Load, d draw) {
	from := max(0, len(v.told)-toldMost+1)
	v.told = append(v.told[from:len(v.told):len(v.told)], told{
		key: l.Began.UnixMilli(), start: d.start, end: d.end, open: l.Open, close: l.Close, inflow: math.Max(d.usual, math.Max(d.before, d.after)),
	})
}

// revise tells of the reported loads for which wrong finds a reason, each once.
func (r *run) revise(i int, v *vessel, now float64, wrong func(told) string) {
	for k, l := range v.told {
		if l.wrong || now-l.end > toldFor {
			continue
		}
		if note := wrong(l); note != "" {
			v.told = append([]told(nil), v.told...)
			v.told[k].wrong = true
			r.correct(i, v, l, Correction{Note: note})
		}
	}
}

func (r *run) correct(i int, v *vessel, l told, c Correction) {
	c.Tank, c.Began = r.site.tanks[i].ID, time.UnixMilli(l.key).UTC()
	c.Start, c.End = v.clk.wall(l.start/r.site.speed), v.clk.wall(l.end/r.site.speed)
	r.out = append(r.out, Outcome{Correction: &c})
}

// returned looks, every ten minutes, whether the oil of a load has come back after its confirmation: at a pump's rate,
// and beyond what flows in on other days.
func (r *run) returned(i int, v *vessel, now float64) {
	n := len(v.hist)
	if n == 0 || len(v.told) == 0 || v.hot || v.hist[n-1].t <= v.revised {
		return
	}
	v.revised = v.hist[n-1].t
	t := &r.site.tanks[i]
	r.revise(i, v, now, func(l told) string {
		back, since, last := v.cameBack(t, l)
		if back < most*(l.open-l.close) || r.given(i, since, v.revised) >= most*back*t.Table.PerInch(l.close) {
			return ""
		}
		return fmt.Sprintf("%.2f in came back within %s of its end, faster than the inflow, and the level is %.2f in: the oil may never have left the site",
			back, span(v.revised-l.end), last)
	})
}

// cameBack is how many inches the level has won since a load, beyond its inflow, at a rate that only a pump has; since
// is where that began. The next draw ends the count: what is pumped in for it is no return.
func (v *vessel) cameBack(t *Tank, l told) (back, since, last float64) {
	last = l.close
	k := lower(v.hist, l.end+300)
	for k++; k < len(v.hist); k++ {
		a, b := v.hist[k-1], v.hist[k]
		dt := b.t - a.t
		won := float64(b.v-a.v) - l.inflow*dt
		if float64(b.v-a.v) < -2*leastFall*math.Max(1, dt/histEvery) || dt > 2*histEvery {
			break
		}
		if won*t.Table.PerInch(float64(b.v)) >= t.Loads.MinRate*dt/60 {
			if back == 0 {
				since = a.t
			}
			back += won
		}
		last = float64(b.v)
	}
	return back, since, last
}

// given is the barrels that the site's other tanks lost between two times: then a rise is theirs.
func (r *run) given(i int, from, to float64) (bbl float64) {
	for j := range r.site.tanks {
		if j != i {
			bbl += math.Max(0, -r.st.tanks[j].rise(&r.site.tanks[j], from, to))
		}
	}
	return bbl
}

// hidden tells of the loads whose closing level was a value that stood still.
func (r *run) hidden(i int, v *vessel, since float64, to point) {
	r.revise(i, v, to.t, func(l told) string {
		off := to.v - l.close - l.inflow*(to.t-since)
		if since > l.end+stoodFrom || to.t <= l.end || math.Abs(to.v-l.close) < stoodOff || math.Abs(off) < stoodOff {
			return ""
		}
		return fmt.Sprintf("the sensor stood still when it ended: closing %.2f in was not measured; when the value moved again it was %.2f in", l.close, to.v)
	})
}

// sprung tells of the loads whose fall a step of the level has undone at once: the sensor had been wrong.
func (r *run) sprung(i int, v *vessel, before float64, to point) {
	r.revise(i, v, to.t, func(l told) string {
		if to.v-before < most*(l.open-l.close) {
			return ""
		}
		return fmt.Sprintf("the level stepped up at once from %.2f to %.2f in %s after its end: the sensor may have been wrong all the time", before, to.v, span(to.t-l.end))
	})
}

// redated gives the reported loads of the last day the times of a clock that was set, and does so again once it has
// held: a clock that goes wrong for half an hour comes back.
func (r *run) redated(i int, v *vessel, now, step float64) {
	if math.Abs(step) <= shiftLong || len(v.told) == 0 {
		return
	}
	v.redate = now + shiftHold
	r.retime(i, v, now, false)
}

// clockHeld tells what has become of the times of the reported loads, some time after the clock was set.
func (r *run) clockHeld(i int, v *vessel, now float64) {
	if v.redate > 0 && now >= v.redate {
		v.redate = 0
		r.retime(i, v, now, true)
	}
}

func (r *run) retime(i int, v *vessel, now float64, settled bool) {
	for _, l := range v.told {
		if now-l.end <= toldFor+shiftHold {
			r.correct(i, v, l, Correction{Settled: settled})
		}
	}
}

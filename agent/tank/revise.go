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
	reviewFor    = 24 * 3600.0 // s after its end for which a load may still be found wrong
	reportedMost = 4           // loads of a tank that are remembered
	shiftLong    = 60.0        // s; a smaller step of the clock leaves the times as they are
	shiftHold    = 2 * 3600.0  // s after which a step of the clock will not be taken back any more
	stoodFrom    = 300.0       // s after its end in which a value that freezes hides the closing level
	stoodOff     = 0.5         // in between the frozen value and the one after it that inflow does not explain
)

// reportedLoad is a load that was reported.
type reportedLoad struct {
	key              int64 // Load.Began in milliseconds of unix time
	start, end       float64
	opening, closing float64 // in
	inflow           float64 // in/s, the most that was seen
	corrected        bool    // its levels were corrected
}

// keepReported keeps a load that is reported, for what may come to light.
func (v *tankState) keepReported(l Load, d draw) {
	from := max(0, len(v.reported)-reportedMost+1)
	v.reported = append(v.reported[from:len(v.reported):len(v.reported)], reportedLoad{
		key: l.Began.UnixMilli(), start: d.start, end: d.end, opening: l.Open, closing: l.Close, inflow: math.Max(d.usualInflow, math.Max(d.inflowBefore, d.inflowAfter)),
	})
}

// correctLoads tells of the reported loads for which wrong finds a reason, each once.
func (r *update) correctLoads(i int, v *tankState, now float64, wrong func(reportedLoad) string) {
	for k, l := range v.reported {
		if l.corrected || now-l.end > reviewFor {
			continue
		}
		if note := wrong(l); note != "" {
			v.reported = append([]reportedLoad(nil), v.reported...)
			v.reported[k].corrected = true
			r.addCorrection(i, v, l, Correction{Note: note})
		}
	}
}

func (r *update) addCorrection(i int, v *tankState, l reportedLoad, c Correction) {
	c.Tank, c.Began = r.site.tanks[i].ID, time.UnixMilli(l.key).UTC()
	c.Start, c.End = v.clock.wall(l.start/r.site.speed), v.clock.wall(l.end/r.site.speed)
	r.out = append(r.out, Outcome{Correction: &c})
}

// findReturned looks, every ten minutes, whether the oil of a load has come back after its confirmation: at a pump's rate,
// and beyond what flows in on other days.
func (r *update) findReturned(i int, v *tankState, now float64) {
	n := len(v.history)
	if n == 0 || len(v.reported) == 0 || v.drawing || v.history[n-1].t <= v.reviewedTo {
		return
	}
	v.reviewedTo = v.history[n-1].t
	t := &r.site.tanks[i]
	r.correctLoads(i, v, now, func(l reportedLoad) string {
		back, since, last := v.wonBack(t, l)
		if back < explainedShare*(l.opening-l.closing) || r.othersLost(i, since, v.reviewedTo) >= explainedShare*back*t.Table.PerInch(l.closing) {
			return ""
		}
		return fmt.Sprintf("%.2f in came back within %s of its end, faster than the inflow, and the level is %.2f in: the oil may never have left the site",
			back, spanText(v.reviewedTo-l.end), last)
	})
}

// wonBack is how many inches the level has won since a load, beyond its inflow, at a rate that only a pump has; since
// is where that began. The next draw ends the count: what is pumped in for it is no return.
func (v *tankState) wonBack(t *Tank, l reportedLoad) (back, since, last float64) {
	last = l.closing
	k := searchTime(v.history, l.end+300)
	for k++; k < len(v.history); k++ {
		a, b := v.history[k-1], v.history[k]
		dt := b.t - a.t
		won := float64(b.v-a.v) - l.inflow*dt
		if float64(b.v-a.v) < -2*fallLeast*math.Max(1, dt/historyEvery) || dt > 2*historyEvery {
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

// othersLost is the barrels that the site's other tanks lost between two times: then a rise is theirs.
func (r *update) othersLost(i int, from, to float64) (bbl float64) {
	for j := range r.site.tanks {
		if j != i {
			bbl += math.Max(0, -r.st.tanks[j].rise(&r.site.tanks[j], from, to))
		}
	}
	return bbl
}

// correctFrozen tells of the loads whose closing level was a value that stood still.
func (r *update) correctFrozen(i int, v *tankState, since float64, to point) {
	r.correctLoads(i, v, to.t, func(l reportedLoad) string {
		off := to.v - l.closing - l.inflow*(to.t-since)
		if since > l.end+stoodFrom || to.t <= l.end || math.Abs(to.v-l.closing) < stoodOff || math.Abs(off) < stoodOff {
			return ""
		}
		return fmt.Sprintf("the sensor stood still when it ended: closing %.2f in was not measured; when the value moved again it was %.2f in", l.closing, to.v)
	})
}

// correctStepped tells of the loads whose fall a step of the level has undone at once: the sensor had been wrong.
func (r *update) correctStepped(i int, v *tankState, before float64, to point) {
	r.correctLoads(i, v, to.t, func(l reportedLoad) string {
		if to.v-before < explainedShare*(l.opening-l.closing) {
			return ""
		}
		return fmt.Sprintf("the level stepped up at once from %.2f to %.2f in %s after its end: the sensor may have been wrong all the time", before, to.v, spanText(to.t-l.end))
	})
}

// retimeAfterStep gives the reported loads of the last day the times of a clock that was set, and does so again once it has
// held: a clock that goes wrong for half an hour comes back.
func (r *update) retimeAfterStep(i int, v *tankState, now, step float64) {
	if math.Abs(step) <= shiftLong || len(v.reported) == 0 {
		return
	}
	v.retimeAt = now + shiftHold
	r.retimeLoads(i, v, now, false)
}

// retimeWhenHeld tells what has become of the times of the reported loads, some time after the clock was set.
func (r *update) retimeWhenHeld(i int, v *tankState, now float64) {
	if v.retimeAt > 0 && now >= v.retimeAt {
		v.retimeAt = 0
		r.retimeLoads(i, v, now, true)
	}
}

func (r *update) retimeLoads(i int, v *tankState, now float64, settled bool) {
	for _, l := range v.reported {
		if now-l.end <= reviewFor+shiftHold {
			r.addCorrection(i, v, l, Correction{Settled: settled})
		}
	}
}

package tank

import (
	"fmt"
	"math"
	"time"

	"gauger/eventrules"
)

const (
	stepWorth  = 30.0   // s of a clock's step that is worth an event
	stepSmall  = 600.0  // s; smaller steps that come again and again, as of a clock that is set each hour, are told of once
	firstSet   = 6e8    // s, some twenty years; a clock that steps so far had begun in 1970
	badClose   = 1800.0 // s without a bad value that end an episode
	badFew     = 2      // bad values that make an episode
	spikeClose = 7200.0
	spikeFew   = 6
	episodeDay = 86400.0 // s within which the same fault is told of once
	blindLong  = 3600.0  // s of bad values alone, after which they are told of at once
	smallDay   = 86400.0
	smallWorth = 5.0 // bbl a day
)

// event tells of something between two site times.
func (r *run) event(v *vessel, i int, rule string, start, end float64, note string) {
	id := r.site.tanks[i].ID
	wall := func(at float64) time.Time { return v.clk.wall(at / r.site.speed) }
	e := &Event{Rule: rule, Tank: id, Note: "tank " + id + ": " + note, Start: wall(start), End: wall(math.Max(start, end))}
	r.out = append(r.out, Outcome{Event: e})
}

// moved says of the newest event how much oil it is about, and where that went.
func (r *run) moved(bbl float64, to string) {
	e := r.out[len(r.out)-1].Event
	e.Bbl, e.To = bbl, to
}

// report closes the episodes that are over.
func (r *run) report(i int, v *vessel, now float64) {
	if s := v.bad; v.bad.tell(now, badClose, badFew) || v.blinded(now) {
		v.bad = spell{sum: now}
		r.event(v, i, eventrules.BadValue, s.start, s.last, fmt.Sprintf("%d readings that are no level: not a number, or out of range as %g", s.n, s.at))
	}
	if s := v.spike; v.spike.tell(now, spikeClose, spikeFew) {
		v.spike = spell{sum: now}
		r.event(v, i, eventrules.SpikeRate, s.start, s.last, fmt.Sprintf("%d jumps that came back at once, the last to %.2f in", s.n, s.at))
	}
	r.stillStuck(i, v, now)
	r.returned(i, v, now)
	r.clockHeld(i, v, now)
	r.leaks(i, v, now)
	if s := v.small; s.open && now-s.start >= smallDay {
		v.small = spell{}
		if s.sum >= smallWorth {
			note := fmt.Sprintf("%d draws below %.0f bbl, %.1f bbl together", s.n, r.site.tanks[i].Loads.MinLoad, s.sum)
			if v.rolled > 0 {
				note += fmt.Sprintf("; %.1f bbl of them came back", v.rolled)
			}
			r.event(v, i, eventrules.SmallDraws, s.start, s.last, note)
		}
	}
}

// blinded says that for an hour there was no level but bad values, and nobody was told since.
func (v *vessel) blinded(now float64) bool {
	s := v.bad
	return s.open && s.n >= badFew && s.last-v.last.t >= blindLong && now-s.last < badClose && (s.sum < v.last.t || s.sum > s.last)
}

// wound tells of a step of the clock of a tank's readings, and what it does to the loads that were reported.
func (r *run) wound(i int, v *vessel, now, step float64, lost bool) {
	if math.Abs(step) < stepWorth {
		return
	}
	r.clockStepped(i, v, now, step)
	if !lost {
		r.redated(i, v, now, step)
	}
}

// clockStepped tells of a step of the clock.
func (r *run) clockStepped(i int, v *vessel, now, step float64) {
	again := v.stepped != 0 && now-v.steppedAt < episodeDay && math.Abs(step) < stepSmall && math.Abs(step) < 2*math.Abs(v.stepped)
	v.steppedAt, v.stepped = now, step
	if again {
		return
	}
	note := fmt.Sprintf("the clock of its readings stepped by %+.0f s", step)
	if step >= firstSet {
		note = "the clock of its readings, which had not been set, was set"
	}
	r.event(v, i, eventrules.ClockStep, now, now, note)
}

// gapped tells of a silence and what the level did over it, and what was shown instead.
func (r *run) gapped(i int, v *vessel, now, x float64, shown stay) {
	r.flush(i, v)
	if v.pace.n < 8 && now-v.last.t < 3600 {
		return
	}
	showed := ""
	if shown.long > 0 {
		showed = fmt.Sprintf(" (it showed %.2f in for %s)", shown.v, span(shown.long))
	}
	r.event(v, i, eventrules.Gap, v.last.t, now, fmt.Sprintf("no reading to believe for %s%s, level %.2f in before, %.2f in after", span(now-v.last.t), showed, v.last.v, x))
}

// respan takes a jump that stayed as a new calibration of the sensor: what was before is
// decided as it stands, and nothing is compared across it.
func (r *run) respan(i int, v *vessel, now, x float64) {
	r.flush(i, v)
	p := v.pend
	if v.drawsOn(&r.site.tanks[i], now, x) {
		r.shift(i, v, now, x)
		return
	}
	r.event(v, i, eventrules.Step, p.first.t, now, fmt.Sprintf("level stepped from %.2f to %.2f in at once and stayed: re-span or false echo, no ticket across it", v.last.v, p.first.v))
	r.stepped, r.steppedTo = true, p.first.v
	r.sprung(i, v, v.last.v, p.first)
	if v.hot {
		r.pass(i, v, now, true)
	}
	if p.first.v > v.last.v {
		v.roseAt = p.first.t
	}
	v.buf, v.hot, v.begun = nil, false, nil
	v.done, v.jumpAt = p.first.t-1, p.first.t
	v.put(grained(p.first.t, p.first.v, p.n)) // a load may have begun since
	v.begin(now, x)
}

// thaw takes the time of a frozen value as a gap that ends at a reading.
func (r *run) thaw(i int, v *vessel, to point) {
	r.flush(i, v)
	since := v.since
	r.event(v, i, eventrules.Stuck, since, to.t, fmt.Sprintf("value stood at %.2f in for %s, then came to %.2f in", v.last.v, span(to.t-since), to.v))
	r.hidden(i, v, since, to)
	k := min(lower(v.buf, since)+1, len(v.buf))
	v.buf = append(make([]sample, 0, bufferMost), v.buf[:k]...)
	h := lower(v.hist, since)
	v.hist = v.hist[:h:h]
	v.thawedAt, v.noise.sigma = to.t, v.noise.held
	v.last, v.since, v.pend, v.stuckTold = point{since, v.last.v}, to.t, pending{}, false
	v.put(grained(to.t, to.v, 1))
	r.watch(i, v, v.buf[len(v.buf)-1])
}

// begin takes x as the level from now on, after values that were not believed.
func (v *vessel) begin(now, x float64) {
	v.last, v.since, v.unsure, v.pend = point{now, x}, now, false, pending{}
	v.bin = bin{}
	v.bin.add(now, x)
}

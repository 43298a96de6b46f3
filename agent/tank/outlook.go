package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// Outlook is where a tank's level stands by what is known of it so far, if what went on goes on. Levels are inches.
type Outlook struct {
	At        time.Time // of the newest level
	In        float64   // that level
	Next      float64   // what it would be now
	Low, High float64   // between which it may be now: a draw may have ended meanwhile, a well may make more or nothing
	Noise     float64   // by which two levels differ at once without flow
	Rate      float64   // inches a second, the fastest that is believed
	Falls     float64   // inches a second at which a draw was going on; 0: none was
	PerInch   float64   // barrels
}

// drawFaster is how many times faster a draw may go on than it was seen to.
const drawFaster = 1.5

// fallLine is the line by which a draw is going on, where one is.
func (ts *tankState) fallLine() (line, bool) {
	if !ts.drawing || ts.last.t-ts.lastFallAt > fallWindow {
		return line{}, false
	}
	from := ts.last.t - fallWindow
	if n := len(ts.firstSeen); n > 0 {
		from = math.Max(from, ts.firstSeen[n-1])
	}
	l, ok := fit(between(ts.levels.recent, from, ts.last.t))
	return l, ok && l.slope < 0
}

// Outlook looks ahead from the newest level of a tank to a time by the clock of its readings; false before the first level.
func (s Site) Outlook(st State, i int, at time.Time) (Outlook, bool) {
	if i < 0 || i >= len(st.tanks) || st.tanks[i] == nil || !st.tanks[i].seen {
		return Outlook{}, false
	}
	ts, t := st.tanks[i], &s.tanks[i]
	o := Outlook{
		At: ts.clock.wall(ts.last.t / s.speed), In: ts.last.v,
		Noise: ts.noiseFloor(t), Rate: t.maxRate(ts.last.v), PerInch: t.Table.PerInch(ts.last.v),
	}
	away := stats.Clamp(at.Sub(o.At).Seconds()*s.speed, 0, longestAway)
	if l, ok := ts.fallLine(); ok {
		o.Falls, o.Next = -l.slope, math.Max(ts.last.v+l.slope*away, 0)
		o.Low, o.High = math.Max(ts.last.v+drawFaster*l.slope*away, 0)-o.Noise, ts.last.v+o.Noise
		return o, true
	}
	in := ts.inflow(t, ts.last.t)
	rise := in.usual * away
	more := math.Max(rise, 2*(in.err*away+math.Sqrt(in.variance*away)))
	room := math.Max(float64(t.Height)-freeboard-ts.last.v, 0)
	o.Next, o.Low, o.High = ts.last.v+math.Min(rise, room), ts.last.v-o.Noise, ts.last.v+math.Min(rise+more, room)+o.Noise
	return o, true
}

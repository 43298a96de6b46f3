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
func (v *tankState) fallLine() (line, bool) {
	if !v.drawing || v.last.t-v.lastFallAt > fallWindow {
		return line{}, false
	}
	from := v.last.t - fallWindow
	if n := len(v.firstSeen); n > 0 {
		from = math.Max(from, v.firstSeen[n-1])
	}
	l, ok := fit(between(v.recent, from, v.last.t))
	return l, ok && l.slope < 0
}

// Outlook looks ahead from the newest level of a tank to a time by the clock of its readings; false before the first level.
func (s Site) Outlook(st State, i int, at time.Time) (Outlook, bool) {
	if i < 0 || i >= len(st.tanks) || st.tanks[i] == nil || !st.tanks[i].seen {
		return Outlook{}, false
	}
	v, t := st.tanks[i], &s.tanks[i]
	o := Outlook{
		At: v.clock.wall(v.last.t / s.speed), In: v.last.v,
		Noise: v.noiseFloor(t), Rate: t.maxRate(v.last.v), PerInch: t.Table.PerInch(v.last.v),
	}
	away := stats.Clamp(at.Sub(o.At).Seconds()*s.speed, 0, longestAway)
	if l, ok := v.fallLine(); ok {
		o.Falls, o.Next = -l.slope, math.Max(v.last.v+l.slope*away, 0)
		o.Low, o.High = math.Max(v.last.v+drawFaster*l.slope*away, 0)-o.Noise, v.last.v+o.Noise
		return o, true
	}
	in := v.inflow(t, v.last.t)
	rise := in.usual * away
	more := math.Max(rise, 2*(in.err*away+math.Sqrt(in.variance*away)))
	room := math.Max(float64(t.Height)-freeboard-v.last.v, 0)
	o.Next, o.Low, o.High = v.last.v+math.Min(rise, room), v.last.v-o.Noise, v.last.v+math.Min(rise+more, room)+o.Noise
	return o, true
}

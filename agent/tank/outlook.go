package tank

import (
	"math"
	"time"
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

// Outlook looks ahead from the newest level of a tank to a time by the clock of its readings; false before the first level.
func (s Site) Outlook(st State, i int, at time.Time) (Outlook, bool) {
	if i < 0 || i >= len(st.tanks) || st.tanks[i] == nil || !st.tanks[i].seen {
		return Outlook{}, false
	}
	v, t := st.tanks[i], &s.tanks[i]
	o := Outlook{
		At: v.clk.wall(v.last.t / s.speed), In: v.last.v,
		Noise: v.floor(t), Rate: t.rate(v.last.v), PerInch: t.Table.PerInch(v.last.v),
	}
	away := clamp(at.Sub(o.At).Seconds()*s.speed, 0, longestAway)
	if l, ok := fit(between(v.buf, v.last.t-shiftBack, v.last.t)); ok && l.slope < 0 && v.hot && v.last.t-v.fell < shiftBack {
		o.Falls, o.Next, o.High = -l.slope, math.Max(v.last.v+l.slope*away, 0), v.last.v+o.Noise
		o.Low = o.Next - o.Noise
		return o, true
	}
	in := v.inflow(t, v.last.t)
	rise := in.usual * away
	more := math.Max(rise, 2*(in.unsure*away+math.Sqrt(in.wander*away)))
	room := math.Max(float64(t.Height)-freeboard-v.last.v, 0)
	o.Next, o.Low, o.High = v.last.v+math.Min(rise, room), v.last.v-o.Noise, v.last.v+math.Min(rise+more, room)+o.Noise
	return o, true
}

package tank

import "time"

// What of the detector's state the tank book goes by. Times are site seconds, unless they are instants.

// CleanLevel is where the detector last saw a level: cleaned, the mean of some seconds.
type CleanLevel struct {
	Seconds float64
	In      float64
	Sigma   float64   // noise, inches
	At      time.Time // by the newest clock
}

// Latest is the newest cleaned level of a tank; false before the first.
func (s Site) Latest(st State, i int) (CleanLevel, bool) {
	if i < 0 || i >= len(st.tanks) || st.tanks[i] == nil || len(st.tanks[i].levels.recent) == 0 {
		return CleanLevel{}, false
	}
	ts := st.tanks[i]
	l := ts.levels.recent[len(ts.levels.recent)-1]
	return CleanLevel{Seconds: l.t, In: float64(l.v), Sigma: ts.noise.sigma, At: ts.clock.wall(l.t / s.speed)}, true
}

// Now is the site's time.
func (s Site) Now(st State) float64 { return st.now * s.speed }

// Rise is the volume in barrels that a tank gained between two times beyond its inflow; 0 where its level is not known.
func (s Site) Rise(st State, i int, from, to float64) float64 {
	return st.tanks[i].rise(&s.tanks[i], from, to)
}

// SlowLoss is a fall that is too slow for a draw and goes on.
type SlowLoss struct {
	Open  bool    // there is one
	Moved bool    // its oil goes to another tank
	Bbl   float64 // so far
}

// SlowLoss is that of a tank.
func (s Site) SlowLoss(st State, i int) SlowLoss {
	l := st.tanks[i].slow.loss
	if !l.active {
		return SlowLoss{}
	}
	return SlowLoss{Open: true, Moved: l.kind == lossMoved, Bbl: l.bbl(&s.tanks[i])}
}

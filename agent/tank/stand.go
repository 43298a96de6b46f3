package tank

import "time"

// stand is where the detector last saw a level: cleaned, the mean of some seconds.
type stand struct {
	t, level float64   // site s; in
	sigma    float64   // in
	at       time.Time // by the newest clock
}

// stand is the newest cleaned level of a tank; false before the first.
func (st State) stand(i int, speed float64) (stand, bool) {
	if i < 0 || i >= len(st.tanks) || st.tanks[i] == nil || len(st.tanks[i].buf) == 0 {
		return stand{}, false
	}
	v := st.tanks[i]
	s := v.buf[len(v.buf)-1]
	return stand{t: s.t, level: float64(s.v), sigma: v.noise.sigma, at: v.clk.wall(s.t / speed)}, true
}

package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A rod that somebody lifts evenly moves as under a pump for a while, and then up faster than any pump fills a tank, however small the steps from one
// reading to the next. Where it hangs as before in the end, nothing left.
func TestARodThatIsLiftedEvenlyIsNoLoad(t *testing.T) {
	const at = 5 * tanktest.Hour
	way := [][2]float64{{0, 0}, {10, -32}, {18, 60}, {22, 60}, {26, 68}, {37, 68}, {40, 50}, {53, 50}, {61, -87}, {68, -87}, {68.2, 0}, {300, 0}} // minutes since, inches above where it hung
	r := newRig(t, tanktest.Well{Level0: 87})
	r.every, r.site.tanks[0].Sensor = 10, "radar"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		minutes := (s - at) / 60
		for k := 1; k < len(way); k++ {
			if a, b := way[k-1], way[k]; minutes >= a[0] && minutes < b[0] {
				v += a[1] + (b[1]-a[1])*(minutes-a[0])/(b[0]-a[0])
			}
		}
		return math.Round(100*v) / 100, true
	}
	r.run(0, 11*tanktest.Hour)
	if len(r.loads) != 0 {
		t.Errorf("%+v", r.loads)
	}
}

package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// A well that comes in slugs into two joined tanks shows in what they hold together how much of it came while a truck loaded, whether their equaliser was
// open or shut meanwhile, and not in the half of each slug that one of them shows at other times.
func TestSlugsIntoJoinedTanks(t *testing.T) {
	const step, from, to, rate, long = 10.0, 8 * 3600.0, 8*3600.0 + 2100, 0.05, 11 * 3600.0
	for name, c := range map[string]struct {
		shut  bool
		phase float64 // s of the hour at which a slug begins
	}{"open, no slug in it": {false, 2400}, "shut, no slug in it": {true, 2400}, "shut, a slug in it": {true, 600}} {
		v, course, came := []float64{90.0, 90}, [2][]float64{}, 0.0
		for s := 0.0; s < long; s += step {
			for k := range v {
				course[k] = append(course[k], v[k])
			}
			if at := math.Mod(s+3600-c.phase, 3600); at < 420 {
				if v[0] += 0.02 * step; s >= from && s < to {
					came += 0.02 * step
				}
			}
			if s >= from && s < to {
				v[0] -= rate * step
			}
			if !c.shut || s < from || s > to+900 {
				ran := math.Max(-0.03, math.Min((v[0]-v[1])/2/60, 0.03)) * step
				v[0], v[1] = v[0]-ran, v[1]+ran
			}
		}
		r := newRig(t, tanktest.Well{}, tanktest.Well{})
		r.every, r.site.tanks[0].Group, r.site.tanks[1].Group = 60, "west", "west"
		r.sensor = func(i int, s, _ float64) (float64, bool) {
			return course[i][min(int(s/step), len(course[i])-1)] + 0.08*math.Sin(s*s*0.37+float64(i)), true
		}
		r.run(0, long)
		bbl, want, off := 0.0, (to-from)*rate*tanktest.PerInch, 0.0
		for _, l := range r.loads {
			bbl, off = bbl+l.RemovedBbl, off+l.InflowErrorBbl
		}
		if math.Abs(bbl-want) > 2 || off > 4 {
			t.Errorf("%s: %.1f bbl of %.1f, %.1f came, give or take %.1f: %+v", name, bbl, want, came*tanktest.PerInch, off, r.loads)
		}
	}
}

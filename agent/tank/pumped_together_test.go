package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/tanktest"
)

// joinedFed are two tanks alike that an equaliser joins, fed at so many in/s into the first one, from which a truck draws at so many in/s. It gives the tickets'
// barrels together, what the truck took, and the error that the tickets state of what flowed in.
func joinedFed(t *testing.T, sensor string, noise float64, fed, drawn func(at float64) float64) (bbl, want, off float64, r *rig) {
	const step, long = 10.0, 11 * 3600.0
	v, course := []float64{80.0, 80}, [2][]float64{}
	for at := 0.0; at < long; at += step {
		for k := range v {
			course[k] = append(course[k], v[k])
		}
		v[0] += (fed(at) - drawn(at)) * step
		want += drawn(at) * step * tanktest.PerInch
		ran := math.Copysign(math.Min(0.0035*math.Sqrt(math.Abs(v[0]-v[1]))*step, math.Abs(v[0]-v[1])/2), v[0]-v[1])
		v[0], v[1] = v[0]-ran, v[1]+ran
	}
	r = newRig(t, tanktest.Well{}, tanktest.Well{})
	r.every = 60
	for i := range r.site.tanks {
		r.site.tanks[i].Group, r.site.tanks[i].Sensor = "west", sensor
	}
	r.sensor = func(i int, at, _ float64) (float64, bool) {
		return course[i][min(int(at/step), len(course[i])-1)] + noise*math.Sin(at*at*0.37+float64(i)), true
	}
	r.run(0, long)
	for _, l := range r.loads {
		bbl, off = bbl+l.RemovedBbl, off+l.InflowErrorBbl
	}
	return bbl, want, off, r
}

// A well whose pump goes by a timer has its clock in what joined tanks hold together, and where it rests before and behind a truck nothing came meanwhile.
func TestATimerIntoJoinedTanks(t *testing.T) {
	for name, phase := range map[string]float64{"it rested": 7*3600 + 1500, "it began amid the load": 8*3600 + 900, "it ended amid the load": 8*3600 - 1800} {
		fed := func(at float64) float64 {
			if math.Mod(at+12*3600-phase, 5400) < 2700 {
				return 0.003
			}
			return 0
		}
		drawn := func(at float64) float64 {
			if at >= 8*3600 && at < 8*3600+2400 {
				return 0.03
			}
			return 0
		}
		if bbl, want, off, r := joinedFed(t, "hydrostatic", 0.04, fed, drawn); len(r.loads) != 2 || math.Abs(bbl-want) > 2 || off > 3 {
			t.Errorf("%s: %.1f bbl of %.1f, give or take %.1f: %+v", name, bbl, want, off, r.loads)
		}
	}
}

// A truck's pump draws while what joined tanks hold together falls. What the equaliser moves behind that is no oil that came, nor is a slow start, or a stop
// that one of the tanks hides.
func TestPlungersIntoJoinedTanksAndWhatTheEqualiserMoves(t *testing.T) {
	for name, drawn := range map[string]func(after float64) float64{
		"evenly": func(after float64) float64 { return 0.06 },
		"a slow start": func(after float64) float64 {
			if after < 480 {
				return 0.01
			}
			return 0.06
		},
		"a stop": func(after float64) float64 {
			if after > 600 && after < 840 {
				return 0
			}
			return 0.06
		},
	} {
		fed := func(at float64) float64 {
			switch at = math.Mod(at+7200-1800, 7200); {
			case at < 480:
				return 0.0066
			case at < 1680:
				return 0.0009
			}
			return 0.0002
		}
		load := func(at float64) float64 {
			if at >= 8*3600 && at < 8*3600+1500 {
				return drawn(at - 8*3600)
			}
			return 0
		}
		if bbl, want, off, r := joinedFed(t, "float", 0.02, fed, load); len(r.loads) != 2 || math.Abs(bbl-want) > 2.5 {
			t.Errorf("%s: %.1f bbl of %.1f, give or take %.1f: %+v", name, bbl, want, off, r.loads)
		}
	}
}

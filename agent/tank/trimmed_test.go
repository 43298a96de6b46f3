package tank

import (
	"math"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// The steps of a zero that is trimmed are told as exactly as the sensor is at rest, however few readings rest between them, and where they are most of
// the readings.
func TestStepsOfATrimmedZeroThatIsReadOnceAMinute(t *testing.T) {
	const at = 5 * tanktest.Hour
	for name, readings := range map[string][]float64{
		"seven steps": {159.9, 157, 157.3, 157.1, 152.2, 151.9, 152, 151.8, 151.9, 146.6, 146.4, 143.4, 143.2, 138.2, 138.1, 138.5, 134.2, 134.3, 131.2},
		"eight steps": {107.3, 106, 106.2, 106.2, 106, 106.1, 106.1, 106.1, 103.1, 103, 103, 101.3, 101.1, 98.8, 99.2, 99.3, 99.2, 97.5, 97.6, 97.6,
			95.6, 95.6, 95.6, 95.6, 92.8, 92.9, 92.9, 90.8},
	} {
		r := newRig(t, tanktest.Well{})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor = 60, time.Minute, "hydrostatic"
		r.sensor = func(_ int, s, _ float64) (float64, bool) {
			k := int((s - at) / 60)
			v := readings[max(0, min(k, len(readings)-1))]
			if k < 0 || k >= len(readings) {
				v += 3 * tanktest.Radar(1, s, 0)
			}
			return math.Round(10*v) / 10, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 0 {
			t.Errorf("%s: %+v", name, r.loads)
		}
	}
}

// Of a sensor that shows no noise they are told by the dumps that lift it between two of them.
func TestStepsOfAQuietSensorAreToldByDumps(t *testing.T) {
	const at, often = 5 * tanktest.Hour, 680.0
	r := newRig(t, tanktest.Well{})
	r.every, r.site.tanks[0].Every = 10, 10*time.Second
	r.sensor = func(_ int, s, _ float64) (float64, bool) {
		v, since := 190.0, s-at-190
		for by, in := range map[float64]float64{0: 8.8, 90: 7.6, 350: 7.4, 710: 5.5, 980: 4.55, 1340: 7.2, 1600: 3.85} {
			if s >= at+by {
				v -= in
			}
		}
		v += 0.8 * (math.Floor(since/often) + math.Min(1, (since-often*math.Floor(since/often))/70))
		return math.Round(20*v) / 20, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 0 {
		t.Errorf("%+v", r.loads)
	}
}

// A step that no pump makes between two readings is one however short the rests beside it are, or however noise hides them.
func TestAStepFasterThanAnyPumpNeedsNoLongRest(t *testing.T) {
	for _, n := range []int{6, 11} {
		r := newRig(t, tanktest.Well{Level0: 248})
		r.every, r.site.tanks[0].Every, r.site.tanks[0].Sensor, r.site.tanks[0].Table, r.site.tanks[0].Height = 10, 10*time.Second, "ultrasonic", Cylinder(258, 288), 288
		noise := float64(2 * (3 + (n-1)/4))
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			for by, in := range map[float64]float64{0: 5.4, 178: 3.4, 489: 4.3, 827: 5.8, 1000: 4.8, 1110: 3.8, 1390: 3.3} {
				if s >= 5*tanktest.Hour+by {
					v -= in
				}
			}
			return math.Round(10*(v+noise*tanktest.Radar(n, s, 0))) / 10, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 0 {
			t.Errorf("%d: %+v", n, r.loads)
		}
	}
}

// A level that jumps soon behind a load was read on: nothing says that the readings stopped.
func TestAJumpSoonBehindALoadIsNoSilence(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "hydrostatic"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if since := s - aLoad.End(); since > 120 && since < tanktest.Hour {
			v -= 2.5
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || said(r.loads[0], "readings stopped") || !said(r.loads[0], "jumped") {
		t.Errorf("%+v", r.loads)
	}
}

// A hatch that is opened for either gauge lets a pressure sensor fall by some inches at once: behind the load too that is no step of the sensor.
func TestAHatchForBothGaugesIsNoStepBesideTheLoad(t *testing.T) {
	r := newRig(t, aWell)
	r.site.tanks[0].Sensor = "hydrostatic"
	r.sensor = func(_ int, s, v float64) (float64, bool) {
		if before, since := aLoad.From-s, s-aLoad.End(); before > 0 && before < 420 || since > 150 && since < tanktest.Hour {
			v -= 2
		} else if before <= 0 && since <= 150 {
			v -= 2 * math.Max(0, 1+before/1200) // the vapour comes back by and by
		}
		return v, true
	}
	r.run(0, 9*tanktest.Hour)
	if len(r.loads) != 1 || said(r.loads[0], "faster than the pump drew") {
		t.Errorf("%+v", r.loads)
	}
}

// A truck that loads by gravity while a sensor scatters between two of its polls as far as the level falls: what two of them show is no rest.
func TestASlowPumpUnderNoiseIsNoStaircase(t *testing.T) {
	asked := 0
	for tank := range 12 {
		load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 45, Rate: 0.6}
		r := newRig(t, tanktest.Well{Level0: 130, Moves: []tanktest.Move{load}})
		r.every, r.site.tanks[0].Every = 60, time.Minute
		r.sensor = func(_ int, s, v float64) (float64, bool) {
			v += 3 * (tanktest.Radar(tank, s, v) - v)
			return math.Round(v*10) / 10, true
		}
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) == 1 && strings.Contains(strings.Join(r.loads[0].Review, " "), "with rest between them") {
			asked++
		}
	}
	if asked > 0 {
		t.Errorf("%d of 12 say that it fell in steps, with rest between them", asked)
	}
}

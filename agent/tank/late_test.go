package tank

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank/tanktest"
)

// late is what a sensor shows that follows a well's level with a lag of so many seconds.
func late(w tanktest.Well, time float64) seen {
	shown, at := w.Level(0), 0.0
	return func(i int, s, v float64) (float64, bool) {
		for ; at < s; at++ {
			shown += (w.Level(at) - shown) / time
		}
		return tanktest.Radar(i, s, shown), true
	}
}

// mean is what one shows that averages so many seconds.
func mean(w tanktest.Well, over float64) seen {
	return func(i int, s, _ float64) (float64, bool) {
		sum := 0.0
		for k := range 20 {
			sum += w.Level(s - over*float64(k)/20)
		}
		return tanktest.Radar(i, s, sum/20), true
	}
}

// A sensor that follows the level late, as a long line that is half plugged does, leaves the level's line slowly and comes to rest
// slowly, and so does the mean of some minutes. The gauges are those of the oil, and the times the pump's.
func TestASensorThatFollowsLate(t *testing.T) {
	for _, c := range []struct {
		time   float64
		sensor string
		seen   func(w tanktest.Well, time float64) seen
	}{{60, "radar", late}, {150, "hydrostatic", late}, {300, "hydrostatic", late}, {400, "analog", late}, {300, "radar", mean}, {600, "ultrasonic", mean}} {
		w := aWell
		w.Inflow = 90
		r := newRig(t, w)
		r.site.tanks[0].Sensor = c.sensor
		r.sensor = c.seen(w, c.time)
		r.side = func(r *rig, s float64) {
			if s == aLoad.From+600 || s == aLoad.End()+1200 {
				r.kill(s)
			}
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s, %.0f s: loads %+v", c.sensor, c.time, r.loads)
		}
		l := r.loads[0]
		start, end := l.Start.Sub(tanktest.Start).Seconds(), l.End.Sub(tanktest.Start).Seconds()
		if failed := tanktest.Failed(map[string]bool{
			"opening": math.Abs(l.Open-w.Level(aLoad.From)) > 0.2,
			"closing": math.Abs(l.Close-w.Level(aLoad.End())) > 0.2,
			"start":   math.Abs(start-aLoad.From) > 20,
			"end":     math.Abs(end-aLoad.End()) > 20,
			"error":   math.Abs(l.GaugeBbl-(w.Level(aLoad.From)-w.Level(aLoad.End()))*tanktest.PerInch) > l.ErrorBbl,
			"review":  len(l.Review) > 0,
			"remark":  !strings.Contains(strings.Join(l.Remarks, " "), "late"),
		}); failed != "" {
			t.Errorf("%s, %.0f s: %s: %.2f at %.0f to %.2f at %.0f, of %.2f to %.2f: %+v", c.sensor, c.time, failed, l.Open, start-aLoad.From, l.Close, end-aLoad.End(), w.Level(aLoad.From), w.Level(aLoad.End()), l)
		}
	}
}

// A pump that starts slowly, or fades at its end, is no sensor that follows late: the oil goes as it is shown.
func TestAPumpThatStartsSlowlyOrFadesIsNotFollowedLate(t *testing.T) {
	for _, fades := range []bool{false, true} {
		lagged := late(aWell, 180)
		r := newRig(t, aWell)
		r.sensor = func(i int, s, v float64) (float64, bool) {
			slow, _ := lagged(i, s, v)
			if (s > (aLoad.From+aLoad.End())/2) == fades {
				return slow, true
			}
			if off := aLoad.Rate / 60 * 180 / tanktest.PerInch; fades && s > aLoad.From {
				v += off * math.Min(1, (s-aLoad.From)/180)
			} else if !fades {
				v += off * math.Max(0, 1-math.Max(0, s-aLoad.End()+180)/180)
			}
			return tanktest.Radar(i, s, v), true
		}
		r.run(0, 6*tanktest.Hour)
		if len(r.loads) != 1 || slices.ContainsFunc(r.loads[0].Remarks, func(x string) bool { return strings.Contains(x, "late") }) {
			t.Errorf("fades %v: %+v", fades, r.loads)
		}
	}
}

// Two trucks on one header, of which the second connects later and the first leaves earlier, draw slowly, fast and slowly: both edges
// bend, but the level stands within a reading of the stop, where a sensor that follows late would creep.
func TestTwoTrucksOnAHeaderAreNotFollowedLate(t *testing.T) {
	w := aWell
	first := tanktest.Move{From: aLoad.From, Bbl: 120, Rate: 5}
	second := tanktest.Move{From: aLoad.From + 240, Bbl: 125, Rate: 5}
	w.Level0, w.Inflow, w.Moves = 100, 1000, []tanktest.Move{first, second}
	r := newRig(t, w)
	r.run(0, 6*tanktest.Hour)
	r.matches(0.2, 15, labelOf(w, first, second))
}

// A radar that forgets slowly, speaks in hundredths of a foot and is heard once a minute falls on for two minutes behind the end that its falling line
// shows, less and less, and rests: there the load closes. Waves that come up again hide no lower closing.
func TestAClosingThatADampedSensorComesDownTo(t *testing.T) {
	for want, shown := range map[float64][]float32{53.88: {54.72, 54.48, 54, 53.88, 53.88, 53.88, 53.76}, 54.72: {54.72, 54.36, 54.84, 54.36, 54.72, 54.72, 54.72}} {
		r := resting{at: -82, sigma: 0.03, resolution: resolution{step: 0.12}}
		for k, v := range shown {
			at := -55 + 60*float64(k)
			r.samples = append(r.samples, sample{t: at, v: v, n: 1}, sample{t: at + 30, v: v, n: 1}) // the gateway says it twice
		}
		if g := r.estimate(0); math.Abs(g.level-want) > 0.13 {
			t.Errorf("closing at %.2f in, want %.2f", g.level, want)
		}
	}
}

// What a damped sensor shows behind the pump's line falls on by and by. Where two lines through it meet otherwise than the readings lie, none of it
// is a rise: foam that came up, or oil that came in, has been read.
func TestADampedSensorsTailIsNoRise(t *testing.T) {
	tank := &newRig(t, tanktest.Well{}).site.tanks[0]
	for back, want := range map[float64]bool{0: false, 1.5: true} {
		ts := &tankState{}
		for s := 0.0; s < 2400; s += 10 {
			v := math.Max(180-s/18, 80+0.1*math.Exp(-(s-1800)/150))
			if s > 1830 && s < 2000 {
				v += back
			}
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(v)})
		}
		a := draw{end: 1820, parts: 1, samples: 180, opening: gauge{level: 180}, closing: gauge{level: 78.6}}
		b := draw{start: 1900, end: 2100, parts: 1, samples: 20, opening: gauge{level: 80.1}, closing: gauge{level: 77}}
		if said := strings.Join(ts.joinedDraw(tank, a, b).doubts, ""); strings.Contains(said, "level rose by") != want {
			t.Errorf("where %.1f in came back: %q", back, said)
		}
	}
}

// A pump that slows at the heel bends the end of a fall, and a sensor's damping both its ends: but no sensor that is late shows at rest another level than the
// oil's, and an opening above all that it read in hours, where nothing flows in, is none.
func TestAPumpThatSlowsAtTheHeelIsNoLateSensor(t *testing.T) {
	const at = 4 * tanktest.Hour // the fall as a damped sensor showed it
	level := knots([2]float64{0, 42.55}, [2]float64{at, 42.55}, [2]float64{at + 31, 42.373}, [2]float64{at + 49, 42.207}, [2]float64{at + 67, 42.031}, [2]float64{at + 81, 41.864},
		[2]float64{at + 95, 41.694}, [2]float64{at + 110, 41.514}, [2]float64{at + 123, 41.325}, [2]float64{at + 139, 41.119}, [2]float64{at + 967, 28.817}, [2]float64{at + 995, 28.447},
		[2]float64{at + 1028, 28.081}, [2]float64{at + 1065, 27.722}, [2]float64{at + 1101, 27.368}, [2]float64{at + 1143, 27.019}, [2]float64{at + 1193, 26.651}, [2]float64{at + 1315, 26.321}, [2]float64{at + 1400, 26.26})
	r := newRig(t, tanktest.Well{})
	r.every, r.site.tanks[0].Every = 2, 2*time.Second
	send := exceptions(0.06, 3600)
	r.sensor = func(i int, s, _ float64) (float64, bool) {
		return send(i, s, math.Round(1000*level(s)+20*tanktest.Radar(i, s, 0))/1000)
	}
	r.run(0, 7*tanktest.Hour)
	if len(r.loads) != 1 || math.Abs(r.loads[0].Open-42.55) > 0.2 || math.Abs(r.loads[0].Close-26.25) > 0.3 {
		t.Errorf("want one load from 42.55 to 26.2 in: %+v", r.loads)
	}
}

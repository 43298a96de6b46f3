package tank

import (
	"fmt"
	"math"
	"time"

	"gauger/agent/tank/stats"
)

const (
	reviewChance   = 0.04 // that a volume is off by more than a barrel and a hundredth
	confidenceMost = 0.99 // no observation is surer
	hiddenShare    = 0.25 // share by which the duration of a draw that nobody saw is not known
	restShort      = 300. // s of readings after an end, of which less may have been slosh
)

// sensorErrors are the least standard errors of a gauge in inches by the kind of sensor: a good
// one may be used for custody at 1/8 in either way (API MPMS 18.2), the others not at all.
var sensorErrors = map[string]float64{"ultrasonic": 0.1, "hydrostatic": 0.1, "analog": 1.0 / 24}

const sensorErrorLeast = 1.0 / 32

func (t *Tank) sensorError() float64 { return math.Max(sensorErrorLeast, sensorErrors[t.Sensor]) }

// volumeError is the standard error of the volume between the gauges of a draw, barrels. What
// is not known of the inflow pushes both gauges the same way. Of a draw that nobody saw
// neither the duration is known, nor which part of the gap was before it, when a full
// tank's well was shut in.
func (t *Tank) volumeError(d draw) float64 {
	per := t.Table.PerInch((d.opening.level + d.closing.level) / 2)
	lean := d.opening.carried + d.closing.carried
	hidden := 0.0
	if d.samples == 0 && d.opening.carried > 0 && d.closing.carried > 0 {
		hidden = math.Hypot(hiddenShare*(d.end-d.start)*d.inflowAfter, lean*(d.inflowAfter-d.inflowBefore)/math.Sqrt(12))
	}
	return per * math.Sqrt(stats.Square(d.opening.err)+stats.Square(d.closing.err)+2*stats.Square(t.sensorError())+stats.Square(d.inflow.err*lean)+stats.Square(hidden))
}

// chanceWrong is that of a volume with a standard error to be off by more than the greater of a
// barrel and a hundredth of it.
func chanceWrong(bbl, sigma float64) float64 {
	return math.Erfc(math.Max(1, 0.01*bbl) / (sigma * math.Sqrt2))
}

// confidence are the confidence in a load, which is the chance of its volume to be right less
// what else speaks against it, and why a person should look at it.
func (s siteTanks) confidence(t *Tank, ts *tankState, d draw, l Load) (float64, []string) {
	wrong := chanceWrong(l.GaugeBbl, l.ErrorBbl/2)
	c := confidenceMost * (1 - wrong)
	var why []string
	say := func(when bool, factor float64, format string, args ...any) {
		if when {
			c *= factor
			why = append(why, fmt.Sprintf(format, args...))
		}
	}
	away := math.Max(d.opening.away, d.closing.away)
	say(d.samples == 0, 0.7, "no reading inside the load: data gap %s", spanText(d.gap))
	say(wrong > reviewChance && d.samples > 0 && away >= ts.interval.gapMin(t, s.site.speed), 1, "data gap %s at an edge", spanText(away))
	stopped := ts.stopped(d)
	say(!stopped, 0.5, "the readings stopped while the level fell")
	rest, few := ts.last.t-d.end, math.Min(math.Max(restShort, 2*ts.interval.usual), t.Loads.Confirm.Seconds()/2)
	say(rest < few && stopped, 0.7, "readings stopped %.0f s after the end", rest)
	say(ts.levels.recent[0].t > d.start-nodeEvery, 0.5, "it began before the first reading")
	say(d.gap >= ts.interval.gapMin(t, s.site.speed) && t.Loads.TruckMax > 0 && l.GaugeBbl > t.Loads.TruckMax, 0.5, "more than a truck holds over a data gap of %s, maybe two loads", spanText(d.gap))
	say(ts.faults.jumpedAt > 0 && ts.faults.jumpedAt > d.start && ts.faults.jumpedAt < d.end, 0.5, "sensor re-spanned during the load")
	say(d.stuck.to > 0, 0.7, "sensor stuck for %s before it ended", spanText(d.stuck.to-d.stuck.from))
	say(d.rival != "", 0.5, "%s", d.rival)
	_, low := t.Table.Extrapolated(l.Close)
	_, high := t.Table.Extrapolated(l.Open)
	say(low || high, 0.5, "outside table")
	say(wrong > reviewChance, 1, "volume uncertain by %.1f bbl", l.ErrorBbl)
	if t.Loads.TruckMax > 0 && l.GaugeBbl > t.Loads.TruckMax {
		c *= 0.9
	}
	return stats.Round(c, 2), why
}

// remarks are what a reader should know of a load and is no reason for doubt, and the factor
// by which its confidence is the less.
func (s siteTanks) remarks(t *Tank, ts *tankState, d draw, l Load) (says []string, factor float64) {
	factor = 1
	say := func(less float64, format string, args ...any) {
		says, factor = append(says, fmt.Sprintf(format, args...)), factor*less
	}
	switch recent := ts.faults.clockSteppedAt >= d.start-3600; {
	case recent && ts.faults.clockStep >= firstSet:
		say(0.8, "the clock was not set before, times are by the new one")
	case recent && ts.faults.clockStep != 0:
		say(0.8, "clock stepped %+.0f s, times are by the new one", ts.faults.clockStep)
	}
	if t.Valve && t.Group == "" && !d.setByValve {
		say(1, "the load valve's contact did not follow, times are the level's")
	}
	if l.InflowUnknown {
		say(1, "inflow unknown")
	}
	if at := s.st.bootedAt * s.site.speed; at > d.start && at < d.end {
		say(0.9, "restarted inside the load")
	}
	if len(l.Review) == 0 && d.gap >= ts.interval.gapMin(t, s.site.speed) {
		say(1, "data gap %s", spanText(d.gap))
	}
	return says, factor
}

// spanText writes seconds for a person.
func spanText(s float64) string {
	d := time.Duration(s * float64(time.Second))
	if d < time.Hour {
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

package sim

import (
	"math"
	"time"
)

// BarrelsPerInch is the content of one inch of an upright cylinder of the given inside diameter in feet
// (5.614583 cubic feet to the barrel).
func BarrelsPerInch(diameter float64) float64 {
	return math.Pi * diameter * diameter / 4 / 12 / 5.614583
}

// Tank is an upright cylindrical stock tank: production runs in, trucks pull oil out. It has a time of its own, which
// only Advance moves. It is not safe for use by several goroutines at once.
type Tank struct {
	PerInch float64 // barrels per inch of level
	Height  float64 // inches; what runs in above it is shut in and never counted
	Heel    float64 // inches; a pump loses suction here
	Inflow  float64 // barrels per minute, may be changed between two calls of Advance

	barrels float64
	now     time.Duration
	state   pumpState
	draw    Draw
	left    time.Duration // of the pause
	load    Load          // the draw that is running
	loads   []Load
}

type pumpState uint8

const (
	idle pumpState = iota
	pumping
	paused
)

// volumeTolerance is in barrels: two volumes that differ by less are the same.
const volumeTolerance = 1e-6

// Draw is a removal that shall happen.
type Draw struct {
	Barrels float64
	Rate    float64 // barrels per minute, above 0
	Pauses  []Pause // in the order of After
}

// Pause is an interruption of a draw.
type Pause struct {
	After float64 // barrels that are out when it begins
	For   time.Duration
}

// Load is a removal that happened. Times are those of the tank's own clock, levels are inches.
type Load struct {
	Start, End       time.Duration
	Opening, Closing float64
	Removed, Inflow  float64 // barrels
	Pauses           int
}

// PumpEvent happened to the pump.
type PumpEvent string

// The words of a Change.
const (
	Started     PumpEvent = "started"
	Paused      PumpEvent = "paused"
	Resumed     PumpEvent = "resumed"
	Stopped     PumpEvent = "stopped"
	LostSuction PumpEvent = "lost suction"
)

// Change is one thing that happened to a draw.
type Change struct {
	At      time.Duration // the tank's own clock
	What    PumpEvent
	Level   float64 // inches
	Removed float64 // barrels since the start of the draw
}

// Fill sets the level in inches, as at the start of a simulation.
func (t *Tank) Fill(level float64) { t.barrels = level * t.PerInch }

// Level is the height of the liquid in inches.
func (t *Tank) Level() float64 { return t.barrels / t.PerInch }

// Now is the tank's own clock.
func (t *Tank) Now() time.Duration { return t.now }

// Loads returns the draws that have ended, in order.
func (t *Tank) Loads() []Load { return append([]Load(nil), t.loads...) }

// Drawing says whether a truck is connected, pumping or pausing.
func (t *Tank) Drawing() bool { return t.state != idle }

// Begin starts a draw; false when one is running already, or when it would never end.
func (t *Tank) Begin(d Draw) (Change, bool) {
	if t.state != idle || !(d.Rate > 0) || !(d.Barrels > 0) {
		return Change{}, false
	}
	d.Pauses = append([]Pause(nil), d.Pauses...)
	t.draw, t.state = d, pumping
	t.load = Load{Start: t.now, Opening: t.Level()}
	return t.change(Started), true
}

// Advance moves time on and returns what happened to the pump on the way. The outcome does not depend on the size of
// the steps.
func (t *Tank) Advance(by time.Duration) []Change {
	var out []Change
	for by > 0 {
		step := min(by, t.untilPumpChange())
		t.flow(step)
		by -= step
		if what := t.switchPump(); what != "" {
			out = append(out, t.change(what))
		}
	}
	return out
}

func (t *Tank) change(what PumpEvent) Change {
	return Change{At: t.now, What: what, Level: t.Level(), Removed: t.load.Removed}
}

// untilPumpChange is the time until the pump next starts or stops by itself, at least one nanosecond.
func (t *Tank) untilPumpChange() time.Duration {
	switch t.state {
	case idle:
		return math.MaxInt64
	case paused:
		return max(1, t.left)
	}
	left := t.stopVolume() - t.load.Removed
	if net := t.draw.Rate - t.Inflow; net > 0 {
		left = min(left, (t.barrels-t.Heel*t.PerInch)/net*t.draw.Rate)
	}
	return max(1, time.Duration(math.Ceil(left/t.draw.Rate*float64(time.Minute))))
}

// stopVolume is the volume at which the pump stops next.
func (t *Tank) stopVolume() float64 {
	if n := t.load.Pauses; n < len(t.draw.Pauses) {
		return min(t.draw.Pauses[n].After, t.draw.Barrels)
	}
	return t.draw.Barrels
}

// flow lets oil in and out for a time in which the pump does not change.
func (t *Tank) flow(step time.Duration) {
	out := 0.0
	if t.state == pumping {
		out = max(min(t.draw.Rate*step.Minutes(), t.stopVolume()-t.load.Removed), 0)
	}
	after := min(t.barrels+t.Inflow*step.Minutes()-out, t.Height*t.PerInch)
	t.load.Removed += out
	t.load.Inflow += after - t.barrels + out
	t.barrels = after
	t.left -= step
	t.now += step
}

// switchPump says what the pump does at this instant; empty when it goes on as it was.
func (t *Tank) switchPump() PumpEvent {
	switch {
	case t.state == paused && t.left <= 0:
		t.state = pumping
		return Resumed
	case t.state != pumping:
		return ""
	case t.load.Removed >= t.draw.Barrels-volumeTolerance:
		return t.end(Stopped)
	case t.barrels <= t.Heel*t.PerInch+volumeTolerance:
		return t.end(LostSuction)
	case t.load.Removed >= t.stopVolume()-volumeTolerance:
		t.state, t.left = paused, t.draw.Pauses[t.load.Pauses].For
		t.load.Pauses++
		return Paused
	}
	return ""
}

func (t *Tank) end(what PumpEvent) PumpEvent {
	t.state = idle
	t.load.End, t.load.Closing = t.now, t.Level()
	t.loads = append(t.loads, t.load)
	return what
}

package tank

import (
	"errors"
	"fmt"
	"math"
	"time"

	"gauger/agent/tank/stats"
)

const (
	lowestLevel = -1.0 // in
	aboveShell  = 7.0  // in above the shell
	belowBottom = 36.0 // in below the bottom to which a level may fall where the sensor's zero is off
)

// Tank is one stock tank as it is built and equipped.
type Tank struct {
	ID             string        // external id; every note names it
	Sensor         string        // radar, float, ultrasonic, hydrostatic, analog; "" is radar
	Group          string        // tanks with the same group are joined by an open equaliser; "" none
	Height         Length        // top of the shell; values above it and 7 in are not believed
	Table          Table         // volumes
	Lact           bool          // a meter makes the tickets, never the level
	OpeningClosing bool          // the ticket's two temperatures are those of the opening and of the closing, not of top and bottom
	Valve          bool          // a contact on the load valve is wired
	Interface      bool          // an oil/water interface level is wired
	Every          time.Duration // expected time between readings; 0 unknown, then it is learned
	Loads          Loads         // the detector's settings; zero: DefaultLoads
}

// Site is the tanks of one site, which are judged together: a fall here may be a rise
// there. It does not change and may be shared.
type Site struct {
	tanks []Tank
	speed float64
}

// Len is the number of tanks.
func (s Site) Len() int { return len(s.tanks) }

// Tank is one of them, not to be changed.
func (s Site) Tank(i int) *Tank { return &s.tanks[i] }

// Speed is site time per real time.
func (s Site) Speed() float64 { return s.speed }

// NewSite checks the tanks and joins them. The index of a tank in the slice is Input.Tank.
func NewSite(tanks []Tank) (Site, error) {
	s := Site{tanks: make([]Tank, len(tanks)), speed: 1}
	var errs []error
	seen := map[string]bool{}
	for i, t := range tanks {
		t.Loads = t.Loads.filled()
		s.tanks[i] = t
		if i == 0 {
			s.speed = t.Loads.Speed
		}
		if seen[t.ID] {
			errs = append(errs, fmt.Errorf("tank %q: the id is used twice", t.ID))
		}
		seen[t.ID] = true
		if err := t.check(); err != nil {
			errs = append(errs, fmt.Errorf("tank %q: %w", t.ID, err))
		}
		if t.Loads.Speed != s.speed {
			errs = append(errs, fmt.Errorf("tank %q: loads.speed is %g, that of the site's other tanks %g; they must be the same", t.ID, t.Loads.Speed, s.speed))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Site{}, fmt.Errorf("joining the tanks of the site: %w", err)
	}
	return s, nil
}

func (t Tank) check() error {
	switch {
	case t.ID == "":
		return errors.New("it has no id")
	case !stats.Finite(float64(t.Height)) || t.Height <= 0:
		return fmt.Errorf("height %g in is not above 0", float64(t.Height))
	case len(t.Table.in) < 2:
		return errors.New("it has no table of volumes: give a strapping table or a diameter")
	case t.Every < 0:
		return fmt.Errorf("reading interval %s is below 0", t.Every)
	}
	return t.Loads.check()
}

// Brim is the level in inches at which a tank counts as full.
func (t *Tank) Brim() float64 { return math.Max(float64(t.Height)-freeboard, 0.9*float64(t.Height)) }

// maxRate is the fastest believable change at a level, inches per second.
func (t *Tank) maxRate(at float64) float64 {
	per := math.Min(t.Table.PerInch(at), t.Table.PerInch(at+12))
	return t.Loads.MaxRate / math.Max(per, 1e-6) / 60
}

// Possible says that a value can be a level of this tank at all.
func (t *Tank) Possible(x float64) bool {
	return stats.Finite(x) && x >= lowestLevel && x <= float64(t.Height)+aboveShell
}

// Inches turns a reading of this tank's level into inches, offset added. The error says why it cannot be a level of it.
func (t *Tank) Inches(v float64, unit string, offset Length) (in float64, err error) {
	if in, err = LevelInches(v, unit, t.Height); err != nil {
		return in, err
	}
	if in += float64(offset); !t.Possible(in) {
		return in, fmt.Errorf("outside the tank: %.5g in of %.5g", in, float64(t.Height))
	}
	return in, nil
}

// whyNoLevel says why readings can be no levels, by the last of them that was a number.
func (t *Tank) whyNoLevel(x float64) string {
	switch {
	case t.Possible(x): // there was none
		return "not a number"
	case x < 0:
		return fmt.Sprintf("%.2f in, below the bottom", x)
	}
	return fmt.Sprintf("%.2f in, above the tank's %.4g in", x, float64(t.Height))
}

// plausible says that a value beside the level can be one at all.
func (t *Tank) plausible(in Input) bool {
	switch in.Kind {
	case Interface:
		return t.Possible(in.Value)
	case Valve:
		return stats.Finite(in.Value)
	}
	return math.Abs(in.Value) <= figureMost
}

// figureMost is beyond every temperature, gravity and percentage; what is larger is a fault, and sums of it overflow.
const figureMost = 1e6

// sensorErrors are the least standard errors of a gauge in inches by the kind of sensor: a good
// one may be used for custody at 1/8 in either way (API MPMS 18.2), the others not at all. A float hangs back by its friction.
var sensorErrors = map[string]float64{"ultrasonic": 0.1, "hydrostatic": 0.1, "float": 1.0 / 16, "analog": 1.0 / 24}

const sensorErrorLeast = 1.0 / 32

func (t *Tank) sensorError() float64 { return math.Max(sensorErrorLeast, sensorErrors[t.Sensor]) }

package tank

import (
	"cmp"
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

// Loads are the detector's settings. A zero duration, rate or volume means the default,
// where zero has no meaning of its own.
type Loads struct {
	Speed        float64       `yaml:"speed" doc:"site time per real time: 60 makes a demonstration's hour a minute; the same for the whole site; only toward a loopback service"`
	MinLoad      float64       `yaml:"min_load" doc:"barrels; a smaller draw is no run"`
	MinRate      float64       `yaml:"min_rate" doc:"barrels per minute; slower is a loss or a leak, not a load; where this is above 0.5, slower down to 0.5 is a load that asks"`
	MaxRate      float64       `yaml:"max_rate" doc:"barrels per minute; faster is not believed"`
	TruckMax     float64       `yaml:"truck_max" doc:"barrels; two draws close together that make more are two trucks; 0 is off"`
	PauseMerge   time.Duration `yaml:"pause_merge" doc:"a pause up to this long does not end a load; up to a quarter longer neither, where one truck holds both parts"`
	Settle       time.Duration `yaml:"settle" doc:"rest after the end before the closing gauge; 0 goes by the sensor: slosh is weighed out, a hydrostatic sensor's dip is fitted"`
	Confirm      time.Duration `yaml:"confirm" doc:"wait after the end, in which oil that comes back makes it a recirculation"`
	StepHold     time.Duration `yaml:"step_hold" doc:"an impossible value that stays this long is a re-span of the transmitter"`
	StuckJump    time.Duration `yaml:"stuck_jump" doc:"the same value this long, then a jump, is a stuck sensor"`
	Stuck        time.Duration `yaml:"stuck" doc:"the same value this long is a stuck sensor where the sensor usually moves"`
	GapMin       time.Duration `yaml:"gap_min" doc:"silence this long is a gap; at least four polls"`
	MaxGapTicket time.Duration `yaml:"max_gap_ticket" doc:"a fall over a longer gap makes an event, not a ticket"`
	GroupSettle  time.Duration `yaml:"group_settle" doc:"least rest before the closing gauge of tanks joined by an equaliser that still moves oil"`
	Noise        Length        `yaml:"noise" doc:"a jump up to this is always believed"`
}

// DefaultLoads are the settings that suit truck loads of 25 to 215 barrels.
func DefaultLoads() Loads {
	return Loads{
		Speed: 1, MinLoad: 25, MinRate: 0.5, MaxRate: 15, TruckMax: 215,
		PauseMerge: 12 * time.Minute, Confirm: 45 * time.Minute, StepHold: 3 * time.Minute,
		StuckJump: 45 * time.Minute, Stuck: 6 * time.Hour, GapMin: 10 * time.Minute,
		MaxGapTicket: 24 * time.Hour, GroupSettle: 25 * time.Minute, Noise: 1.5,
	}
}

// filled replaces what is zero and may not be by the default. TruckMax and Settle may be
// zero, except in a Loads that says nothing at all.
func (l Loads) filled() Loads {
	d := DefaultLoads()
	if l == (Loads{}) || l == (Loads{Speed: l.Speed}) {
		l.TruckMax = d.TruckMax
	}
	for _, f := range []struct {
		v *float64
		d float64
	}{{&l.Speed, d.Speed}, {&l.MinLoad, d.MinLoad}, {&l.MinRate, d.MinRate}, {&l.MaxRate, d.MaxRate}, {(*float64)(&l.Noise), float64(d.Noise)}} {
		*f.v = cmp.Or(*f.v, f.d)
	}
	for _, f := range []struct{ v, d *time.Duration }{
		{&l.PauseMerge, &d.PauseMerge}, {&l.Confirm, &d.Confirm}, {&l.StepHold, &d.StepHold}, {&l.StuckJump, &d.StuckJump},
		{&l.Stuck, &d.Stuck}, {&l.GapMin, &d.GapMin}, {&l.MaxGapTicket, &d.MaxGapTicket}, {&l.GroupSettle, &d.GroupSettle},
	} {
		*f.v = cmp.Or(*f.v, *f.d)
	}
	return l
}

// check names the first setting that cannot work.
func (l Loads) check() error {
	for _, f := range []struct {
		name string
		v    float64
	}{
		{"speed", l.Speed}, {"min_load", l.MinLoad}, {"min_rate", l.MinRate}, {"max_rate", l.MaxRate}, {"truck_max", l.TruckMax},
		{"pause_merge", float64(l.PauseMerge)}, {"settle", float64(l.Settle)}, {"confirm", float64(l.Confirm)},
		{"step_hold", float64(l.StepHold)}, {"stuck_jump", float64(l.StuckJump)}, {"stuck", float64(l.Stuck)}, {"gap_min", float64(l.GapMin)},
		{"max_gap_ticket", float64(l.MaxGapTicket)}, {"group_settle", float64(l.GroupSettle)}, {"noise", float64(l.Noise)},
	} {
		if !stats.Finite(f.v) || f.v < 0 {
			return fmt.Errorf("loads.%s is %g; it must be a number, not below 0", f.name, f.v)
		}
	}
	if l.MaxRate <= l.MinRate {
		return fmt.Errorf("loads.max_rate %g is not above loads.min_rate %g", l.MaxRate, l.MinRate)
	}
	if l.TruckMax > 0 && l.TruckMax < l.MinLoad {
		return fmt.Errorf("loads.truck_max %g is below loads.min_load %g", l.TruckMax, l.MinLoad)
	}
	return nil
}

// feelsGas says that a tank's sensor may feel the pressure of the gas. An equaliser moves the level too.
func (t *Tank) feelsGas() bool {
	return t.Group == "" && (t.Sensor == "hydrostatic" || t.Sensor == "analog")
}

package tank

import (
	"cmp"
	"fmt"
	"time"

	"gauger/agent/tank/stats"
)

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

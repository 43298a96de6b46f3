package tankbook

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tank/tanktest"
)

// The words of the book's tests: a lease is one 12 ft tank for weeks, with inflow, trucks, a sensor and a leak, all of its own
// making and known to the barrel; a leased is one at work, with its book; owed is the truth that the book is held to; booked and
// books play the wells of tanktest into a book, and adds sees to it that a day's balance closes.

type lease struct {
	inflow  float64    // bbl a day
	dumps   float64    // bbl at once; 0: it flows in steadily
	loads   bool       // a truck whenever the tank holds enough for one
	leak    float64    // bbl a day
	from    float64    // days after which it leaks
	noise   float64    // in
	drift   float64    // in, amplitude of the day
	weather float64    // in, by which the drift differs from day to day
	step    float64    // in
	every   float64    // s
	metered bool       // a totaliser that rolls over counts the inflow
	sensor  string     // as in Tank
	start   float64    // hours after the gauge-off of the first day
	vary    float64    // share by which the inflow varies from day to day
	gap     [2]float64 // days between which nothing is read
	hung    [2]float64 // days between which the sensor repeats what it read last
}

// owed truly happened up to a time, barrels.
type owed struct{ stock, produced, hauled, leaked float64 }

// leased is a lease at work and what its book says.
type leased struct {
	lease
	site         tank.Site
	rules        Rules
	rand         *rand.Rand
	begin        time.Time
	now          owed
	dump, next   float64 // bbl still to come, and to flow until the next one
	truck        float64
	raised       float64 // in that the level is read higher than the oil stands: by an offset, or another sensor
	today, swing float64
	st           tank.State
	book         Book
	days         []Day
	losses       []*tank.Event
	runs         []*tank.Load
	truth        map[int64]owed // at each gauge-off, unix s
	restart      func(l *leased, s float64)
	during       func(l *leased) // happens once while nothing is read
	held         float64         // in, what was read last
}

// open begins a lease.
func (l lease) open(t testing.TB, seed uint64) *leased {
	t.Helper()
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	table, err := tank.NewTable(tanktest.Rows())
	if err != nil {
		t.Fatal(err)
	}
	site, err := tank.NewSite([]tank.Tank{{ID: "TK-1", Sensor: l.sensor, Height: 240, Table: table, Every: time.Duration(l.every) * time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	x := &leased{lease: l, site: site, rand: rand.New(rand.NewPCG(seed, 7)), today: 1, truth: map[int64]owed{}}
	x.rules = Rules{Zone: zone, GaugeOff: 7 * time.Hour, LossLimit: 0.8, Metered: []bool{l.metered}}
	x.begin = time.Date(2026, 3, 9, 7, 0, 0, 0, zone).Add(time.Duration(l.start * float64(time.Hour)))
	x.now.stock, x.next = 140*tanktest.PerInch, x.rand.ExpFloat64()
	return x
}

// play runs the lease for some days.
func (l *leased) play(days float64) *leased { return l.goOn(0, days) }

// goOn runs it from a day to another.
func (l *leased) goOn(from, days float64) *leased {
	for s := math.Ceil(from*day/l.every) * l.every; s < days*day; s += l.every {
		l.flow(s)
		at := l.begin.Add(time.Duration(s * float64(time.Second)))
		if _, to := l.rules.gaugeOff(at); to.Sub(at).Seconds() <= l.every {
			l.truth[to.Unix()] = l.now
		}
		if s >= l.gap[0]*day && s < l.gap[1]*day {
			if l.during != nil {
				l.during(l)
				l.during = nil
			}
			continue
		}
		l.read(s, at)
		if l.restart != nil {
			l.restart(l, s)
		}
	}
	return l
}

// flow lets the oil move for one interval.
func (l *leased) flow(s float64) {
	if math.Mod(s, day) < l.every {
		l.today, l.swing = 1+l.vary*l.rand.NormFloat64(), l.swing+l.weather*l.rand.NormFloat64()
	}
	in := l.inflow * l.today * l.every / day
	if l.dumps > 0 {
		for l.next -= in / l.dumps; l.next < 0; l.next += l.rand.ExpFloat64() {
			l.dump += l.dumps
		}
		in = math.Min(l.dump, l.dumps/25*l.every)
		l.dump -= in
	}
	if l.loads && l.truck <= 0 && l.now.stock > 150*tanktest.PerInch && math.Mod(s+l.start*3600, day/2) < l.every {
		l.truck = 170
	}
	out, lost := math.Min(l.truck, 6*l.every/60), 0.0
	if s >= l.from*day {
		lost = l.leak * l.every / day
	}
	l.truck -= out
	l.now.stock += in - out - lost
	l.now.produced, l.now.hauled, l.now.leaked = l.now.produced+in, l.now.hauled+out, l.now.leaked+lost
}

// read lets the sensors see it, and the book hear of it.
func (l *leased) read(s float64, at time.Time) {
	level := l.now.stock/tanktest.PerInch + l.drift*math.Sin(2*math.Pi*s/day+1) + l.swing + l.raised + l.noise*l.rand.NormFloat64()
	if l.step > 0 {
		level = math.Round(level/l.step) * l.step
	}
	if s >= l.hung[0]*day && s < l.hung[1]*day {
		level = l.held
	}
	l.held = level
	if l.metered {
		l.book = l.book.Metered(l.site, 0, at, math.Mod(99_900+l.now.produced, 100_000))
	}
	x := tank.Input{Kind: tank.Level, Value: level, Good: true, At: at, Mono: time.Duration(s * float64(time.Second)), Boot: 1}
	var out []tank.Outcome
	var said []Outcome
	l.st, out = l.site.Next(l.st, x)
	known := false
	for _, o := range out {
		known = known || o.Event != nil && l.book.HasReported(0, *o.Event)
	}
	l.book, said = l.book.Next(l.site, l.rules, l.st, x, out)
	for _, o := range out {
		if o.Load != nil {
			l.runs = append(l.runs, o.Load)
		}
		if o.Event != nil && o.Event.Rule == "unexplained-loss" && !known {
			l.losses = append(l.losses, o.Event)
		}
	}
	for _, o := range said {
		l.days = append(l.days, *o.Day)
		if o.Loss != nil {
			l.losses = append(l.losses, o.Loss)
		}
	}
}

// found are the days from the begin of the leak until the loss was reported; NaN when it was not.
func (l *leased) found() float64 {
	if len(l.losses) == 0 {
		return math.NaN()
	}
	return l.losses[0].End.Sub(l.begin).Hours()/24 - l.from
}

package tank

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// A lease for the tank book: one 12 ft tank for weeks, with what flows in, trucks, a sensor and
// a leak, all of its own making and known to the barrel.
type lease struct {
	inflow  float64 // bbl a day
	dumps   float64 // bbl at once; 0: it flows in steadily
	loads   bool    // a truck whenever the tank holds enough for one
	leak    float64 // bbl a day
	from    float64 // days after which it leaks
	noise   float64 // in
	drift   float64 // in, amplitude of the day
	weather float64 // in, by which the drift differs from day to day
	step    float64 // in
	every   float64 // s
	metered bool
	sensor  string
	start   float64 // hours after the gauge-off of the first day
	vary    float64 // share by which the inflow varies from day to day
	gap     [2]float64
}

// owed is what truly happened up to a production day's end.
type owed struct{ produced, hauled, leaked float64 }

// kept is what a book said of a lease.
type kept struct {
	days   []BookDay
	losses []*Event
	loads  []*Load
	truth  []owed
	book   Book
}

func bookRules(t testing.TB, metered bool) BookRules {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	return BookRules{Zone: zone, Day: 7 * time.Hour, LossLimit: 0.8, Metered: []bool{metered}}
}

// keep plays the lease for some days and keeps its book; each input is looked at by watch.
func (l lease) keep(t testing.TB, seed uint64, days float64, watch func(at float64, st *State, b *Book)) kept {
	tk := Tank{ID: "TK-1", Sensor: l.sensor, Height: 240, Table: testTable(t), Every: time.Duration(l.every) * time.Second}
	site, err := NewSite([]Tank{tk})
	if err != nil {
		t.Fatal(err)
	}
	rules := bookRules(t, l.metered)
	r := rand.New(rand.NewPCG(seed, 7))
	begin := time.Date(2026, 3, 9, 7, 0, 0, 0, rules.Zone).Add(time.Duration(l.start * float64(time.Hour)))
	var k kept
	var st State
	var b Book
	var now owed
	stock, dumpLeft, truck, today, swing := 180*testPer, 0.0, 0.0, 1.0, 0.0
	nextDump := r.ExpFloat64()
	for s := 0.0; s < days*day; s += l.every {
		if math.Mod(s, day) < l.every {
			today, swing = 1+l.vary*r.NormFloat64(), swing+l.weather*r.NormFloat64()
		}
		in := l.inflow * today * l.every / day
		if l.dumps > 0 {
			nextDump -= in / l.dumps
			for nextDump < 0 {
				dumpLeft, nextDump = dumpLeft+l.dumps, nextDump+r.ExpFloat64()
			}
			in = math.Min(dumpLeft, l.dumps/25*l.every)
			dumpLeft -= in
		}
		if stock > 232*testPer {
			in = 0
		}
		if l.loads && truck <= 0 && stock > 150*testPer && math.Abs(math.Mod(s+l.start*3600, day)-7*3600) < l.every/2 {
			truck = 170
		}
		out := math.Min(truck, 6*l.every/60)
		lost := 0.0
		if s >= l.from*day {
			lost = l.leak * l.every / day
		}
		truck -= out
		stock += in - out - lost
		now.produced, now.hauled, now.leaked = now.produced+in, now.hauled+out, now.leaked+lost
		if s >= l.gap[0]*day && s < l.gap[1]*day {
			continue
		}
		level := stock/testPer + l.drift*math.Sin(2*math.Pi*s/day+1) + swing + l.noise*r.NormFloat64()
		if l.step > 0 {
			level = math.Round(level/l.step) * l.step
		}
		at := begin.Add(time.Duration(s * float64(time.Second)))
		if l.metered {
			b = site.Meter(b, 0, at, math.Mod(99_900+now.produced, 100_000))
		}
		x := Input{Kind: Level, Value: level, Good: true, At: at, Mono: time.Duration(s * float64(time.Second)), Boot: 1}
		var out2 []Outcome
		st, out2 = site.Next(st, x)
		var said []BookOutcome
		b, said = site.Book(b, rules, st, x, out2)
		for _, o := range out2 {
			if o.Load != nil {
				k.loads = append(k.loads, o.Load)
			}
			if o.Event != nil && o.Event.Rule == "unexplained-loss" {
				k.losses = append(k.losses, o.Event)
			}
		}
		for _, o := range said {
			k.days = append(k.days, *o.Day)
			if o.Loss != nil {
				k.losses = append(k.losses, o.Loss)
			}
		}
		if math.Mod(s+l.start*3600, day) < l.every {
			k.truth = append(k.truth, now)
		}
		if watch != nil {
			watch(s, &st, &b)
		}
	}
	k.book = b
	return k
}

var leases = []struct {
	name string
	lease
}{
	{"idle radar 10s", lease{noise: 0.05, every: 10}},
	{"idle radar 60s drift", lease{noise: 0.05, every: 60, drift: 0.75, weather: 0.05}},
	{"idle quantised 0.1", lease{noise: 0.05, step: 0.1, every: 60, drift: 0.3}},
	{"idle reed 0.5", lease{noise: 0.03, step: 0.5, every: 10, sensor: "float"}},
	{"idle ultrasonic", lease{noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic"}},
	{"dumps 20 10s", lease{inflow: 20, dumps: 0.7, loads: true, noise: 0.05, every: 10}},
	{"dumps 60 10s", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 10}},
	{"dumps 60 60s", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 60}},
	{"dumps 60 10s drift", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 10, drift: 0.75, weather: 0.05}},
	{"dumps 150 10s", lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 10}},
	{"dumps 150 60s", lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 60}},
	{"dumps 300 10s", lease{inflow: 300, dumps: 0.7, loads: true, noise: 0.05, every: 10}},
	{"dumps 60 quantised", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, step: 0.1, every: 10}},
	{"dumps 60 ultrasonic", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic"}},
	{"steady 100", lease{inflow: 100, loads: true, noise: 0.05, every: 60}},
	{"steady 100 drift", lease{inflow: 100, loads: true, noise: 0.05, every: 60, drift: 0.75, weather: 0.05}},
	{"steady 300 10s", lease{inflow: 300, loads: true, noise: 0.05, every: 10}},
	{"steady 100 varies", lease{inflow: 100, loads: true, noise: 0.05, every: 60, vary: 0.03}},
	{"meter steady 100", lease{inflow: 100, loads: true, noise: 0.05, every: 60, metered: true}},
	{"meter dumps 150", lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 10, drift: 0.75, metered: true}},
	{"meter dumps 300 60s", lease{inflow: 300, dumps: 0.7, loads: true, noise: 0.05, every: 60, metered: true}},
	{"meter ultrasonic 150", lease{inflow: 150, loads: true, noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic", metered: true}},
	{"meter reed 60", lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.03, step: 0.5, every: 10, sensor: "float", metered: true}},
}

func TestBookTable(t *testing.T) {
	for _, c := range leases {
		var b strings.Builder
		for _, from := range []float64{0, 5.3} {
			c.leak, c.from, c.start = 1, from, 17
			k := c.keep(t, 1, 11, nil)
			fmt.Fprintf(&b, " leak from %.1f:", from)
			for _, e := range k.losses {
				fmt.Fprintf(&b, " +%.1fd %.1f bbl", e.End.Sub(time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)).Hours()/24-0.2-from, e.Bbl)
			}
		}
		c.leak = 0
		k := c.keep(t, 2, 16, nil)
		fmt.Fprintf(&b, " tight: %d of %d", len(k.losses), len(k.days))
		d := k.days[len(k.days)-1]
		fmt.Fprintf(&b, " residual %s err %.2f sees %s %s", num(d.Residual), d.Error, num(d.Sees), d.Blind)
		t.Logf("%-22s %s", c.name, b.String())
	}
}

func num(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

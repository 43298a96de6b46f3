package tankbook

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

const (
	unseen = 0 // nobody can see it
	later  = 1 // it can be seen once the tank's own days are known
	always = 2
)

// leases are kinds of sites, and what of a leak of a barrel a day can be seen there.
var leases = []struct {
	name string
	sees int
	lease
}{
	{"idle radar", always, lease{noise: 0.05, every: 60}},
	{"idle radar, 1.5 in of drift", always, lease{noise: 0.05, every: 60, drift: 0.75, weather: 0.05}},
	{"idle, tenths of an inch", always, lease{noise: 0.05, step: 0.1, every: 60, drift: 0.3}},
	{"idle reed", always, lease{noise: 0.03, step: 0.5, every: 60, sensor: "float"}},
	{"idle ultrasonic", always, lease{noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic"}},
	{"dumps, 20 bbl", always, lease{inflow: 20, dumps: 0.7, loads: true, noise: 0.05, every: 20}},
	{"dumps, 60 bbl", always, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 20}},
	{"dumps, 60 bbl, once a minute", always, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 60}},
	{"dumps, 60 bbl, 1.5 in of drift", always, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, every: 20, drift: 0.75, weather: 0.05}},
	{"dumps, 60 bbl, tenths of an inch", always, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.05, step: 0.1, every: 20}},
	{"dumps, 150 bbl", always, lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 10}},
	{"dumps, 150 bbl, once a minute", unseen, lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 60}},
	{"dumps, 300 bbl", unseen, lease{inflow: 300, dumps: 0.7, loads: true, noise: 0.05, every: 20}},
	{"dumps under an ultrasonic", unseen, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic"}},
	{"dumps under a reed", unseen, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.03, step: 0.5, every: 20, sensor: "float"}},
	{"steady 100 bbl", later, lease{inflow: 100, loads: true, noise: 0.05, every: 60}},
	{"steady 100 bbl, 1.5 in of drift", later, lease{inflow: 100, loads: true, noise: 0.05, every: 60, drift: 0.75, weather: 0.03}},
	{"steady 300 bbl", later, lease{inflow: 300, loads: true, noise: 0.05, every: 20}},
	{"steady 100 bbl, give or take 3 %", unseen, lease{inflow: 100, loads: true, noise: 0.05, every: 60, vary: 0.03}},
	{"steady 100 bbl, give or take 1 %", unseen, lease{inflow: 100, loads: true, noise: 0.05, every: 60, vary: 0.01}},
	{"meter, steady 100 bbl", always, lease{inflow: 100, loads: true, noise: 0.05, every: 60, metered: true}},
	{"meter, dumps, 150 bbl", always, lease{inflow: 150, dumps: 0.7, loads: true, noise: 0.05, every: 20, drift: 0.75, metered: true}},
	{"meter, dumps, 300 bbl", always, lease{inflow: 300, dumps: 0.7, loads: true, noise: 0.05, every: 60, metered: true}},
	{"meter under an ultrasonic", always, lease{inflow: 150, loads: true, noise: 0.35, step: 0.1, every: 60, drift: 1, sensor: "ultrasonic", metered: true}},
	{"meter under a reed", always, lease{inflow: 60, dumps: 0.7, loads: true, noise: 0.03, step: 0.5, every: 20, sensor: "float", metered: true}},
}

// TestBookFindsALeakWithinThreeDays leaks a barrel a day from the first hour on, and from the
// sixth day on, into the book of each kind of site.
func TestBookFindsALeakWithinThreeDays(t *testing.T) {
	for i, c := range leases {
		t.Run(c.name, func(t *testing.T) {
			for _, from := range []float64{0, 5.3} {
				c.leak, c.from, c.start = 1, from, 17
				l := c.open(t, uint64(i)).play(from + 3.6)
				t.Logf("leak from day %.1f: told %d times, first after %.1f days", from, len(l.losses), l.found())
				if c.sees == unseen || c.sees == later && from == 0 {
					continue
				}
				if !(l.found() > 0 && l.found() <= 3.6) || len(l.losses) != 1 { // 17 h of the first day are gone at its gauge-off
					t.Errorf("leak from day %.1f: told %d times, first after %.1f days; want once within three production days", from, len(l.losses), l.found())
				}
			}
		})
	}
}

// TestBookTellsOfNoLeakWhereThereIsNone keeps the books of tight tanks, and adds them up. (Four seeds of each kind
// over a month, 3075 tank-days, told of none either.)
func TestBookTellsOfNoLeakWhereThereIsNone(t *testing.T) {
	days := 0
	for i, c := range leases {
		l := c.open(t, uint64(100+i)).play(6)
		days += len(l.days)
		for _, e := range l.losses {
			t.Errorf("%s: %s", c.name, e.Note)
		}
		blind := 0
		for _, d := range l.days {
			d.adds(t)
			if d.Sees == nil {
				blind++
			}
		}
		if c.sees == always && blind > 1 {
			t.Errorf("%s: %d of %d days could see no loss", c.name, blind, len(l.days))
		}
	}
	t.Logf("%d tank-days", days)
}

// adds sees to it that a day's balance closes.
func (d Day) adds(t *testing.T) {
	t.Helper()
	if d.Opening == nil || d.Closing == nil {
		return
	}
	off := *d.Opening + *d.Production - d.Runs - d.Water - d.TransfersOut + d.TransfersIn - d.Other + *d.Residual - *d.Closing
	if math.Abs(off) > 0.01 {
		t.Errorf("%s: the balance is off by %.3f bbl: %s", d.From, off, fmt.Sprint(d))
	}
}

// TestBookNamesASlowLossThatIsSeen: somebody takes oil in a few hours, slower than a load. It is no lack of production: the day has it
// among its other barrels, with its time, and a day without it stands alone.
func TestBookNamesASlowLossThatIsSeen(t *testing.T) {
	for _, c := range []struct{ inflow, dumps, bbl, rate float64 }{{90, 0, 45, 0.42}, {90, 0, 90, 0.4}, {90, 0, 150, 0.35}} {
		l := lease{inflow: c.inflow, dumps: c.dumps, noise: 0.03, every: 30, vary: 0.02, loads: true}.open(t, 9)
		begin, end := 2.1, 2.1+c.bbl/c.rate/1440
		l.play(begin)
		l.leak = c.rate * 1440
		l.goOn(begin, end)
		l.leak = 0
		l.goOn(end, 6.1)
		for k, d := range l.days {
			d.adds(t)
			want := 0.0
			if k == 2 {
				want = c.bbl
			}
			if k > 0 && (math.Abs(*d.Production-(l.truth[d.To.Unix()].produced-l.truth[d.From.Unix()].produced)) > 4 || math.Abs(d.Other-want) > 4) {
				t.Errorf("%+v, %s: produced %.1f, other %.1f, residual %.1f: %q, losses %v", c, d.From, *d.Production, d.Other, *d.Residual, d.Remarks, l.losses)
			}
			if told := strings.Contains(strings.Join(d.Remarks, ""), "left slowly 03-11 09:"); told != (k == 2) {
				t.Errorf("%+v, %s: %q", c, d.From, d.Remarks)
			}
		}
		if since := l.book.Losing(0); !since.IsZero() || len(l.days) < 6 {
			t.Errorf("%+v: it goes on since %s, %d days", c, since, len(l.days))
		}
	}
}

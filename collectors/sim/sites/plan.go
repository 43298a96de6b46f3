package sites

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// plan is a site while its parts are being put together.
type plan struct {
	lot
	name     string
	seconds  int
	begin    time.Time
	tanks    []*tank
	draws    []*draw
	joins    []join
	spills   []spill
	recorder recorder
	later    []func() // what needs to know when the oil flowed; run between flow and sensors
	flows    flows
}

// tank is a vessel with its sensor and what the well brings.
type tank struct {
	vessel
	gauge    *gauge
	feed     feed
	feeding  string
	opening  float64 // in, wanted at the beginning of the first draw
	sloshing float64 // in
	calming  float64 // s
	group    string
}

const hour = 3600 // s

// firstLoad is when the main load begins: hours in, so that there is a past to judge by.
func (p *plan) firstLoad() int { return 4*hour + p.IntN(2*hour) }

// newPlan is an ordinary site without tanks.
func newPlan(name string, seed, number uint64) *plan {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d %d", name, seed, number)
	p := &plan{lot: lot{rand.New(rand.NewPCG(h.Sum64(), 1))}, name: fmt.Sprintf("%s-%d-%d", name, seed, number)}
	p.seconds = p.whole(11, 14) * hour
	p.begin = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(p.IntN(90*day)) * time.Second)
	p.recorder = recorder{poll: pick(p.lot, 5, 10, 10, 15, 20, 30, 30, 60)}
	if p.chance(0.5) {
		p.recorder.jitter = max(1, p.recorder.poll/10)
	}
	return p
}

// stream is a source of its own for a stage, so that what one stage draws does not move another.
func (p *plan) stream(stage uint64) lot {
	h := fnv.New64a()
	fmt.Fprint(h, p.name)
	return lot{rand.New(rand.NewPCG(h.Sum64(), stage))}
}

// sizes of vessels: diameter in ft, height in ft.
var sizes = [][2]float64{{10, 15}, {12, 15}, {12, 20}, {12, 20}, {12, 25}, {15.5, 16}, {15.5, 24}, {21.5, 16}, {21.5, 24}}

// tank adds one from which so many barrels can be drawn, with one of the sensors, or any.
func (p *plan) tank(bbl float64, sensors ...string) *tank {
	var v vessel
	for {
		size := pick(p.lot, sizes...)
		v = vessel{diameter: size[0], height: size[1] * 12, heel: p.between(8, 16)}
		if p.chance(0.15) {
			v.knee, v.deadwood = p.between(18, 60), p.between(0.02, 0.12)
		}
		if v.volume(v.height-14)-v.volume(v.heel+4) > bbl {
			break
		}
	}
	t := &tank{vessel: v, gauge: p.instrument(sensors...), sloshing: p.spread(0.05, 0.8), calming: p.spread(8, 70)}
	t.opening = p.between(v.level(bbl+v.volume(v.heel+4)), v.height-12)
	p.tanks = append(p.tanks, t)
	switch p.IntN(4) {
	case 0:
		p.steadyWell(t, p.spread(15, 300))
	case 1:
		p.separator(t, p.spread(30, 350), p.spread(0.2, 1.5))
	case 2:
		p.pumpJack(t, p.spread(15, 200))
	default:
		t.feed, t.feeding = make(feed, p.seconds), "none"
	}
	return t
}

func (p *plan) steadyWell(t *tank, perDay float64) {
	t.feed, t.feeding = steady(p.feedStream(10), p.seconds, perDay, p.spread(0.02, 0.2)), "steady"
	if perDay > 400 {
		t.feeding = "heavy"
	}
}

func (p *plan) separator(t *tank, perDay, bbl float64) {
	t.feed, t.feeding = dumps(p.feedStream(11), p.seconds, perDay, bbl, p.whole(15, 120)), "dumps"
}

func (p *plan) pumpJack(t *tank, perDay float64) {
	t.feed, t.feeding = pumpOff(p.feedStream(12), p.seconds, perDay, int(p.spread(1200, 4*hour)), p.between(0.25, 0.8)), "pump-off"
}

// feedStream is a source of its own for each tank's well.
func (p *plan) feedStream(stage uint64) *rand.Rand {
	return p.stream(stage + 100*uint64(len(p.tanks))).Rand
}

// truck begins a load of a tank.
func (p *plan) truck(t *tank, start int, bbl float64) *draw {
	d := &draw{to: toTruck, start: start, bbl: bbl, rate: p.between(3, 9), kind: "load", class: Hard, hoseSeconds: 10}
	for i := range p.tanks {
		if p.tanks[i] == t {
			d.from = i
		}
	}
	d.laws = []law{uneven(p.stream(uint64(20+len(p.draws))).Rand, p.between(0.01, 0.06)), slowStart(p.spread(3, 40))}
	p.draws = append(p.draws, d)
	return d
}

// fullTruck is what a truck takes, bbl.
func (p *plan) fullTruck() float64 { return p.between(145, 195) }

// ordinary is a site with one tank and one full truck; each kind changes something about it.
func (p *plan) ordinary(sensors ...string) (*tank, *draw) {
	bbl := p.fullTruck()
	t := p.tank(bbl, sensors...)
	return t, p.truck(t, p.firstLoad(), bbl)
}

// then puts off what needs to know when the oil flowed.
func (p *plan) then(do func()) { p.later = append(p.later, do) }

// add puts a motion on a tank's reading.
func (t *tank) add(l layer) { t.gauge.moving = append(t.gauge.moving, l) }

// clock is the second of the local day at which the recording begins.
func (p *plan) clock() int {
	return (p.begin.Hour()*hour + p.begin.Minute()*60 + p.begin.Second() + 17*hour) % day
}

func (p *plan) instant(s int) time.Time { return p.begin.Add(time.Duration(s) * time.Second) }

// tankID tells nothing of what the site is about.
func (p *plan) tankID(tank int) string {
	h := fnv.New32a()
	fmt.Fprintf(h, "%s tank %d", p.name, tank)
	return fmt.Sprintf("TK-%08X", h.Sum32())
}

// build lets the oil flow, listens to the sensors and records them.
func (p *plan) build() *Site {
	b := &battery{joins: p.joins, spills: p.spills, draws: p.draws}
	for i, t := range p.tanks {
		first := p.seconds / 2
		for _, d := range p.draws {
			if d.from == i && d.follows == nil {
				first = min(first, d.start)
			}
		}
		gathers := t.feed.sum(0, first)
		if room := t.volume(t.opening) - t.volume(2); gathers > room {
			for s := range t.feed {
				t.feed[s] *= room / gathers
			}
			gathers = room
		}
		b.tanks, b.feeds, b.start = append(b.tanks, t.vessel), append(b.feeds, t.feed), append(b.start, t.volume(t.opening)-gathers)
	}
	for _, j := range p.joins { // a pair of one size, level since long before
		both := (b.start[j.a] + b.start[j.b]) / 2
		b.start[j.a], b.start[j.b] = both, both
	}
	p.flows = b.run(p.seconds)
	for _, do := range p.later {
		do()
	}
	motion := p.stream(2)
	var all []heard
	for i, t := range p.tanks {
		t.add(slosh(motion, p.flows.drawn[i], t.diameter, t.sloshing, t.calming))
		if t.gauge.class == "hydrostatic" {
			t.add(vacuum(p.flows.drawn[i], motion.spread(0.1, 1.5), motion.spread(20, 150)))
		}
		all = append(all, t.gauge.listen(p.stream(3).Rand, p.flows.level[i], t.height))
	}
	rows := p.recorder.record(p.stream(4).Rand, all, p.seconds)
	return &Site{Name: p.name, Movements: p.movements(b, p.flows, rows), plan: p, rows: rows, battery: b, heard: all}
}

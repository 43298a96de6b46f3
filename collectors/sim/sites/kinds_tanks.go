package sites

// tankKinds are about the battery.
var tankKinds = []Kind{
	{"equaliser between two", func(p *plan) {
		a, b, _ := p.pair()
		p.joins = append(p.joins, join{0, 1, p.spread(0.15, 2)})
		a.group, b.group = "G1", "G1"
	}},
	{"equaliser and dumps", func(p *plan) {
		a, b, _ := p.pair("radar", "gwr", "hydro")
		p.joins = append(p.joins, join{0, 1, p.spread(0.2, 1.5)})
		a.group, b.group = "G1", "G1"
		p.separator(a, p.between(60, 300), p.between(0.7, 3))
		b.feed, b.feeding = make(feed, p.seconds), "dumps"
	}},
	{"overflows into the next", func(p *plan) {
		a, b, _ := p.pair()
		p.steadyWell(a, p.between(100, 500))
		b.feed, b.feeding = make(feed, p.seconds), "none"
		b.opening = b.height * p.between(0.2, 0.6)
		p.spills = append(p.spills, spill{0, 1, a.opening})
	}},
	{"neighbour overflows into it", func(p *plan) {
		a, b, d := p.pair()
		p.steadyWell(b, p.between(100, 600))
		a.feed, a.feeding = make(feed, p.seconds), "steady"
		b.opening = b.height - 14
		p.spills = append(p.spills, spill{1, 0, b.height - 14 - p.between(0, 6)})
		d.start += hour
	}},
	{"deadwood below the knee", func(p *plan) {
		t, d := p.ordinary()
		t.knee, t.deadwood = p.between(0.3, 0.7)*t.opening, p.between(0.04, 0.2)
		t.opening = min(t.height-12, t.level(t.volume(t.heel+4)+d.bbl+p.between(2, 30)))
	}},
	{"refilled from its neighbour", func(p *plan) {
		p.seconds = 14 * hour
		_, b, d := p.pair()
		b.opening = b.height - 15
		back := p.truck(b, p.whole(8*60, 60*60), d.bbl*p.between(0.5, 0.98))
		back.follows, back.to, back.kind, back.class = d, 0, "transfer", No
		back.rate = p.between(2, 8)
	}},
	{"moved into the tank that is hauled", func(p *plan) {
		a, b, d := p.pair()
		b.opening = b.height - 15
		a.opening = min(a.opening, a.height*0.75)
		// Long enough before that the tank is seen to rise: else nobody could tell it from a truck at both tanks.
		into := p.truck(b, d.start-p.whole(10*60, 40*60), p.between(30, 90))
		into.to, into.kind, into.class = 0, "transfer", No
		into.rate = p.between(0.8, 2.5)
	}},
	{"moved to the next tank", func(p *plan) {
		_, b, d := p.pair()
		d.to, d.kind, d.class = 1, "transfer", No
		b.opening = b.level(b.volume(b.heel + 5))
	}},
	{"rolled through the treater", func(p *plan) {
		t := p.tank(60)
		out := p.truck(t, p.firstLoad(), p.between(8, 35))
		out.rate, out.kind, out.class = p.between(0.8, 2.5), "recirculation", No
		later, over := p.whole(20, 900), p.rehearse(out)
		for s := out.start; s < over; s++ {
			t.feed[s+later] += 0.98 * out.bbl / float64(over-out.start)
		}
	}},
	{"battery of four", func(p *plan) {
		kind := pick(p.lot, commonest...)
		want := [4]float64{}
		for i := range want {
			want[i] = p.fullTruck()
			t := p.tank(want[i], kind)
			t.gauge = p.instrument(kind)
		}
		first := p.truck(p.tanks[p.IntN(2)], p.firstLoad(), 0)
		first.bbl = want[first.from]
		second := p.truck(p.tanks[2+p.IntN(2)], p.whole(10*60, hour), 0)
		second.bbl, second.follows = want[second.from], first
		p.spills = append(p.spills, spill{0, 1, p.tanks[0].height - 10})
	}},
	{"water drawn off", func(p *plan) {
		t := p.tank(80)
		drain := p.truck(t, p.firstLoad(), p.between(4, 14))
		drain.rate, drain.kind, drain.class = p.between(0.5, 2), "water", Free
	}},
}

// pair is two tanks of a size and sensor, of which the first is loaded.
func (p *plan) pair(sensors ...string) (a, b *tank, d *draw) {
	a, d = p.ordinary(sensors...)
	b = p.tank(60)
	own := p.instrument(a.gauge.name)
	b.vessel, b.gauge = a.vessel, own
	b.opening = a.opening + p.between(-2, 2)
	return a, b, d
}

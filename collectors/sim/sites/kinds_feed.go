package sites

// feedKinds are about what the well brings.
var feedKinds = []Kind{
	{"steady well", func(p *plan) {
		t, _ := p.ordinary()
		p.steadyWell(t, p.between(50, 400))
	}},
	{"separator dumps", func(p *plan) {
		t, _ := p.ordinary()
		p.separator(t, p.between(80, 500), p.spread(0.4, 3))
	}},
	{"big dumps", func(p *plan) {
		t, _ := p.ordinary()
		p.separator(t, p.between(100, 500), p.between(3, 8))
	}},
	{"dump within the load", func(p *plan) {
		t, d := p.ordinary()
		at := d.start + int(p.between(0.25, 0.8)*d.bbl/d.rate*60)
		t.feed.pour(at, p.between(1.5, 7), p.whole(30, 300))
		t.feeding = "dumps"
	}},
	{"dump at the opening", func(p *plan) {
		t, d := p.ordinary()
		t.feed.pour(d.start-p.whole(10, 240), p.between(0.6, 4), p.whole(20, 150))
		t.feeding = "dumps"
	}},
	{"dump soon after the pump", func(p *plan) {
		t, d := p.ordinary("gwr", "radar", "mag", "hydro", "analog")
		// When the pump stops depends on its laws alone: the tank's own level has no part in these.
		wait, bbl, open := p.whole(100, 420), p.between(0.7, 4), p.whole(20, 150)
		over := p.rehearse(d)
		t.feed.pour(over+wait, bbl, open)
		t.feeding = "dumps"
	}},
	{"plunger lift", func(p *plan) {
		t, _ := p.ordinary()
		t.feed, t.feeding = plunger(p.stream(13).Rand, p.seconds, p.between(40, 250), p.whole(20*60, 3*hour)), "slugs"
	}},
	{"pumping unit pumps off", func(p *plan) {
		t, _ := p.ordinary()
		p.pumpJack(t, p.between(80, 350))
	}},
	{"heavy inflow", func(p *plan) {
		t, _ := p.ordinary()
		p.steadyWell(t, p.between(600, 1300))
	}},
	{"heavy inflow in dumps", func(p *plan) {
		t, _ := p.ordinary()
		p.separator(t, p.between(500, 1000), p.between(0.7, 3))
		t.feeding = "heavy"
	}},
	{"bleed ten minutes before", func(p *plan) {
		t, d := p.ordinary()
		bleed := p.truck(t, d.start-p.whole(7*60, 15*60), p.between(0.7, 4))
		bleed.rate, bleed.kind, bleed.class = p.between(0.7, 4), "bleed", No
	}},
	{"well is shut in for the load", func(p *plan) {
		t, d := p.ordinary()
		p.steadyWell(t, p.between(150, 600))
		from, to := d.start-p.whole(5*60, 40*60), p.rehearse(d)+p.whole(5*60, 40*60)
		for s := from; s < to; s++ {
			t.feed[s] = 0
		}
	}},
	{"no load all day", func(p *plan) {
		t := p.tank(100)
		if p.chance(0.5) {
			p.separator(t, p.between(50, 400), p.spread(0.4, 5))
		}
		sample := p.truck(t, p.firstLoad(), p.between(0.3, 2.5))
		sample.rate, sample.kind, sample.class = p.between(0.3, 2), "sample", No
	}},
}

// rehearse is the second at which a truck would have pumped its load, hose and all, where the head has no part in its rate.
func (p *plan) rehearse(d *draw) int {
	trial := *d
	for s := d.start; s < p.seconds; s++ {
		if trial.step(s, 1e3); trial.done && trial.hoseSpent {
			return trial.ended
		}
	}
	return p.seconds
}

package sites

// pumpKinds are about the truck.
var pumpKinds = []Kind{
	{"clean truck", func(p *plan) {
		t, _ := p.ordinary("gwr", "mag", "radar")
		t.sloshing = p.between(0.02, 0.1)
	}},
	{"pump fades with the head", func(p *plan) {
		t, d := p.ordinary()
		d.laws = append(d.laws, fading(p.between(0.4, 0.85), p.between(0.5, 1)*(t.opening-t.heel)))
	}},
	{"driver tops off", func(p *plan) {
		_, d := p.ordinary("gwr", "radar", "hydro", "analog")
		d.laws = append(d.laws, dying(p.between(3, 15), p.between(0.03, 0.15)))
	}},
	{"pump is primed", func(p *plan) {
		_, d := p.ordinary()
		d.laws = append(d.laws, priming(p.between(1, 2), p.between(0, 0.15), p.whole(5, 40), p.whole(20, 240)))
	}},
	{"slow start", func(p *plan) {
		_, d := p.ordinary()
		d.laws = append(d.laws, slowStart(p.between(120, 600)))
	}},
	{"stop and go", func(p *plan) {
		_, d := p.ordinary()
		at := d.bbl * p.between(0.1, 0.4)
		for range p.whole(1, 4) {
			d.pauses = append(d.pauses, pause{at, p.whole(45, 540)})
			at += d.bbl * p.between(0.1, 0.3)
		}
	}},
	{"gravity drain", func(p *plan) {
		t, d := p.ordinary()
		d.rate = p.between(2, 4.5)
		d.laws = append(d.laws, gravity(t.opening-t.heel))
	}},
	{"hot shot", func(p *plan) {
		_, d := p.ordinary()
		d.rate = p.between(10, 16)
	}},
	{"small trucks", func(p *plan) {
		bbl := p.between(28, 90)
		t := p.tank(4 * bbl)
		d := p.truck(t, p.firstLoad(), bbl)
		if p.chance(0.7) {
			p.truck(t, p.whole(45, 120)*60, p.between(28, 90)).follows = d
		}
	}},
	{"pump sucks air at the heel", func(p *plan) {
		t, d := p.ordinary()
		d.bbl += p.between(20, 60)
		t.opening = t.level(t.volume(t.heel) + d.bbl - p.between(10, 20))
		d.laws = append(d.laws, sputtering(p.between(2, 8)))
	}},
	{"hose runs back", func(p *plan) {
		_, d := p.ordinary("gwr", "mag", "radar", "analog")
		d.hose, d.hoseSeconds = -p.between(0.3, 1.6), p.between(8, 45)
	}},
	{"hose drains on", func(p *plan) {
		_, d := p.ordinary("gwr", "mag", "radar", "hydro")
		d.hose, d.hoseSeconds = p.between(0.5, 3), p.between(25, 75)
	}},
	{"fades, creeps, lies flat", func(p *plan) {
		t, d := p.ordinary("radar", "gwr")
		d.laws = append(d.laws, fading(p.between(0.3, 0.7), t.opening-t.heel), dying(p.between(2, 8), 0.08))
		d.hose, d.hoseSeconds = p.between(0.3, 2), p.between(20, 60)
		p.separator(t, p.between(60, 400), p.between(0.7, 3))
	}},
	{"trucks a few minutes apart", func(p *plan) {
		one, two := p.fullTruck(), p.fullTruck()
		t := p.tank(one + two + 10)
		d := p.truck(t, p.firstLoad(), one)
		p.truck(t, p.whole(8*60, 14*60), two).follows = d
	}},
	{"three trucks on end", func(p *plan) {
		var all [3]float64
		sum := 20.0
		for i := range all {
			all[i] = p.fullTruck()
			sum += all[i]
		}
		t := p.tank(sum, "gwr", "radar", "hydro", "mag", "ultrasonic")
		d := p.truck(t, p.firstLoad(), all[0])
		for _, bbl := range all[1:] {
			next := p.truck(t, p.whole(8*60, 20*60), bbl)
			next.follows, d = d, next
		}
	}},
	{"truck splits over two tanks", func(p *plan) {
		one, two := p.between(50, 120), p.between(40, 100)
		a, b := p.tank(one), p.tank(two)
		b.gauge = p.instrument(a.gauge.name)
		d := p.truck(a, p.firstLoad(), one)
		p.truck(b, p.whole(90, 900), two).follows = d
	}},
}

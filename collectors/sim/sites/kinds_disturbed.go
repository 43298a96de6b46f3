package sites

// disturbedKinds are about what makes a sensor tell something else than oil.
var disturbedKinds = []Kind{
	{"windy", func(p *plan) {
		t, d := p.ordinary("radar", "ultrasonic", "hydro", "gwr")
		from := d.start - p.whole(20*60, 3*hour)
		t.add(wind(p.lot, p.seconds+1, from, from+p.whole(3*hour, 6*hour), p.spread(0.3, 2.5)))
	}},
	{"slosh that stops at once", func(p *plan) {
		t, _ := p.ordinary("gwr", "radar", "mag")
		t.sloshing, t.calming = p.between(0.4, 1.5), p.between(1, 15)
	}},
	{"slosh that rolls on", func(p *plan) {
		t, _ := p.ordinary("gwr", "radar", "mag", "ultrasonic")
		t.sloshing, t.calming = p.between(0.5, 2), p.between(90, 240)
	}},
	{"foam after the load", func(p *plan) {
		t, d := p.ordinary("radar", "ultrasonic", "gwr")
		p.then(func() {
			t.add(foam(p.lot, p.seconds+1, d.stopped-p.whole(0, 900), p.whole(300, 1800), p.between(1, 5), p.spread(60, 900)))
		})
	}},
	{"foam before the load", func(p *plan) {
		t, d := p.ordinary("radar", "ultrasonic")
		t.add(foam(p.lot, p.seconds+1, d.start-p.whole(hour, 3*hour), p.whole(600, 2400), p.between(1, 5), p.spread(120, 1500)))
	}},
	{"false echoes", func(p *plan) {
		t, _ := p.ordinary("radar", "ultrasonic", "gwr")
		for at := p.IntN(hour); at < p.seconds; at += int(p.spread(300, 2*hour)) {
			to := pick(p.lot, 0, t.height, t.opening*p.Float64(), t.opening+p.between(2, 20))
			t.gauge.broken = append(t.gauge.broken, spike(at, p.whole(1, 120), to))
		}
	}},
	{"false echo at the opening", func(p *plan) {
		t, d := p.ordinary("radar", "ultrasonic", "gwr")
		long := p.whole(30, 180)
		t.gauge.broken = append(t.gauge.broken, fault{from: d.start - p.whole(0, 400), value: shifted(p.sign() * p.between(1, 12))})
		t.gauge.broken[0].to = t.gauge.broken[0].from + long
	}},
	{"false echo at the closing", func(p *plan) {
		t, d := p.ordinary("radar", "ultrasonic", "gwr")
		p.then(func() {
			from := d.ended + p.whole(-60, 300)
			t.gauge.broken = append(t.gauge.broken, fault{from: from, to: from + p.whole(30, 180), value: shifted(p.sign() * p.between(1, 12))})
		})
	}},
	{"float sticks, then frees itself", func(p *plan) {
		t, d := p.ordinary("mag", "float", "reed")
		t.feed, t.feeding = make(feed, p.seconds), "none"
		from := d.start + p.whole(120, 600)
		t.gauge.broken = append(t.gauge.broken, stuck(from, from+p.whole(180, 900)))
	}},
	{"stuck through the load", func(p *plan) {
		t, d := p.ordinary("mag", "float", "radar")
		p.steadyWell(t, p.between(100, 300))
		from := d.start - p.whole(hour/2, 2*hour)
		d.hidden = gap{from: from, to: p.rehearse(d) + p.whole(hour/2, 2*hour)}
		t.gauge.broken = append(t.gauge.broken, stuck(from, d.hidden.to))
		d.class = Review
	}},
	{"spanned anew within the load", func(p *plan) {
		t, d := p.ordinary("mag", "hydro", "radar", "analog")
		at := d.start + int(p.between(0.2, 0.8)*float64(p.rehearse(d)-d.start))
		t.gauge.respans = append(t.gauge.respans, respan{at, p.sign() * p.between(3.5, 11)})
		d.class = Review
	}},
	{"spanned anew at rest", func(p *plan) {
		t, d := p.ordinary("mag", "hydro", "radar", "analog")
		t.gauge.respans = append(t.gauge.respans, respan{d.start - p.whole(hour, 3*hour), p.sign() * p.between(3, 25)})
	}},
	{"hatch open for the load", func(p *plan) {
		t, d := p.ordinary("hydro", "bubbler")
		open := d.start - p.whole(3*60, 20*60)
		p.then(func() {
			t.add(hatch(p.seconds+1, open, d.ended+p.whole(5*60, 30*60), p.between(0.6, 2.5), p.spread(10, 300)))
		})
	}},
	{"hatch open for the hand gauge", func(p *plan) {
		t, d := p.ordinary("hydro", "bubbler")
		open := d.start - p.whole(12*60, 25*60)
		t.add(hatch(p.seconds+1, open, open+p.whole(90, 480), p.between(0.6, 2.5), p.spread(10, 100)))
	}},
	{"tank breathes", func(p *plan) {
		t, _ := p.ordinary("hydro", "bubbler")
		t.add(breathing(p.lot, p.seconds+1, p.between(0.2, 1)))
	}},
	{"probe pulled", func(p *plan) {
		t := p.tank(120, "gwr", "mag", "hydro", "radar")
		from := p.firstLoad()
		t.gauge.broken = append(t.gauge.broken, pulled(p.lot, from, from+p.whole(15*60, 2*hour), t.height))
		sample := p.truck(t, from-hour, p.between(0.1, 0.5))
		sample.rate, sample.kind, sample.class = 0.5, "sample", No
	}},
	{"lightning", func(p *plan) {
		t, d := p.ordinary("mag", "radar", "analog")
		struck := d.start - p.whole(10*60, 40*60)
		for range p.whole(3, 8) {
			t.gauge.broken = append(t.gauge.broken, spike(struck, p.whole(5, 60), pick(p.lot, 0, t.height, -9, 1.06*t.height)))
			struck += p.whole(60, 1200)
		}
		if p.chance(0.5) { // the electronics are off by a little from then on
			t.gauge.respans = append(t.gauge.respans, respan{d.start - p.whole(41*60, 90*60), p.between(-1.5, 1.5)})
		}
	}},
}

func shifted(inches float64) func(int, float64) float64 {
	return func(_ int, x float64) float64 { return x + inches }
}

package sites

// sensorKinds are about what the sensor is and how it was set.
var sensorKinds = []Kind{
	{"guided wave radar", func(p *plan) { p.ordinary("gwr") }},
	{"radar through the roof", func(p *plan) { p.ordinary("radar") }},
	{"magnetostrictive probe", func(p *plan) { p.ordinary("mag") }},
	{"ultrasonic", func(p *plan) {
		t, _ := p.ordinary("ultrasonic")
		t.gauge.drift = daily(p.seconds+1, p.clock(), p.between(-0.6, 0.6))
	}},
	{"hydrostatic", func(p *plan) { p.ordinary("hydro") }},
	{"bubbler", func(p *plan) {
		t, _ := p.ordinary("bubbler")
		every, long, high := p.whole(900, 4000), p.whole(10, 60), p.between(1, 6)
		for at := p.IntN(every); at < p.seconds; at += every { // the line is blown free
			t.gauge.broken = append(t.gauge.broken, fault{from: at, to: at + long, value: func(_ int, x float64) float64 { return x + high }})
		}
	}},
	{"float and tape", func(p *plan) { p.ordinary("float") }},
	{"reed chain", func(p *plan) { p.ordinary("reed") }},
	{"converter of few bits", func(p *plan) {
		p.ordinary("analog", "hydro")
		p.recorder.step = pick(p.lot, 240.0/1024, 300.0/1024, 240.0/2048, 1.0)
	}},
	{"damped to the second digit", func(p *plan) {
		t, _ := p.ordinary("radar", "gwr", "ultrasonic", "hydro")
		t.gauge.lag = p.spread(25, 150)
		t.gauge.noise /= 3
	}},
	{"averaged over minutes", func(p *plan) {
		t, _ := p.ordinary()
		t.gauge.mean = p.whole(40, 300)
	}},
	{"warm by day, cold by night", func(p *plan) {
		t, _ := p.ordinary("radar", "ultrasonic", "hydro", "analog")
		t.gauge.drift = daily(p.seconds+1, p.clock(), p.sign()*p.between(0.4, 1.5))
	}},
	{"oil cools after the load", func(p *plan) {
		t, d := p.ordinary("gwr", "radar", "mag", "hydro")
		p.then(func() {
			t.gauge.drift = creep(p.seconds+1, d.ended, -p.between(0.1, 0.7), p.spread(300, 2400))
		})
	}},
	{"blind at the top", func(p *plan) {
		t, d := p.ordinary("ultrasonic", "radar")
		short := p.between(4, 40) / t.perInch()
		t.gauge.highest = t.opening - short
		if full := t.gauge.offset; full < 0 {
			t.gauge.highest += full
		}
		d.class = Review
	}},
	{"blind at the bottom", func(p *plan) {
		t, d := p.ordinary("ultrasonic", "radar", "gwr", "mag")
		t.gauge.offset = 0
		t.opening = min(t.height-12, t.level(t.volume(t.heel+p.between(1, 8))+d.bbl))
		p.then(func() { // what the sensor cannot see below
			closing := t.level(t.volume(t.opening) - d.bbl)
			t.gauge.lowest = closing + p.between(4, 40)/t.perInch()
		})
		t.feed, t.feeding = make(feed, p.seconds), "none"
		d.class = Review
	}},
}

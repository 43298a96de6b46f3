package sites

// recorderKinds are about the road from sensor to recording.
var recorderKinds = []Kind{
	{"polled every few minutes", func(p *plan) {
		p.ordinary("gwr", "radar", "mag", "hydro", "ultrasonic")
		p.recorder.poll = p.whole(120, 300)
		p.recorder.jitter = p.whole(0, 20)
	}},
	{"polled every two seconds", func(p *plan) {
		p.ordinary("gwr", "mag", "hydro", "radar")
		p.recorder.poll, p.recorder.jitter = 2, 0
	}},
	{"radio loses readings", func(p *plan) {
		p.ordinary()
		p.recorder.slip, p.recorder.jitter = p.between(0.1, 0.6), p.recorder.poll/3
	}},
	{"gap within the load", func(p *plan) {
		_, d := p.ordinary()
		over := p.rehearse(d)
		from := d.start + int(p.between(0.1, 0.5)*float64(over-d.start))
		to := from + int(p.between(0.2, 0.45)*float64(over-d.start))
		p.recorder.gaps = append(p.recorder.gaps, gap{from, to, pick(p.lot, silent, badRows, nothing)})
	}},
	{"gap over the closing", func(p *plan) {
		t, d := p.ordinary()
		p.steadyWell(t, p.between(20, 150))
		over := p.rehearse(d)
		d.hidden = gap{over - p.whole(180, 900), over + p.whole(300, 1800), pick(p.lot, silent, badRows)}
		p.recorder.gaps = append(p.recorder.gaps, d.hidden)
	}},
	{"gap over the load", func(p *plan) {
		t, d := p.ordinary()
		p.steadyWell(t, p.between(20, 150))
		d.hidden = gap{d.start - p.whole(600, 3600), p.rehearse(d) + p.whole(600, 3600), pick(p.lot, silent, badRows, nothing)}
		p.recorder.gaps = append(p.recorder.gaps, d.hidden)
		d.class = Review
	}},
	{"two trucks in one gap", func(p *plan) {
		one, two := p.fullTruck(), p.fullTruck()
		t := p.tank(one+two+10, "gwr", "radar", "hydro", "mag")
		p.steadyWell(t, p.between(10, 100))
		first := p.truck(t, p.firstLoad(), one)
		second := p.truck(t, p.whole(12*60, 40*60), two)
		second.follows, second.kind = first, ""
		first.togetherWith, first.class = second, Review
		p.then(func() {
			first.hidden = gap{first.begun - p.whole(600, 2400), second.ended + p.whole(600, 2400), silent}
			p.recorder.gaps = append(p.recorder.gaps, first.hidden)
		})
	}},
	{"gateway repeats the last value", func(p *plan) {
		_, d := p.ordinary("gwr", "radar", "mag", "analog")
		for range p.whole(1, 4) {
			from := d.start + p.whole(-hour/2, hour)
			p.recorder.gaps = append(p.recorder.gaps, gap{from, from + p.whole(60, 420), held})
		}
	}},
	{"deadband", func(p *plan) {
		p.ordinary("gwr", "radar", "mag", "hydro", "float")
		p.recorder.deadband, p.recorder.beat = p.spread(0.2, 1), p.whole(600, hour)
	}},
	{"swinging door", func(p *plan) {
		p.ordinary("gwr", "radar", "mag", "hydro")
		p.recorder.door, p.recorder.beat = p.spread(0.1, 1), p.whole(hour/2, 2*hour)
	}},
	{"node that wakes and sleeps", func(p *plan) {
		p.ordinary("gwr", "radar", "mag", "ultrasonic")
		p.recorder.poll, p.recorder.jitter = p.whole(2, 10), 0
		p.recorder.awake, p.recorder.asleep = p.whole(2, 8), p.whole(60, 420)
	}},
	{"box starts again within the load", func(p *plan) {
		_, d := p.ordinary()
		at := d.start + p.whole(60, 300)
		for range p.whole(1, 3) {
			down := p.whole(20, 240)
			p.recorder.boots = append(p.recorder.boots, gap{at, at + down, silent})
			at += down + p.whole(120, 900)
		}
	}},
}

// mixedKinds are sites where much comes together.
var mixedKinds = []Kind{
	{"an ordinary day", func(p *plan) {
		t, d := p.ordinary()
		p.breakIn(t, d, 1)
	}},
	{"a bad day", func(p *plan) {
		t, d := p.ordinary()
		p.breakIn(t, d, 4)
	}},
	{"a bad day with two trucks", func(p *plan) {
		one, two := p.fullTruck(), p.fullTruck()
		t := p.tank(one + two + 10)
		d := p.truck(t, p.firstLoad(), one)
		next := p.truck(t, p.whole(15*60, 90*60), two)
		next.follows = d
		p.breakIn(t, d, 2)
		p.breakIn(t, next, 2)
	}},
}

// breakIn lets up to so many things of the others happen to a load, none that hides the barrels, and none twice: a pump that
// dies of two laws trickles beyond the recording's end, and the truth would not tell of its load.
func (p *plan) breakIn(t *tank, d *draw, many int) {
	var had [10]bool
	for range many {
		what := p.IntN(len(had))
		if had[what] {
			continue
		}
		had[what] = true
		switch what {
		case 0:
			d.laws = append(d.laws, fading(p.between(0.3, 0.7), t.opening-t.heel))
		case 1:
			d.laws = append(d.laws, dying(p.between(3, 12), 0.08))
		case 2:
			d.hose, d.hoseSeconds = p.between(-1, 2), p.between(10, 60)
		case 3:
			d.pauses = append(d.pauses, pause{d.bbl * p.between(0.2, 0.8), p.whole(45, 500)})
		case 4:
			p.separator(t, p.between(80, 500), p.spread(0.4, 4))
		case 5:
			t.sloshing, t.calming = p.between(0.4, 1.5), p.spread(3, 150)
		case 6:
			t.gauge.lag = max(t.gauge.lag, p.spread(10, 80))
		case 7:
			t.gauge.broken = append(t.gauge.broken, fault{from: d.start - 300, to: d.start - 300 + p.whole(20, 120), value: shifted(p.between(-10, 10))})
		case 8:
			p.recorder.slip = p.between(0.05, 0.4)
		default:
			t.gauge.drift = daily(p.seconds+1, p.clock(), p.between(-0.7, 0.7))
		}
	}
}

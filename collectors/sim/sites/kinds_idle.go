package sites

import "math"

// idleKinds are days without a truck on which something looks like one: nothing of them may become a ticket.
var idleKinds = []Kind{
	{"rod lifted, then let in again", func(p *plan) {
		t, at := p.idle("gwr", "mag", "hydro", "analog")
		back := at + p.whole(10*60, 2*hour)
		t.gauge.broken = append(t.gauge.broken, handled(p.lot, at, back, t.height))
		if p.chance(0.4) {
			t.gauge.respans = append(t.gauge.respans, respan{back, p.between(-4, 4)})
		}
	}},
	{"current loop tested", func(p *plan) {
		t, at := p.idle("analog", "hydro", "radar")
		hold, quarter, turn := p.whole(30, 300), p.IntN(5), 1
		for range p.whole(4, 12) {
			value := float64(quarter) / 4 * t.height
			t.gauge.broken = append(t.gauge.broken, fault{from: at, to: at + hold, value: func(int, float64) float64 { return value + 0.04*p.NormFloat64() }})
			at += hold + p.IntN(8)
			if quarter += turn; quarter > 4 || quarter < 0 {
				quarter, turn = max(0, min(4, quarter)), -turn
			}
		}
	}},
	{"zero trimmed by and by", func(p *plan) {
		t, at := p.idle("mag", "hydro", "radar", "analog", "ultrasonic")
		size := p.sign() * p.spread(1, 8)
		for range p.whole(3, 8) {
			t.gauge.respans = append(t.gauge.respans, respan{at, size * p.between(0.6, 1.4)})
			at += p.whole(40, 400)
		}
	}},
	{"input runs down", func(p *plan) {
		t, at := p.idle("analog", "hydro", "radar", "ultrasonic")
		for range p.whole(1, 3) {
			to := pick(p.lot, 0, 0, -0.25*t.height, t.height*p.between(0, 0.5))
			t.gauge.broken = append(t.gauge.broken, runsDown(at, at+p.whole(3*60, 60*60), to, p.spread(20, 500)))
			at += p.whole(70*60, 2*hour)
		}
	}},
	{"gateway tells of the morning", func(p *plan) {
		t, d := p.ordinary()
		at := p.rehearse(d) + p.whole(20*60, 60*60)
		for range p.whole(1, 3) {
			old := pick(p.lot, 0, t.opening-p.between(0, 3), t.opening*p.Float64())
			t.gauge.broken = append(t.gauge.broken, spike(at, p.whole(60, 1800), old))
			at += p.whole(20*60, 90*60)
		}
	}},
	{"dew on the antenna", func(p *plan) {
		t, at := p.idle("radar", "ultrasonic")
		t.add(bulge(p.seconds+1, at, p.spread(5*60, 2*hour), p.spread(10*60, 2*hour), p.between(3, 14), p.spread(30, 1200)))
	}},
	{"foam after a treat", func(p *plan) {
		t, at := p.idle("radar", "gwr", "ultrasonic")
		t.add(foam(p.lot, p.seconds+1, at, p.whole(600, 3600), p.between(3, 14), p.spread(60, hour)))
	}},
	{"impulse line freezes and thaws", func(p *plan) {
		t, at := p.idle("hydro", "bubbler")
		t.add(bulge(p.seconds+1, at, p.spread(20*60, 3*hour), p.spread(10*60, hour), p.between(4, 40), p.spread(20, 900)))
	}},
	{"radar hangs on the ladder", func(p *plan) {
		t, at := p.idle("radar", "ultrasonic", "gwr")
		t.gauge.lag = p.spread(3, 120)
		for range p.whole(1, 6) {
			off, long := p.sign()*p.between(4, 40), p.whole(30, 40*60)
			step := make(layer, p.seconds+1)
			for s := at; s < min(at+long, len(step)); s++ {
				step[s] = off
			}
			t.add(step)
			at += long + p.whole(60, 40*60)
		}
	}},
	{"oil heated by a truck comes back", func(p *plan) {
		t := p.tank(90)
		out := p.truck(t, p.firstLoad(), p.between(28, 80))
		out.rate, out.kind, out.class = p.between(1, 5), "recirculation", No
		over := p.rehearse(out)
		from, long := over+p.whole(60, 25*60), int(p.between(0.7, 1.4)*out.bbl/out.rate*60)
		t.feed.pour(from, p.between(0.95, 1)*out.bbl, long)
	}},
	{"moved to a tank of another size", func(p *plan) {
		a, d := p.ordinary()
		b := p.tank(200)
		b.opening = b.level(b.volume(b.heel + 5))
		d.to, d.kind, d.class = 1, "transfer", No
		d.bbl, d.rate = min(d.bbl, a.volume(a.opening)-a.volume(a.heel+4)), p.spread(0.8, 8)
		if p.chance(0.3) {
			d.pauses = append(d.pauses, pause{d.bbl * p.between(0.2, 0.8), p.whole(45, 540)})
		}
	}},
	{"samples and drains all day", func(p *plan) {
		t := p.tank(150)
		at := p.firstLoad() - hour
		for range p.whole(4, 9) {
			drain := p.truck(t, at, p.between(1, 14))
			drain.rate, drain.kind, drain.class = p.spread(0.4, 4), "drain", No
			at += p.whole(30*60, 70*60)
		}
	}},
}

// idle is a tank of which somebody takes a sample, and the second an hour later at which something else happens.
func (p *plan) idle(sensors ...string) (*tank, int) {
	t := p.tank(120, sensors...)
	at := p.firstLoad()
	sample := p.truck(t, at-hour, p.between(0.1, 0.5))
	sample.rate, sample.kind, sample.class = 0.5, "sample", No
	return t, at
}

// handled is a rod in somebody's hands: lifted at a walking pace of its own, held, laid down, wiped, let in again.
func handled(l lot, from, to int, height float64) fault {
	x, target, pace, until := math.NaN(), 0.0, 0.0, from
	return fault{from: from, to: to, value: func(s int, true_ float64) float64 {
		if math.IsNaN(x) {
			x, target = true_, true_
		}
		if s >= until {
			target, pace, until = height*l.Float64(), l.spread(0.03, 3), s+l.whole(30, 900)
			if l.chance(0.3) {
				target = 0
			}
		}
		if s > to-120 {
			target, pace = true_, height/60
		}
		x += max(-pace, min(pace, target-x))
		return x + 0.02*l.NormFloat64()
	}}
}

// runsDown is an input whose filter goes on without its transmitter towards a value, and back afterwards.
func runsDown(from, to int, value, slow float64) fault {
	x := math.NaN()
	return fault{from: from, to: to + int(7*slow), value: func(s int, true_ float64) float64 {
		if math.IsNaN(x) {
			x = true_
		}
		if s < to {
			x += (value - x) / max(1, slow)
		} else {
			x += (true_ - x) / max(1, slow)
		}
		return x
	}}
}

// bulge grows evenly, stands, and falls in faster and faster less.
func bulge(seconds, from int, grows, stands, inches, falls float64) layer {
	out := make(layer, seconds)
	for s := max(0, from); s < seconds; s++ {
		since := float64(s - from)
		out[s] = inches * min(1, since/grows)
		if over := since - grows - stands; over > 0 {
			out[s] = inches * math.Exp(-over/falls)
		}
	}
	return out
}

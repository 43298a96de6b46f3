package sites

import (
	"math"
	"time"
)

// Classes of movements.
const (
	Hard   = "hard"   // must be one ticket
	Review = "review" // one ticket that must ask for review: the recording cannot give the barrels
	No     = "no"     // must be no ticket
	Free   = "free"   // either answer is right
)

// Movement is a line of the truth.
type Movement struct {
	Tank, Kind, Class string
	Start, End        time.Time
	TimeTol           time.Duration
	Gauge             float64 // bbl between the tank's own readings without noise at start and end
	Tol               float64 // bbl, how near an expert with a pencil comes to it
	Expert            float64 // bbl, what that expert read; NaN where nothing could be read
	Left              float64 // bbl that really left the tank
	Open, Close       float64 // in, those two readings
	Sensor            string
	Scan              int    // s
	Feeding           string // of the tank
}

// movements of the site, and of the tanks that only took part.
func (p *plan) movements(b *battery, out flows, rows []reading) []Movement {
	var list []Movement
	for _, d := range p.draws {
		if !d.done || d.kind == "" {
			continue
		}
		end := b.settled(out, d.from, d.ended)
		left := d.left
		if d.togetherWith != nil {
			end, left = d.togetherWith.ended, left+d.togetherWith.left
		}
		list = append(list, p.movement(d, d.from, d.kind, end, left, rows))
		for _, j := range b.joins {
			if j.a == d.from {
				// What went across for the truck's sake; the well's own share of the equaliser's flow is far less.
				gone := 0.0
				for s := d.begun; s < end; s++ {
					gone += out.across[j.b][s] / 60
				}
				list[len(list)-1].Left -= gone
				list = append(list, p.movement(d, j.b, "eqload", end, gone, rows))
			}
		}
	}
	return list
}

func (p *plan) movement(d *draw, tank int, kind string, end int, left float64, rows []reading) Movement {
	t := p.tanks[tank]
	ideal := func(s int) float64 {
		s = max(0, min(s, p.seconds))
		return t.gauge.ideal(s, p.flows.level[tank][s])
	}
	var own []reading
	for _, row := range rows {
		if row.tank == tank {
			own = append(own, row)
		}
	}
	before, behind := p.neighbours(d, tank, d.begun, end)
	open := expertMark(own, t.gauge, ideal, d.begun, -1, before)
	shut := expertMark(own, t.gauge, ideal, end, 1, behind)
	m := Movement{
		Tank: p.tankID(tank), Kind: kind, Class: d.class, Start: p.instant(d.begun), End: p.instant(end), Left: left,
		Open: ideal(d.begun), Close: ideal(end), Sensor: t.gauge.name, Scan: p.recorder.poll, Feeding: t.feeding,
	}
	m.Gauge = t.volume(m.Open) - t.volume(m.Close)
	m.Expert = t.volume(open.level) - t.volume(shut.level)
	m.Tol = max(2*math.Hypot(open.sigma, shut.sigma)*t.perInch(), math.Abs(m.Expert-m.Gauge)) + 0.1
	if math.IsNaN(m.Expert) || m.Tol > m.Gauge {
		m.Expert, m.Tol = math.NaN(), math.Abs(m.Gauge)
	}
	if d.hose < 0 {
		m.Tol -= d.hose // before or behind the oil that ran back: both are said in the field
	}
	m.TimeTol = time.Duration(120+3*m.Scan+int(4*t.gauge.lag)+t.gauge.mean+(end-d.stopped)/2) * time.Second
	if d.hidden.to > 0 { // anywhere in there is as good an answer
		m.TimeTol += time.Duration(max(0, d.begun-d.hidden.from, d.hidden.to-end)) * time.Second
	}
	return m
}

// neighbours are the nearest instants before and behind a movement at which another one moves the same tank's oil.
func (p *plan) neighbours(of *draw, tank, begun, end int) (before, behind int) {
	before, behind = 0, p.seconds
	for _, d := range p.draws {
		if d == of || d == of.togetherWith || !d.done || d.from != tank && d.to != tank {
			continue
		}
		if d.ended <= begun {
			before = max(before, d.ended)
		} else if d.begun >= end {
			behind = min(behind, d.begun)
		}
	}
	return before, behind
}

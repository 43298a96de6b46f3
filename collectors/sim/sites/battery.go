package sites

import "math"

// join is an open equaliser between two tanks.
type join struct {
	a, b        int
	conductance float64 // bbl/min for each inch of difference
}

// spill is an overflow pipe from one tank into the next.
type spill struct {
	from, to int
	height   float64 // in
}

// battery is the tanks of a site with all that moves oil between them.
type battery struct {
	tanks  []vessel
	start  []float64 // bbl
	feeds  []feed
	joins  []join
	spills []spill
	draws  []*draw
}

// flows is what happened, second by second, in each tank.
type flows struct {
	level  [][]float64 // in, at the beginning of each second; one more than seconds
	drawn  [][]float64 // bbl/min that pumps took in that second; negative what they brought
	across [][]float64 // bbl/min through equalisers and overflows, out of the tank
	bbl    [][]float64 // beside level, bbl
}

// highLevel is how far below the top a switch shuts the well in, in.
const highLevel = 4

// run plays the whole battery.
func (b *battery) run(seconds int) flows {
	out := flows{}
	held := append([]float64(nil), b.start...)
	for range b.tanks {
		out.level = append(out.level, make([]float64, seconds+1))
		out.bbl = append(out.bbl, make([]float64, seconds+1))
		out.drawn = append(out.drawn, make([]float64, seconds+1))
		out.across = append(out.across, make([]float64, seconds+1))
	}
	for s := 0; ; s++ {
		for i, v := range b.tanks {
			out.bbl[i][s], out.level[i][s] = held[i], v.level(held[i])
		}
		if s == seconds {
			return out
		}
		b.pump(s, held, &out)
		b.share(s, held, &out)
		for i, f := range b.feeds {
			if v := b.tanks[i]; v.level(held[i]) > v.height-highLevel {
				f[s] = 0
			}
			held[i] += f[s]
		}
	}
}

func (b *battery) pump(s int, held []float64, out *flows) {
	for _, d := range b.draws {
		start := d.start
		if d.follows != nil {
			if !d.follows.done || !d.follows.hoseSpent {
				continue
			}
			start += d.follows.ended
		}
		if s < start {
			continue
		}
		v := b.tanks[d.from]
		moved := d.step(s, v.level(held[d.from])-v.heel)
		held[d.from] -= moved
		out.drawn[d.from][s] += moved * 60
		if d.to != toTruck {
			held[d.to] += moved
			out.drawn[d.to][s] -= moved * 60
		}
	}
}

func (b *battery) share(s int, held []float64, out *flows) {
	move := func(from, to int, bbl float64) {
		held[from] -= bbl
		held[to] += bbl
		out.across[from][s] += bbl * 60
		out.across[to][s] -= bbl * 60
	}
	for _, j := range b.joins {
		move(j.a, j.b, j.conductance/60*(b.tanks[j.a].level(held[j.a])-b.tanks[j.b].level(held[j.b])))
	}
	for _, o := range b.spills {
		if over := held[o.from] - b.tanks[o.from].volume(o.height); over > 0 {
			move(o.from, o.to, over*0.02)
		}
	}
}

// settled is the second at which the equaliser of a tank has done its part after a pump that ended at one: less than a tenth
// of a barrel of what the pump made uneven is still to come. What the well sends across for ever is not waited for.
func (b *battery) settled(out flows, tank, from int) int {
	for _, j := range b.joins {
		if j.a != tank && j.b != tank {
			continue
		}
		k := j.conductance * (1/b.tanks[j.a].perInch() + 1/b.tanks[j.b].perInch()) // 1/min
		left := math.Abs(out.across[tank][from]) / k
		from += int(60 / k * math.Log(max(1, left/0.1)))
	}
	return min(from, len(out.across[tank])-1)
}

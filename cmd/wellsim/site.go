package main

import (
	"math"
	"math/rand/v2"
	"time"

	"gauger/collectors/sim"
)

// morning is the site's own time at which the simulation begins.
const morning = 7 * time.Hour

// stock is one stock tank and the gauge on it.
type stock struct {
	*sim.Tank
	ID       string
	Diameter float64 // ft
	slosh    float64 // 0 calm to 1, grows while oil moves
}

// site is the simulated well site. Its time runs faster than the wall clock by speed. One goroutine owns it.
type site struct {
	speed   float64
	begin   time.Time // the wall clock at the site's morning
	last    time.Time
	tanks   []*stock
	battery float64 // volts at the RTU
	status  uint16  // the RTU's status word: bit 0 mains, bit 3 charger
	target  float64 // oil target of the well, bbl a day
	waves   *rand.Rand
}

// happening is one thing that a pump did.
type happening struct {
	tank *stock
	sim.Change
}

// newSite is three tanks: two behind a PLC and one behind a radio gateway.
func newSite(speed float64, begin time.Time) *site {
	s := &site{speed: speed, begin: begin, last: begin, battery: 12.9, status: 1 | 1<<3, target: 410, waves: rand.New(rand.NewPCG(12, 7))}
	s.add("TK-1", 12, 20, 184.2, 300)
	s.add("TK-2", 12, 20, 171.6, 220)
	s.add("TK-3", 15.5, 16, 133.0, 260)
	return s
}

// add puts up a tank: diameter and height in feet, level in inches, production in barrels a day.
func (s *site) add(id string, diameter, height, level, production float64) {
	t := &sim.Tank{PerInch: sim.BarrelsPerInch(diameter), Height: height * 12, Heel: 12, Inflow: production / 24 / 60}
	t.Fill(level)
	s.tanks = append(s.tanks, &stock{Tank: t, ID: id, Diameter: diameter})
}

// tank finds a tank by its id; nil when there is none.
func (s *site) tank(id string) *stock {
	for _, t := range s.tanks {
		if t.ID == id {
			return t
		}
	}
	return nil
}

// advance moves the site on to the wall clock's now and returns what the pumps did since the last call.
func (s *site) advance(now time.Time) []happening {
	by := time.Duration(float64(now.Sub(s.last)) * s.speed)
	if by <= 0 {
		return nil
	}
	s.last = now
	var out []happening
	for _, t := range s.tanks {
		moved := t.Drawing()
		for _, c := range t.Advance(by) {
			out = append(out, happening{t, c})
		}
		t.settle(moved && t.Drawing(), by)
	}
	return out
}

// settle lets the surface calm down, or not. Slosh grows in half a minute and dies with 80 seconds.
func (t *stock) settle(moving bool, by time.Duration) {
	if moving {
		t.slosh += (1 - t.slosh) * (1 - math.Exp(-by.Seconds()/25))
		return
	}
	t.slosh *= math.Exp(-by.Seconds() / 80)
}

// gauged is the level as a radar sees it, in inches: its noise, and waves while oil moves.
func (s *site) gauged(t *stock) float64 {
	wave := 0.25 * t.slosh * math.Sin(2*math.Pi*t.Now().Seconds()/7)
	return t.Level() + wave + 0.03*s.waves.NormFloat64()
}

func (s *site) wall(at time.Duration) time.Time {
	return s.begin.Add(time.Duration(float64(at) / s.speed))
}

// clock is the site's time of day of an instant, as people there say it.
func (s *site) clock(at time.Duration) string {
	return time.Time{}.Add(morning + at).Format("15:04")
}

// now is the site's time of day.
func (s *site) now() string { return s.clock(s.tanks[0].Now()) }

// strapping is the tank's table, one row a foot, in inches and barrels to the hundredth.
func (t *stock) strapping() [][2]float64 {
	var rows [][2]float64
	for in := 0.0; in <= t.Height; in += 12 {
		rows = append(rows, [2]float64{in, math.Round(in*t.PerInch*100) / 100})
	}
	return rows
}

// strapped reads the table at a level, linear between its rows; NaN outside.
func strapped(rows [][2]float64, level float64) float64 {
	for i := 1; i < len(rows); i++ {
		lo, hi := rows[i-1], rows[i]
		if level >= lo[0] && level <= hi[0] {
			return lo[1] + (level-lo[0])/(hi[0]-lo[0])*(hi[1]-lo[1])
		}
	}
	return math.NaN()
}

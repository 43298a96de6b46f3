package sites

import (
	"math"
	"testing"
)

// TestEveryBarrelIsAccountedFor asks of each tank: what it held at first, what the well brought and what pumps and pipes
// took make what it holds in the end; and over the battery, what pumps and hoses took is what the draws say has left.
func TestEveryBarrelIsAccountedFor(t *testing.T) {
	forEach(t, func(t *testing.T, s *Site) {
		p, out := s.plan, s.plan.flows
		lost := 0.0
		for i, tk := range p.tanks {
			taken := 0.0
			for second := range p.seconds {
				taken += (out.drawn[i][second] + out.across[i][second]) / 60
			}
			fed := tk.feed.sum(0, p.seconds)
			first, last := out.bbl[i][0], out.bbl[i][p.seconds]
			if off := first + fed - taken - last; math.Abs(off) > 1e-6 {
				t.Errorf("tank %d: %.3f bbl at first, %.3f fed, %.3f taken, %.3f at last: %.6f too much", i+1, first, fed, taken, last, off)
			}
			lost += first + fed - last
		}
		for _, d := range p.draws {
			if d.to == toTruck {
				lost -= d.left
			}
		}
		if math.Abs(lost) > 1e-6 {
			t.Errorf("%.6f bbl left the site in no draw", lost)
		}
	})
}

// TestDrawsComeToAnEnd asks that every load is wholly within its recording, with an hour behind it, and is what was wanted.
func TestDrawsComeToAnEnd(t *testing.T) {
	ends := func(t *testing.T, s *Site) {
		for _, d := range s.plan.draws {
			if !d.done || d.ended > s.plan.seconds-hour || d.begun < hour {
				t.Errorf("%s of %.1f bbl from second %d to %d of %d, done %v", d.kind, d.bbl, d.begun, d.ended, s.plan.seconds, d.done)
			}
		}
	}
	forEach(t, ends)
	for _, k := range Kinds(true) {
		if k.Name == "a bad day" {
			ends(t, k.Make(2615, 0)) // where a pump that died of two laws trickled on for hours
		}
	}
}

// TestTanksNeitherRunOverNorDry asks that no level leaves its tank.
func TestTanksNeitherRunOverNorDry(t *testing.T) {
	forEach(t, func(t *testing.T, s *Site) {
		for i, tk := range s.plan.tanks {
			for second, level := range s.plan.flows.level[i] {
				if level < 0 || level > tk.height {
					t.Fatalf("tank %d of %.0f in stands at %.1f in at second %d", i+1, tk.height, level, second)
				}
			}
		}
	})
}

// TestLoadLeavesWhatTheTankLost compares the truth's barrels with an account of its own: what the tank held at both ends,
// and what the well and the pipes brought meanwhile.
func TestLoadLeavesWhatTheTankLost(t *testing.T) {
	p := newPlan("account", 1, 1)
	tk, d := p.ordinary("gwr")
	p.separator(tk, 300, 2)
	tk.gauge.offset = 0
	d.hose, d.hoseSeconds = -1.2, 20
	s := p.build()
	m := s.Movements[0]
	held := p.flows.bbl[0]
	if lost := held[d.begun] - held[d.ended]; math.Abs(m.Gauge-lost) > 1e-6 {
		t.Errorf("gauge %.6f bbl, the tank lost %.6f", m.Gauge, lost)
	}
	if fed := tk.feed.sum(d.begun, d.ended); math.Abs(m.Left-m.Gauge-fed) > 1e-6 {
		t.Errorf("left %.6f bbl, gauge %.6f and fed %.6f", m.Left, m.Gauge, fed)
	}
	if want := d.bbl - 1.2; math.Abs(m.Left-want) > 1e-6 {
		t.Errorf("left %.3f bbl, want %.3f: the hose gave 1.2 back", m.Left, want)
	}
	if p.flows.drawn[0][d.ended] != 0 || p.flows.drawn[0][d.ended-1] == 0 {
		t.Error("the end is not where the flow ends")
	}
}

func TestEqualiserLevelsOut(t *testing.T) {
	b := &battery{tanks: []vessel{{diameter: 12, height: 240}, {diameter: 15.5, height: 240}}, start: []float64{200, 100},
		feeds: []feed{make(feed, 7200), make(feed, 7200)}, joins: []join{{0, 1, 1}}}
	out := b.run(7200)
	if high, low := out.level[0][7200], out.level[1][7200]; math.Abs(high-low) > 0.01 {
		t.Errorf("%.3f and %.3f in after two hours", high, low)
	}
	at := b.settled(out, 0, 0)
	if left := out.bbl[0][at] - out.bbl[0][7200]; left < 0.09 || left > 0.11 {
		t.Errorf("settled at second %d with %.3f bbl to come", at, left)
	}
}

// TestJoinedTanksBeginLevel: else the recording would begin with a movement that no truth tells of.
func TestJoinedTanksBeginLevel(t *testing.T) {
	for _, name := range []string{"equaliser between two", "equaliser and dumps"} {
		out := siteOfEach()[name].plan.flows
		if a, b := out.level[0][0], out.level[1][0]; math.Abs(a-b) > 0.01 {
			t.Errorf("%s: %.2f and %.2f in at first", name, a, b)
		}
	}
}

package main

import (
	"math"
	"testing"
	"time"
)

// TestTheScriptIsADayThatCanHappen plays the trucks alone and looks whether the story that the script tells is true.
func TestTheScriptIsADayThatCanHappen(t *testing.T) {
	begin := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	s := newSite(demoSpeed, begin)
	todo := append([]visit(nil), visits...)
	var pumping int
	for now := begin; now.Before(begin.Add(latest)); now = now.Add(beat) {
		s.advance(now)
		for len(todo) > 0 && now.Sub(begin) >= todo[0].at {
			if _, ok := s.tank(todo[0].tank).Begin(todo[0].draw); !ok {
				t.Fatalf("the truck at %s comes while another is there", todo[0].tank)
			}
			todo = todo[1:]
		}
		if now.Equal(begin.Add(killAt)) {
			for _, x := range s.tanks {
				if x.Drawing() {
					pumping++
				}
			}
		}
	}
	if pumping != 2 {
		t.Errorf("%d trucks are connected when the agent is killed, want 2", pumping)
	}
	d := &demo{world: &world{site: s}}
	hauls := d.truthSoFar().hauls
	if len(hauls) != len(visits) {
		t.Fatalf("%d loads, want %d", len(hauls), len(visits))
	}
	confirm := time.Duration(float64(45*time.Minute) / demoSpeed)
	inTheCut := 0
	for i, h := range hauls {
		if math.Abs(h.removed-visits[i].draw.Barrels) > 0.01 {
			t.Errorf("%s gave %.2f of %.0f bbl", h.tank, h.removed, visits[i].draw.Barrels)
		}
		minutes := h.removed / visits[i].draw.Rate
		for _, p := range visits[i].draw.Pauses {
			minutes += p.For.Minutes()
		}
		if took := h.end.Sub(h.start).Seconds() * demoSpeed / 60; math.Abs(took-minutes) > 0.01 {
			t.Errorf("%s took %.2f minutes, want %.2f", h.tank, took, minutes)
		}
		final := h.end.Add(confirm).Sub(begin)
		if final >= earliest {
			t.Errorf("the ticket of %s is final at %s, after the demonstration's end", h.tank, final)
		}
		if final > cutAt+time.Second && final < restoreAt-time.Second {
			inTheCut++
		}
	}
	if inTheCut != 3 {
		t.Errorf("%d tickets become final while the link is down, want 3", inTheCut)
	}
}

func TestCuesAreInOrder(t *testing.T) {
	cues := script()
	for i := 1; i < len(cues); i++ {
		if cues[i].at < cues[i-1].at {
			t.Errorf("cue %d at %s comes after %s", i, cues[i].at, cues[i-1].at)
		}
	}
	if last := cues[len(cues)-1].at; last >= earliest {
		t.Errorf("the last cue is at %s, the end may be at %s", last, earliest)
	}
}

func TestTheGaugeSeesTheLevel(t *testing.T) {
	s := newSite(demoSpeed, time.Now())
	tank, sum := s.tank("TK-2"), 0.0
	for range 2000 {
		g := s.gauged(tank)
		if math.Abs(g-tank.Level()) > 0.2 {
			t.Fatalf("%.3f in gauged, %.3f true", g, tank.Level())
		}
		sum += g - tank.Level()
	}
	if math.Abs(sum/2000) > 0.005 {
		t.Errorf("the gauge is off by %.4f in on average", sum/2000)
	}
}

func TestStrapped(t *testing.T) {
	rows := [][2]float64{{0, 0}, {120, 200.4}, {240, 400.8}}
	if got := strapped(rows, 171.25) - strapped(rows, 49.5); math.Abs(got-203.32) > 0.005 {
		t.Errorf("14'3 1/4\" to 4'1 1/2\" is %.3f bbl, want 203.32", got)
	}
	if !math.IsNaN(strapped(rows, 240.1)) || !math.IsNaN(strapped(rows, -0.1)) {
		t.Error("a level outside the table has a volume")
	}
}

func TestTheSitesClock(t *testing.T) {
	begin := time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC)
	s := newSite(demoSpeed, begin)
	if s.now() != "07:00" {
		t.Errorf("begins at %s", s.now())
	}
	s.advance(begin.Add(30 * time.Second))
	if s.now() != "08:00" || !s.wall(time.Hour).Equal(begin.Add(30*time.Second)) {
		t.Errorf("after 30 s it is %s", s.now())
	}
	if got := s.advance(begin); got != nil || s.now() != "08:00" {
		t.Error("the site went back in time")
	}
}

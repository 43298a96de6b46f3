package tank

import (
	"fmt"
	"testing"

	"gauger/agent/tank/tanktest"
)

// The box is killed in the middle of a load of a radio tank and comes back minutes later. The broker has kept the
// messages of the time away and hands them over at once, each with its device's time, after the clock and the other
// tank were heard. The load is the one that happened, and no clock has stepped.
func TestBrokerHandsOverWhatItKept(t *testing.T) {
	quiet := tanktest.Well{Level0: 100}
	want := labelOf(aWell, aLoad, aLoad)
	for _, c := range []struct{ speed, every, away float64 }{
		{1, 1, 480}, {1, 10, 40}, {1, 20, 480}, {1, 20, 1200}, {60, 20, 300}, {120, 20, 480}, {120, 10, 30},
	} {
		for _, share := range []float64{0.05, 0.5, 0.9, 1.1} {
			t.Run(fmt.Sprintf("%gx/%gs/%gs/%g", c.speed, c.every, c.away, share), func(t *testing.T) {
				r := atSpeed(t, c.speed, aWell, quiet)
				r.every, r.ticks = c.every, true
				r.sensor = func(tank int, s, v float64) (float64, bool) { return v, tank == 0 || int(s)%20 == 0 }
				killed := aLoad.From + share*(aLoad.End()-aLoad.From)
				killed -= float64(int(killed) % 20)
				r.run(0, killed)
				back := killed + c.away
				r.kill(back)
				r.feed(back, Input{Kind: Tick})
				r.feed(back, Input{Kind: Level, Tank: 1, Value: 100, Good: true})
				for s := killed; s < back; s += c.every {
					r.feed(s, Input{Kind: Level, Value: tanktest.Radar(0, s, aWell.Level(s)), Good: true})
				}
				r.run(back, 6*tanktest.Hour)
				r.matches(0.2, 60, want)
				for _, e := range r.events {
					if e.Rule == "clock-step" || e.Tank == "TK-1" {
						t.Errorf("an event that nothing called for: %+v", e)
					}
				}
			})
		}
	}
}

// atSpeed is a rig whose site's time runs faster than the clock.
func atSpeed(t *testing.T, speed float64, wells ...tanktest.Well) *rig {
	r := newRig(t, wells...)
	tanks := make([]Tank, len(r.site.tanks))
	copy(tanks, r.site.tanks)
	for i := range tanks {
		tanks[i].Loads = DefaultLoads()
		tanks[i].Loads.Speed = speed
	}
	r.site, r.speed = testSite(t, tanks), speed
	return r
}

// The clock of a device is set in the middle of a load, and the box dies within its next readings, before six of them
// could prove the step. What the clock was set by is no time that the box was away: one load, one ticket.
func TestClockIsSetAndTheBoxDies(t *testing.T) {
	for _, step := range []float64{3300, -2400, 900} {
		for after := 1; after <= 7; after++ {
			t.Run(fmt.Sprintf("%g s, %d readings", step, after), func(t *testing.T) {
				r := newRig(t, aWell)
				set := aLoad.From + 600
				r.clock = func(s float64) float64 {
					if s >= set {
						return step
					}
					return 0
				}
				killed := set + 10*float64(after)
				r.run(0, killed)
				r.kill(killed + 20)
				r.run(killed+20, 6*tanktest.Hour)
				want := labelOf(aWell, aLoad, aLoad)
				want.start, want.end = want.start+step, want.end+step // by the clock as it was set: it is the right one now
				r.matches(0.2, 90, want)
			})
		}
	}
}

// The clock is set back by an hour near the end of a load, minutes after a silence of hours: what comes then is of now, and nothing that was kept.
func TestTheClockIsSetBackBehindASilence(t *testing.T) {
	for _, silent := range []float64{0.3, 1, 3, 6} {
		r := newRig(t, aWell)
		set, quiet := aLoad.From+0.8*(aLoad.End()-aLoad.From), aLoad.From-600
		r.clock = func(s float64) float64 {
			if s >= set {
				return -tanktest.Hour
			}
			return 0
		}
		r.sensor = hide(quiet-silent*tanktest.Hour, quiet)
		r.run(0, 9*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%g h of silence: %d loads; %+v", silent, len(r.loads), r.events)
		}
		if off := r.loads[0].GaugeBbl - aLoad.Bbl; off < -3 || off > 3 {
			t.Errorf("%g h of silence: off by %.1f bbl", silent, off)
		}
	}
}

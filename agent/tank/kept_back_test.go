package tank

import (
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/tanktest"
)

// keptBack is a well of so many barrels a day whose tank is shut for a load from one time to another, and whose separator keeps them until then.
func keptBack(perDay float64, load tanktest.Move, shut, open float64) tanktest.Well {
	kept := perDay * (open - shut) / 86400
	return tanktest.Well{Level0: 120, Inflow: perDay, Moves: []tanktest.Move{load,
		{From: shut, Bbl: kept, Rate: perDay / 1440},
		{From: open, Bbl: -kept, Rate: 1.5},
	}}
}

// A tank that is shut for its load takes in nothing meanwhile, and what its well made comes at once when it is opened: by as much as the well made, so
// that it is none of the truck's. Nothing is counted, and nothing is to be asked.
func TestWhatIsKeptBackForALoadComesBehindIt(t *testing.T) {
	for _, perDay := range []float64{120, 200} {
		for _, behind := range []float64{300, 540, 900} {
			load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
			r := newRig(t, keptBack(perDay, load, load.From-900, load.End()+behind))
			r.run(0, load.End()+2*tanktest.Hour)
			r.inflowIs("kept back", 0, 0.1, 1)
			if l := r.loads[0]; len(l.Review) > 0 || l.ErrorBbl > 1.2 || !strings.Contains(strings.Join(l.Remarks, " "), "its tank was shut") {
				t.Errorf("%g bbl a day, opened %g s behind: %+v", perDay, behind, l)
			}
		}
	}
}

// What comes at once behind a load is the truck's where it is more than the well made since its tank was shut, and where that was not shut.
func TestMoreThanWasKeptBackAsks(t *testing.T) {
	load := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 140, Rate: 5}
	much := keptBack(120, load, load.From-900, load.End()+540)
	much.Moves[2].Bbl -= 3
	open := tanktest.Well{Level0: 120, Inflow: 120, Moves: []tanktest.Move{load, {From: load.End() + 540, Bbl: -4, Rate: 1.5}}}
	for name, w := range map[string]tanktest.Well{"three barrels more": much, "never shut": open} {
		r := newRig(t, w)
		r.run(0, load.End()+2*tanktest.Hour)
		if len(r.loads) != 1 {
			t.Fatalf("%s: %+v", name, r.loads)
		}
		if l := r.loads[0]; !strings.Contains(strings.Join(l.Review, " "), "as the well never did") {
			t.Errorf("%s does not ask: %+v", name, l)
		}
	}
}

// A well that is shut in for its load pauses for longer than it ever did, before the truck and behind it, and nothing came meanwhile. One that comes in
// batches, hours apart, paused as long before.
func TestAWellThatIsShutInForTheLoad(t *testing.T) {
	load, last := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 180, Rate: 5}, 8*tanktest.Hour
	comes := func(from, to, every, bbl float64) (on []tanktest.Move) {
		for s := from; s < to; s += every {
			on = append(on, tanktest.Move{From: s, Bbl: -bbl, Rate: 3})
		}
		return on
	}
	for name, moves := range map[string][]tanktest.Move{
		"shut in":                     append(comes(0, load.From-1500, 180, 1.2), comes(load.End()+480, last, 180, 1.2)...),
		"long before, briefly behind": append(dumps(0, load.From-2400), dumps(load.End()+300, last)...),
		"twice a pause on each side":  append(dumps(0, load.From-1000), dumps(load.End()+480, last)...),
		"in batches":                  comes(500, last, 7200, 25),
	} {
		r := newRig(t, tanktest.Well{Level0: 110, Moves: append(moves, load)})
		r.run(0, last)
		if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-load.Bbl) > 1 || len(r.loads[0].Review) > 0 {
			t.Errorf("%s: %+v, want %g bbl that ask nothing", name, r.loads, load.Bbl)
		}
	}
}

// dumps are those of a separator, which pauses for up to 420 s.
func dumps(from, to float64) (on []tanktest.Move) {
	gaps := []float64{60, 330, 90, 150, 420, 30, 90, 240, 60}
	for k := 0; from < to; k++ {
		on, from = append(on, tanktest.Move{From: from, Bbl: -1.2, Rate: 3}), from+gaps[k%len(gaps)]
	}
	return on
}

// A full tank stands for an hour because it spills over into its neighbour, and its well fills it again from its load on: that the first dump behind the
// load is minutes away says nothing.
func TestATankThatSpilledOverWasNotShutIn(t *testing.T) {
	load, last := tanktest.Move{From: 6 * tanktest.Hour, Bbl: 180, Rate: 5}, 8*tanktest.Hour
	own := append(append(dumps(0, load.From-4800), dumps(load.From, load.End()-100)...), dumps(load.End()+300, last)...)
	r := newRig(t, tanktest.Well{Level0: 110, Moves: append(own, load)}, tanktest.Well{Level0: 60, Moves: dumps(load.From-4800, load.From)})
	r.run(0, last)
	if len(r.loads) != 1 || math.Abs(r.loads[0].RemovedBbl-load.Bbl) > 3 {
		t.Errorf("%+v, want %g bbl", r.loads, load.Bbl)
	}
}

// A level behind a load that rises as its well made it until then stands for some minutes only by what its sensor does not tell. One that stands for longer
// shows that it was shut in.
func TestALevelThatRisesIsNoStand(t *testing.T) {
	const end, made = 36000.0, 0.001
	for stands, want := range map[float64]bool{0: false, 1200: true, 2400: true} {
		ts := &tankState{}
		for s := end; s < end+4000; s += 20 {
			ts.levels.recent = append(ts.levels.recent, sample{t: s, v: float32(60 + made*math.Max(0, s-end-stands)), n: 1})
		}
		ts.last = point{t: end + 4000, v: 64}
		d := draw{start: end - 2000, end: end, next: math.Inf(1), leaptAt: math.Inf(1), inflowBefore: made, inflowAfter: made, resolution: resolution{deadband: 0.25}}
		if got := shutBehind(ts, d, 200, 1.05, pauseShare); got != want {
			t.Errorf("stands for %g s: %v", stands, got)
		}
	}
}

package tank

import (
	"math"
	"time"

	"gauger/agent/tank/stats"
)

// What a fall of the level was that made no ticket.
const (
	Metered       = "lact"     // a meter makes this tank's tickets
	TooSmall      = "small"    // less than Loads.MinLoad
	TooSlow       = "loss"     // slower than Loads.MinRate
	TooLongUnseen = "unseen"   // over a longer gap than Loads.MaxGapTicket
	WaterDrawn    = "water"    // the oil/water interface fell with the level
	Transferred   = "transfer" // other tanks of the site rose
	Recirculated  = "recirc"   // it came back
	Echo          = "echo"     // a false echo that was believed
	Undecided     = "waiting"  // it is not decided yet
)

// verdictLeast is the volume in barrels below which a fall is not worth a verdict.
const verdictLeast = 1.0

// Verdict is what the detector made of a fall that is no ticket, or not yet one. Levels are
// inches, as gauged.
type Verdict struct {
	Tank  string    `json:"tank"`
	What  string    `json:"what"`
	Why   string    `json:"why"` // with the figures that decided
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Open  float64   `json:"open_in"`
	Close float64   `json:"close_in"`
	Bbl   float64   `json:"bbl"`            // that left the tank, what flowed in meanwhile included
	Until time.Time `json:"until,omitzero"` // of one that waits: when its confirmation ends

	Unseen *Span `json:"unseen,omitempty"` // the readings before and after, where none came inside; nil: readings show it
}

// addVerdict keeps what became of a draw that is no load.
func (u *update) addVerdict(i int, ts *tankState, d draw, what, why string) {
	w := u.site.verdict(i, ts, d, what, why)
	if what == Recirculated { // what came back is no inflow
		w.Bbl = stats.Round(u.site.tanks[i].volume(d), 2)
	}
	if w.Bbl >= verdictLeast {
		u.out = append(u.out, Outcome{Verdict: &w})
	}
}

func (s Site) verdict(i int, ts *tankState, d draw, what, why string) Verdict {
	t := &s.tanks[i]
	wall := func(at float64) time.Time { return ts.clock.wall(at / s.speed) }
	return Verdict{
		Tank: t.ID, What: what, Why: why, Start: wall(d.start), End: wall(d.end), Open: stats.Round(d.opening.level, 2), Close: stats.Round(d.closing.level, 2),
		Bbl: stats.Round(t.removedBbl(d), 2), Unseen: ts.hiddenSpan(d, s.speed),
	}
}

// removedBbl is the volume of a draw in barrels, with what flowed in meanwhile.
func (t *Tank) removedBbl(d draw) float64 {
	return t.volume(d) + d.inflowAfter*t.Table.PerInch(d.opening.level)*(d.end-d.start)
}

// Waiting are the falls of a tank that are not decided yet, in order.
func (s Site) Waiting(st State, tank int) []Verdict {
	if !st.Loading(tank) {
		return nil
	}
	ts, t := st.tanks[tank], &s.tanks[tank]
	draws, _ := ts.draws(t, s.speed, st.now*s.speed)
	var out []Verdict
	for _, d := range draws {
		w := s.verdict(tank, ts, d, Undecided, "the level has to stay down for "+spanText(t.Loads.Confirm.Seconds()))
		if w.Bbl < verdictLeast {
			continue
		}
		if !ts.stopped(d) {
			w.Why = "the level was not seen to stop falling"
		}
		w.Until = ts.clock.wall((d.end + t.Loads.Confirm.Seconds()) / s.speed)
		out = append(out, w)
	}
	return out
}

// Moment is a level (inches) and when it stood.
type Moment struct {
	At time.Time `json:"at"`
	In float64   `json:"in"`
}

// Levels are the levels that the state still knows between two times: the last hours by the
// minute or finer, a day and more by ten minutes.
func (s Site) Levels(st State, tank int, from, to time.Time) []Moment {
	if tank < 0 || tank >= len(st.tanks) || st.tanks[tank] == nil {
		return nil
	}
	ts := st.tanks[tank]
	var out []Moment
	take := func(b []sample) {
		for _, p := range b {
			if at := ts.clock.wall(p.t / s.speed); !at.Before(from) && !at.After(to) {
				out = append(out, Moment{at, stats.Round(float64(p.v), 2)})
			}
		}
	}
	fine := math.Inf(1)
	if len(ts.levels.recent) > 0 {
		fine = ts.levels.recent[0].t
	}
	take(ts.levels.history[:searchTime(ts.levels.history, fine)])
	take(ts.levels.recent)
	return out
}

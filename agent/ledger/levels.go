package ledger

import (
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

const (
	levelApart = 10 * time.Second // between two levels of the recorder that are told
	levelsMost = 2000
)

// levels adds what a tank's level was between two times: what the detector still knows, and of longer ago what the
// recorder has kept.
func (l *Ledger) levels(w *Explanation, i int, from, to time.Time) {
	l.mu.Lock()
	known := l.state.detector.Levels(l.state.tanks, i, time.Time{}, w.Now.AddDate(100, 0, 0))
	w.Levels = l.state.detector.Levels(l.state.tanks, i, from, to)
	ring, g := l.recording.ring, l.state.setups[i]
	l.mu.Unlock()
	for k := range w.Levels { // the detector's are all by the gauge of today
		w.Levels[k].In = hundredths(g.asReadThen(w.Levels[k].At, w.Levels[k].In))
	}
	if len(known) > 0 {
		w.Oldest = known[0].At
	}
	if ring == nil || len(known) > 0 && !from.Before(w.Oldest) {
		return
	}
	if oldest := ring.Stats().Oldest; !oldest.IsZero() && (w.Oldest.IsZero() || oldest.Before(w.Oldest)) {
		w.Oldest = oldest
	}
	points := []collectors.Point{g.Level}
	for _, p := range g.History {
		points = append(points, p.Level)
	}
	var kept []tank.Moment
	for row, err := range ring.Rows(from, to, points...) {
		if err != nil {
			w.Damage = err.Error()
			continue
		}
		then := g.pastSetupAt(row.At)
		in, err := LevelInches(row.Value, row.Unit, float64(then.Height))
		n := len(kept)
		if err != nil || row.Point != then.Level || row.Quality != collectors.Good || n > 0 && row.At.Sub(kept[n-1].At) < levelApart || n >= levelsMost {
			continue
		}
		kept = append(kept, tank.Moment{At: row.At, In: hundredths(in + float64(then.Offset))})
	}
	if len(kept) > len(w.Levels) {
		w.Levels = kept
	}
}

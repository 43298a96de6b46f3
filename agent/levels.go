package agent

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
func (l *Ledger) levels(w *Why, i int, from, to time.Time) {
	l.mu.Lock()
	known := l.s.detect.Levels(l.s.tanks, i, time.Time{}, w.Now.AddDate(100, 0, 0))
	w.Levels = l.s.detect.Levels(l.s.tanks, i, from, to)
	ring := l.keep.ring
	l.mu.Unlock()
	if len(known) > 0 {
		w.Oldest = known[0].At
	}
	if ring == nil || len(known) > 0 && !from.Before(w.Oldest) {
		return
	}
	if oldest := ring.Stats().Oldest; !oldest.IsZero() && (w.Oldest.IsZero() || oldest.Before(w.Oldest)) {
		w.Oldest = oldest
	}
	t := &l.site.Tanks[i]
	var kept []tank.Moment
	for row, err := range ring.Rows(from, to, t.Level) {
		if err != nil {
			w.Damage = err.Error()
			continue
		}
		in, err := LevelInches(row.Value, row.Unit, float64(t.Height))
		n := len(kept)
		if err != nil || row.Quality != collectors.Good || n > 0 && row.At.Sub(kept[n-1].At) < levelApart || n >= levelsMost {
			continue
		}
		kept = append(kept, tank.Moment{At: row.At, In: hundredths(in + float64(t.Offset))})
	}
	if len(kept) > len(w.Levels) {
		w.Levels = kept
	}
}

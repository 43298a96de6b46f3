package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/collectors"
)

// Inhibition is work on a tank: its levels are read as ever, but what begins meanwhile makes no ticket.
type Inhibition struct {
	Tank   string    `json:"tank"`
	Person string    `json:"person"`
	Why    string    `json:"why"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
	Seen   []string  `json:"seen,omitempty"` // movements and faults that began meanwhile, in words
	Read   time.Time `json:"read,omitzero"`  // the first reading behind its end: a silence may hide for hours what began meanwhile
}

const (
	inhibitMost = 31 * 24 * time.Hour // longer is a tank that is out of use
	seenMost    = 6                   // things that the event names
	afterWork   = 5 * time.Minute     // of readings after the end, in which a movement that began before it shows
	workLost    = 26 * time.Hour      // without readings for so long after the end nothing will show any more
)

// inhibitionAt is the place of the work on a tank that was going on at an instant; -1 when there was none.
func (tx *txn) inhibitionAt(id string, at time.Time) int {
	for i := range tx.inhibitions {
		w := &tx.inhibitions[i]
		if w.covers(id, at) || w.Tank == id && w.From.After(tx.now) && tx.clockDoubted() { // it goes on, by another clock than this
			return i
		}
	}
	return -1
}

// covers says that a tank was being worked on at an instant.
func (w *Inhibition) covers(id string, at time.Time) bool {
	return w.Tank == id && !at.Before(w.From) && at.Before(w.Until)
}

// Inhibit keeps a tank from making tickets for a while; work that is going on gets the new end and reason.
func (l *Ledger) Inhibit(id string, span time.Duration, person, why string) (w Inhibition, err error) {
	why, err = plainText("the reason", strings.TrimSpace(why), textMost)
	switch {
	case err != nil:
		return w, err
	case l.site.tank(id) == nil:
		return w, l.site.errNoTank(id)
	case why == "":
		return w, errors.New("say why: the reason stands in the event")
	case span <= 0 || span > inhibitMost:
		return w, fmt.Errorf("%s is no time for work on a tank; want more than nothing and at most 31 days, as in 2h", span)
	}
	err = l.update(func(tx *txn) error {
		now := tx.now.Round(0)
		w = Inhibition{Tank: id, Person: person, Why: why, From: now, Until: now.Add(span)}
		tx.inhibitions = slices.Clone(tx.inhibitions)
		if i := tx.inhibitionAt(id, now); i >= 0 {
			w.From, w.Seen = tx.inhibitions[i].From, tx.inhibitions[i].Seen
			tx.inhibitions[i] = w
		} else {
			tx.inhibitions = append(tx.inhibitions, w)
		}
		tx.putJSON(inhibitionsKey, tx.inhibitions)
		return nil
	})
	return w, err
}

// Allow ends the work on a tank now.
func (l *Ledger) Allow(id string) (w Inhibition, err error) {
	err = l.update(func(tx *txn) error {
		i := tx.inhibitionAt(id, tx.now.Round(0))
		switch {
		case l.site.tank(id) == nil && i < 0:
			return l.site.errNoTank(id)
		case i < 0:
			return fmt.Errorf("tank %s is not inhibited; `gauger tanks list` shows which are", id)
		}
		tx.inhibitions = slices.Clone(tx.inhibitions)
		tx.inhibitions[i].Until = tx.now.Round(0)
		tx.putJSON(inhibitionsKey, tx.inhibitions)
		w = tx.inhibitions[i]
		return nil
	})
	return w, err
}

// applyInhibition judges a load by the work on its tank. One that began meanwhile makes no ticket, but stays in the book; one
// that was under way when the work began is the truck's, and a person should look at it. One that nobody saw was at any time between two
// readings, whatever its guessed times are: only where all of that is work it was surely begun meanwhile.
func (tx *txn) applyInhibition(h *HeldTicket) {
	load := &h.Load
	from, to := load.Start, load.End
	hidden := load.Hidden()
	if hidden != nil {
		from, to = hidden.From, hidden.To
	}
	if i := tx.inhibitionAt(load.Tank, from); i >= 0 && (hidden == nil || !to.After(tx.inhibitions[i].Until)) {
		w := tx.inhibitions[i]
		h.Barred = w.Person + ": tank inhibited: " + w.Why
		tx.noteSeen(i, fmt.Sprintf("%.1f bbl left %s to %s, %.2f to %.2f in", load.RemovedBbl, tx.l.site.timeOfDay(load.Start),
			tx.l.site.timeOfDay(load.End), load.Open, load.Close))
		return
	}
	for _, w := range tx.inhibitions {
		if w.Tank == load.Tank && from.Before(w.Until) && to.After(w.From) {
			before := either(hidden == nil, "before it had ended", "and no reading says whether it was before, in or behind that")
			askForReview(load, fmt.Sprintf("the tank was inhibited at %s, %s, by %s: %s", tx.l.site.timeOfDay(w.From), before, w.Person, w.Why))
		}
	}
}

// noteSeen notes what began while a tank was worked on.
func (tx *txn) noteSeen(i int, what string) {
	tx.inhibitions = slices.Clone(tx.inhibitions)
	if seen := tx.inhibitions[i].Seen; len(seen) < seenMost {
		tx.inhibitions[i].Seen = append(seen[:len(seen):len(seen)], what)
	}
	tx.putJSON(inhibitionsKey, tx.inhibitions)
}

// foldedIntoInhibition takes what the detector says of a tank that was being worked on into the one event that the work makes.
func (tx *txn) foldedIntoInhibition(e tank.Event) bool {
	i := tx.inhibitionAt(e.Tank, e.Start)
	if i < 0 || e.Rule == eventrules.ClockStep {
		return false
	}
	note := strings.TrimPrefix(e.Note, "tank "+e.Tank+": ")
	tx.noteSeen(i, e.Rule+": "+note)
	return true
}

// closeInhibitions tells of the work that is over, once everything is known that began meanwhile.
func (tx *txn) closeInhibitions() {
	now := tx.now.Round(0)
	var keep []Inhibition
	changed := false
	for _, w := range tx.inhibitions {
		read := w.Read
		if now.Before(w.Until) || !tx.inhibitionSettled(&w, now) {
			changed = changed || !w.Read.Equal(read)
			keep = append(keep, w)
			continue
		}
		note := fmt.Sprintf("%s: inhibited by %s: %s; %s", w.Tank, w.Person, w.Why,
			either(len(w.Seen) > 0, "no ticket was made for what began meanwhile: "+strings.Join(w.Seen, "; "), "nothing began meanwhile"))
		tx.queueDiagnosis(tank.Event{Rule: eventrules.TankInhibited, Tank: w.Tank, Start: w.From, End: w.Until, Note: note})
	}
	if changed || len(keep) != len(tx.inhibitions) {
		tx.inhibitions = keep
		tx.putJSON(inhibitionsKey, tx.inhibitions)
	}
}

// inhibitionSettled says that nothing which began during the work can show any more, and notes the first reading behind it.
func (tx *txn) inhibitionSettled(w *Inhibition, now time.Time) bool {
	i, t := tx.l.site.index(w.Tank), tx.l.site.tank(w.Tank)
	if t == nil || now.After(w.Until.Add(workLost)) {
		return true
	}
	r, known := tx.l.latest.get(t.Level)
	if known && w.Read.IsZero() && r.Quality == collectors.Good && r.At.Round(0).After(w.Until) {
		w.Read = r.At.Round(0)
	}
	read := !w.Read.IsZero() && r.At.Round(0).After(w.Read.Add(max(tx.l.site.scaled(afterWork), 3*t.Every)))
	return read && !tx.tanks.Loading(i)
}

// shiftInhibitions moves the work that is going on when the wall clock was set: two hours stay two hours.
func (tx *txn) shiftInhibitions(before time.Time, step time.Duration) {
	if len(tx.inhibitions) == 0 {
		return
	}
	tx.inhibitions = slices.Clone(tx.inhibitions)
	for i := range tx.inhibitions {
		if w := &tx.inhibitions[i]; !w.From.After(before.Add(clock.Tolerance)) {
			w.From, w.Until, w.Read = w.From.Add(step), w.Until.Add(step), time.Time{}
		}
	}
	tx.putJSON(inhibitionsKey, tx.inhibitions)
}

// capInhibitions lets work that would only begin, by a clock that was ahead, have begun now.
func (tx *txn) capInhibitions(now time.Time) {
	for i := range tx.inhibitions {
		ahead := tx.inhibitions[i].From.Sub(now)
		if ahead < clock.Tolerance {
			continue
		}
		tx.inhibitions = slices.Clone(tx.inhibitions)
		tx.inhibitions[i].From, tx.inhibitions[i].Until = now, tx.inhibitions[i].Until.Add(-ahead)
		tx.putJSON(inhibitionsKey, tx.inhibitions)
	}
}

// timeOfDay is an instant as the site's people say it.
func (s *Site) timeOfDay(t time.Time) string { return t.In(s.Zone).Format("15:04") }

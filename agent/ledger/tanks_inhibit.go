package ledger

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/clock"
	"gauger/agent/tank"
	"gauger/eventrules"
)

// Inhibition is work on a tank: its levels are read as ever, but what begins meanwhile makes no ticket.
type Inhibition struct {
	Tank   string    `json:"tank"`
	Person string    `json:"person"`
	Why    string    `json:"why"`
	From   time.Time `json:"from"`
	Until  time.Time `json:"until"`
	Seen   []string  `json:"seen,omitempty"` // movements and faults that began meanwhile, in words
}

const (
	inhibitMost = 31 * 24 * time.Hour // longer is a tank that is out of use
	seenMost    = 6                   // things that the event names
	afterWork   = 5 * time.Minute     // of readings after the end, in which a movement that began before it shows
	workLost    = 26 * time.Hour      // without readings for so long after the end nothing will show any more
)

// inhibitionAt is the place of the work on a tank that was going on at an instant; -1 when there was none.
func (d *txn) inhibitionAt(id string, at time.Time) int {
	for i := range d.inhibitions {
		w := &d.inhibitions[i]
		if w.covers(id, at) || w.Tank == id && w.From.After(d.now) && d.clockDoubted() { // it goes on, by another clock than this
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
func (l tankOperations) Inhibit(id string, span time.Duration, person, why string) (w Inhibition, err error) {
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
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.begin(time.Now())
	now := d.now.Round(0)
	w = Inhibition{Tank: id, Person: person, Why: why, From: now, Until: now.Add(span)}
	d.inhibitions = slices.Clone(d.inhibitions)
	if i := d.inhibitionAt(id, now); i >= 0 {
		w.From, w.Seen = d.inhibitions[i].From, d.inhibitions[i].Seen
		d.inhibitions[i] = w
	} else {
		d.inhibitions = append(d.inhibitions, w)
	}
	d.putJSON(inhibitionsKey, d.inhibitions)
	return w, l.commit(d, "")
}

// Allow ends the work on a tank now.
func (l tankOperations) Allow(id string) (w Inhibition, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.begin(time.Now())
	i := d.inhibitionAt(id, d.now.Round(0))
	switch {
	case l.site.tank(id) == nil && i < 0:
		return w, l.site.errNoTank(id)
	case i < 0:
		return w, fmt.Errorf("tank %s is not inhibited; `gauger tanks list` shows which are", id)
	}
	d.inhibitions = slices.Clone(d.inhibitions)
	d.inhibitions[i].Until = d.now.Round(0)
	d.putJSON(inhibitionsKey, d.inhibitions)
	return d.inhibitions[i], l.commit(d, "")
}

// applyInhibition judges a load by the work on its tank. One that began meanwhile makes no ticket, but stays in the book; one
// that was under way when the work began is the truck's, and a person should look at it.
func (d *txn) applyInhibition(h *HeldTicket) {
	load := &h.Load
	if i := d.inhibitionAt(load.Tank, load.Start); i >= 0 {
		w := d.inhibitions[i]
		h.Barred = w.Person + ": tank inhibited: " + w.Why
		d.noteSeen(i, fmt.Sprintf("%.1f bbl left %s to %s, %.2f to %.2f in", load.RemovedBbl, d.l.site.timeOfDay(load.Start),
			d.l.site.timeOfDay(load.End), load.Open, load.Close))
		return
	}
	for _, w := range d.inhibitions {
		if w.Tank == load.Tank && load.Start.Before(w.From) && load.End.After(w.From) {
			load.Review = append(slices.Clone(load.Review), fmt.Sprintf("the tank was inhibited at %s, before it had ended, by %s: %s",
				d.l.site.timeOfDay(w.From), w.Person, w.Why))
		}
	}
}

// noteSeen notes what began while a tank was worked on.
func (d *txn) noteSeen(i int, what string) {
	d.inhibitions = slices.Clone(d.inhibitions)
	if seen := d.inhibitions[i].Seen; len(seen) < seenMost {
		d.inhibitions[i].Seen = append(seen[:len(seen):len(seen)], what)
	}
	d.putJSON(inhibitionsKey, d.inhibitions)
}

// foldedIntoInhibition takes what the detector says of a tank that was being worked on into the one event that the work makes.
func (d *txn) foldedIntoInhibition(e tank.Event) bool {
	i := d.inhibitionAt(e.Tank, e.Start)
	if i < 0 || e.Rule == eventrules.ClockStep {
		return false
	}
	note := strings.TrimPrefix(e.Note, "tank "+e.Tank+": ")
	d.noteSeen(i, e.Rule+": "+note)
	return true
}

// closeInhibitions tells of the work that is over, once everything is known that began meanwhile.
func (d *txn) closeInhibitions() {
	now := d.now.Round(0)
	var keep []Inhibition
	for _, w := range d.inhibitions {
		if now.Before(w.Until) || !d.inhibitionSettled(w, now) {
			keep = append(keep, w)
			continue
		}
		note := fmt.Sprintf("%s: inhibited by %s: %s; ", w.Tank, w.Person, w.Why)
		if len(w.Seen) > 0 {
			note += "no ticket was made for what began meanwhile: " + strings.Join(w.Seen, "; ")
		} else {
			note += "nothing began meanwhile"
		}
		d.queueDiagnosis(tank.Event{Rule: eventrules.TankInhibited, Tank: w.Tank, Start: w.From, End: w.Until, Note: note})
	}
	if len(keep) != len(d.inhibitions) {
		d.inhibitions = keep
		d.putJSON(inhibitionsKey, d.inhibitions)
	}
}

// inhibitionSettled says that nothing which began during the work can show any more.
func (d *txn) inhibitionSettled(w Inhibition, now time.Time) bool {
	i, t := d.l.site.index(w.Tank), d.l.site.tank(w.Tank)
	if t == nil || now.After(w.Until.Add(workLost)) {
		return true
	}
	r, known := d.l.latest.get(t.Level)
	read := known && r.At.Round(0).After(w.Until.Add(max(d.l.site.scaled(afterWork), 3*t.Every)))
	return read && !d.tanks.Loading(i)
}

// shiftInhibitions moves the work that is going on when the wall clock was set: two hours stay two hours.
func (d *txn) shiftInhibitions(before time.Time, step time.Duration) {
	if len(d.inhibitions) == 0 {
		return
	}
	d.inhibitions = slices.Clone(d.inhibitions)
	for i := range d.inhibitions {
		if w := &d.inhibitions[i]; !w.From.After(before.Add(clock.Tolerance)) {
			w.From, w.Until = w.From.Add(step), w.Until.Add(step)
		}
	}
	d.putJSON(inhibitionsKey, d.inhibitions)
}

// capInhibitions lets work that would only begin, by a clock that was ahead, have begun now.
func (d *txn) capInhibitions(now time.Time) {
	for i := range d.inhibitions {
		ahead := d.inhibitions[i].From.Sub(now)
		if ahead < clock.Tolerance {
			continue
		}
		d.inhibitions = slices.Clone(d.inhibitions)
		d.inhibitions[i].From, d.inhibitions[i].Until = now, d.inhibitions[i].Until.Add(-ahead)
		d.putJSON(inhibitionsKey, d.inhibitions)
	}
}

// timeOfDay is an instant as the site's people say it.
func (s Site) timeOfDay(t time.Time) string { return t.In(s.Zone).Format("15:04") }

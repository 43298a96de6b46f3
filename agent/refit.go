package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/agent/tankbook"
	"gauger/eventrules"
)

// outfit takes the stored gear and the tanks' state, which go by the places that the tanks had in the configuration
// then, to those that they have now.
func (l *Ledger) outfit(s *state) (err error) {
	var stored []gear
	if err := l.recall(gearState, &stored); err != nil {
		return err
	}
	s.gears, s.unfit, s.replaced = slices.Clone(l.wanted), stored == nil, stored == nil
	s.meetings = make([]meeting, len(s.gears))
	if _, err := l.site.detector(s.gears); err != nil {
		return err
	}
	if len(stored) > 0 && stored[0].Whole && stored[0].Speed != l.site.speed() {
		s.tanks, s.daybook = tank.State{}, tankbook.Book{} // they count other seconds
	}
	if stored != nil {
		s.place(stored, l.site)
	}
	s.detect, err = l.site.detector(s.gears)
	return err
}

// hearOld lets the levels be heard too by which the tanks were measured when the last run ended: a load that is under way
// is finished by them.
func (l *Ledger) hearOld() {
	for i, g := range l.s.gears {
		if short, long := l.wanted[i].changes(&g); short != nil && !g.awaits(long) {
			l.log.Info().Str("tank", g.ID).Strs("changed", short).Msg("how the tank is measured was changed; it takes effect with the first levels, or at the end of a load")
		}
		if g.Level == l.wanted[i].Level {
			continue
		}
		if l.feeds[g.Level] == nil {
			l.feeds[g.Level] = &feed{}
		}
		f := l.feeds[g.Level]
		f.inputs = append(f.inputs, input{i, tank.Level})
	}
}

// place gives each tank the stored gear of its id, and its state.
func (s *state) place(stored []gear, site Site) {
	from, moved := make([]int, len(s.gears)), len(stored) != len(s.gears)
	left := make([]bool, len(stored))
	for i := range s.gears {
		g := &s.gears[i]
		from[i] = placeOf(stored, g.ID)
		if from[i] < 0 {
			from[i] = s.renamed(stored, g)
		}
		moved = moved || from[i] != i
		if from[i] < 0 {
			s.come = append(s.come, arrival{id: g.ID})
			continue
		}
		old := stored[from[i]]
		left[from[i]] = true
		if old.ID != g.ID {
			s.come, moved = append(s.come, arrival{g.ID, old.ID}), true
			old.ID = g.ID
		}
		s.unfit, s.replaced = s.unfit || !old.Whole, s.replaced || !old.Whole
		old = old.completed(site, *g)
		short, _ := g.changes(&old)
		s.unfit = s.unfit || short != nil || old.Waits != nil
		*g = old
	}
	if !moved {
		return
	}
	for i := range stored {
		if !left[i] {
			s.gone = append(s.gone, departed{stored[i].ID, s.tanks.Loading(i)})
		}
	}
	s.unfit, s.replaced, s.tanks = true, true, s.tanks.Arranged(from)
	s.daybook = s.daybook.Arranged(from)
}

// placeOf is where the gear of a tank stands; -1 when it has none.
func placeOf(gears []gear, id string) int {
	return slices.IndexFunc(gears, func(g gear) bool { return g.ID == id })
}

// renamed is where the gear of a tank stands that has another id now while it is being hauled: its load goes on. -1: none.
// A tank at rest begins anew, since another one may stand in its place.
func (s *state) renamed(stored []gear, g *gear) int {
	for k := range stored {
		if s.tanks.Loading(k) && stored[k].Level == g.Level && placeOf(s.gears, stored[k].ID) < 0 {
			return k
		}
	}
	return -1
}

// arrival is a tank that the configuration had not, or not by this id.
type arrival struct{ id, was string }

// departed is a tank that the configuration has no more.
type departed struct {
	id      string
	loading bool
}

// refit lets a changed configuration take effect for every tank that is ready for it, and tells of it. Where there is
// nothing to do yet it stores nothing.
func (d *draft) refit() {
	for _, t := range d.come {
		note := "the tank was added to the configuration"
		if t.was != "" {
			note = "the tank was " + t.was + " until now; the load that is under way goes on"
		}
		d.changed(t.id, note)
	}
	for _, t := range d.gone {
		note := "the tank is no longer in the configuration"
		if t.loading {
			note += "; a load that was under way makes no ticket"
		}
		d.changed(t.id, note)
	}
	store := d.replaced
	d.gears = slices.Clone(d.gears)
	d.come, d.gone, d.unfit, d.replaced = nil, nil, false, false
	for i := range d.gears {
		store = d.remeter(i) || store
		short, long := d.l.wanted[i].changes(&d.gears[i])
		store = d.noticed(i, long) || store
		switch {
		case short == nil:
		case d.holds(i) || !d.ready(i):
			d.unfit = true
		default:
			d.follow(i)
			store = true
		}
	}
	if !store {
		return
	}
	detect, err := d.l.site.detector(d.gears)
	if err != nil {
		d.problems = append(d.problems, err)
		return
	}
	d.detect = detect
	d.keep(gearState, d.gears)
	d.keepBook()
}

// remeter lets the book begin anew with another meter of a tank's production. That waits for nothing: what the meter
// shows next is by the new one.
func (d *draft) remeter(i int) bool {
	g, w := &d.gears[i], &d.l.wanted[i]
	if g.Production == w.Production {
		return false
	}
	now := *g
	now.Production = w.Production
	_, long := now.changes(g)
	d.daybook = d.daybook.Remetered(i)
	g.Production = w.Production
	d.changed(g.ID, strings.Join(long, "; ")+"; the book counts from what it shows first")
	return true
}

// awaits says that a change is the one that was found before.
func (g *gear) awaits(long []string) bool {
	return g.Waits != nil && g.Waits.What == strings.Join(long, "; ")
}

// noticed keeps since when a change waits, and marks the tickets that are held when it is found. It says whether there is
// something to store.
func (d *draft) noticed(i int, long []string) bool {
	g := &d.gears[i]
	if long == nil || g.awaits(long) {
		taken := long == nil && g.Waits != nil
		if taken {
			g.Waits = nil
		}
		return taken
	}
	g.Waits = &change{Since: d.now.Round(0), What: strings.Join(long, "; ")}
	if why := g.corrected(&d.l.wanted[i]); why != "" {
		d.recheck(g.ID, why+" changed while it was held, measured by the old")
	}
	return true
}

// lender is the tank whose load is still measured by the gauge that is to be another one's; -1: none. What that gauge shows
// would be on two tanks' tickets.
func (d *draft) lender(i int) int {
	for k := range d.gears {
		if k != i && d.tanks.Loading(k) && d.gears[k].Level == d.l.wanted[i].Level {
			return k
		}
	}
	return -1
}

// holds says that a tank's gear must stay as it is for now: a load is finished by the gear with which it began, and a
// gauge that another tank's load is still measured by is not this tank's yet.
func (d *draft) holds(i int) bool { return d.tanks.Loading(i) || d.lender(i) >= 0 }

// waits says in a sentence what was changed of how a tank is measured and is not in force yet, since when, and until what.
// The ledger's lock is held.
func (l *Ledger) waits(i int) string {
	d := &draft{state: l.s, l: l, now: time.Now()}
	g := &d.gears[i]
	short, _ := l.wanted[i].changes(g)
	if short == nil || g.Waits == nil {
		return ""
	}
	until := "until there are good levels by the new one; a level that is shown is not used before"
	switch k := d.lender(i); {
	case k >= 0:
		until = fmt.Sprintf("until the load of %s is over, which is measured by %s; a level that is shown is not used before", d.gears[k].ID, l.wanted[i].Level)
	case d.tanks.Loading(i):
		until = "until the load that is under way is over, which is measured by the old one; its ticket then needs a review"
	}
	return fmt.Sprintf("%s changed, found %s; it is not in force %s", strings.Join(short, " and "), g.Waits.Since.In(l.site.Zone).Format("2006-01-02 15:04"), until)
}

// ready says that the levels before and after a change of the gear can be told from each other.
func (d *draft) ready(i int) bool {
	_, joined := d.joined(i)
	_, seen := d.detect.Outlook(d.tanks, i, d.now)
	return joined || !seen
}

// follow puts the configured gear of a tank in force.
func (d *draft) follow(i int) {
	w, old := d.l.wanted[i], d.gears[i]
	short, long := w.changes(&old)
	by, joined := d.joined(i)
	if !joined {
		by = tank.Unchanged // no level was ever seen
	}
	wet := old.water()
	d.tanks = d.tanks.Converted(i, by, wet.into(w.water()))
	d.daybook = d.daybook.Refitted(i)
	was := old.gauge(d.now)
	was.Until, was.By = d.now.Round(0), &by
	note := strings.Join(long, "; ") + "; no load is measured by both"
	if j := old.Seam; j != nil && j.To == w.level() && j.Odd != nil {
		was.Odd = j.Odd
		note = strings.Join(long, "; ") + "; " + j.Odd.Note + j.Odd.Then
	}
	w.Past = append(slices.Clone(old.Past[max(0, len(old.Past)-pastMost+1):]), was)
	w.News = slices.Clone(old.News)
	for _, s := range short {
		w.News = append(w.News, s+" changed "+d.now.In(d.l.site.Zone).Format(time.DateOnly))
	}
	d.gears[i] = w
	d.changed(w.ID, note)
}

// changed tells of a change of a tank's configuration.
func (d *draft) changed(id, note string) {
	now := d.now.Round(0)
	d.diagnosis(tank.Event{Rule: eventrules.ConfigChanged, Tank: id, Note: id + ": " + note, Start: now, End: now})
}

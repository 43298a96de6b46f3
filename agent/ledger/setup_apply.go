package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/eventrules"
	"gauger/agent/tank"
	"gauger/agent/tankbook"
)

// loadSetups takes the stored setup and the tanks' state, which go by the places that the tanks had in the configuration
// then, to those that they have now.
func (l *Ledger) loadSetups(s *state) (err error) {
	var stored []setup
	if err := l.LoadState(setupsKey, &stored); err != nil {
		return err
	}
	s.setups, s.setupsPending, s.setupsReplaced = slices.Clone(l.configured), stored == nil, stored == nil
	s.firstLevels = make([]firstLevels, len(s.setups))
	if _, err := l.site.detector(s.setups); err != nil {
		return err
	}
	if len(stored) > 0 && stored[0].Whole && stored[0].Speed != l.site.speed() {
		s.tanks, s.tankBook = tank.State{}, tankbook.Book{} // they count other seconds
	}
	if stored != nil {
		s.matchSetups(stored, l.site)
	}
	s.detector, err = l.site.detector(s.setups)
	return err
}

// routeOldLevels lets the levels be heard too by which the tanks were measured when the last run ended: a load that is under way
// is finished by them.
func (l *Ledger) routeOldLevels() {
	for i, g := range l.state.setups {
		if short, long := l.configured[i].changesFrom(&g); short != nil && !g.pendingIs(long) {
			l.log.Info().Str("tank", g.ID).Strs("changed", short).Msg("how the tank is measured was changed; it takes effect with the first levels, or at the end of a load")
		}
		if g.Level == l.configured[i].Level {
			continue
		}
		if l.routes[g.Level] == nil {
			l.routes[g.Level] = &routes{}
		}
		f := l.routes[g.Level]
		f.inputs = append(f.inputs, detectorInput{i, tank.Level})
	}
}

// matchSetups gives each tank the stored setup of its id, and its state.
func (s *state) matchSetups(stored []setup, site Site) {
	from, moved := make([]int, len(s.setups)), len(stored) != len(s.setups)
	left := make([]bool, len(stored))
	for i := range s.setups {
		g := &s.setups[i]
		from[i] = setupIndex(stored, g.ID)
		if from[i] < 0 {
			from[i] = s.renamedFrom(stored, g)
		}
		moved = moved || from[i] != i
		if from[i] < 0 {
			s.added = append(s.added, tankAdded{id: g.ID})
			continue
		}
		old := stored[from[i]]
		left[from[i]] = true
		if old.ID != g.ID {
			s.added, moved = append(s.added, tankAdded{g.ID, old.ID}), true
			old.ID = g.ID
		}
		s.setupsPending, s.setupsReplaced = s.setupsPending || !old.Whole, s.setupsReplaced || !old.Whole
		old = old.completed(site, *g)
		short, _ := g.changesFrom(&old)
		s.setupsPending = s.setupsPending || short != nil || old.Pending != nil
		*g = old
	}
	if !moved {
		return
	}
	for i := range stored {
		if !left[i] {
			s.removed = append(s.removed, tankRemoved{stored[i].ID, s.tanks.Loading(i)})
		}
	}
	s.setupsPending, s.setupsReplaced, s.tanks = true, true, s.tanks.Arranged(from)
	s.tankBook = s.tankBook.Arranged(from)
}

// renamedFrom finds the setup of a tank that has another id now while it is being hauled: its load goes on. -1: none.
// A tank at rest begins anew, since another one may stand in its place.
func (s *state) renamedFrom(stored []setup, g *setup) int {
	for k := range stored {
		if s.tanks.Loading(k) && stored[k].Level == g.Level && setupIndex(s.setups, stored[k].ID) < 0 {
			return k
		}
	}
	return -1
}

// tankAdded is a tank that the configuration had not, or not by this id.
type tankAdded struct{ id, was string }

// tankRemoved is a tank that the configuration has no more.
type tankRemoved struct {
	id      string
	loading bool
}

// applySetups lets a changed configuration take effect for every tank that is ready for it, and tells of it. Where there is
// nothing to do yet it stores nothing.
func (tx setupTxn) applySetups() {
	for _, t := range tx.added {
		note := "the tank was added to the configuration"
		if t.was != "" {
			note = "the tank was " + t.was + " until now; the load that is under way goes on"
		}
		tx.queueConfigChanged(t.id, note)
	}
	for _, t := range tx.removed {
		note := "the tank is no longer in the configuration"
		if t.loading {
			note += "; a load that was under way makes no ticket"
		}
		tx.queueConfigChanged(t.id, note)
	}
	store := tx.setupsReplaced
	tx.setups = slices.Clone(tx.setups)
	tx.added, tx.removed, tx.setupsPending, tx.setupsReplaced = nil, nil, false, false
	for i := range tx.setups {
		store = tx.changeMeter(i) || store
		short, long := tx.l.configured[i].changesFrom(&tx.setups[i])
		store = tx.notePending(i, long) || store
		switch {
		case short == nil:
		case tx.setupLocked(i) || !tx.changeoverReady(i):
			tx.setupsPending = true
		default:
			tx.applySetup(i)
			store = true
		}
	}
	if !store {
		return
	}
	detect, err := tx.l.site.detector(tx.setups)
	if err != nil {
		tx.errs = append(tx.errs, err)
		return
	}
	tx.detector = detect
	tx.putJSON(setupsKey, tx.setups)
	tx.putBook()
}

// changeMeter lets the book begin anew with another meter of a tank's production. That waits for nothing: what the meter
// shows next is by the new one.
func (tx setupTxn) changeMeter(i int) bool {
	g, w := &tx.setups[i], &tx.l.configured[i]
	if g.Production == w.Production {
		return false
	}
	now := *g
	now.Production = w.Production
	_, long := now.changesFrom(g)
	tx.tankBook = tx.tankBook.MeterChanged(i)
	g.Production = w.Production
	tx.queueConfigChanged(g.ID, strings.Join(long, "; ")+"; the book counts from what it shows first")
	return true
}

// pendingIs says that a change is the one that was found before.
func (g *setup) pendingIs(long []string) bool {
	return g.Pending != nil && g.Pending.What == strings.Join(long, "; ")
}

// notePending keeps since when a change waits, and marks the tickets that are held when it is found. It says whether there is
// something to store.
func (tx setupTxn) notePending(i int, long []string) bool {
	g := &tx.setups[i]
	if long == nil || g.pendingIs(long) {
		taken := long == nil && g.Pending != nil
		if taken {
			g.Pending = nil
		}
		return taken
	}
	g.Pending = &pendingChange{Since: tx.now.Round(0), What: strings.Join(long, "; ")}
	if why := g.levelCorrections(&tx.l.configured[i]); why != "" {
		tx.markHeldForReview(g.ID, why+" changed while it was held, measured by the old")
	}
	return true
}

// gaugeUsedBy is the tank whose load is still measured by the gauge that is to be another one's; -1: none. What that gauge shows
// would be on two tanks' tickets.
func (tx setupTxn) gaugeUsedBy(i int) int {
	for k := range tx.setups {
		if k != i && tx.tanks.Loading(k) && tx.setups[k].Level == tx.l.configured[i].Level {
			return k
		}
	}
	return -1
}

// setupLocked says that a tank's setup must stay as it is for now: a load is finished by the setup with which it began, and a
// gauge that another tank's load is still measured by is not this tank's yet.
func (tx setupTxn) setupLocked(i int) bool { return tx.tanks.Loading(i) || tx.gaugeUsedBy(i) >= 0 }

// pendingSetup says in a sentence what was changed of how a tank is measured and is not in force yet, since when, and until what.
// The ledger's lock is held.
func (l *Ledger) pendingSetup(i int) string {
	tx := l.openTxn(time.Now())
	g := &tx.setups[i]
	short, _ := l.configured[i].changesFrom(g)
	if short == nil || g.Pending == nil {
		return ""
	}
	until := "until there are good levels by the new one; a level that is shown is not used before"
	switch k := tx.gaugeUsedBy(i); {
	case k >= 0:
		until = fmt.Sprintf("until the load of %s is over, which is measured by %s; a level that is shown is not used before", tx.setups[k].ID, l.configured[i].Level)
	case tx.tanks.Loading(i):
		until = "until the load that is under way is over, which is measured by the old one; its ticket then needs a review"
	}
	return fmt.Sprintf("%s changed, found %s; it is not in force %s", strings.Join(short, " and "), g.Pending.Since.In(l.site.Zone).Format("2006-01-02 15:04"), until)
}

// changeoverReady says that the levels before and after a change of the setup can be told from each other.
func (tx setupTxn) changeoverReady(i int) bool {
	_, joined := tx.conversionOf(i)
	_, seen := tx.detector.Outlook(tx.tanks, i, tx.now)
	return joined || !seen
}

// applySetup puts the configured setup of a tank in force.
func (tx setupTxn) applySetup(i int) {
	w, old := tx.l.configured[i], tx.setups[i]
	short, long := w.changesFrom(&old)
	by, joined := tx.conversionOf(i)
	if !joined {
		by = tank.Unchanged // no level was ever seen
	}
	water := old.interfaceSetting()
	tx.tanks = tx.tanks.Converted(i, by, water.conversionTo(w.interfaceSetting()))
	tx.tankBook = tx.tankBook.SetupChanged(i)
	was := old.pastSetupAt(tx.now)
	was.Until, was.Conversion = tx.now.Round(0), &by
	note := strings.Join(long, "; ") + "; no load is measured by both"
	if j := old.Changeover; j != nil && j.To == w.levelSetting() && j.Discrepancy != nil {
		was.Discrepancy = j.Discrepancy
		note = strings.Join(long, "; ") + "; " + j.Discrepancy.Note + j.Discrepancy.Consequence
	}
	w.History = append(slices.Clone(old.History[max(0, len(old.History)-historyMost+1):]), was)
	w.Changes = slices.Clone(old.Changes)
	for _, s := range short {
		w.Changes = append(w.Changes, s+" changed "+tx.now.In(tx.l.site.Zone).Format(time.DateOnly))
	}
	tx.setups[i] = w
	tx.queueConfigChanged(w.ID, note)
}

// queueConfigChanged tells of a change of a tank's configuration.
func (tx setupTxn) queueConfigChanged(id, note string) {
	now := tx.now.Round(0)
	tx.queueDiagnosis(tank.Event{Rule: eventrules.ConfigChanged, Tank: id, Note: id + ": " + note, Start: now, End: now})
}

// takeChanges gives the changes of a tank's setup since its last load, once.
func (tx setupTxn) takeChanges(id string) []string {
	i := setupIndex(tx.setups, id)
	if i < 0 || tx.setups[i].Changes == nil {
		return nil
	}
	said := tx.setups[i].Changes
	tx.setups = slices.Clone(tx.setups)
	tx.setups[i].Changes = nil
	tx.putJSON(setupsKey, tx.setups)
	return said
}

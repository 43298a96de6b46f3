package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"gauger/agent/tank"
	"gauger/agent/tankbook"
	"gauger/collectors"
)

// setups are how the tanks are measured: the setup of each that is in force, what the configuration has instead, and what its first
// levels have shown. What a transaction changes is its own: slices are copied first.
type setups struct {
	site        *Site
	configured  []setup
	inForce     []setup       // by tank; they are stored
	detector    tank.Site     // with them
	firstLevels []firstLevels // by tank
	pending     bool          // the configuration has something else, or the setup is not stored
	added       []tankAdded   // tanks that are new in the configuration, and those that it has no more,
	removed     []tankRemoved // until that is told

	replaced bool // the setup in force is other than what is stored
	changed  bool // by this transaction, which stores them
}

// setupWork is what goes by the setups and changes with them, at an instant, and what is to be told of that.
type setupWork struct {
	now   time.Time
	tanks tank.State
	book  tankbook.Book
	told  []setupNote
}

// setupNote tells of a change of a tank's configuration: an event, or why the tickets of it that are held need a review.
type setupNote struct {
	tank, event, review string
	lost                bool // a load makes no ticket, or no tank is left: the status says so too
}

// newSetups takes the stored setups (nil: there are none) and what goes by them, which is in the order that the tanks had in the
// configuration then, to the tanks of now.
func newSetups(site *Site, stored []setup, w *setupWork) (s setups, err error) {
	s = setups{site: site, configured: make([]setup, len(site.Tanks)), pending: stored == nil, replaced: stored == nil}
	for i, t := range site.Tanks {
		s.configured[i] = site.setupOf(t)
	}
	s.inForce, s.firstLevels = slices.Clone(s.configured), make([]firstLevels, len(s.configured))
	if s.detector, err = site.detector(s.inForce); err != nil {
		return s, err
	}
	if len(s.inForce) == 0 && len(stored) > 0 { // what was seen of loads under way is told by the old time
		if then, err := tank.NewSite([]tank.Tank{{ID: stored[0].ID, Height: stored[0].Height, Table: stored[0].Table, Loads: tank.Loads{Speed: stored[0].Speed}}}); err == nil {
			s.detector = then
		}
	} else if len(stored) > 0 && stored[0].Whole && stored[0].Speed != site.speed() {
		w.tanks, w.book = tank.State{}, tankbook.Book{} // they count other seconds
	}
	if stored != nil {
		s.match(stored, w)
	}
	s.detector, err = site.detector(s.inForce)
	return s, err
}

// routeOldLevels lets the levels be heard too by which the tanks were measured when the last run ended: a load that is under way
// is finished by them.
func (s *setups) routeOldLevels(to map[collectors.Point]*routes, log zerolog.Logger) {
	for i, g := range s.inForce {
		if short, long := s.configured[i].changesFrom(&g); short != nil && !g.pendingIs(long) {
			log.Info().Str("tank", g.ID).Strs("changed", short).Msg("how the tank is measured was changed; it takes effect with the first levels, or at the end of a load")
		}
		if g.Level == s.configured[i].Level {
			continue
		}
		if to[g.Level] == nil {
			to[g.Level] = &routes{}
		}
		to[g.Level].inputs = append(to[g.Level].inputs, detectorInput{i, tank.Level})
	}
}

// match gives each tank the stored setup of its id, and its state.
func (s *setups) match(stored []setup, w *setupWork) {
	from, moved := make([]int, len(s.inForce)), len(stored) != len(s.inForce)
	left := make([]bool, len(stored))
	for i := range s.inForce {
		g := &s.inForce[i]
		from[i] = setupIndex(stored, g.ID)
		if from[i] < 0 {
			from[i] = s.renamedFrom(stored, g, w.tanks)
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
		whole := old.Whole && (old.Judged != judging{} || g.Judged == judging{})
		s.pending, s.replaced = s.pending || !whole, s.replaced || !whole
		old = old.completed(*s.site, *g)
		short, _ := g.changesFrom(&old)
		s.pending = s.pending || short != nil || old.Pending != nil
		*g = old
	}
	if !moved {
		return
	}
	for i := range stored {
		if !left[i] {
			s.removed = append(s.removed, tankRemoved{stored[i].ID, s.fallUnderWay(w.tanks, i)})
		}
	}
	s.pending, s.replaced, w.tanks = true, true, w.tanks.Arranged(from)
	w.book = w.book.Arranged(from)
}

// renamedFrom finds the setup of a tank that has another id now while it is being hauled: its load goes on. -1: none.
// A tank at rest begins anew, since another one may stand in its place.
func (s *setups) renamedFrom(stored []setup, g *setup, tanks tank.State) int {
	for k := range stored {
		if tanks.Loading(k) && stored[k].Level == g.Level && setupIndex(s.inForce, stored[k].ID) < 0 {
			return k
		}
	}
	return -1
}

// tankAdded is a tank that the configuration had not, or not by this id.
type tankAdded struct{ id, was string }

// tankRemoved is a tank that the configuration has no more.
type tankRemoved struct {
	id   string
	fall string // what was seen of a load under way; empty: none was
}

// fallLeast is in inches: noise is less, and a level that rises to where a load began rises by more.
const fallLeast = 0.25

// fallUnderWay says from where and when a level falls that a load under way has taken, and how far it was seen to.
func (s *setups) fallUnderWay(st tank.State, i int) string {
	levels := s.detector.Levels(st, i, time.Time{}, time.Unix(1<<40, 0))
	if !st.Loading(i) || len(levels) == 0 {
		return ""
	}
	last := levels[len(levels)-1]
	top := last
	for _, m := range slices.Backward(levels) {
		if m.In < top.In-fallLeast {
			break
		}
		if m.In > top.In+fallLeast {
			top = m
		}
	}
	return fmt.Sprintf("%.2f in %s, and %.2f in %s, when it was read last", top.In, s.site.minute(top.At), last.In, s.site.minute(last.At))
}

// apply lets a changed configuration take effect for every tank that is ready for it, and tells of it. Where there is nothing to do
// yet it changes nothing that is stored, and says so.
func (s *setups) apply(w *setupWork) (changed bool, err error) {
	for _, t := range s.added {
		w.tell(t.id, either(t.was == "", "the tank was added to the configuration", "the tank was "+t.was+" until now; the load that is under way goes on"))
	}
	for _, t := range s.removed {
		w.tell(t.id, "the tank is no longer in the configuration"+either(t.fall == "", "",
			"; a load that was under way makes no ticket: its level was "+t.fall+"; put the tank back, or write the ticket with `gauger tickets add`"))
		w.told[len(w.told)-1].lost = t.fall != "" || len(s.configured) == 0 // a site that had tanks and has none is told, too
	}
	store := s.replaced
	s.inForce = slices.Clone(s.inForce)
	s.added, s.removed, s.pending, s.replaced = nil, nil, false, false
	for i := range s.inForce {
		store = s.changeMeter(i, w) || store
		short, long := s.configured[i].changesFrom(&s.inForce[i])
		store = s.notePending(i, long, w) || store
		switch {
		case short == nil:
		case s.locked(i, w.tanks) || !s.changeoverReady(i, w):
			s.pending = true
		default:
			s.applyTo(i, w)
			store = true
		}
	}
	if !store {
		return false, nil
	}
	s.changed = true
	s.detector, err = s.site.detector(s.inForce)
	return true, err
}

// tell leaves an event to be told.
func (w *setupWork) tell(id, note string) {
	w.told = append(w.told, setupNote{tank: id, event: id + ": " + note})
}

// changeMeter lets the book begin anew with another meter of a tank's production. That waits for nothing: what the meter
// shows next is by the new one.
func (s *setups) changeMeter(i int, w *setupWork) bool {
	g, meter := &s.inForce[i], s.configured[i].Production
	if g.Production == meter {
		return false
	}
	now := *g
	now.Production = meter
	_, long := now.changesFrom(g)
	w.book = w.book.MeterChanged(i)
	g.Production = meter
	w.tell(g.ID, strings.Join(long, "; ")+"; the book counts from what it shows first")
	return true
}

// pendingIs says that a change is the one that was found before.
func (g *setup) pendingIs(long []string) bool {
	return g.Pending != nil && g.Pending.What == strings.Join(long, "; ")
}

// notePending keeps since when a change waits, and marks the tickets that are held when it is found. It says whether there is
// something to store.
func (s *setups) notePending(i int, long []string, w *setupWork) bool {
	g := &s.inForce[i]
	switch {
	case long == nil:
		taken := g.Pending != nil
		g.Pending = nil
		return taken
	case g.pendingIs(long):
		return false
	}
	g.Pending = &pendingChange{Since: w.now.Round(0), What: strings.Join(long, "; ")}
	if why := g.levelCorrections(&s.configured[i]); why != "" {
		w.told = append(w.told, setupNote{tank: g.ID, review: why + " changed while it was held, measured by the old"})
	}
	return true
}

// gaugeUsedBy is the tank whose load is still measured by the gauge that is to be another one's; -1: none. What that gauge shows
// would be on two tanks' tickets.
func (s *setups) gaugeUsedBy(i int, tanks tank.State) int {
	for k := range s.inForce {
		if k != i && tanks.Loading(k) && s.inForce[k].Level == s.configured[i].Level {
			return k
		}
	}
	return -1
}

// locked says that a tank's setup must stay as it is for now: a load is finished by the setup with which it began, and a
// gauge that another tank's load is still measured by is not this tank's yet.
func (s *setups) locked(i int, tanks tank.State) bool {
	return tanks.Loading(i) || s.gaugeUsedBy(i, tanks) >= 0
}

// waits says in a sentence what was changed of how a tank is measured and is not in force yet, since when, and until what.
func (s *setups) waits(i int, tanks tank.State) string {
	g := &s.inForce[i]
	short, _ := s.configured[i].changesFrom(g)
	if short == nil || g.Pending == nil {
		return ""
	}
	found := fmt.Sprintf("%s changed, found %s; it is not in force ", strings.Join(short, " and "), s.site.localMinute(g.Pending.Since))
	if s.configured[i].measuredAs(g) {
		return found + "until the load that is under way is over, which is judged by the old"
	}
	until := "until there are good levels by the new one"
	switch k := s.gaugeUsedBy(i, tanks); {
	case k >= 0:
		until = fmt.Sprintf("until the load of %s is over, which is measured by %s", s.inForce[k].ID, s.configured[i].Level)
	case tanks.Loading(i):
		until = "until the load that is under way is over, which is measured by the old one and whose ticket then needs a review"
	}
	return found + until + "; the level shown is by the new one, and is not used before"
}

// changeoverReady says that the levels before and after a change of the setup can be told from each other.
func (s *setups) changeoverReady(i int, w *setupWork) bool {
	_, joined := s.conversionOf(i)
	_, seen := s.detector.Outlook(w.tanks, i, w.now)
	return joined || !seen
}

// applyTo puts the configured setup of a tank in force.
func (s *setups) applyTo(i int, w *setupWork) {
	g, old := s.configured[i], s.inForce[i]
	short, long := g.changesFrom(&old)
	if g.measuredAs(&old) {
		if !old.Pending.Since.Equal(w.now.Round(0)) { // else a load that comes is the first that goes by it
			w.tell(g.ID, strings.Join(long, "; ")+"; no load before goes by it")
		}
		s.inForce[i].Judged, s.inForce[i].Pending = g.Judged, nil
		return
	}
	by, joined := s.conversionOf(i)
	if !joined {
		by = tank.Unchanged // no level was ever seen
	}
	water := old.interfaceSetting()
	w.tanks = w.tanks.Converted(i, by, water.conversionTo(g.interfaceSetting()))
	why := strings.Join(long, "; ")
	was := old.pastSetupAt(w.now)
	was.Until, was.Conversion = w.now.Round(0), &by
	note := why + "; no load is measured by both"
	if j := old.Changeover; j != nil && j.To == g.levelSetting() && j.Discrepancy != nil {
		was.Discrepancy = j.Discrepancy
		note = why + "; " + j.Discrepancy.Note + j.Discrepancy.Consequence
		why += "; " + j.Discrepancy.Note
	}
	w.book = w.book.SetupChanged(i, tankbook.Remeasured{Table: g.Table, By: by, Why: why})
	g.History = append(slices.Clone(old.History[max(0, len(old.History)-historyMost+1):]), was)
	g.Changes = slices.Clone(old.Changes)
	for _, what := range short {
		g.Changes = append(g.Changes, what+" changed "+w.now.In(s.site.Zone).Format(time.DateOnly))
	}
	s.inForce[i] = g
	w.tell(g.ID, note)
}

// takeChanges gives the changes of a tank's setup since its last load, once.
func (s *setups) takeChanges(id string) []string {
	i := setupIndex(s.inForce, id)
	if i < 0 || s.inForce[i].Changes == nil {
		return nil
	}
	said := s.inForce[i].Changes
	s.inForce, s.changed = slices.Clone(s.inForce), true
	s.inForce[i].Changes = nil
	return said
}

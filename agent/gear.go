package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// gear is how a tank's level becomes barrels. What is in force is stored, so that a change of the configuration is
// noticed, waits for the end of a load, and stands on the next ticket.
type gear struct {
	ID     string
	Level  collectors.Point
	Offset tank.Length
	Height tank.Length
	Sensor string
	Table  tank.Table
	News   []string `json:",omitempty"` // what was changed since the last load, for the comments of the next
	Past   []gauge  `json:",omitempty"` // how it was read before, the oldest first
}

// gauge is how a tank's level was read until a time.
type gauge struct {
	Until          time.Time
	Level          collectors.Point
	Offset, Height tank.Length
}

const pastMost = 8 // changes of which each tank remembers what was before

// gauge is how the tank's level was read at a time.
func (g *gear) gauge(at time.Time) gauge {
	for _, p := range g.Past {
		if at.Before(p.Until) {
			return p
		}
	}
	return gauge{Level: g.Level, Offset: g.Offset, Height: g.Height}
}

// gearOf is a tank's gear as it is configured.
func gearOf(t Tank) gear {
	return gear{ID: t.ID, Level: t.Level, Offset: t.Offset, Height: t.Height, Sensor: t.Sensor, Table: t.Table}
}

// changes says what the gear has that old had not: in short, for the ticket, and with both values, for the event.
func (g *gear) changes(old *gear) (short, long []string) {
	add := func(changed bool, name, format string, args ...any) {
		if changed {
			short, long = append(short, name), append(long, name+" "+fmt.Sprintf(format, args...))
		}
	}
	add(g.Offset != old.Offset, "offset", "%.2f to %.2f in", float64(old.Offset), float64(g.Offset))
	add(!g.Table.Same(old.Table), "table", "%s", tableChange(old.Table, g.Table))
	add(g.Height != old.Height, "height", "%.2f to %.2f in", float64(old.Height), float64(g.Height))
	add(g.Sensor != old.Sensor, "sensor", "%s to %s", sensorName(old.Sensor), sensorName(g.Sensor))
	add(g.Level != old.Level, "level point", "%s to %s", old.Level, g.Level)
	return short, long
}

// tableChange says what another table makes of a full tank.
func tableChange(old, new tank.Table) string {
	full := func(t tank.Table) string {
		bbl, err := t.Barrels(t.Top())
		if err != nil { // an empty table, which no configuration has
			return t.Name()
		}
		return fmt.Sprintf("%s, %.2f bbl at %.2f in", t.Name(), bbl, t.Top())
	}
	return full(old) + " to " + full(new)
}

func sensorName(s string) string {
	if s == "" {
		return "radar"
	}
	return s
}

// wanted is the gear of all tanks as it is configured.
func wanted(s Site) []gear {
	all := make([]gear, len(s.Tanks))
	for i, t := range s.Tanks {
		all[i] = gearOf(t)
	}
	return all
}

// detector builds the pure part from the tanks, each with the gear that is in force.
func (s Site) detector(gears []gear) (tank.Site, error) {
	list := make([]tank.Tank, len(s.Tanks))
	for i, t := range s.Tanks {
		list[i] = t.Tank
		list[i].Height, list[i].Sensor, list[i].Table = gears[i].Height, gears[i].Sensor, gears[i].Table
	}
	return tank.NewSite(list)
}

// outfit takes the stored gear and the tanks' state, which go by the places that the tanks had in the configuration
// then, to those that they have now.
func (l *Ledger) outfit(s *state) (err error) {
	var stored []gear
	if err := l.recall(gearState, &stored); err != nil {
		return err
	}
	s.gears, s.unfit, s.replaced = wanted(l.site), stored == nil, stored == nil
	if _, err := l.site.detector(s.gears); err != nil {
		return err
	}
	if stored != nil {
		s.place(stored)
	}
	s.detect, err = l.site.detector(s.gears)
	return err
}

// place gives each tank the stored gear of its id, and its state.
func (s *state) place(stored []gear) {
	from, moved := make([]int, len(s.gears)), len(stored) != len(s.gears)
	left := make([]bool, len(stored))
	for i := range s.gears {
		g := &s.gears[i]
		from[i] = placeOf(stored, g.ID)
		moved = moved || from[i] != i
		if from[i] < 0 {
			s.come = append(s.come, g.ID)
			continue
		}
		old := stored[from[i]]
		short, _ := g.changes(&old)
		s.unfit = s.unfit || short != nil
		*g, left[from[i]] = old, true
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
	for i := range gears {
		if gears[i].ID == id {
			return i
		}
	}
	return -1
}

// departed is a tank that the configuration has no more.
type departed struct {
	id      string
	loading bool
}

// refit lets a changed configuration take effect for every tank that is not being hauled, and tells of it. Where
// there is nothing to do yet it stores nothing.
func (d *draft) refit() {
	for _, id := range d.come {
		d.changed(id, "the tank was added to the configuration")
	}
	for _, t := range d.gone {
		note := "the tank is no longer in the configuration"
		if t.loading {
			note += "; a load that was under way makes no ticket"
		}
		d.changed(t.id, note)
	}
	store, gears := d.replaced, slices.Clone(d.gears)
	d.come, d.gone, d.unfit, d.replaced = nil, nil, false, false
	for i, t := range d.l.site.Tanks {
		g := gearOf(t)
		switch short, long := g.changes(&gears[i]); {
		case short == nil:
		case d.tanks.Loading(i):
			d.unfit = true // a load is finished by the gear with which it began
		default:
			d.tanks = d.tanks.Shifted(i, g.Offset-gears[i].Offset)
			d.daybook = d.daybook.Refitted(i)
			was := gears[i].gauge(d.now)
			was.Until = d.now.Round(0)
			g.Past = append(slices.Clone(gears[i].Past[max(0, len(gears[i].Past)-pastMost+1):]), was)
			g.News = slices.Clone(gears[i].News)
			for _, s := range short {
				g.News = append(g.News, s+" changed "+d.now.In(d.l.site.Zone).Format(time.DateOnly))
			}
			gears[i], store = g, true
			d.changed(t.ID, strings.Join(long, "; ")+"; no load is measured by both")
		}
	}
	if !store {
		return
	}
	detect, err := d.l.site.detector(gears)
	if err != nil {
		d.problems = append(d.problems, err)
		return
	}
	d.gears, d.detect = gears, detect
	d.keep(gearState, gears)
	d.keepBook()
}

// changed tells of a change of a tank's configuration.
func (d *draft) changed(id, note string) {
	now := d.now.Round(0)
	d.diagnosis(tank.Event{Rule: "config-changed", Tank: id, Note: id + ": " + note, Start: now, End: now})
}

// news is what was changed of a tank since its last load; it is said once.
func (d *draft) news(id string) []string {
	i := placeOf(d.gears, id)
	if i < 0 || d.gears[i].News == nil {
		return nil
	}
	said := d.gears[i].News
	d.gears = slices.Clone(d.gears)
	d.gears[i].News = nil
	d.keep(gearState, d.gears)
	return said
}

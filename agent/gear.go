package agent

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// gear is how a tank is measured: how its level is read, and how that becomes barrels. What is in force is stored, so
// that a change of the configuration is noticed, waits for the end of a load and for the first levels, and stands on
// the next ticket.
type gear struct {
	ID     string
	Level  collectors.Point
	Offset tank.Length
	Height tank.Length
	Sensor string
	Table  tank.Table
	News   []string `json:",omitempty"` // what was changed since the last load, for the comments of the next
	Past   []gauge  `json:",omitempty"` // how it was read before, the oldest first

	Whole      bool    `json:",omitempty"` // what follows is known: a program before this one did not store it
	Making     Making  `json:",omitzero"`  // of the level
	Interface  sourced `json:",omitzero"`
	Production sourced `json:",omitzero"`
	Speed      float64 `json:",omitempty"` // of the site's time
	Seam       *seam   `json:",omitempty"` // how a level reads by the gear that is to follow
	Waits      *change `json:",omitempty"` // of the configuration, that is not in force yet
}

// change is what a start has found changed of a tank.
type change struct {
	Since time.Time
	What  string
}

// gauge is how a tank's level was read until a time.
type gauge struct {
	Until          time.Time
	Level          collectors.Point
	Offset, Height tank.Length

	By  *tank.Conversion `json:",omitempty"` // into inches by the gauge that followed; nil: by the offset alone
	Odd *oddity          `json:",omitempty"` // what happened at its end
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

// then is a level of the past, which the detector has by the gauge of today, as it was read at that time.
func (g *gear) then(at time.Time, in float64) float64 {
	next := g.Offset
	for _, p := range slices.Backward(g.Past) {
		if !at.Before(p.Until) {
			break
		}
		by := tank.Conversion{Ratio: 1, Add: float64(next - p.Offset)}
		if p.By != nil {
			by = *p.By
		}
		in, next = by.Back(in), p.Offset
	}
	return in
}

// gearOf is a tank's gear as it is configured.
func (s Site) gearOf(t Tank) gear {
	return gear{
		ID: t.ID, Level: t.Level, Offset: t.Offset, Height: t.Height, Sensor: t.Sensor, Table: t.Table,
		Whole: true, Making: s.making(t.Level), Interface: s.sourced(t.Interface), Production: s.sourced(t.Production), Speed: s.speed(),
	}
}

// completed is stored gear with what the program that stored it did not know, which is taken for what it is now.
func (g gear) completed(s Site, now gear) gear {
	if !g.Whole {
		g.Whole, g.Making, g.Interface, g.Production, g.Speed = true, s.making(g.Level), now.Interface, now.Production, now.Speed
	}
	return g
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
	add(g.Speed != old.Speed, "speed", "%g to %g: what the levels did before is forgotten", old.Speed, g.Speed)
	for _, m := range []struct {
		name     string
		old, new sourced
	}{
		{"level", sourced{old.Level, old.Making}, sourced{g.Level, g.Making}}, {"interface", old.Interface, g.Interface}, {"production", old.Production, g.Production},
	} {
		add(m.name != "level" && m.old.Point != m.new.Point, m.name+" point", "%s to %s", cmp.Or(m.old.Point, "none"), cmp.Or(m.new.Point, "none"))
		if m.old.Source != "" && m.new.Source != "" {
			add(m.old.Point == m.new.Point && m.old.Place != m.new.Place, m.name+" address", "%s to %s", m.old.Place, m.new.Place)
			add(m.old.Point == m.new.Point && m.old.Source != m.new.Source, m.name+" source", "%s to %s", m.old.Source, m.new.Source)
			add(m.old.Unit != m.new.Unit, m.name+" unit", "%s to %s", cmp.Or(m.old.Unit, "none"), cmp.Or(m.new.Unit, "none"))
			add(m.old.Scale != m.new.Scale, m.name+" scale", "%g to %g", m.old.Scale, m.new.Scale)
			add(m.old.Add != m.new.Add, m.name+" point's offset", "%g to %g", m.old.Add, m.new.Add)
		}
	}
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
func (s Site) wanted() []gear {
	all := make([]gear, len(s.Tanks))
	for i, t := range s.Tanks {
		all[i] = s.gearOf(t)
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

package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// setup is how a tank is measured: how its level is read, and how that becomes barrels. What is in force is stored, so
// that a change of the configuration is noticed, waits for the end of a load and for the first levels, and stands on
// the next ticket.
type setup struct {
	ID      string
	Level   collectors.Point
	Offset  tank.Length
	Height  tank.Length
	Sensor  string
	Table   tank.Table
	Changes []string    `json:"News,omitempty"` // what was changed since the last load, for the comments of the next
	History []pastSetup `json:"Past,omitempty"` // how it was read before, the oldest first

	Whole      bool           `json:",omitempty"`      // what follows is known: a program before this one did not store it
	Origin     Origin         `json:"Making,omitzero"` // of the level
	Interface  pointOrigin    `json:",omitzero"`
	Production pointOrigin    `json:",omitzero"`
	Speed      float64        `json:",omitempty"`      // of the site's time
	Changeover *changeover    `json:"Seam,omitempty"`  // how a level reads by the setup that is to follow
	Pending    *pendingChange `json:"Waits,omitempty"` // of the configuration, that is not in force yet
}

// pendingChange is what a start has found changed of a tank.
type pendingChange struct {
	Since time.Time
	What  string
}

// pastSetup is how a tank's level was read until a time.
type pastSetup struct {
	Until          time.Time
	Level          collectors.Point
	Offset, Height tank.Length

	By  *tank.Conversion `json:",omitempty"` // into inches by the gauge that followed; nil: by the offset alone
	Odd *discrepancy     `json:",omitempty"` // what happened at its end
}

const historyMost = 8 // changes of which each tank remembers what was before

// pastSetupAt is how the tank's level was read at a time.
func (g *setup) pastSetupAt(at time.Time) pastSetup {
	for _, p := range g.History {
		if at.Before(p.Until) {
			return p
		}
	}
	return pastSetup{Level: g.Level, Offset: g.Offset, Height: g.Height}
}

// asReadThen is a level of the past, which the detector has by the gauge of today, as it was read at that time.
func (g *setup) asReadThen(at time.Time, in float64) float64 {
	next := g.Offset
	for _, p := range slices.Backward(g.History) {
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

// setupOf is a tank's setup as it is configured.
func (s Site) setupOf(t Tank) setup {
	return setup{
		ID: t.ID, Level: t.Level, Offset: t.Offset, Height: t.Height, Sensor: t.Sensor, Table: t.Table,
		Whole: true, Origin: s.origin(t.Level), Interface: s.pointOrigin(t.Interface), Production: s.pointOrigin(t.Production), Speed: s.speed(),
	}
}

// completed is stored setup with what the program that stored it did not know, which is taken for what it is now.
func (g setup) completed(s Site, now setup) setup {
	if !g.Whole {
		g.Whole, g.Origin, g.Interface, g.Production, g.Speed = true, s.origin(g.Level), now.Interface, now.Production, now.Speed
	}
	return g
}

// changesFrom says what the setup has that old had not: in short, for the ticket, and with both values, for the event.
func (g *setup) changesFrom(old *setup) (short, long []string) {
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
		old, new pointOrigin
	}{
		{"level", pointOrigin{old.Level, old.Origin}, pointOrigin{g.Level, g.Origin}}, {"interface", old.Interface, g.Interface}, {"production", old.Production, g.Production},
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

// configuredSetups is the setup of all tanks as it is configured.
func (s Site) configuredSetups() []setup {
	all := make([]setup, len(s.Tanks))
	for i, t := range s.Tanks {
		all[i] = s.setupOf(t)
	}
	return all
}

// detector builds the pure part from the tanks, each with the setup that is in force.
func (s Site) detector(gears []setup) (tank.Site, error) {
	list := make([]tank.Tank, len(s.Tanks))
	for i, t := range s.Tanks {
		list[i] = t.Tank
		list[i].Height, list[i].Sensor, list[i].Table = gears[i].Height, gears[i].Sensor, gears[i].Table
	}
	return tank.NewSite(list)
}

// takeChanges is what was changed of a tank since its last load; it is said once.
func (d *txn) takeChanges(id string) []string {
	i := setupIndex(d.setups, id)
	if i < 0 || d.setups[i].Changes == nil {
		return nil
	}
	said := d.setups[i].Changes
	d.setups = slices.Clone(d.setups)
	d.setups[i].Changes = nil
	d.putJSON(setupsKey, d.setups)
	return said
}

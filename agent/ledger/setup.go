package ledger

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors"
)

// setup is a tank's gauging setup: the way from a reading to inches and barrels. What is in force is stored, so
// that a change of the configuration is noticed, waits for the end of a load and for the first levels, and stands on
// the next ticket. The stored names News, Past, Making, Seam, Waits, By, Odd and the like, here and in what it holds, are those of an
// earlier version, kept so that its state is still read.
type setup struct {
	ID      string
	Level   collectors.Point
	Offset  tank.Length
	Height  tank.Length
	Sensor  string
	Table   tank.Table
	Changes []string    `json:"News,omitempty"` // what was changed since the last load, for the comments of the next
	History []pastSetup `json:"Past,omitempty"` // how it was read before, the oldest first

	Whole      bool              `json:",omitempty"`      // what follows is known: a program before this one did not store it
	Origin     collectors.Origin `json:"Making,omitzero"` // of the level
	Interface  pointOrigin       `json:",omitzero"`
	Production pointOrigin       `json:",omitzero"`
	Speed      float64           `json:",omitempty"`      // of the site's time
	Changeover *changeover       `json:"Seam,omitempty"`  // how a level reads by the setup that is to follow
	Pending    *pendingChange    `json:"Waits,omitempty"` // of the configuration, that is not in force yet
	Judged     judging           `json:",omitzero"`       // zero: a program before this one did not store it
}

// judging is what decides whether a fall of the level is a load that makes a ticket: a load ends by what it began by.
type judging struct {
	Lact, Water bool
	Loads       tank.Loads // their speed is the site's, and stays zero
}

// pendingChange is a change of the configuration that waits.
type pendingChange struct {
	Since time.Time
	What  string
}

// pastSetup was in force until a time.
type pastSetup struct {
	Until          time.Time
	Level          collectors.Point
	Offset, Height tank.Length

	Conversion  *tank.Conversion `json:"By,omitempty"`  // into inches by the gauge that followed; nil: by the offset alone
	Discrepancy *discrepancy     `json:"Odd,omitempty"` // what happened at its end
}

const historyMost = 8 // changes of which each tank remembers what was before

// pastSetupAt finds the setup that was in force at a time.
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
		if p.Conversion != nil {
			by = *p.Conversion
		}
		in, next = by.Back(in), p.Offset
	}
	return in
}

// setupOf is a tank's setup as it is configured.
func (s *Site) setupOf(t Tank) setup {
	return setup{
		ID: t.ID, Level: t.Level, Offset: t.Offset, Height: t.Height, Sensor: t.Sensor, Table: t.Table,
		Whole: true, Origin: s.origin(t.Level), Interface: s.pointOrigin(t.Interface), Production: s.pointOrigin(t.Production), Speed: s.speed(),
		Judged: t.judging(),
	}
}

func (t Tank) judging() judging {
	j := judging{t.Lact, t.Water, t.Loads}
	j.Loads.Speed = 0
	return j
}

// completed is stored setup with what the program that stored it did not know, which is taken for what it is now.
func (g setup) completed(s Site, now setup) setup {
	if !g.Whole {
		g.Whole, g.Origin, g.Interface, g.Production, g.Speed = true, s.origin(g.Level), now.Interface, now.Production, now.Speed
	}
	if g.Judged == (judging{}) {
		g.Judged = now.Judged
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
	add(g.Sensor != old.Sensor, "sensor", "%s to %s", cmp.Or(old.Sensor, "radar"), cmp.Or(g.Sensor, "radar"))
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
	if g.Judged != old.Judged {
		add(g.Judged.Water != old.Judged.Water, "product", "%s", either(g.Judged.Water, "oil to water", "water to oil"))
		add(g.Judged.Lact != old.Judged.Lact, "sales", "%s", either(g.Judged.Lact, "truck to lact", "lact to truck"))
		was, is := reflect.ValueOf(old.Judged.Loads), reflect.ValueOf(g.Judged.Loads)
		for k := range is.NumField() {
			add(!is.Field(k).Equal(was.Field(k)), "loads."+is.Type().Field(k).Tag.Get("yaml"), "%v to %v", was.Field(k), is.Field(k))
		}
	}
	return short, long
}

// measuredAs says that a tank is measured by the same setup, whatever its loads are judged by.
func (g *setup) measuredAs(old *setup) bool {
	as := *old
	as.Judged = g.Judged
	short, _ := g.changesFrom(&as)
	return short == nil
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

// detector builds the pure part from the tanks, each with the setup that is in force.
func (s *Site) detector(setups []setup) (tank.Site, error) {
	list := make([]tank.Tank, len(s.Tanks))
	for i, t := range s.Tanks {
		list[i] = t.Tank
		g := &setups[i]
		list[i].Height, list[i].Sensor, list[i].Table = g.Height, g.Sensor, g.Table
		list[i].Lact, list[i].Loads = g.Judged.Lact, g.Judged.Loads
		list[i].Loads.Speed = t.Loads.Speed
	}
	return tank.NewSite(list)
}

// setupIndex finds the setup of a tank; -1: it has none.
func setupIndex(setups []setup, id string) int {
	return slices.IndexFunc(setups, func(g setup) bool { return g.ID == id })
}

// changeover leads from the setting in force to the one that is to follow.
type changeover struct {
	To          levelSetting
	Conversion  tank.Conversion `json:"By"`
	Discrepancy *discrepancy    `json:"Odd,omitempty"`

	LoadEnds bool `json:"Ends,omitempty"` // a load under way by the setting before: no level that follows is told by it
}

// discrepancy is something about a change of the setting that a person has to know. A load that was under way meanwhile needs
// a review.
type discrepancy struct {
	From, To    time.Time // from the newest level before to the first ones after
	Note        string    // for a ticket
	Consequence string    `json:"Then,omitempty"` // and what else an event says
	Unexplained bool      `json:"Rose,omitempty"` // what nobody can explain may have come from another tank
	Bbl         float64   `json:",omitempty"`     // and is so much
}

// pointOrigin is a point with what its value is made of.
type pointOrigin struct {
	Point collectors.Point `json:",omitempty"`
	collectors.Origin
}

// origin of a point's value by the configuration; nothing for a point that it does not have.
func (s *Site) origin(p collectors.Point) collectors.Origin {
	if s.OriginOf == nil {
		return collectors.Origin{}
	}
	return s.OriginOf(p)
}

func (s *Site) pointOrigin(p collectors.Point) pointOrigin {
	if p == "" {
		return pointOrigin{}
	}
	return pointOrigin{p, s.origin(p)}
}

// levelSetting is everything that decides what a level in inches is: two levels compare only by one setting.
type levelSetting struct {
	pointOrigin
	Offset, Height tank.Length
}

// levelSetting is the setting of the setup's level.
func (g *setup) levelSetting() levelSetting {
	return levelSetting{pointOrigin{g.Level, g.Origin}, g.Offset, g.Height}
}

// interfaceSetting is the setting of the setup's oil/water interface.
func (g *setup) interfaceSetting() levelSetting { return levelSetting{g.Interface, g.Offset, g.Height} }

// toInches gives an input the inches of a reading by the setting; one in no unit of length is not good.
func (s levelSetting) toInches(r collectors.Reading, x *tank.Input) {
	in, err := tank.LevelInches(r.Value, r.Unit, s.Height)
	x.Value, x.Good = in+float64(s.Offset), x.Good && err == nil
}

// linear gives the inches for each one of the number that is read, and those to add.
func (s levelSetting) linear() (each, more float64, ok bool) {
	one, err := tank.LevelInches(1, s.Unit, s.Height)
	each = one * cmp.Or(s.Scale, 1)
	return each, one*s.Add + float64(s.Offset), err == nil && each != 0
}

// sameSource says that two settings rest on the same number. A point that is read as before at another address is behind
// another modem or adapter.
func (s levelSetting) sameSource(o levelSetting) bool {
	if s.Source == "" || o.Source == "" {
		return s.Point == o.Point
	}
	return s.Source == o.Source && (s.Place == o.Place || s.Point == o.Point)
}

// conversionTo turns a level by this setting into one by another, where both rest on the same number. A gauge that was turned
// upside down (a distance in place of a level) compares with nothing before.
func (s levelSetting) conversionTo(o levelSetting) tank.Conversion {
	each, more, ok := s.linear()
	eachNow, moreNow, okNow := o.linear()
	if !ok || !okNow || !s.sameSource(o) || eachNow/each <= 0 {
		return tank.Conversion{}
	}
	c := tank.Conversion{Ratio: eachNow / each}
	if math.Abs(c.Ratio-1) < 1e-9 {
		c.Ratio = 1
	}
	if c.Add = moreNow - c.Ratio*more; math.Abs(c.Add) < 1e-6 {
		c.Add = 0
	}
	return c
}

// levelCorrections names what was changed of how a level is made, where that makes other inches of what is read: whoever changed
// it says that the old was wrong. Empty: nothing.
func (g *setup) levelCorrections(want *setup) string {
	have, now := g.levelSetting(), want.levelSetting()
	if have == now || have.conversionTo(now) == tank.Unchanged {
		return ""
	}
	short, _ := want.changesFrom(g)
	return strings.Join(slices.DeleteFunc(short, func(s string) bool {
		return s != "offset" && s != "height" && !strings.HasPrefix(s, "level ") || s == "level address"
	}), " and ")
}

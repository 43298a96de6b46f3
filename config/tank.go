package config

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/config/strapping"
)

// Tank is one stock tank: the points that feed it, its shape, and what its tickets say.
type Tank struct {
	ID                string           `yaml:"id,required" doc:"external ID of the tank in the service"`
	Level             collectors.Point `yaml:"level,required" doc:"the point of its level, as DEVICE/POINT, in a length or percent of the height"`
	TopTemperature    Source           `yaml:"top_temperature" doc:"a point, or a constant in degF"`
	BottomTemperature Source           `yaml:"bottom_temperature" doc:"a point, or a constant in degF"`
	SpecificGravity   Source           `yaml:"specific_gravity" doc:"a point, or a constant: specific gravity 60/60"`
	BSW               Source           `yaml:"bsw" doc:"a point, or a constant: basic sediment and water in percent"`
	LoadValve         collectors.Point `yaml:"load_valve" doc:"contact of the load valve: its opening and closing are sealOff and sealOn"`
	Interface         collectors.Point `yaml:"interface" doc:"the point of the oil/water interface's level"`
	Production        collectors.Point `yaml:"production" doc:"totaliser of the oil that comes into the tank: the tank book then compares instead of estimating"`
	Sensor            string           `yaml:"sensor" words:"radar float ultrasonic hydrostatic analog" doc:"kind of the level sensor; it says how long the level needs to settle"`
	Height            tank.Length      `yaml:"height,required" doc:"height of the tank, as in 20ft: a level above it is no level"`
	Diameter          tank.Length      `yaml:"diameter" doc:"inside diameter, as in 12ft; used when there is no strapping table"`
	Strapping         Strapping        `yaml:"strapping" doc:"strapping table from 0 to the height: a CSV file whose first line names its units, as Feet,Inches,Barrels (without it inches and barrels), or rows of inches and barrels in place"`
	Temperatures      string           `yaml:"temperatures" words:"in_tank opening_closing" doc:"in_tank: top and bottom of the tank at the opening; opening_closing: at the opening and at the closing. Default in_tank"`
	Offset            tank.Length      `yaml:"offset" doc:"from commissioning: added to every level. Default 0"`
	Sales             string           `yaml:"sales" words:"truck lact" doc:"truck: levels make the tickets; lact: a meter does, never the level. Default truck"`
	Product           string           `yaml:"product" words:"oil water" doc:"oil, or water: what is hauled of it is an event and WATER of the tank book, never a run ticket. Default oil"`
	Group             string           `yaml:"group" doc:"name shared by tanks that are joined by an open equaliser"`
	Purchaser         string           `yaml:"purchaser" doc:"who buys the oil, as it stands on the ticket"`
	Comments          string           `yaml:"comments" doc:"put before the evidence in a ticket's comments"`
	Object            string           `yaml:"object" doc:"GUID that this tank's diagnostics name. Default: the site's"`
	ObjectType        string           `yaml:"object_type" doc:"type of that object. Default: the site's"`
	Loads             tank.Loads       `yaml:"loads" doc:"the load detector's settings for this tank, over the site's"`

	// Table is the strapping table, or the cylinder when there is none.
	Table tank.Table `yaml:"-"`
}

// Tank is the tank with an id; nil: there is none.
func (c *Config) Tank(id string) *Tank {
	for i := range c.Tanks {
		if c.Tanks[i].ID == id {
			return &c.Tanks[i]
		}
	}
	return nil
}

// decodeNode lets a tank begin with the site's detector settings, which stand before the tanks in Config.
func (t *Tank) decodeNode(d *decoder, n *yaml.Node, path string) {
	t.Loads = *d.loads
	d.decodeStruct(n, settable(t), path)
}

// Lact says that a meter makes the tickets of this tank.
func (t Tank) Lact() bool { return t.Sales == "lact" }

// Water says that no oil is in this tank: its loads make no tickets.
func (t Tank) Water() bool { return t.Product == "water" }

// Ticketed says that its level makes run tickets.
func (t Tank) Ticketed() bool { return !t.Lact() && !t.Water() }

func (Tank) defaults() any {
	return Tank{Sales: "truck", Product: "oil", Temperatures: "in_tank", Loads: tank.DefaultLoads()}
}

// Lacks are the keys without which a ticket has no gross, and no net barrels.
func (t Tank) Lacks() (gross, net []string) {
	if t.SpecificGravity == (Source{}) {
		gross = append(gross, "specific_gravity")
	}
	if t.TopTemperature == (Source{}) && (t.BottomTemperature == (Source{}) || t.Temperatures == "opening_closing") {
		gross = append(gross, "top_temperature")
	}
	if net = gross; t.BSW == (Source{}) {
		net = append(slices.Clone(gross), "bsw")
	}
	return gross, net
}

// Model is the tank as the detector needs it. every is the interval at which its level is read, 0 when unknown.
func (t Tank) Model(every time.Duration) tank.Tank {
	return tank.Tank{
		ID: t.ID, Sensor: t.Sensor, Group: t.Group, Height: t.Height, Table: t.Table,
		Lact: t.Lact(), OpeningClosing: t.Temperatures == "opening_closing",
		Valve: t.LoadValve != "", Interface: t.Interface != "",
		Every: every, Loads: t.Loads,
	}
}

// PointRefs is the keys of a tank that name a point; a constant or nothing in place of a Source is none.
func (t Tank) PointRefs() []PointRef {
	out := []PointRef{{"level", t.Level}, {"load_valve", t.LoadValve}, {"interface", t.Interface}, {"production", t.Production}}
	for _, k := range []PointRef{
		{"top_temperature", t.TopTemperature.Point}, {"bottom_temperature", t.BottomTemperature.Point},
		{"specific_gravity", t.SpecificGravity.Point}, {"bsw", t.BSW.Point},
	} {
		if k.Point != "" {
			out = append(out, k)
		}
	}
	return out
}

// PointRef is a point with the key under which it was named.
type PointRef struct {
	Key   string
	Point collectors.Point
}

// MostStrapping bounds a strapping file. A table by quarter inches of a forty-foot tank is a twentieth of it.
const MostStrapping = 1 << 20

// checkStrapping reads a tank's table and checks that it covers the tank.
func (c *checker) checkStrapping(at string, t *Tank) {
	where := at + ".strapping"
	if c.brokenBlocks[where] || c.toldPaths[where] {
		return
	}
	rows, says, err := c.strappingRows(where, t)
	if err != nil {
		c.problemf(where, "%v", err)
		return
	}
	if i, message := strapping.BadRow(rows); message != "" {
		if t.Strapping.File == "" && i >= 0 {
			where = fmt.Sprintf("%s[%d]", where, i)
		}
		c.problemf(where, "%s%s", says(i), message)
		return
	}
	table, err := tank.NewTable(rows)
	if err != nil {
		c.problemf(where, "%v", err)
		return
	}
	t.Table = table
	switch {
	case table.Top() < float64(t.Height):
		c.problemf(where, "%s", strapping.TooLow(table.Top(), t.Height, t.Strapping.File != ""))
	case table.Bottom() > 0:
		c.warnf(where, "begins at %g in; a level below that has no volume: begin with 0 in", table.Bottom())
	}
	switch strict, doubt := strapping.Doubt(table, t.Height, t.Diameter); {
	case strict != "":
		c.strictf(where, "%s", strict)
	case doubt != "":
		c.warnf(where, "%s", doubt)
	}
}

// strappingRows is the table's rows, and what says where a row stands.
func (c *checker) strappingRows(where string, t *Tank) ([][2]float64, func(row int) string, error) {
	if t.Strapping.File == "" {
		return t.Strapping.Rows, func(int) string { return "" }, nil
	}
	name := t.Strapping.File
	b, err := collectors.ReadFile(resolve(c.dir, name), MostStrapping)
	if err != nil {
		return nil, nil, fmt.Errorf("the table cannot be read: %w; put it there, or correct the name", err)
	}
	c.checkReadable(where, resolve(c.dir, name))
	sheet := strapping.Parse(string(b))
	rows, doubt, err := sheet.For(t.Height)
	if err != nil {
		return nil, nil, fmt.Errorf("%s:%w", name, err)
	}
	if doubt != "" {
		c.strictf(where, "%s: %s. Until then gauger takes them for inches and barrels", name, doubt)
	}
	return rows, func(i int) string {
		if line := sheet.Line(i); line > 0 {
			return fmt.Sprintf("%s:%d: ", name, line)
		}
		return name + ": "
	}, nil
}

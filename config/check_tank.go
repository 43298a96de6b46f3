package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/config/strapping"
)

func (c *checker) checkTanks() {
	if c.cfg.Tanks == nil && c.given("tanks") { // a file that was cut off ends so
		c.strictf("tanks", "empty, so that no level makes a ticket: is the rest of the file missing? Write the tanks, or tanks: [] where there are none")
	}
	c.doubtSignals("level", "each load would make two tickets", func(t *Tank) collectors.Point { return t.Level })
	c.doubtSignals("production", "both would be booked all of it", func(t *Tank) collectors.Point { return t.Production })
	ids := map[string]int{}
	levels := map[collectors.Point]int{}
	groups := map[string][]int{}
	for i := range c.cfg.Tanks {
		t := &c.cfg.Tanks[i]
		at := fmt.Sprintf("tanks[%d]", i)
		c.checkIdentity(at, t)
		if k, twice := ids[t.ID]; twice && t.ID != "" {
			c.problemf(at+".id", "%s is already tanks[%d]; two tanks with one id would mix their tickets", quote(t.ID), k)
		} else {
			ids[t.ID] = i
		}
		if k, twice := levels[t.Level]; twice && t.Level != "" {
			c.problemf(at+".level", "%s is already the level of tanks[%d] (%s); each load would make two tickets", quote(string(t.Level)), k, c.cfg.Tanks[k].ID)
		} else {
			levels[t.Level] = i
		}
		if t.Group != "" {
			groups[t.Group] = append(groups[t.Group], i)
		}
		c.checkTankPoints(at, t)
		c.checkConstants(at, t)
		c.checkShape(at, t)
		c.mendHeights(at, t)
	}
	for name, members := range groups {
		if len(members) == 1 {
			c.warnf(fmt.Sprintf("tanks[%d].group", members[0]), "%s has no other tank; an equaliser joins two or more: check the name", quote(name))
		}
		c.doubtPurchasers(name, members)
	}
}

// doubtSignals tells of tanks whose points have two names and are read at one place, as after a point's line was copied. It comes before what
// is told of each tank, of which a long list may take all the room.
func (c *checker) doubtSignals(key, then string, of func(*Tank) collectors.Point) {
	first := map[string]int{}
	for i := range c.cfg.Tanks {
		p := of(&c.cfg.Tanks[i])
		info, ok := c.pointsByName[p]
		if !ok || len(c.d.problems) > 0 { // a device may be half of one
			continue
		}
		dev := &c.cfg.Devices[info.Device]
		o := dev.Origin(string(p)[len(dev.Name)+1:])
		if o.Source == "" {
			continue
		}
		read := strings.TrimPrefix(o.Place+", "+o.Source, ", ")
		k, twice := first[read]
		if !twice {
			first[read] = i
		} else if other := of(&c.cfg.Tanks[k]); other != p { // one point twice is refused
			c.warnf(fmt.Sprintf("tanks[%d].%s", i, key), "%q is read where %q of tanks[%d] (%s) is: %s; %s. Look which of the two points belongs elsewhere",
				p, other, k, c.cfg.Tanks[k].ID, read, then)
		}
	}
}

// doubtPurchasers tells of joined tanks whose tickets name several purchasers.
func (c *checker) doubtPurchasers(group string, members []int) {
	var names []string
	for _, i := range members {
		t := &c.cfg.Tanks[i]
		if name := strings.TrimSpace(t.Purchaser); !t.Ticketed() || name == "" || slices.Contains(names, name) {
			continue
		} else if names = append(names, name); len(names) == 2 {
			c.warnf(fmt.Sprintf("tanks[%d].purchaser", i), "%s joins tanks of %s and %s: while the equaliser is open, one truck's load is a ticket of each tank, of which some name who did not buy it. "+
				"Write one purchaser for the group, or hold the tickets (tickets: {hold: 12h}) and give those of one load its purchaser: gauger tickets edit NUMBER --purchaser NAME", quote(group), quote(names[0]), quote(name))
		}
	}
}

func (c *checker) checkIdentity(at string, t *Tank) {
	if c.given(at+".id") && (t.ID == "" || strings.TrimSpace(t.ID) != t.ID || strings.ContainsAny(t.ID, "\t\r\n")) {
		c.problemf(at+".id", "%s is no id; write the tank's external ID without blanks around it", quote(t.ID))
	}
	if !t.Ticketed() {
		return
	}
	switch {
	case strings.TrimSpace(t.Purchaser) == "":
		c.problemf(at+".purchaser", "missing; a ticket must name who buys the oil")
	case strings.EqualFold(strings.TrimSpace(t.Purchaser), "unknown"):
		c.problemf(at+".purchaser", "%s buys nothing; write who buys the oil", quote(t.Purchaser))
	case slices.Contains([]string{"none", "nobody", "na", "n/a", "n.a.", "tbd", "tba", "?", "-", "x", "xxx", "water"}, strings.ToLower(strings.TrimSpace(t.Purchaser))):
		c.warnf(at+".purchaser", "%s stands on each ticket as who buys the oil; write who does, or product: water where there is none in it", quote(t.Purchaser))
	}
}

func (c *checker) checkTankPoints(at string, t *Tank) {
	for _, k := range t.PointRefs() {
		where := join(at, k.Key)
		info, ok := c.checkPoint(where, k.Point)
		if !ok {
			continue
		}
		switch k.Key {
		case "level", "interface":
			c.checkLengthUnit(where, info)
			if k.Key == "level" && c.checking {
				c.adviseWatch(t, info)
				c.adviseRange(t, info)
			}
		case "top_temperature", "bottom_temperature":
			_, ok := info.Unit.Fahrenheit(0)
			c.checkUnit(where, info, ok, "is a temperature: write unit: degF or degC", "temperature; use degF or degC")
		case "production":
			_, ok := info.Unit.Barrels(0)
			c.checkUnit(where, info, ok, "counts production: write unit: bbl (or gal, m3, l, ft3, mbbl)", "volume; a production meter counts in bbl, gal, m3, l, ft3 or mbbl")
		}
	}
}

// checkLengthUnit refuses a level that cannot be turned into inches.
func (c *checker) checkLengthUnit(where string, info PointInfo) {
	_, err := tank.LevelInches(1, info.Unit, 1)
	switch {
	case info.Unit == "":
		c.problemf(c.pointPath(info), "missing; %s is a level: write unit: in (or ft, m, cm, mm, percent)", info.Point)
	case err != nil && writesLength(info.Unit): // earlier versions took it, and each of its levels was bad
		c.strictf(where, "%s is in %s, which no level is measured in; write in, ft, m, cm, mm or percent. Until then no level of it is good, and the tank makes no ticket",
			info.Point, quote(string(info.Unit)))
	case err != nil:
		c.problemf(where, "%s is in %s, which is no length; a level is in in, ft, m, cm, mm or percent of the height", info.Point, quote(string(info.Unit)))
	}
}

// adviseWatch tells of a level that would stay good for ever when its device falls silent.
func (c *checker) adviseWatch(t *Tank, info PointInfo) {
	key := c.cfg.Devices[info.Device].options.unwatched(info.Index)
	if key == "" || slices.ContainsFunc(c.cfg.Events, func(e Event) bool { return e.Stale > 0 && e.Point == info.Point }) {
		return
	}
	c.warnf(fmt.Sprintf("devices[%d].points[%d].%s", info.Device, info.Index, key),
		"missing; when the device falls silent, its last level stays that of %s and nobody is told: write how often it speaks at least, such as 1h", t.ID)
}

// adviseRange tells of a level's range that reaches far beyond the tank, mostly one in another unit than the point's.
func (c *checker) adviseRange(t *Tank, info PointInfo) {
	var limits []float64
	if d := Options[modbus.Device](c.cfg.Devices[info.Device]); d != nil {
		limits = d.Points[info.Index].Range
	} else if d := Options[mqtt.Device](c.cfg.Devices[info.Device]); d != nil {
		limits = d.Points[info.Index].Range
	}
	if len(limits) != 2 || strapping.DoubtHeight(t.Height) != "" { // what no tank has as its height is told there
		return
	}
	if top, err := tank.LevelInches(limits[1], info.Unit, t.Height); err == nil && t.Height > 0 && top > 2*float64(t.Height) {
		c.warnf(fmt.Sprintf("devices[%d].points[%d].range", info.Device, info.Index),
			"%g %s is %.4g times the height of %s, so that no level is out of range; write it in the point's unit, up to about %.4g", limits[1], info.Unit, top/float64(t.Height), t.ID, limits[1]*float64(t.Height)/top)
	}
}

// writesLength says that a length may be written with a unit: a height, as 20' or 20 ft.
func writesLength(unit collectors.Unit) bool {
	_, err := tank.ParseLength("1" + string(unit))
	return err == nil
}

// pointPath is the path of a point's unit in the file.
func (c *checker) pointPath(info PointInfo) string {
	return fmt.Sprintf("devices[%d].points[%d].unit", info.Device, info.Index)
}

// checkUnit refuses a point that does not count in what is wanted of it.
func (c *checker) checkUnit(where string, info PointInfo, ok bool, missing, wrong string) {
	switch {
	case info.Unit == "":
		c.problemf(c.pointPath(info), "missing; %s %s", info.Point, missing)
	case !ok:
		c.problemf(where, "%s is in %s, which is no %s", info.Point, quote(string(info.Unit)), wrong)
	}
}

// constantRanges are what a constant on a ticket can be, by its key. Outside it is most probably in another unit.
var constantRanges = map[string]struct {
	low, high float64
	say       string
}{
	"specific_gravity":   {0.5, 1.1, "is no specific gravity of oil; write one such as 0.83 (141.5 / (131.5 + API))"},
	"bsw":                {0, 100, "is no percentage; write 0 to 100"},
	"top_temperature":    {-60, 300, "is no temperature of oil in degF; write one such as 68"},
	"bottom_temperature": {-60, 300, "is no temperature of oil in degF; write one such as 68"},
}

// CheckConstant says why a figure of a tank can be no constant under a key.
func CheckConstant(key string, v float64) error {
	if r, known := constantRanges[key]; known && !(v >= r.low && v <= r.high) {
		return fmt.Errorf("%g %s", v, r.say)
	}
	return nil
}

// checkConstants refuses figures that are most probably in another unit.
func (c *checker) checkConstants(at string, t *Tank) {
	for _, k := range []struct {
		key string
		s   Source
	}{{"specific_gravity", t.SpecificGravity}, {"bsw", t.BSW}, {"top_temperature", t.TopTemperature}, {"bottom_temperature", t.BottomTemperature}} {
		if k.s.Constant == nil {
			continue
		}
		if err := CheckConstant(k.key, *k.s.Constant); err != nil {
			c.problemf(join(at, k.key), "%v", err)
		}
	}
	if f := t.TopTemperature.Constant; f != nil && *f > 0 && *f < 40 {
		c.warnf(at+".top_temperature", "%g degF is colder than most oil; look whether it is not %g degC: that is %.0f", *f, *f, *f*9/5+32)
	}
	if b := t.BSW.Constant; b != nil && *b > 10 && *b <= 100 {
		c.warnf(at+".bsw", "%g percent is more than hardly any buyer takes; look whether it is not %g", *b, *b/100)
	}
}

// checkShape checks the height and builds the table.
func (c *checker) checkShape(at string, t *Tank) {
	if t.Height <= 0 {
		if c.given(at + ".height") {
			c.problemf(at+".height", "not above zero; write the tank's height such as 20ft")
		}
		return
	}
	if n, there := locate(c.root, at+".offset"); there && t.Offset != 0 {
		if _, err := strconv.ParseFloat(target(n).Value, 64); err == nil {
			c.warnf(at+".offset", "%s without a unit is inches; write %[1]sin", target(n).Value)
		}
	}
	if off := t.Offset; off > t.Height || off < -t.Height {
		c.problemf(at+".offset", "%.2f in is more than the tank's height of %.2f in; write what commissioning found, such as 0.5in", float64(off), float64(t.Height))
	}
	if off := max(t.Offset, -t.Offset); off > t.Height/2 && off <= t.Height {
		c.warnf(at+".offset", "%.2f in is more than half of the tank's height of %.2f in, which is hardly what commissioning found; look whether it is in inches, and of this tank", float64(t.Offset), float64(t.Height))
	}
	if t.Diameter < 0 || c.given(at+".diameter") && t.Diameter == 0 {
		c.problemf(at+".diameter", "not above zero; write the inside diameter such as 12ft")
		return
	}
	if t.Strapping.Given() {
		c.checkStrapping(at, t)
		return
	}
	if t.Diameter == 0 {
		c.problemf(at+".strapping", "missing, and there is no diameter; name the strapping table, or write diameter: 12ft")
		return
	}
	t.Table = tank.Cylinder(t.Diameter, t.Height)
	if doubt := strapping.DoubtVolume(t.Table, t.Height); doubt != "" {
		c.warnf(at+".diameter", "makes %s: look at its unit (12ft is 144in)", doubt)
	}
	if !t.Lact() {
		c.warnf(at+".strapping", "missing; barrels come from the diameter, which is good to a percent: use the tank's strapping table")
	}
}

func (c *checker) checkBook() {
	if limit := c.cfg.Book.LossLimit; !(limit > 0 && limit <= 1000) {
		c.problemf("book.loss_limit", "%g is no limit; write barrels a day such as 0.8", limit)
	}
	meters := map[collectors.Point]int{}
	for i, t := range c.cfg.Tanks {
		if t.Production == "" {
			continue
		}
		if k, twice := meters[t.Production]; twice {
			c.problemf(fmt.Sprintf("tanks[%d].production", i), "%s already counts the production of tanks[%d] (%s); both would be booked all of it", quote(string(t.Production)), k, c.cfg.Tanks[k].ID)
			continue
		}
		meters[t.Production] = i
	}
}

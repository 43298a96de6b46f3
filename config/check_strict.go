package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"gauger/agent/tank"
	"gauger/config/strapping"
)

// mendValues looks for values that can be written and not be lived with, and puts those that can in their place.
func (c *checker) mendValues() {
	cfg := c.cfg
	for _, p := range cfg.Service.Wire.Mend() {
		c.strictf("service.wire."+p.Key, "%s", p.Message)
	}
	c.mendServiceAddress()
	c.mendRate()
	if days := &cfg.Recorder.Days; *days > mostReceiptDays {
		c.strictf("recorder.days", "%d is more than %d; write at most that. Until then gauger works with %[2]d", *days, mostReceiptDays)
		*days = mostReceiptDays
	}
	c.mendLoads("loads", &cfg.Loads)
	c.mendTankCount()
	for i := range cfg.Tanks {
		c.mendLoads(fmt.Sprintf("tanks[%d].loads", i), &cfg.Tanks[i].Loads)
	}
	for i := range cfg.Devices {
		if o := cfg.Devices[i].options; o != nil {
			o.mend(c.report, fmt.Sprintf("devices[%d]", i))
		}
	}
	if hold := cfg.Tickets.Hold; hold > longestInterval {
		c.strictf("tickets.hold", "%s: a ticket would wait for more than a month; write 744h at most. It is held as long as is written here", shortDuration(hold))
	}
	c.checkNames()
}

// mendServiceAddress looks at what url.Parse takes for an address.
func (c *checker) mendServiceAddress() {
	s := &c.cfg.Service
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" && !realPort(u.Port()) {
		c.strictf("service.url", "%s is no port; write one from 1 to 65535, or none. Until then nothing leaves, and everything is kept", quote(u.Port()))
	} else if err == nil && u.Scheme == "http" && s.Wire.Proxy != "" {
		c.strictf("service.wire.proxy", "the key would cross the network readable, since service.url is http; use https, or remove the proxy. Until then gauger works without it")
		s.Wire.Proxy = ""
	}
	for _, seg := range [][2]string{{"alpha", s.Segments.Alpha}, {"beta", s.Segments.Beta}} {
		if strings.ContainsAny(seg[1], `%\;`) || strings.Trim(seg[1], ".") == "" && seg[1] != "" || seg[1] != printable(seg[1]) {
			c.strictf("service.segments."+seg[0], "%s is no segment that a service has; write it as the service's operator does, such as vAlpha. "+
				"Until then what goes there is refused, and kept", quote(seg[1]))
		}
	}
}

// mendRate keeps the rate above what leaves anything at all.
func (c *checker) mendRate() {
	const least Rate = 1.0 / 3600
	if r := &c.cfg.Link.Rate; *r > 0 && *r < least {
		c.strictf("link.rate", "%g is less than one request an hour; write such as 1/min. Until then gauger works with one an hour", float64(*r))
		*r = least
	}
}

// mendLoads keeps the detector's settings within what a load of oil can be. Each stays on its side of its companions:
// what was below another one is so afterwards.
func (c *checker) mendLoads(path string, l *tank.Loads) {
	for _, f := range []struct {
		key         string
		v           *float64
		least, most float64
	}{
		{"speed", &l.Speed, 0.01, 1e4}, {"min_load", &l.MinLoad, 1e-3, 1e4}, {"min_rate", &l.MinRate, 1e-3, 1e3},
		{"max_rate", &l.MaxRate, 2e-3, 1e4}, {"truck_max", &l.TruckMax, 1e-3, 1e5}, {"noise", (*float64)(&l.Noise), 1e-3, 120},
	} {
		if bound := min(max(*f.v, f.least), f.most); *f.v > 0 && bound != *f.v {
			c.strictf(join(path, f.key), "%g is nothing that a tank does; write %g to %g. Until then gauger works with %g", *f.v, f.least, f.most, bound)
			*f.v = bound
		}
	}
	for _, f := range fieldsOf(settable(l).Type()) {
		if d, is := settable(l).FieldByIndex(f.index).Addr().Interface().(*time.Duration); is {
			c.keepWithin(join(path, f.name), d, 0, longestInterval, longestInterval)
		}
	}
}

// mostTanks is the room of the detector's stored state.
const mostTanks = 4096

// mendTankCount leaves out the tanks that have no place in the stored state: with them none could be stored.
func (c *checker) mendTankCount() {
	if n := len(c.cfg.Tanks); n > mostTanks {
		c.strictf(fmt.Sprintf("tanks[%d]", mostTanks), "%d tanks; a site has at most %d: give the others a gauger of their own. "+
			"Until then gauger works with the first %d", n, mostTanks, mostTanks)
		c.cfg.Tanks = c.cfg.Tanks[:mostTanks]
	}
}

// longestName is the longest name that anything has, in bytes.
const longestName = 128

// checkNames looks for names and ids that are too long to be one, or hold what no screen shows. They stay as they are: what
// is stored under them is cut.
func (c *checker) checkNames() {
	cfg := c.cfg
	c.checkName("site", cfg.Site)
	cfg.Site = printable(cfg.Site) // each of its lines would be a message to systemd
	for i, dev := range cfg.Devices {
		c.checkName(fmt.Sprintf("devices[%d].name", i), dev.Name)
		for k, p := range dev.points() {
			c.checkName(fmt.Sprintf("devices[%d].points[%d].name", i, k), p.name)
		}
	}
	for i, t := range cfg.Tanks {
		c.checkName(fmt.Sprintf("tanks[%d].id", i), t.ID)
		c.checkName(fmt.Sprintf("tanks[%d].purchaser", i), t.Purchaser)
	}
	for i, e := range cfg.Events {
		c.checkName(fmt.Sprintf("events[%d].rule", i), e.Rule)
	}
	for i, w := range cfg.Wells {
		c.checkName(fmt.Sprintf("wells[%d].id", i), w.ID)
		for k, v := range w.TagValues {
			c.checkName(fmt.Sprintf("wells[%d].tag_values[%d].code", i, k), v.Code)
		}
		for k, v := range w.Targets {
			c.checkName(fmt.Sprintf("wells[%d].targets[%d].code", i, k), v.Code)
		}
	}
}

func (c *checker) checkName(path, text string) {
	switch {
	case len(text) > longestName:
		c.strictf(path, "%d bytes; write at most %d", len(text), longestName)
	case text != printable(text):
		c.strictf(path, "%s holds characters that nobody sees; write it without them", quote(text))
	}
}

// printable is a text without the characters that nobody sees: control characters, line breaks, marks of direction.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// tableHeightFactor: a table that is so many times higher than its tank says that the height is in another unit.
const tableHeightFactor = 4

// mendHeights looks at a height that does not go with the table: 20 inches beside a table of 240 are twenty feet.
func (c *checker) mendHeights(at string, t *Tank) {
	top, doubt, told := t.Table.Top(), strapping.DoubtHeight(t.Height), t.Height <= 0
	if t.Strapping.Given() && top >= tableHeightFactor*float64(t.Height) {
		c.strictf(at+".height", "%g in, and the strapping table goes up to %g in; write the height with its unit, such as 20ft. Until then gauger works with the table's %g in",
			float64(t.Height), top, top)
		t.Height, told = tank.Length(top), true
	}
	for _, f := range []struct {
		key string
		v   tank.Length
	}{{"height", t.Height}, {"diameter", t.Diameter}} {
		n, there := locate(c.root, join(at, f.key))
		if there && f.v > 0 && f.v < leastUnitless && strings.Trim(target(n).Value, "0123456789.+eE") == "" {
			c.strictf(join(at, f.key), "%s without a unit is inches; write %sft, or %sin if it is. Until then gauger works with inches", n.Value, n.Value, n.Value)
			told = told || f.key == "height"
		}
	}
	if doubt != "" && !told {
		c.warnf(at+".height", "%s", doubt)
	}
}

// leastUnitless is the least size of a tank that is believed without a unit.
const leastUnitless = 48

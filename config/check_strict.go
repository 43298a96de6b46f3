package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"gauger/agent/tank"
)

// mend looks for values that can be written and not be lived with, and puts those that can in their place.
func (c *checker) mend() {
	cfg := c.cfg
	for _, p := range cfg.Service.Wire.Mend() {
		c.strictf("service.wire."+p.Key, "%s", p.Message)
	}
	c.serviceAddress()
	c.fewestRequests()
	most(c.report, "recorder.days", &cfg.Recorder.Days, mostDays)
	c.detector("loads", &cfg.Loads)
	c.fewTanks()
	for i := range cfg.Tanks {
		c.detector(fmt.Sprintf("tanks[%d].loads", i), &cfg.Tanks[i].Loads)
	}
	for i := range cfg.Devices {
		if o := cfg.Devices[i].options; o != nil {
			o.mend(c.report, fmt.Sprintf("devices[%d]", i))
		}
	}
	if hold := cfg.Tickets.Hold; hold > longest {
		c.strictf("tickets.hold", "%s: a ticket would wait for more than a month; write 744h at most. It is held as long as is written here", short(hold))
	}
	c.names()
}

// serviceAddress looks at what url.Parse takes for an address.
func (c *checker) serviceAddress() {
	s := &c.cfg.Service
	if u, err := url.Parse(s.URL); err == nil && u.Host != "" && !realPort(u.Port()) {
		c.strictf("service.url", "%s is no port; write one from 1 to 65535, or none. Until then nothing leaves, and everything is kept", quote(u.Port()))
	} else if err == nil && u.Scheme == "http" && s.Wire.Proxy != "" {
		c.strictf("service.wire.proxy", "the key would cross the network readable, since service.url is http; use https, or remove the proxy. Until then gauger works without it")
		s.Wire.Proxy = ""
	}
	for _, seg := range [][2]string{{"alpha", s.Segments.Alpha}, {"beta", s.Segments.Beta}} {
		if strings.ContainsAny(seg[1], `%\;`) || strings.Trim(seg[1], ".") == "" && seg[1] != "" || seg[1] != visible(seg[1]) {
			c.strictf("service.segments."+seg[0], "%s is no segment that a service has; write it as the service's operator does, such as vAlpha. "+
				"Until then what goes there is refused, and kept", quote(seg[1]))
		}
	}
}

// fewestRequests keeps the rate above what leaves anything at all.
func (c *checker) fewestRequests() {
	const least Rate = 1.0 / 3600
	if r := &c.cfg.Link.Rate; *r > 0 && *r < least {
		c.strictf("link.rate", "%g is less than one request an hour; write such as 1/min. Until then gauger works with one an hour", float64(*r))
		*r = least
	}
}

// detector keeps the detector's settings within what a load of oil can be. Each stays on its side of its companions:
// what was below another one is so afterwards.
func (c *checker) detector(path string, l *tank.Loads) {
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
			c.within(join(path, f.name), d, 0, longest, longest)
		}
	}
}

// mostTanks is how many the detector's stored state holds.
const mostTanks = 4096

// fewTanks leaves out the tanks that have no place in the stored state: with them none could be stored.
func (c *checker) fewTanks() {
	if n := len(c.cfg.Tanks); n > mostTanks {
		c.strictf(fmt.Sprintf("tanks[%d]", mostTanks), "%d tanks; a site has at most %d: give the others a gauger of their own. "+
			"Until then gauger works with the first %d", n, mostTanks, mostTanks)
		c.cfg.Tanks = c.cfg.Tanks[:mostTanks]
	}
}

// longestName is the longest name that anything has, in bytes.
const longestName = 128

// names looks for names and ids that are too long to be one, or hold what no screen shows. They stay as they are: what
// is stored under them is cut.
func (c *checker) names() {
	cfg := c.cfg
	c.name("site", cfg.Site)
	cfg.Site = visible(cfg.Site) // each of its lines would be a message to systemd
	for i, dev := range cfg.Devices {
		c.name(fmt.Sprintf("devices[%d].name", i), dev.Name)
		for k, p := range dev.points() {
			c.name(fmt.Sprintf("devices[%d].points[%d].name", i, k), p.name)
		}
	}
	for i, t := range cfg.Tanks {
		c.name(fmt.Sprintf("tanks[%d].id", i), t.ID)
		c.name(fmt.Sprintf("tanks[%d].purchaser", i), t.Purchaser)
	}
	for i, e := range cfg.Events {
		c.name(fmt.Sprintf("events[%d].rule", i), e.Rule)
	}
	for i, w := range cfg.Wells {
		c.name(fmt.Sprintf("wells[%d].id", i), w.ID)
		for k, v := range w.TagValues {
			c.name(fmt.Sprintf("wells[%d].tag_values[%d].code", i, k), v.Code)
		}
		for k, v := range w.Targets {
			c.name(fmt.Sprintf("wells[%d].targets[%d].code", i, k), v.Code)
		}
	}
}

func (c *checker) name(path, text string) {
	switch {
	case len(text) > longestName:
		c.strictf(path, "%d bytes; write at most %d", len(text), longestName)
	case text != visible(text):
		c.strictf(path, "%s holds characters that nobody sees; write it without them", quote(text))
	}
}

// visible is a text without the characters that nobody sees: control characters, line breaks, marks of direction.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, text)
}

// tallTable is how much higher than its tank a table can be: beyond it the height is in another unit.
const tallTable = 4

// heights looks at a height that does not go with the table: 20 inches beside a table of 240 are twenty feet.
func (c *checker) heights(at string, t *Tank) {
	top := t.Table.Top()
	if t.Strapping.Given() && top >= tallTable*float64(t.Height) {
		c.strictf(at+".height", "%g in, and the strapping table goes up to %g in; write the height with its unit, such as 20ft. Until then gauger works with the table's %g in",
			float64(t.Height), top, top)
		t.Height = tank.Length(top)
	}
	for _, f := range []struct {
		key string
		v   tank.Length
	}{{"height", t.Height}, {"diameter", t.Diameter}} {
		n, there := locate(c.root, join(at, f.key))
		if there && f.v > 0 && f.v < leastBare && strings.Trim(target(n).Value, "0123456789.+eE") == "" {
			c.strictf(join(at, f.key), "%s without a unit is inches; write %sft, or %sin if it is. Until then gauger works with inches", n.Value, n.Value, n.Value)
		}
	}
}

// leastBare is the least size of a tank that is believed without a unit.
const leastBare = 48

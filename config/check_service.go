package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/fleet"
	"gauger/agent/tank"
	"gauger/collectors"
)

func (c *checker) checkService() {
	s := c.cfg.Service
	c.checkServiceURL()
	if !s.SecondaryKey.Given() {
		c.warnf("service.secondary_key", "missing; with one key alone a refused key stops the sending: add the second one")
	} else if s.SecondaryKey == s.PrimaryKey {
		c.problemf("service.secondary_key", "the same source as primary_key; name the place of the other key")
	}
	c.checkFile("service.ca_file", s.CAFile)
	if file := resolve(c.dir, s.CAFile); fileExists(file) {
		if _, err := cloud.Authorities(file); err != nil {
			c.strictf("service.ca_file", "%v", err)
		}
	}
	primary, secondary := c.checkSecret("service.primary_key", s.PrimaryKey), c.checkSecret("service.secondary_key", s.SecondaryKey)
	if primary != "" && primary == secondary && s.SecondaryKey != s.PrimaryKey {
		c.warnf("service.secondary_key", "the same key as primary_key, so that both are refused together; put the second one there")
	}
	c.checkHeaders()
	if l := s.Login; l != nil {
		for key, from := range map[string]Secret{"password_hash": l.PasswordHash, "token": l.Token, "api_key": l.APIKey, "subscription_key": l.SubscriptionKey} {
			c.checkSecret("service.login."+key, from)
		}
		if *l == (Login{}) {
			c.problemf("service.login", "sends nothing; write what Authenticate needs, or remove it")
		}
		if l.Customer != "" {
			c.checkGUID("service.login.customer", l.Customer)
		}
		if !l.SubscriptionKey.Given() {
			c.warnf("service.login.subscription_key", "missing; Authenticate then works only where the gateway does not check the key")
		}
	}
	for _, p := range s.Wire.Check() {
		c.problemf("service.wire."+p.Key, "%s", p.Message)
	}
	if w := s.Wire; w.SealMode == "static" && w.SealOn != "" && w.SealOn == w.SealOff {
		c.warnf("service.wire.seal_on", "%s is seal_off too: by each ticket the seal that was taken off is put on again; write two, or seal_mode: empty", quote(w.SealOn))
	}
	for _, seg := range [][2]string{{"alpha", s.Segments.Alpha}, {"beta", s.Segments.Beta}} {
		if path := "service.segments." + seg[0]; c.given(path) && (seg[1] == "" || strings.ContainsAny(seg[1], "/?# \t\n")) {
			c.problemf(path, "%s is not one segment of a path; write it without slashes, such as vAlpha", quote(seg[1]))
		}
	}
}

func (c *checker) checkServiceURL() {
	const path = "service.url"
	text := c.cfg.Service.URL
	if text == "" && !c.given(path) {
		return
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "" || u.Opaque != "":
		c.problemf(path, "%s is not an address; write https://api.example.com", quote(collectors.WithoutUser(text)))
	case u.User != nil:
		c.problemf(path, "holds a user or password; remove what stands before the @, keys have settings of their own")
	case u.Scheme != "https" && u.Scheme != "http":
		c.problemf(path, "%s is not spoken to a service; write https://%s", quote(u.Scheme), u.Host)
	case u.Scheme == "http" && !cloud.Loopback(u.Hostname()):
		c.problemf(path, "http would send the key readable over the network; write https://%s (http only toward the box itself)", u.Host)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		c.problemf(path, "has a ? or #; write the base address alone, https://%s", u.Host)
	}
}

// checkLoads checks the detector's settings of the site and of each tank, and what rests on them.
func (c *checker) checkLoads() {
	c.checkLoadsBlock("loads", c.cfg.Loads)
	for i, t := range c.cfg.Tanks {
		path := fmt.Sprintf("tanks[%d].loads", i)
		if c.given(path) {
			c.checkLoadsBlock(path, t.Loads)
		}
		if t.Loads.Speed != c.cfg.Loads.Speed {
			c.problemf(path+".speed", "%g, while the site's is %g; the site has one clock: set speed under the top-level loads alone", t.Loads.Speed, c.cfg.Loads.Speed)
		}
	}
	if least := c.cfg.leastHold(); c.given("tickets.hold") && c.cfg.Tickets.Hold < least {
		c.problemf("tickets.hold", "%s is shorter than the detector's confirm; write at least %s, or shorten loads.confirm", shortDuration(c.cfg.Tickets.Hold), shortDuration(least))
	}
}

// checkLoadsBlock checks one block of the detector's settings. The detector takes zero for its default where zero says nothing;
// written out it is a mistake.
func (c *checker) checkLoadsBlock(path string, l tank.Loads) {
	for _, f := range fieldsOf(settable(&l).Type()) {
		where := join(path, f.name)
		if !c.given(where) {
			continue
		}
		switch v := settable(&l).FieldByIndex(f.index); {
		case v.CanFloat() && v.Float() < 0:
			c.problemf(where, "%g is below zero; write a number above zero", v.Float())
		case v.IsZero() && f.name != "truck_max" && f.name != "settle":
			c.problemf(where, "zero makes no sense here; write a value above zero, or remove the line")
		}
	}
	given := func(key string) bool { return c.given(join(path, key)) }
	if given("speed") && l.Speed != 1 && c.cfg.remote() {
		c.problemf(path+".speed", "%g would make tickets of a sped-up clock at a real service; remove speed, or use a service on this box", l.Speed)
	}
	if (given("max_rate") || given("min_rate")) && l.MaxRate <= l.MinRate {
		c.problemf(path+".max_rate", "%g is not above min_rate, which is %g; nothing would be a load", l.MaxRate, l.MinRate)
	}
	if (given("truck_max") || given("min_load")) && l.TruckMax > 0 && l.TruckMax < l.MinLoad {
		c.problemf(path+".truck_max", "%g is below min_load, which is %g; nothing would be a load", l.TruckMax, l.MinLoad)
	}
	if given("min_rate") && l.MinRate > slowHauler {
		c.warnf(path+".min_rate", "%g bbl/min is more than many a hauler draws who loads by gravity, 0.7 to 3, and each of his loads would ask; write 0.5, or look how fast the slowest truck here loads", l.MinRate)
	}
	if given("max_rate") && l.MaxRate < fastPump {
		c.warnf(path+".max_rate", "%g bbl/min is less than trucks' pumps may draw, 4 to 12, and a faster load would be doubted or missed; write 15, or remove the line", l.MaxRate)
	}
	if (given("pause_merge") || given("truck_max")) && l.TruckMax == 0 && l.PauseMerge >= longPause {
		c.warnf(path+".pause_merge", "%s, with truck_max 0, makes one load of two trucks that come within it; write 12m, or in truck_max what the largest truck here holds", shortDuration(l.PauseMerge))
	}
	if given("settle") && l.Settle >= longSettle {
		c.warnf(path+".settle", "the closing would be carried back over %s of what the well makes meanwhile, while oil rests within minutes; remove the line, or write 5m", shortDuration(l.Settle))
	}
}

// Beyond these a detector's setting costs loads or barrels at ordinary sites.
const (
	slowHauler = 1.0 // bbl/min
	fastPump   = 8.0
	longPause  = 20 * time.Minute // in which the next truck hooks up
	longSettle = 30 * time.Minute
)

// leastBytesPerDay is the least number of bytes a day that lets a site work: a request that needs a new connection takes some
// 7 KB, most of it the service's certificates, and so does each attempt at a service that is out of order.
const leastBytesPerDay = 100_000

func (c *checker) checkLink() {
	l := c.cfg.Link
	if l.MaxBytesPerDay > 0 && l.MaxBytesPerDay < leastBytesPerDay {
		c.problemf("link.max_bytes_per_day", "%d bytes are a dozen requests a day; write at least 100kB, or 0 for no limit", int64(l.MaxBytesPerDay))
	}
	for i, w := range l.Windows {
		if w.From == w.To {
			c.problemf(fmt.Sprintf("link.windows[%d]", i), "begins and ends at %s; leave the windows out if values may leave at any time", w.From)
		}
	}
}

// leastPull and leastHeartbeat are what a link with many sites bears.
const (
	leastPull      = time.Minute
	leastHeartbeat = 10 * time.Minute
)

func (c *checker) checkPull() {
	p := c.cfg.Pull
	if h := c.cfg.Heartbeat; c.given("heartbeat") && h != 0 && (h < leastHeartbeat || h > longestInterval) {
		c.problemf("heartbeat", "%s is no interval between such events; write %s to %s, or leave it out for none", shortDuration(h), shortDuration(leastHeartbeat), shortDuration(longestInterval))
	}
	if !c.given("config") {
		return
	}
	if c.given("config.percent") && (p.Percent < 1 || p.Percent > 100) {
		c.problemf("config.percent", "%d is no percentage of sites; write 1 to 100", p.Percent)
	}
	if p.From == "" && p.Key == "" {
		return
	}
	if u, err := url.Parse(fleet.Address(p.From, "ID")); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !cloud.Loopback(u.Hostname()) {
		c.problemf("config.from", "%s is no https address of a file; write https://conf.example.com/{id}.yaml", quote(collectors.WithoutUser(p.From)))
	}
	if _, err := fleet.ParseKey(p.Key); err != nil {
		c.problemf("config.key", "%v", err)
	}
	if c.given("config.every") && (p.Every < leastPull || p.Every > longestInterval) {
		c.problemf("config.every", "%s is no interval between two looks; write %s to %s", shortDuration(p.Every), shortDuration(leastPull), shortDuration(longestInterval))
	}
}

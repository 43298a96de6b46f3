package config

import (
	"cmp"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors"
)

// complete fills in what follows from other keys: file names, inherited objects, the hold, client ids, and how a
// tank's level is read on a serial line.
func (c *Config) complete(dir string) {
	c.resolveFiles(dir)
	c.inherit()
	c.Service.Wire.Zone = c.Zone
	c.Tickets.Hold = cmp.Or(c.Tickets.Hold, c.leastHold())
	if c.Link.Rate == rateByPlace {
		c.Link.Rate = 0
		if c.remote() {
			c.Link.Rate = 1
		}
	}
	facts := c.facts()
	for _, dev := range c.Devices {
		dev.options.complete(facts)
	}
	c.whatLeaves()
}

func (c *Config) resolveFiles(dir string) {
	at := func(file *string) { *file = resolve(dir, *file) }
	s := &c.Service
	at(&s.CAFile)
	at(&s.PrimaryKey.File)
	at(&s.SecondaryKey.File)
	for _, several := range []map[string]Secret{s.SecretHeaders, c.HTTP.Tokens} {
		for name, from := range several {
			at(&from.File)
			several[name] = from
		}
	}
	if l := s.Login; l != nil {
		at(&l.PasswordHash.File)
		at(&l.Token.File)
		at(&l.APIKey.File)
		at(&l.SubscriptionKey.File)
	}
	at(&c.Store.Path)
	for _, dev := range c.Devices {
		for _, file := range dev.options.files() {
			at(file)
		}
		dev.options.mapFiles(func(file string) string { return resolve(dir, file) })
	}
	for i := range c.Tanks {
		at(&c.Tanks[i].Strapping.File)
	}
}

// inherit gives devices, tanks and events without an object that of what they belong to.
func (c *Config) inherit() {
	from := func(object, kind *string, aboveObject, aboveKind string) {
		if *object == "" {
			*object = aboveObject
			if *kind == "" {
				*kind = aboveKind
			}
		}
		*kind = cmp.Or(*kind, "Device")
	}
	c.ObjectType = cmp.Or(c.ObjectType, "Device")
	for i := range c.Devices {
		dev := &c.Devices[i]
		from(&dev.Object, &dev.ObjectType, c.Object, c.ObjectType)
	}
	for i := range c.Tanks {
		from(&c.Tanks[i].Object, &c.Tanks[i].ObjectType, c.Object, c.ObjectType)
	}
	owner := map[collectors.Point]*Device{}
	for p := range c.Points() {
		owner[p.Point] = &c.Devices[p.Device]
	}
	for i := range c.Events {
		e := &c.Events[i]
		dev := cmp.Or(owner[e.Point], &Device{})
		from(&e.Object, &e.ObjectType, dev.Object, dev.ObjectType)
	}
}

func (c *Config) facts() siteFacts {
	return siteFacts{id: c.ID, shard: c.Shard, zone: c.Zone, remote: c.remote(), masters: len(c.Share.Masters) > 0}
}

// whatLeaves tells each device which of its points leave as a well's values or are levels of tanks.
func (c *Config) whatLeaves() {
	posted := func(p collectors.Point) {
		if info, ok := c.PointInfo(p); ok { // what is posted is a whole number of scaled ones: no more than one of them apart
			c.Devices[info.Device].options.feeds(info.Index, func(time.Duration) float64 { return 1 / c.Service.Wire.ValueScale })
		}
	}
	for _, w := range c.Wells {
		for _, v := range w.TagValues {
			posted(v.Point)
		}
		for _, v := range w.Targets {
			posted(v.Point)
		}
	}
	for _, t := range c.Tanks {
		info, ok := c.PointInfo(t.Level)
		if !ok {
			continue
		}
		c.Devices[info.Device].options.feeds(info.Index, func(within time.Duration) float64 {
			per, err := tank.LevelInches(1, info.Unit, t.Height)
			if err != nil || per <= 0 {
				return 0
			}
			return inchesApart(t.Table, t.Loads, within) / per
		})
	}
}

// inchesApart is the most that two readings of a level lie apart that follow each other within a time.
func inchesApart(table tank.Table, l tank.Loads, apart time.Duration) float64 {
	inches := float64(l.Noise)
	if perInch := table.PerInch(table.Top() / 2); perInch > 0 {
		inches += l.MaxRate / perInch * apart.Minutes() * math.Max(1, l.Speed)
	}
	return inches
}

// remote says that the service is not on the box itself, as far as its address can be read.
func (c *Config) remote() bool {
	u, err := url.Parse(c.Service.URL)
	return err == nil && u.Host != "" && !cloud.Loopback(u.Hostname())
}

// leastHold is the longest time that the detector itself needs after the end of a load. In a demonstration it is
// counted on the wall's clock, so that a hold in the site's time passes as well as one in the wall's.
func (c *Config) leastHold() time.Duration {
	least := confirm(c.Loads)
	for i, t := range c.Tanks {
		if d := confirm(t.Loads); i == 0 || d > least {
			least = d
		}
	}
	return least
}

// confirm is how long the detector needs after the end of a load, by the wall's clock.
func confirm(l tank.Loads) time.Duration {
	if l.Speed <= 0 {
		return l.Confirm
	}
	return time.Duration(float64(l.Confirm) / l.Speed)
}

// LeaveAtOnce says that no ticket of a truck is held for longer than the detector needs to make it: nobody has time to change one.
func (c *Config) LeaveAtOnce() bool {
	trucks := false
	for _, t := range c.Tanks {
		if t.Ticketed() && c.Tickets.Hold > confirm(t.Loads) {
			return false
		}
		trucks = trucks || t.Ticketed()
	}
	return trucks
}

var pointType = reflect.TypeFor[collectors.Point]()

// referToTemplates makes a point of its own of everything that tanks, events and wells name and a template makes.
func (c *Config) referToTemplates() {
	for _, part := range []any{c.Tanks, c.Events, c.Wells} {
		c.referToTemplatesIn(reflect.ValueOf(part))
	}
}

// referToTemplatesIn looks for the names of points in a part of the configuration.
func (c *Config) referToTemplatesIn(v reflect.Value) {
	switch {
	case v.Type() == pointType:
		c.Refer(collectors.Point(v.String()))
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			c.referToTemplatesIn(v.Index(i))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.referToTemplatesIn(v.Field(i))
			}
		}
	}
}

// Refer makes a point of its own of one that only a template of an MQTT device would make: it is expected then, whether
// it is heard or not. Nothing is changed for any other name.
func (c *Config) Refer(p collectors.Point) {
	device, name, _ := strings.Cut(string(p), "/")
	for i := range c.Devices {
		dev := &c.Devices[i]
		if dev.options == nil || dev.Name != device || slices.ContainsFunc(dev.points(), func(p pointOptions) bool { return p.name == name }) {
			continue
		}
		if o, made := dev.options.instance(name); made {
			dev.options = o
		}
	}
}

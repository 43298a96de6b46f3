package config

import (
	"reflect"
	"slices"
	"strings"

	"gauger/collectors"
)

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

package main

import (
	"cmp"
	"slices"
	"strings"

	"gauger/agent"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// makings says of a point how its value comes about by the configuration.
func makings(cfg *config.Config) func(collectors.Point) agent.Making {
	devices := map[string]*config.Device{}
	for i := range cfg.Devices {
		devices[cfg.Devices[i].Name] = &cfg.Devices[i]
	}
	return func(p collectors.Point) agent.Making {
		name, point, _ := strings.Cut(string(p), "/")
		d := devices[name]
		switch {
		case d == nil:
		case d.Modbus != nil:
			if k := slices.IndexFunc(d.Modbus.Points, func(m modbus.Point) bool { return m.Name == point }); k >= 0 {
				m := d.Modbus.Points[k]
				made := making("", m.Unit, m.Scale, m.Offset)
				made.Place, made.Source = d.Modbus.Source(m)
				return made
			}
		case d.MQTT != nil:
			if k := slices.IndexFunc(d.MQTT.Points, func(m mqtt.Point) bool { return m.Name == point }); k >= 0 {
				m := d.MQTT.Points[k]
				return making(d.MQTT.Source(m), m.Unit, m.Scale, m.Offset)
			}
		case d.Recording != nil:
			for _, m := range d.Recording.Points {
				if m.Name == point {
					return making("recording "+string(p), m.Unit, nil, 0)
				}
			}
		}
		return agent.Making{}
	}
}

// making is one with the scale that is in force where none is configured.
func making(source, unit string, scale *float64, offset float64) agent.Making {
	return agent.Making{Source: source, Unit: collectors.Unit(unit), Scale: *cmp.Or(scale, new(1.0)), Add: offset}
}

package main

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gauger/agent"
	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/config"
)

// siteOf turns the configuration into what the ledger has to know.
func siteOf(cfg *config.Config) agent.Site {
	s := agent.Site{
		Name: cfg.Site, ID: cfg.ID, Object: cfg.Object, ObjectType: cfg.ObjectType, Zone: cfg.Zone,
		ProductionDay: time.Duration(cfg.ProductionDay), Hold: cfg.Tickets.Hold, HoldDoubtful: cfg.Tickets.Review == "hold", LossLimit: cfg.Book.LossLimit,
		Wire: cfg.Service.Wire, Config: cfg.Hash(), OriginOf: makings(cfg),
	}
	s.Wire.Zone = cfg.Zone
	every := map[collectors.Point]time.Duration{}
	objects := map[collectors.Point]config.Device{}
	for p := range cfg.Points() {
		every[p.Point], objects[p.Point] = p.Every, cfg.Devices[p.Device]
	}
	for _, t := range cfg.Tanks {
		s.Tanks = append(s.Tanks, agent.Tank{
			Tank: t.Model(every[t.Level]), Level: t.Level, Production: t.Production, Valve: t.LoadValve, Interface: t.Interface,
			Top: agent.Source(t.TopTemperature), Bottom: agent.Source(t.BottomTemperature),
			Gravity: agent.Source(t.SpecificGravity), BSW: agent.Source(t.BSW), Offset: t.Offset,
			Purchaser: t.Purchaser, Comments: t.Comments, Object: t.Object, ObjectType: t.ObjectType,
		})
	}
	for _, e := range cfg.Events {
		s.Rules = append(s.Rules, ruleOf(e, objects[e.Point]))
	}
	for _, w := range cfg.Wells {
		for _, v := range w.TagValues {
			s.Values = append(s.Values, agent.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every})
		}
		for _, v := range w.Targets {
			s.Values = append(s.Values, agent.Value{Well: w.ID, Code: v.Code, Point: v.Point, Every: v.Every, Target: true})
		}
	}
	return s
}

// ruleOf is a configured event; without an object of its own it names its device's.
func ruleOf(e config.Event, d config.Device) agent.Rule {
	r := agent.Rule{
		Name: e.Rule, Object: e.Object, ObjectType: e.ObjectType, Point: e.Point, Above: e.Above, Below: e.Below, Equals: e.Equals,
		Bit: e.Bit, Stale: e.Stale, Bad: e.Bad, Clear: e.Clear, For: e.For, Urgent: e.Urgent, Note: e.Note,
	}
	if r.Object == "" {
		r.Object, r.ObjectType = d.Object, d.ObjectType
	}
	return r
}

// makings says of a point how its value comes about by the configuration.
func makings(cfg *config.Config) func(collectors.Point) agent.Origin {
	devices := map[string]*config.Device{}
	for i := range cfg.Devices {
		devices[cfg.Devices[i].Name] = &cfg.Devices[i]
	}
	return func(p collectors.Point) agent.Origin {
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
		return agent.Origin{}
	}
}

// making is one with the scale that is in force where none is configured.
func making(source, unit string, scale *float64, offset float64) agent.Origin {
	return agent.Origin{Source: source, Unit: collectors.Unit(unit), Scale: *cmp.Or(scale, new(1.0)), Add: offset}
}

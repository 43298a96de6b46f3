package main

import (
	"fmt"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/config"
)

// site is the site around a command, as far as its configuration can be read: beside a daemon a command needs none.
type site struct{ cfg *config.Config }

// findSite looks at the configuration. Where it cannot be read a person is told that times are the box's own; what is
// wrong with it is for `gauger check`.
func findSite(c *call) site {
	cfg, err := config.Load(c.config)
	if err != nil {
		fmt.Fprintf(c.err, "times are the box's own, since the configuration cannot be used: %s\n", firstLine(unreadable(err).Error()))
		return site{}
	}
	return site{cfg}
}

// zone is the site's local time, else the box's.
func (h site) zone() *time.Location {
	if h.cfg == nil {
		return time.Local
	}
	return h.cfg.Zone
}

// cloudWire is how the site speaks with the service, else as the defaults have it.
func (h site) cloudWire() cloud.Wire {
	if h.cfg == nil {
		return cloud.DefaultWire()
	}
	return h.cfg.Service.Wire
}

// tank is one tank's configuration; nil when it has none.
func (h site) tank(id string) *config.Tank {
	if h.cfg == nil {
		return nil
	}
	for i := range h.cfg.Tanks {
		if h.cfg.Tanks[i].ID == id {
			return &h.cfg.Tanks[i]
		}
	}
	return nil
}

// barrels is the volume between two gauges (inches) by the tank's table; ok is false when the table does not have them.
func (h site) barrels(id string, open, closing float64) (bbl float64, ok bool) {
	t := h.tank(id)
	if t == nil {
		return 0, false
	}
	full, err1 := t.Table.Barrels(open)
	left, err2 := t.Table.Barrels(closing)
	return full - left, err1 == nil && err2 == nil
}

// minute is how the commands show a time: the site's date and time of day.
func minute(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	return t.In(zone).Format("2006-01-02 15:04")
}

// gauge is a level (inches) as a gauger writes it.
func gauge(inches float64) string { return tank.Length(inches).Gauge() }

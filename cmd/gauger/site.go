package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/control"
	"gauger/agent/ledger"
	"gauger/collectors"
	"gauger/config"
)

// site is the site around a command, as far as its configuration can be read: beside a daemon a command needs none.
type site struct{ cfg *config.Config }

// findSite looks at the configuration. Where it cannot be read a person is told that times are the box's own; what is
// wrong with it is for `gauger check`.
func findSite(c *call) site {
	cfg, err := config.Load(c.config)
	if err != nil {
		fmt.Fprintf(c.err, "times are the box's own, since the configuration cannot be used: %s\n", firstLine(asConfigError(err).Error()))
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

// cloudWire is the configured form of the service's messages, else the default one, of whose seals nobody knows.
func (h site) cloudWire() cloud.Wire {
	w := cloud.DefaultWire()
	w.SealMode = ""
	if h.cfg != nil {
		w = h.cfg.Service.Wire
	}
	w.Zone = h.zone()
	return w
}

// checkTank refuses an id that is no tank's of the configuration, where there is one; an empty one is none.
func (h site) checkTank(id string) error {
	if h.cfg == nil || id == "" || h.tank(id) != nil {
		return nil
	}
	return fmt.Errorf("no tank %q is configured%s%s", id, didYouMean(id, h.tankIDs()), h.tankNames("; the tanks are "))
}

func (h site) tankIDs() (ids []string) {
	if h.cfg != nil {
		for _, t := range h.cfg.Tanks {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// tankNames are the tanks behind words that lead to them; empty where none is known.
func (h site) tankNames(lead string) string {
	return behind(lead, strings.Join(h.tankIDs(), ", "))
}

// tank is one tank's configuration; nil when it has none.
func (h site) tank(id string) *config.Tank {
	if h.cfg == nil {
		return nil
	}
	return h.cfg.Tank(id)
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

// checkPoints refuses names that no point has. Without a configuration nobody can say.
func (h site) checkPoints(names []string) error {
	if h.cfg == nil {
		return nil
	}
	for _, name := range names {
		h.cfg.Refer(collectors.Point(name))
	}
	points := h.cfg.PointNames()
	for _, name := range names {
		if !slices.Contains(points, name) {
			slices.Sort(points)
			return usageError{fmt.Sprintf("there is no point %q%s; the points are %s", name, didYouMean(name, points), strings.Join(points, ", "))}
		}
	}
	return nil
}

// points are the named points with their units, all of the configuration's when none is named.
func (h site) points(names []string) []config.PointInfo {
	var out []config.PointInfo
	if h.cfg == nil {
		for _, name := range names {
			out = append(out, config.PointInfo{Point: collectors.Point(name)})
		}
		return out
	}
	for p := range h.cfg.Points() {
		if len(names) == 0 || slices.Contains(names, string(p.Point)) {
			out = append(out, p)
		}
	}
	return out
}

// outdated says how old a reading is that is too old for what is now: older than its point's interval and some minutes more, or than an hour
// where no interval is known, as of what speaks when it changes; empty: it is not. A recording tells of its own time.
func (h site) outdated(p collectors.Point, at time.Time) string {
	most := 10 * time.Minute
	if time.Since(at) > most && h.cfg != nil {
		h.cfg.Refer(p)
		info, _ := h.cfg.PointInfo(p)
		if info.Point != "" && h.cfg.Devices[info.Device].Kind() == "recording" {
			return ""
		}
		if most += info.Every; info.Every == 0 {
			most = time.Hour
		}
	}
	return when(time.Since(at) > most, "that was "+control.Ago(time.Now(), at)+", and nothing newer came")
}

// impossible says that a value cannot be what a tank takes it for, its level or a figure of its tickets; empty: it can, or no tank takes it.
func (h site) impossible(s control.PointReading) string {
	v, err := strconv.ParseFloat(string(s.Value), 64)
	if err != nil || h.cfg == nil {
		return ""
	}
	for _, t := range h.cfg.Tanks {
		for _, k := range t.PointRefs() {
			if k.Point != s.Point {
				continue
			}
			var err error
			switch k.Key {
			case "level", "interface":
				model := t.Model(0)
				_, err = model.Inches(v, string(s.Unit), t.Offset)
			case "top_temperature", "bottom_temperature", "specific_gravity", "bsw":
				_, err = ledger.Measured(k.Key, v, s.Unit)
			}
			if err != nil {
				return fmt.Sprintf("no %s of %s: %v; look at its unit, order, scale and register", strings.ReplaceAll(k.Key, "_", " "), t.ID, err)
			}
		}
	}
	return ""
}

package config

import (
	"path/filepath"
	"slices"

	"gauger/collectors"
	"gauger/collectors/modbus"
)

// Keep leaves the device only the points that wanted accepts, and those that they rest on.
func (dev *Device) Keep(wanted func(collectors.Point) bool) {
	drop := func(name string) bool { return !wanted(collectors.PointOf(dev.Name, name)) }
	restedOn := func(name string) bool {
		return slices.ContainsFunc(dev.Modbus.Points, func(p modbus.Point) bool {
			return !drop(p.Name) && slices.ContainsFunc(p.Companions(), func(c modbus.Companion) bool { return c.Point == name })
		})
	}
	switch {
	case dev.Modbus != nil:
		d := *dev.Modbus
		d.Points, dev.Modbus = without(d.Points, func(i int) bool { return drop(d.Points[i].Name) && !restedOn(d.Points[i].Name) }), &d
	case dev.MQTT != nil:
		d := *dev.MQTT
		d.Points, dev.MQTT = without(d.Points, func(i int) bool { return drop(d.Points[i].Name) }), &d
	case dev.Recording != nil:
		d := *dev.Recording
		d.Points, dev.Recording = without(d.Points, func(i int) bool { return drop(d.Points[i].Name) }), &d
	case dev.Host != nil:
		d := *dev.Host
		d.Points, dev.Host = without(d.Points, func(i int) bool { return drop(d.Points[i].Name) }), &d
	}
}

// Empty says that the device has no points.
func (dev Device) Empty() bool { return len(dev.points()) == 0 }

// without is a copy of list less the elements at which drop holds.
func without[P any](list []P, drop func(i int) bool) []P {
	kept := make([]P, 0, len(list))
	for i, p := range list {
		if !drop(i) {
			kept = append(kept, p)
		}
	}
	return slices.Clip(kept)
}

// StorePath is store.path of a file that may be full of mistakes, or the default: where the last good configuration of
// a site is looked for when the present one is bad.
func StorePath(path string) string {
	def := defaultConfig().Store.Path
	b, err := readRegular(path, maxBytes)
	if err != nil {
		return def
	}
	root, flaw := parse(b)
	if flaw != nil {
		return def
	}
	at, found := locate(root, "store.path")
	switch {
	case !found || at.Value == "":
		return def
	case filepath.IsAbs(at.Value):
		return at.Value
	}
	return filepath.Join(filepath.Dir(path), at.Value)
}

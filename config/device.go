package config

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"gauger/collectors"

	"go.yaml.in/yaml/v3"
)

// Device is one entry of the devices. Its kind is decided by the one key of the kinds that the entry has.
type Device struct {
	Name       string
	Object     string // GUID of the device in the service; the site's when empty
	ObjectType string

	kind    *kind // nil, as the options, for one that could not be decoded
	options options
	sum     uint64 // over what it is in the effective configuration
}

// Options are those that a device's collector takes, such as a modbus.Device; nil when the device is of another kind.
func Options[T any](dev Device) *T {
	if dev.options == nil {
		return nil
	}
	d, _ := dev.options.device().(*T)
	return d
}

func (dev *Device) decodeNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		d.addf(n, path, "%s where a device is wanted; write {name: ..., modbus: ..., points: [...]}", shapeOf(n))
		return
	}
	kind := kindOf(d.kindKey(n, path))
	if kind == nil {
		return
	}
	if kind.underlay != nil {
		kind.underlay(d, n, path)
	}
	o := kind.entry()
	d.decodeStruct(n, reflect.ValueOf(o).Elem(), path)
	o.dropDone()
	*dev = Device{Name: o.name(), Object: o.named().Object, ObjectType: o.named().ObjectType, kind: kind, options: o}
}

// kindKey finds the key that makes an entry one of a kind; empty when it has reported that it is none, or several.
func (d *decoder) kindKey(n *yaml.Node, path string) string {
	before := len(d.problems)
	pairs, _ := d.pairs(n, path)
	d.problems = d.problems[:before] // mistakes in it are told when the entry is decoded
	keys := kindKeys()
	var found []string
	misspelt := ""
	for _, p := range pairs {
		if slices.Contains(keys, p.name) {
			found = append(found, p.name)
		} else if w := Nearest(p.name, keys); w != "" {
			misspelt = w // told when the entry is decoded as that kind
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		d.addf(n, path, "has %s; a device has one of them: make two devices", strings.Join(found, " and "))
	case misspelt != "":
		return misspelt
	default:
		d.addf(n, path, "nothing says what kind of device this is; write one of %s", strings.Join(keys, ", "))
	}
	return ""
}

// entry is the device as it stands in a file.
func (dev Device) entry() reflect.Value {
	e := reflect.New(reflect.TypeOf(dev.options).Elem())
	e.Elem().Set(reflect.ValueOf(dev.options).Elem())
	*e.Interface().(options).named() = named{dev.Object, dev.ObjectType}
	return e.Elem()
}

// Kind is the key that decided what the device is, such as modbus; empty when it could not be decoded.
func (dev Device) Kind() string {
	if dev.kind == nil {
		return ""
	}
	return dev.kind.key
}

// Origin says how the value of one of the device's points comes about.
func (dev Device) Origin(point string) collectors.Origin {
	if dev.options == nil {
		return collectors.Origin{}
	}
	return dev.options.origin(point)
}

// Keep leaves the device only the points that wanted accepts, and those that they rest on.
func (dev *Device) Keep(wanted func(collectors.Point) bool) {
	if dev.options != nil {
		dev.options = dev.options.without(func(name string) bool { return !wanted(collectors.PointOf(dev.Name, name)) })
	}
}

// Empty says that the device has no points.
func (dev Device) Empty() bool { return len(dev.points()) == 0 }

func (dev Device) points() []pointOptions {
	if dev.options == nil {
		return nil
	}
	return dev.options.points()
}

// PointInfo is one point of the site.
type PointInfo struct {
	Point  collectors.Point
	Unit   collectors.Unit
	Device int           // index into Config.Devices
	Index  int           // index into the device's points
	Every  time.Duration // interval at which a reading is expected; 0: unknown
}

// Points is every point that the devices have, in the order of the file. A site may have some hundred thousand. What a
// template makes is among them where something names it; the rest is known from the messages alone.
func (c *Config) Points() iter.Seq[PointInfo] {
	return func(yield func(PointInfo) bool) {
		for i := range c.Devices {
			dev := &c.Devices[i]
			for k, p := range dev.points() {
				if p.template {
					continue
				}
				if !yield(PointInfo{collectors.PointOf(dev.Name, p.name), collectors.Unit(p.unit), i, k, dev.options.interval(k)}) {
					return
				}
			}
		}
	}
}

// PointNames are the names of those points.
func (c *Config) PointNames() (names []string) {
	for p := range c.Points() {
		names = append(names, string(p.Point))
	}
	return names
}

// CountPoints counts the points of all devices.
func (c *Config) CountPoints() (n int) {
	for range c.Points() {
		n++
	}
	return n
}

// PointInfo finds a point by its name.
func (c *Config) PointInfo(p collectors.Point) (PointInfo, bool) {
	for info := range c.Points() {
		if info.Point == p {
			return info, true
		}
	}
	return PointInfo{}, false
}

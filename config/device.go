package config

import (
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"

	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/collectors/sim"

	"go.yaml.in/yaml/v3"
)

// Device is one entry of the devices. Exactly one of Modbus, MQTT, Recording and Host is set: the kind is decided by
// which of the keys modbus, mqtt, recording and host the entry has.
type Device struct {
	Name       string
	Object     string // GUID of the device in the service; the site's when empty
	ObjectType string
	Modbus     *modbus.Device
	MQTT       *mqtt.Device
	Recording  *sim.Device
	Host       *host.Device
	Password   Secret // of an MQTT device; empty when it has none
}

// named is what the entries of every kind may have besides the kind's own options.
type named struct {
	Object     string `yaml:"object" doc:"GUID of the device in the service: its diagnostics name it. Default: the site's"`
	ObjectType string `yaml:"object_type" doc:"type of that object. Default: the site's"`
}

// The entries of the four kinds as they stand in the file.
type (
	modbusEntry struct {
		Options  modbus.Device `yaml:",inline"`
		Template template      `yaml:",inline"`
		Named    named         `yaml:",inline"`
	}
	mqttEntry struct {
		Options  mqtt.Device `yaml:",inline"`
		Password Secret      `yaml:"password" doc:"password at the broker: {credential: NAME}, {file: PATH} or {env: NAME}"`
		Named    named       `yaml:",inline"`
	}
	recordingEntry struct {
		Options sim.Device `yaml:",inline"`
		Named   named      `yaml:",inline"`
	}
	hostEntry struct {
		Options host.Device `yaml:",inline"`
		Named   named       `yaml:",inline"`
	}
)

func (modbusEntry) defaults() any {
	return modbusEntry{Options: modbus.Device{Unit: new(1), Every: 10 * time.Second, Timeout: time.Second}}
}

func (recordingEntry) defaults() any {
	return recordingEntry{Options: sim.Device{Every: 10 * time.Second}}
}

func (hostEntry) defaults() any { return hostEntry{Options: host.Device{Every: time.Minute}} }

// kinds are the keys that decide what an entry is.
var kinds = []string{"modbus", "mqtt", "recording", "host"}

// entryOf is the struct of a kind's entry.
func entryOf(kind string) reflect.Type {
	switch kind {
	case "modbus":
		return reflect.TypeFor[modbusEntry]()
	case "mqtt":
		return reflect.TypeFor[mqttEntry]()
	case "recording":
		return reflect.TypeFor[recordingEntry]()
	}
	return reflect.TypeFor[hostEntry]()
}

func (dev *Device) decodeNode(d *decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		d.addf(n, path, "%s where a device is wanted; write {name: ..., modbus: ..., points: [...]}", kindOf(n))
		return
	}
	kind := d.kindOf(n, path)
	if kind == "" {
		return
	}
	if kind == "modbus" {
		d.fill(n, path)
	}
	entry := reflect.New(entryOf(kind)).Elem()
	entry.Set(defaultOf(entry.Type()))
	d.structure(n, entry, path)
	dev.take(entry.Interface())
}

// kindOf finds which kind an entry is; empty when it has reported that it is none, or several.
func (d *decoder) kindOf(n *yaml.Node, path string) string {
	before := len(d.problems)
	pairs, _ := d.pairs(n, path)
	d.problems = d.problems[:before] // mistakes in it are told when the entry is decoded
	var found []string
	misspelt := ""
	for _, p := range pairs {
		if slices.Contains(kinds, p.name) {
			found = append(found, p.name)
		} else if w := Nearest(p.name, kinds); w != "" {
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
		d.addf(n, path, "nothing says what kind of device this is; write one of %s", strings.Join(kinds, ", "))
	}
	return ""
}

func (dev *Device) take(entry any) {
	switch e := entry.(type) {
	case modbusEntry:
		*dev = Device{Name: e.Options.Name, Modbus: &e.Options, Object: e.Named.Object, ObjectType: e.Named.ObjectType}
	case mqttEntry:
		*dev = Device{Name: e.Options.Name, MQTT: &e.Options, Password: e.Password, Object: e.Named.Object, ObjectType: e.Named.ObjectType}
	case recordingEntry:
		*dev = Device{Name: e.Options.Name, Recording: &e.Options, Object: e.Named.Object, ObjectType: e.Named.ObjectType}
	case hostEntry:
		*dev = Device{Name: e.Options.Name, Host: &e.Options, Object: e.Named.Object, ObjectType: e.Named.ObjectType}
	}
}

// entry is the device as it stands in a file; nil for one that could not be decoded.
func (dev Device) entry() any {
	n := named{dev.Object, dev.ObjectType}
	switch {
	case dev.Modbus != nil:
		return modbusEntry{*dev.Modbus, template{}, n}
	case dev.MQTT != nil:
		return mqttEntry{*dev.MQTT, dev.Password, n}
	case dev.Recording != nil:
		return recordingEntry{*dev.Recording, n}
	case dev.Host != nil:
		return hostEntry{*dev.Host, n}
	}
	return nil
}

// Kind is the key that decided what the device is: modbus, mqtt, recording or host.
func (dev Device) Kind() string {
	switch {
	case dev.Modbus != nil:
		return "modbus"
	case dev.MQTT != nil:
		return "mqtt"
	case dev.Recording != nil:
		return "recording"
	case dev.Host != nil:
		return "host"
	}
	return ""
}

// Every is how often a reading of the point is expected; 0 when the device speaks when it likes.
func (dev Device) Every(point int) time.Duration {
	switch {
	case dev.Modbus != nil:
		return dev.Modbus.Every
	case dev.Recording != nil:
		return dev.Recording.Every
	case dev.Host != nil:
		return dev.Host.Every
	case dev.MQTT != nil && point < len(dev.MQTT.Points):
		return dev.MQTT.Points[point].ExpectEvery
	}
	return 0
}

// PointInfo is one point of the site.
type PointInfo struct {
	Point  collectors.Point
	Unit   collectors.Unit
	Device int           // index into Config.Devices
	Index  int           // index into the device's points
	Every  time.Duration // how often a reading is expected; 0: unknown
}

// Points is every point that the devices have, in the order of the file. A site may have some hundred thousand. What a
// template makes is among them where something names it; the rest is known from the messages alone.
func (c *Config) Points() iter.Seq[PointInfo] {
	return func(yield func(PointInfo) bool) {
		for i := range c.Devices {
			dev := &c.Devices[i]
			for k, p := range dev.points() {
				if dev.MQTT != nil && dev.MQTT.Points[k].Template() {
					continue
				}
				if !yield(PointInfo{collectors.PointOf(dev.Name, p.name), collectors.Unit(p.unit), i, k, dev.Every(k)}) {
					return
				}
			}
		}
	}
}

// CountPoints is how many points the devices have.
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

// measured is what the points of all kinds have in common.
type measured struct{ name, unit string }

func (dev Device) points() []measured {
	var out []measured
	switch {
	case dev.Modbus != nil:
		for _, p := range dev.Modbus.Points {
			out = append(out, measured{p.Name, p.Unit})
		}
	case dev.MQTT != nil:
		for _, p := range dev.MQTT.Points {
			out = append(out, measured{p.Name, p.Unit})
		}
	case dev.Recording != nil:
		for _, p := range dev.Recording.Points {
			out = append(out, measured{p.Name, p.Unit})
		}
	case dev.Host != nil:
		for _, p := range dev.Host.Points {
			out = append(out, measured{p.Name, p.Unit})
		}
	}
	return out
}

// describe names a device for a message about two of them.
func (dev Device) describe(i int) string { return fmt.Sprintf("devices[%d] (%s)", i, dev.Name) }

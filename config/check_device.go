package config

import (
	"fmt"
	"slices"
	"strings"

	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
)

func (c *checker) devices() {
	if len(c.cfg.Devices) == 0 && len(c.cfg.Tanks) > 0 {
		c.problemf("devices", "missing; name at least one device that has the points of the tanks")
	}
	first := map[string]int{}
	for i, dev := range c.cfg.Devices {
		at := fmt.Sprintf("devices[%d]", i)
		if dev.Kind() == "" {
			continue
		}
		switch k, twice := first[dev.Name]; {
		case strings.ContainsAny(dev.Name, "/,\" \t\r\n"):
			c.problemf(at+".name", "%s has a slash, comma, quote or blank; use letters, digits, - and _", quote(dev.Name))
		case twice && dev.Name != "":
			c.problemf(at+".name", "%s is already the name of devices[%d]; give each device a name of its own", quote(dev.Name), k)
		case !twice:
			first[dev.Name] = i
		}
		c.companions(at, dev)
		for _, p := range c.own(dev) {
			where := at
			if p.Path != "" {
				where = join(at, p.Path)
			}
			c.problemf(where, "%s", p.Message)
		}
		c.device(at, dev)
	}
}

// own is what the device's kind itself finds wrong with its options.
func (c *checker) own(dev Device) []collectors.Problem {
	switch {
	case dev.Modbus != nil:
		return dev.Modbus.Check()
	case dev.MQTT != nil:
		return withPassword(dev).Check()
	case dev.Recording != nil:
		return dev.Recording.Check()
	}
	return dev.Host.Check()
}

// withPassword is the MQTT device with its password's source joined to it.
func withPassword(dev Device) mqtt.Device {
	m := *dev.MQTT
	if dev.Password.Given() {
		m.Password = dev.Password.Read
	}
	return m
}

// device checks what the kinds leave to the configuration.
func (c *checker) device(at string, dev Device) {
	switch {
	case dev.Modbus != nil:
		c.positive(at+".every", dev.Modbus.Every)
		c.positive(at+".timeout", dev.Modbus.Timeout)
		for _, w := range dev.Modbus.Warnings() {
			c.warnf(join(at, w.Path), "%s", w.Message)
		}
		m := *dev.Modbus
		m.MapFiles(func(file string) string {
			c.exists(at+".modbus", file)
			return file
		})
		c.atLeastOne(at, *dev.Modbus)
	case dev.MQTT != nil:
		c.exists(at+".password", dev.Password.File)
		c.exists(at+".ca_file", dev.MQTT.CAFile)
		c.exists(at+".cert_file", dev.MQTT.CertFile)
		c.exists(at+".key_file", dev.MQTT.KeyFile)
	case dev.Recording != nil:
		c.positive(at+".every", dev.Recording.Every)
		c.exists(at+".recording", dev.Recording.File)
		if c.cfg.remote() {
			c.warnf(at+".recording", "a recording makes tickets of what is past, and the service is not on this box; use it for demonstrations alone")
		}
	case dev.Host != nil:
		c.positive(at+".every", dev.Host.Every)
	}
}

// atLeastOne refuses a written zero where leaving the key out means the usual.
func (c *checker) atLeastOne(at string, d modbus.Device) {
	for key, zero := range map[string]bool{
		"every_while_loading": d.EveryWhileLoading == 0, "turnaround": d.Turnaround == 0, "max_registers": d.MaxRegisters == 0, "max_bits": d.MaxBits == 0,
	} {
		if zero && c.given(at+"."+key) {
			c.problemf(at+"."+key, "zero; write more, or leave it out for the usual")
		}
	}
}

// lines checks what devices that share an endpoint must agree on.
func (c *checker) lines() {
	var devices []modbus.Device
	var index []int
	for i, dev := range c.cfg.Devices {
		if dev.Modbus != nil {
			m := *dev.Modbus
			m.Name = dev.describe(i)
			devices, index = append(devices, m), append(index, i)
		}
	}
	for _, found := range modbus.Conflicts(devices) {
		c.problemf(fmt.Sprintf("devices[%d].%s", index[found.Device], found.Path), "%s", found.Message)
	}
	c.sessions()
}

// sessions checks what MQTT devices at one broker must agree on.
func (c *checker) sessions() {
	var devices []mqtt.Device
	var index []int
	for i, dev := range c.cfg.Devices {
		if dev.MQTT != nil {
			m := withPassword(dev)
			m.ClientID = c.cfg.clientID(dev)
			devices, index = append(devices, m), append(index, i)
		}
	}
	for k, found := range mqtt.CheckShared(devices) {
		for _, p := range found {
			c.problemf(fmt.Sprintf("devices[%d].%s", index[k], p.Path), "%s", p.Message)
		}
	}
}

// point checks that a point that something names is there. It is not told when the point's device is itself wrong.
func (c *checker) point(path string, p collectors.Point) (PointInfo, bool) {
	if p == "" {
		if c.given(path) {
			c.problemf(path, "empty; write DEVICE/POINT, or remove the line")
		}
		return PointInfo{}, false
	}
	if info, ok := c.points[p]; ok {
		return info, true
	}
	device, _, slash := strings.Cut(string(p), "/")
	if !slash {
		c.problemf(path, "%s is not a point; write DEVICE/POINT%s", quote(string(p)), c.hint(p))
		return PointInfo{}, false
	}
	doubtful := c.told["devices"]
	for i, dev := range c.cfg.Devices {
		switch {
		case dev.Name != device:
			doubtful = doubtful || c.unnamed(i, dev)
		case c.unpointed(i, dev):
			return PointInfo{}, false
		default:
			c.problemf(path, "%s has no such point; %s", quote(device), suggest(string(p), c.pointNames()))
			return PointInfo{}, false
		}
	}
	if !doubtful {
		c.problemf(path, "%s: no device is called %s; %s", quote(string(p)), quote(device), suggest(string(p), c.pointNames()))
	}
	return PointInfo{}, false
}

// unnamed says that a device's name is not to be relied on, because of a mistake already told.
func (c *checker) unnamed(i int, dev Device) bool {
	return dev.Name == "" || c.told[fmt.Sprintf("devices[%d].name", i)]
}

// unpointed says the same of the names of its points.
func (c *checker) unpointed(i int, dev Device) bool {
	points := dev.points()
	for k, p := range points {
		if p.name == "" || c.told[fmt.Sprintf("devices[%d].points[%d].name", i, k)] {
			return true
		}
	}
	return len(points) == 0
}

func (c *checker) pointNames() []string {
	var names []string
	for p := range c.cfg.Points() {
		names = append(names, string(p.Point))
	}
	return names
}

// hint offers the point whose last part was written without its device.
func (c *checker) hint(p collectors.Point) string {
	for _, name := range c.pointNames() {
		if strings.HasSuffix(name, "/"+string(p)) {
			return ", here " + name
		}
	}
	return ""
}

// companions finds names that are no point of their device, to offer the one that was meant.
func (c *checker) companions(at string, dev Device) {
	if dev.Modbus == nil {
		return
	}
	var names []string
	for _, p := range dev.points() {
		names = append(names, p.name)
	}
	for i, p := range dev.Modbus.Points {
		for _, ref := range p.Companions() {
			if ref.Point != "" && !slices.Contains(names, ref.Point) {
				c.problemf(fmt.Sprintf("%s.points[%d].%s", at, i, ref.Key), "%s is no point of this device; %s", quote(ref.Point), suggest(ref.Point, names))
			}
		}
	}
}

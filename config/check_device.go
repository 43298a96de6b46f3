package config

import (
	"fmt"
	"strings"

	"gauger/collectors"
	"gauger/collectors/modbus"
)

func (c *checker) checkDevices() {
	if len(c.cfg.Devices) == 0 && len(c.cfg.Tanks) > 0 {
		c.problemf("devices", "missing; name at least one device that has the points of the tanks")
	}
	first, facts := map[string]int{}, c.cfg.facts()
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
		dev.options.check(c.report, at, facts)
	}
}

// checkAgreements checks what the devices of a kind must agree on.
func (c *checker) checkAgreements() {
	for _, k := range kinds {
		if k.agree == nil {
			continue
		}
		var all []deviceAt
		for i, dev := range c.cfg.Devices {
			if dev.Kind() == k.key {
				all = append(all, deviceAt{i, dev.options})
			}
		}
		k.agree(c.report, c.cfg.facts(), all)
	}
}

// checkPoint checks that a point that something names is there. It is not told when the point's device is itself wrong.
func (c *checker) checkPoint(path string, p collectors.Point) (PointInfo, bool) {
	if p == "" {
		if c.given(path) {
			c.problemf(path, "empty; write DEVICE/POINT, or remove the line")
		}
		return PointInfo{}, false
	}
	if info, ok := c.pointsByName[p]; ok {
		return info, true
	}
	device, _, slash := strings.Cut(string(p), "/")
	if !slash {
		c.problemf(path, "%s is not a point; write DEVICE/POINT%s", quote(string(p)), c.hintDevice(p))
		return PointInfo{}, false
	}
	doubtful := c.toldPaths["devices"]
	for i, dev := range c.cfg.Devices {
		switch {
		case dev.Name != device:
			doubtful = doubtful || c.nameInDoubt(i, dev)
		case c.pointNamesInDoubt(i, dev):
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

// nameInDoubt says that a device's name is not to be relied on, because of a mistake already told.
func (c *checker) nameInDoubt(i int, dev Device) bool {
	return dev.Name == "" || c.toldPaths[fmt.Sprintf("devices[%d].name", i)]
}

// pointNamesInDoubt says the same of the names of its points.
func (c *checker) pointNamesInDoubt(i int, dev Device) bool {
	points := dev.points()
	for k, p := range points {
		if p.name == "" || c.toldPaths[fmt.Sprintf("devices[%d].points[%d].name", i, k)] {
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

// hintDevice offers the point whose last part was written without its device.
func (c *checker) hintDevice(p collectors.Point) string {
	for _, name := range c.pointNames() {
		if strings.HasSuffix(name, "/"+string(p)) {
			return ", here " + name
		}
	}
	return ""
}

// busTime computes how much of the time of their lines the Modbus devices take, and tells of lines that cannot keep
// up. The configuration is complete by now: levels on serial lines are read twice.
func (c *checker) busTime() {
	var devices []modbus.Device
	at := map[string]string{}
	for i, dev := range c.cfg.Devices {
		if d := Options[modbus.Device](dev); d != nil {
			devices = append(devices, *d)
			at[dev.Name] = fmt.Sprintf("devices[%d]", i)
		}
	}
	c.cfg.Budgets = modbus.Budgets(devices)
	for _, b := range c.cfg.Budgets {
		if device, message := b.Problem(); message != "" {
			path := at[device] + ".every"
			n, _ := locate(c.root, path)
			c.cfg.Slow = append(c.cfg.Slow, c.d.at(n, path, message))
		}
		if device, message := b.Warning(); message != "" {
			c.warnf(at[device]+".every_while_loading", "%s", message)
		}
	}
}

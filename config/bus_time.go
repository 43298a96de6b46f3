package config

import (
	"fmt"

	"gauger/collectors/modbus"
)

// busTime computes how much of the time of their lines the Modbus devices take, and tells of lines that cannot keep
// up. The configuration is complete by now: levels on serial lines are read twice.
func (c *checker) busTime() {
	var devices []modbus.Device
	at := map[string]string{}
	for i, dev := range c.cfg.Devices {
		if dev.Modbus != nil {
			devices = append(devices, *dev.Modbus)
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

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	beat       = 25 * time.Millisecond // how often the site is looked at
	radioEvery = time.Minute           // of the site's time: how often the radio node checks in
	radioLeast = 100 * time.Millisecond
)

// world is everything around gauger: the well site, the devices through which it is seen, and the service. One
// goroutine owns it.
type world struct {
	site    *site
	slave   *slave
	radio   *radio
	service *service
	checkIn time.Time // of the radio node, next
}

// addresses of the parts of a world; port 0 takes a free one.
type addresses struct {
	modbus, mqtt, service string
}

// loopback takes free ports.
var loopback = addresses{"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"}

func newWorld(speed float64, at addresses) (*world, error) {
	w := &world{site: newSite(speed, time.Now())}
	var err error
	if w.slave, err = newSlave(at.modbus); err != nil {
		return nil, err
	}
	if w.radio, err = newRadio(at.mqtt); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if w.service, err = newService(at.service); err != nil {
		return nil, errors.Join(err, w.close())
	}
	if _, err := w.tick(time.Now()); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// tick moves the site on to now and shows it to the devices.
func (w *world) tick(now time.Time) ([]happening, error) {
	out := w.site.advance(now)
	w.slave.show(w.site)
	if now.Before(w.checkIn) {
		return out, nil
	}
	w.checkIn = now.Add(max(radioLeast, time.Duration(float64(radioEvery)/w.site.speed)))
	return out, w.radio.publish(w.site.gauged(w.site.tanks[2]), now)
}

// close stops every part that runs.
func (w *world) close() error {
	var errs []error
	if w.service != nil {
		errs = append(errs, w.service.close())
	}
	if w.radio != nil {
		errs = append(errs, w.radio.close())
	}
	if w.slave != nil {
		errs = append(errs, w.slave.close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop the simulated site: %w", err)
	}
	return nil
}

// Names that the demonstration's configuration and its judge share.
const (
	siteID       = "DEMO"
	deviceGUID   = "6f9619ff-8b86-d011-b42d-00c04fc964ff"
	wellID       = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
	targetCode   = "Production Target Oil"
	primaryKey   = "wellsim-primary-key"
	secondaryKey = "wellsim-secondary-key"
	highLevel    = "High level"
	lowBattery   = "Low battery"
	highAbove    = 180.0 // inches
	highClear    = 175.0
	lowBelow     = 11.8 // volts
	lowClear     = 12.4
)

// configuration writes gauger's file for the simulated site into a folder and returns its name.
func (w *world) configuration(folder, status string) (string, error) {
	var y strings.Builder
	fmt.Fprintf(&y, `site: Demonstration battery
id: %s
object: %s
object_type: Device
time_zone: America/Chicago
service:
  url: http://%s
  primary_key: {env: GAUGER_PRIMARY_KEY}
  secondary_key: {env: GAUGER_SECONDARY_KEY}
store: {path: %s, max_bytes: 8MiB}
devices:
  - name: battery-plc
    modbus: tcp://%s
    unit: %d
    every: 100ms
    timeout: 500ms
    points:
      - {name: tk1-level, holding: %d, type: float32, order: CDAB, unit: in, range: [0, 246]}
      - {name: tk2-level, holding: %d, type: float32, order: CDAB, unit: in, range: [0, 246]}
      - {name: tk1-top, holding: %d, type: int16, scale: 0.1, unit: degF}
      - {name: tk2-top, holding: %d, type: int16, scale: 0.1, unit: degF}
      - {name: oil-target, holding: %d, type: uint16, unit: bbl/d}
      - {name: battery, holding: %d, type: uint16, scale: 0.01, unit: V}
      - {name: status, holding: %d, type: uint16}
  - name: radio
    mqtt: mqtt://%s
    client_id: gauger-demo
    points:
      - {name: tk3-level, topic: %s, value: level.in, time: ts, unit: in, range: [0, 198]}
tanks:
`, siteID, deviceGUID, w.service.addr, filepath.Join(folder, "state"), w.slave.addr, slaveUnit,
		regTank1, regTank2, regTemp1, regTemp2, regTarget, regBattery, regStatus, w.radio.addr, radioTopic)
	for i, t := range w.site.tanks {
		y.WriteString(t.tankYAML(i))
	}
	fmt.Fprintf(&y, `events:
  - {rule: %s, point: battery-plc/tk1-level, above: %g, clear: %g, note: "TK-1 at {value} {unit}"}
  - {rule: %s, point: battery-plc/battery, below: %g, clear: %g, note: "battery at {value} {unit}"}
wells:
  - id: %s
    tag_values:
      - {code: %q, point: battery-plc/oil-target, every: %s}
    targets:
      - {code: %q, point: battery-plc/oil-target, every: 15s}
loads: {speed: %g}
link: {rate: off}
http: {listen: %s}
`, highLevel, highAbove, highClear, lowBattery, lowBelow, lowClear, wellID, targetCode, tagEvery, targetCode, w.site.speed, status)
	name := filepath.Join(folder, "gauger.yaml")
	if err := os.WriteFile(name, []byte(y.String()), 0o600); err != nil {
		return "", fmt.Errorf("write the demonstration's configuration: %w", err)
	}
	return name, nil
}

// tankYAML is the tank's entry; the third tank is the radio's, its temperature nobody measures.
func (t *stock) tankYAML(i int) string {
	var y strings.Builder
	fmt.Fprintf(&y, "  - id: %s\n", t.ID)
	if i < 2 {
		fmt.Fprintf(&y, "    level: battery-plc/tk%d-level\n    top_temperature: battery-plc/tk%d-top\n", i+1, i+1)
	} else {
		y.WriteString("    level: radio/tk3-level\n    top_temperature: 68\n")
	}
	fmt.Fprintf(&y, "    specific_gravity: 0.83\n    bsw: 0.2\n    sensor: radar\n    purchaser: Acme Crude Gathering\n")
	fmt.Fprintf(&y, "    height: %gft\n    diameter: %gft\n    strapping:\n", t.Height/12, t.Diameter)
	for _, r := range t.strapping() {
		fmt.Fprintf(&y, "      - [%g, %.2f]\n", r[0], r[1])
	}
	return y.String()
}

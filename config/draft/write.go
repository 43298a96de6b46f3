package draft

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/config"
)

// round to a hundredth, which is finer than a level is read.
func round(v float64) float64 { return math.Round(100*v) / 100 }

func yamlText(text string) string {
	line, err := config.Line(text)
	if err != nil {
		return fmt.Sprintf("%q", text)
	}
	return line
}

// placeYAML is the place of a secret as it stands in the file.
func placeYAML(place string) string {
	kind, name, _ := strings.Cut(place, ":")
	return "{" + kind + ": " + yamlText(name) + "}"
}

// YAML is the configuration's file.
func (s *Site) YAML(at time.Time) ([]byte, error) {
	var y strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&y, format+"\n", args...) }
	line("# Begun by gauger init on %s. Every key there is: gauger check --example. Then: gauger check, gauger read, gauger commission.", at.Format(time.DateOnly))
	line("site: %s", yamlText(s.Name))
	line("id: %s   # part of every ticket number; never change it", yamlText(s.ID))
	if s.Object == "" {
		line("#object: 6f9619ff-8b86-d011-b42d-00c04fc964ff   # MISSING: the GUID of the site's device, which gauger devices query shows as soon as a key works")
	} else {
		line("object: %s   # the site's device at the service, which diagnostics and memos name", yamlText(s.Object))
	}
	line("time_zone: %s", s.Zone)
	line("\nservice:\n  url: %s", yamlText(s.URL))
	if s.CAFile != "" {
		line("  ca_file: %s", yamlText(s.CAFile))
	}
	line("  # A secret never stands here. credential: NAME is the file NAME in /etc/gauger, root's and 0600.")
	line("  primary_key: %s", placeYAML(s.PrimaryKey))
	if s.SecondKey != "none" {
		line("  secondary_key: %s", placeYAML(s.SecondKey))
	}
	if s.Store != "" {
		line("\nstore:\n  path: %s", yamlText(s.Store))
	}
	line("\n# What is read. gauger probe and gauger discover find more points.\ndevices:")
	for _, d := range s.Devices {
		if err := d.write(line); err != nil {
			return nil, err
		}
	}
	line("\n# The tanks whose levels make the run tickets.\ntanks:%s", map[bool]string{true: " []"}[len(s.Tanks) == 0])
	for _, t := range s.Tanks {
		t.write(line)
	}
	line("\n#http: {listen: 127.0.0.1:8480}   # the status page")
	level, full := s.firstLevel()
	line("#events:\n#  - {rule: High level, point: %s, above: %g, clear: %g, urgent: true}", level, round(0.95*full), round(0.925*full))
	return []byte(y.String()), nil
}

// firstLevel is a point for an example, and what it reads of a full tank.
func (s *Site) firstLevel() (name string, full float64) {
	if len(s.Tanks) == 0 {
		return "plc/tk1-level", 240
	}
	t := s.Tanks[0]
	if p := s.point(t.Level); p != nil {
		if per, err := tank.LevelInches(1, p.Unit, t.height); err == nil && per > 0 {
			return t.Level, float64(t.height) / per
		}
	}
	return t.Level, float64(t.height)
}

func (d *Device) write(line func(string, ...any)) error {
	line("  - name: %s", yamlText(d.Name))
	if d.From != "" {
		line("    # %s", strings.Join(strings.Fields(d.From), " "))
	}
	for _, key := range d.Keys {
		line("    %s", key)
	}
	var points []string
	for _, p := range d.Points {
		if strings.HasPrefix(d.Keys[0], "mqtt:") {
			p.watch()
		}
		text, err := p.line()
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if about := strings.Join(strings.Fields(p.About), " "); about != "" {
			text += "   # " + about
		}
		points = append(points, text)
	}
	if len(points) == 0 {
		return nil
	}
	line("    points:")
	for _, p := range points {
		line("      - %s", p)
	}
	return nil
}

// usualSilence is the expect_every of a point of which nobody saw how often it speaks.
const usualSilence = "1h"

// watch gives a point of a broker its expect_every, so that it does not stay good for ever. A Sparkplug node tells its own death.
func (p *Point) watch() {
	if strings.Contains(p.Raw, "expect_every:") || strings.Contains(p.Raw, "sparkplug:") {
		return
	}
	p.set("expect_every: " + usualSilence)
	p.About = "expect_every is a guess: write how often it speaks; silent for half as long again, it is Bad"
}

// line is the point as it is written; empty: as its template has it.
func (p *Point) line() (string, error) {
	switch {
	case p.Raw != "":
		return p.Raw, nil
	case p.OfTemplate && !p.changed:
		return "", nil
	case p.OfTemplate:
		return config.Line(modbus.Point{Name: p.Name, Unit: p.Unit, Range: p.Modbus.Range})
	}
	return config.Line(*p.Modbus)
}

func (t Tank) write(line func(string, ...any)) {
	line("  - id: %s   # its external ID at the service", yamlText(t.ID))
	line("    level: %s", yamlText(t.Level))
	line("    height: %s", yamlText(t.Height))
	if t.Strapping != "" {
		line("    strapping: %s", yamlText(t.Strapping))
	} else {
		line("    diameter: %s   # inside; a strapping table is better: strapping: tk.csv", yamlText(t.Diameter))
	}
	line("    offset: 0in   # added to the level; gauger commission sets it")
	line("    sensor: %s", t.Sensor)
	for _, x := range [][2]string{{"group", t.Group}, {"interface", t.Interface}} {
		if x[1] != "" {
			line("    %s: %s", x[0], yamlText(x[1]))
		}
	}
	if t.Product == "water" {
		line("    product: water   # no run ticket is made of it")
		return
	}
	line("    purchaser: %s", yamlText(t.Purchaser))
	for _, x := range [][3]string{{"top_temperature", t.Top, "68"}, {"specific_gravity", t.Gravity, "0.83"}, {"bsw", t.BSW, "0.2"}} {
		if x[1] != "" {
			line("    %s: %s", x[0], x[1])
		} else {
			line("    #%s: %s   # a number, or a point; left out where nobody measures it", x[0], x[2])
		}
	}
}

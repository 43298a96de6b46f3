package config

import (
	"fmt"
	"strings"
	"testing"

	"gauger/collectors"
	"gauger/collectors/modbus"
)

// withDevices is a site with the devices whose lines are given, from line 6 on.
func withDevices(lines string) string {
	return "site: S\nid: S\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\ntime_zone: UTC\n" +
		"service: {url: http://127.0.0.1:9, primary_key: {env: K}, secondary_key: {env: L}}\ndevices:\n" + lines
}

func parsed(t *testing.T, lines string) *Config {
	t.Helper()
	cfg, err := Parse("site.yaml", []byte(withDevices(lines)), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func pointsOf(d *modbus.Device) string {
	var names []string
	for _, p := range d.Points {
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

func TestEveryTemplateIsADevice(t *testing.T) {
	for _, name := range modbus.Templates() {
		text, _ := modbus.Template(name)
		if !strings.HasPrefix(string(text), "# ") || strings.Count(string(text), "\n#") < 5 {
			t.Errorf("%s does not begin with what it is for, what it rests on and what to check", name)
		}
		d := Options[modbus.Device](parsed(t, "  - {name: d, modbus: tcp://h, template: "+name+"}\n").Devices[0])
		if found := d.Check(); len(found) > 0 {
			t.Errorf("%s: %v", name, found)
		}
		if !strings.Contains(string(Schema()), `"`+name+`"`) {
			t.Errorf("the schema does not offer %s", name)
		}
		root, flaw := parse(text)
		if flaw != nil {
			t.Fatalf("%s: %v", name, flaw)
		}
		if points, _ := locate(root, "points"); len(points.Content) != len(d.Points) {
			t.Errorf("%s: %d points of %d", name, len(d.Points), len(points.Content))
		}
	}
}

func TestADeviceSpeaksOverItsTemplate(t *testing.T) {
	d := Options[modbus.Device](parsed(t, `  - name: d
    modbus: tcp://h
    template: rosemount-5300
    unit: 7
    order: ABCD
    points:
      - {name: level, unit: ft, holding: 6302, range: [0, 20]}
      - {name: tv, good_when: }
      - {name: extra, input: 9}
`).Devices[0])
	if *d.Unit != 7 || d.Order != "ABCD" || d.Timeout.Seconds() != 2 {
		t.Errorf("unit %d, order %s, timeout %s", *d.Unit, d.Order, d.Timeout)
	}
	if got := pointsOf(d); got != "status level sv tv qv extra" {
		t.Fatalf("points %s", got)
	}
	level, tv := d.Points[1], d.Points[3]
	if level.Unit != "ft" || level.Input != nil || level.Holding == nil || *level.Holding != 6302 || level.Type != "float32" || level.GoodWhen == nil {
		t.Errorf("level %+v, want ft, holding 6302, no input, float32, with good_when", level)
	}
	if tv.GoodWhen != nil || *tv.Input != 1306 {
		t.Errorf("tv %+v", tv)
	}
}

func TestOnlyKeepsWhatAPointRestsOn(t *testing.T) {
	for lines, want := range map[string]string{
		"template: pneumercator, only: [tk2-level, tk1-level]":                                                        "tk1-status tk1-level tk2-status tk2-level",
		"template: rosemount-5300, only: [status]":                                                                    "status",
		"template: rosemount-5300, only: [sv], points: [{name: tv, unit: degF}]":                                      "status sv tv",
		"template: signalfire-gateway, only: [], points: [{name: a, input: 1, age: {point: timeout, max: 30m}}]":      "timeout a",
		"template: signalfire-gateway, only: [a], points: [{name: a, input: 1, good_when: {point: status, is: [0]}}]": "status a",
	} {
		if got := pointsOf(Options[modbus.Device](parsed(t, "  - {name: d, modbus: tcp://h, "+lines+"}\n").Devices[0])); got != want {
			t.Errorf("%s: %s, want %s", lines, got, want)
		}
	}
}

func TestShiftMovesEveryAddressOfTheTemplate(t *testing.T) {
	d := Options[modbus.Device](parsed(t, "  - {name: d, modbus: tcp://h, template: abb-lwt300, shift: -1, points: [{name: own, input: 9}]}\n").Devices[0])
	var got []string
	for _, p := range d.Points {
		got = append(got, fmt.Sprint(p.Name, " ", *p.Input))
	}
	want := "[levels 3001 error 3002 warning 3003 level 7000 interface 7002 temperature 7004 own 9]"
	if fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestTwoDevicesOfOneAlias: the same lines twice by << are filled in twice, and each is whole.
func TestTwoDevicesOfOneAlias(t *testing.T) {
	cfg := parsed(t, `  - &radar {name: a, modbus: tcp://h, template: rosemount-5300, shift: 700, only: [level], points: [{name: level, unit: in}]}
  - {<<: *radar, name: b, unit: 3}
  - {<<: *radar, name: c, unit: 4, only: [sv]}
`)
	for i, want := range []string{"status level", "status level", "status level sv"} {
		d := Options[modbus.Device](cfg.Devices[i])
		if got := pointsOf(d); got != want || *d.Points[0].Input != 2000 || *d.Points[1].Input != 2002 {
			t.Errorf("%s: %s at %d, want %s at 2000", d.Name, got, *d.Points[0].Input, want)
		}
	}
}

func TestMistakesAboutTemplates(t *testing.T) {
	for _, m := range []struct {
		lines string
		line  int
		path  string
		say   string
	}{
		{"  - name: d\n    modbus: tcp://h\n    template: rosmount-5300\n", 9, "devices[0].template", "did you mean rosemount-5300?"},
		{"  - name: d\n    modbus: tcp://h\n    template: \n", 9, "devices[0].template", "has no value"},
		{"  - name: d\n    modbus: tcp://h\n    template: pneumercator\n    only: [tk1-levl]\n", 10, "devices[0].only[0]", "did you mean tk1-level?"},
		{"  - name: d\n    modbus: tcp://h\n    only: [level]\n    points: [{name: level, input: 0}]\n", 9, "devices[0].only", "write template: NAME"},
		{"  - name: d\n    modbus: tcp://h\n    shift: 1\n    points: [{name: level, input: 0}]\n", 9, "devices[0].shift", "write template: NAME"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    shift: one\n", 10, "devices[0].shift", "whole number"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    shift: -2000\n    only: [status]\n", 9, "devices[0].points[0].input", "input -700: addresses go from 0"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    points:\n      - {name: level, tpye: int16}\n", 11, "devices[0].points[1].tpye", "did you mean type?"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    points:\n      - {name: level, unit: in, unit: ft}\n", 11, "devices[0].points[0].unit", "given twice"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    unit: 1\n    unit: 2\n", 11, "devices[0].unit", "given twice"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    points: level\n", 10, "devices[0].points", "where a list is wanted"},
		{"  - name: d\n    mqtt: mqtt://h\n    template: vegaflex\n    points: [{name: a, topic: b}]\n", 9, "devices[0].template", "no such key"},
		{"  - name: d\n    modbus: tcp://h\n    template: vegaflex\n    points:\n      - {name: a, input: 1, age: {point: statsu, max: 1m, unit: s}}\n", 11, "devices[0].points[5].age.point", "did you mean status?"},
	} {
		ps := problemsOf(t, withDevices(m.lines))
		if len(ps) != 1 || ps[0].Line != m.line || ps[0].Path != m.path || !strings.Contains(ps[0].Message, m.say) {
			t.Errorf("%s\ngot  %v\nwant line %d, %s: ...%s...", m.lines, ps, m.line, m.path, m.say)
		}
	}
}

// TestKeepingAPointKeepsItsCompanions: gauger read d/level needs the status to know whether it is good.
func TestKeepingAPointKeepsItsCompanions(t *testing.T) {
	dev := parsed(t, "  - {name: d, modbus: tcp://h, template: pneumercator}\n").Devices[0]
	dev.Keep(func(p collectors.Point) bool { return p == "d/tk3-water" })
	if got := pointsOf(Options[modbus.Device](dev)); got != "tk3-status tk3-water" {
		t.Errorf("%s", got)
	}
}

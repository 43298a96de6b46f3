package main

import (
	"testing"

	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/config"
)

const makingYAML = `site: Making
id: MAKING
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
time_zone: UTC
service: {url: "http://127.0.0.1:1", primary_key: {env: A}, secondary_key: {env: B}}
devices:
  - name: plc
    modbus: tcp://10.0.0.5
    unit: 2
    points:
      - {name: level, holding: 100, type: float32, order: CDAB, unit: ft, scale: 0.1, offset: 2}
  - name: radar
    modbus: tcp://10.0.0.6
    template: rosemount-5300
  - name: radio
    mqtt: mqtt://10.0.0.7
    points:
      - {name: "{1}-level", topic: "field/+/level", value: in, unit: in}
  - {name: old, recording: old.csv, points: [{name: level, unit: cm}]}
tanks:
  - {id: TK-1, level: plc/level, height: 20ft, diameter: 12ft, purchaser: Acme}
  - {id: TK-2, level: radio/tk2-level, height: 20ft, diameter: 12ft, purchaser: Acme}
`

func TestHowTheValueOfAPointComesAbout(t *testing.T) {
	cfg, err := config.Parse("gauger.yaml", []byte(makingYAML), "")
	if err != nil {
		t.Fatal(err)
	}
	site := newAgentSite(cfg)
	for point, want := range map[collectors.Point]collectors.Origin{
		"plc/level":       {Place: "10.0.0.5:502", Source: "unit 2, holding 100, float32 CDAB", Unit: "ft", Scale: 0.1, Add: 2},
		"radio/tk2-level": {Source: "radio, topic field/tk2/level, value in", Unit: "in", Scale: 1},
		"old/level":       {Source: "recording old/level", Unit: "cm", Scale: 1},
		"plc/other":       {},
		"gone/level":      {},
	} {
		if got := site.OriginOf(point); got != want {
			t.Errorf("%s is made as %+v, want %+v", point, got, want)
		}
	}
	for _, p := range config.Options[modbus.Device](cfg.Devices[1]).Points {
		if m := site.OriginOf(collectors.PointOf("radar", p.Name)); m.Source == "" || m.Scale == 0 {
			t.Errorf("of the template's point %s nothing is known: %+v", p.Name, m)
		}
	}
}

package config

import (
	"strings"
	"testing"
	"time"

	"gauger/agent/cloud"
	"gauger/collectors/sim"
)

// replay is the file of a recorded case: a recording, a service on the box itself, tables in place.
const replay = `site: Bench
id: BENCH
object: 11111111-2222-3333-4444-555555555555
object_type: Device
time_zone: America/Denver
production_day: "07:00"
service:
  url: http://127.0.0.1:9
  primary_key: {env: GAUGER_KEY}
store: {path: state}
devices:
  - name: rec
    recording: readings.csv
    every: 30s
    points:
      - {name: t1-level, unit: percent}
      - {name: t1-temperature, unit: degF}
      - {name: t1-interface, unit: in}
      - {name: t2-level, unit: ft}
tanks:
  - id: TK-0A
    level: rec/t1-level
    top_temperature: rec/t1-temperature
    interface: rec/t1-interface
    height: 20ft
    diameter: 12ft
    sensor: hydrostatic
    sales: truck
    purchaser: Test Purchaser
    group: g1
    strapping:   # inches, barrels
      - [0, 0]
      - [120, 201.43]
      - [240, 402.87]
  - id: TK-0B
    level: rec/t2-level
    height: 15.5ft
    diameter: 15.5ft
    sales: lact
    group: g1
`

func TestAReplayLoads(t *testing.T) {
	cfg, err := Parse("gauger.yaml", []byte(replay), "")
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, w := range cfg.Warnings {
		paths = append(paths, w.Path)
	}
	if got := strings.Join(paths, " "); got != "service.secondary_key devices[0].recording" {
		t.Errorf("warnings at %s; want the missing second key and the missing recording", got)
	}
	if Options[sim.Device](cfg.Devices[0]).File != "readings.csv" || cfg.Devices[0].Kind() != "recording" || cfg.Store.Path != "state" {
		t.Errorf("device %+v, store %+v", Options[sim.Device](cfg.Devices[0]), cfg.Store)
	}
	info, _ := cfg.PointInfo(cfg.Tanks[0].Level)
	if m := cfg.Tanks[0].Model(info.Every); m.Every != 30*time.Second || m.Group != "g1" || !m.Interface || m.Sensor != "hydrostatic" {
		t.Errorf("model %+v, want every 30s, group g1, an interface, hydrostatic", m)
	}
	if b := cfg.Tanks[1]; !b.Lact() || b.Table.Name() != "geometry" || b.Table.Top() != 186 {
		t.Errorf("tank %+v", b)
	}
}

func TestASpedUpDemonstrationLoads(t *testing.T) {
	cfg, err := Parse("gauger.yaml", []byte(replay+"loads: {speed: 60}\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Tickets.Hold != 45*time.Second || cfg.Tanks[1].Loads.Speed != 60 {
		t.Errorf("hold %s, want the 45m of confirm in a sixtieth of the time; speed %g", cfg.Tickets.Hold, cfg.Tanks[1].Loads.Speed)
	}
}

func TestTanksNeedDevices(t *testing.T) {
	from, to := strings.Index(replay, "devices:"), strings.Index(replay, "tanks:")
	ps := problemsOf(t, replay[:from]+replay[to:])
	if len(ps) != 1 || ps[0].Path != "devices" {
		t.Errorf("%v", ps)
	}
}

func TestASpeedThatOneTankHasAlone(t *testing.T) {
	ps := problemsOf(t, strings.Replace(replay, "    sales: lact\n", "    sales: lact\n    loads: {speed: 2}\n", 1))
	if len(ps) != 1 || ps[0].Path != "tanks[1].loads.speed" || ps[0].Line != 40 || !strings.Contains(ps[0].Message, "one clock") {
		t.Errorf("%v, want one clock alone, at tanks[1].loads.speed on line 40", ps)
	}
}

func TestLoopbackHosts(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "LOCALHOST": true,
		"10.0.0.1": false, "localhost.example.com": false, "0.0.0.0": false, "": false, "127.0.0.1.example.com": false} {
		if cloud.Loopback(host) != want {
			t.Errorf("%q: %t", host, !want)
		}
	}
	for _, url := range []string{"http://[::1]:8080", "http://localhost", "http://127.0.0.1:9/base", "https://api.example.com/v2"} {
		if _, err := Parse("f", []byte(strings.Replace(replay, "http://127.0.0.1:9", url, 1)), ""); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

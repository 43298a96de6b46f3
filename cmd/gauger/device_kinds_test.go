package main

import (
	"testing"

	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/config"
)

func TestALookOpensNoDoorForOthers(t *testing.T) {
	const text = `site: s
id: S
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://127.0.0.1:1", primary_key: {env: KEY}}
devices: [{name: plc, modbus: "tcp://127.0.0.1:1", share: "127.0.0.1:1502", points: [{name: a, holding: 1}]}]
`
	cfg, err := config.Parse("gauger.yaml", []byte(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	daemon, err := collectorSetup{lines: &line.Lines{}}.collectors(cfg.Devices)
	if err != nil || len(daemon) != 2 || daemon[1].Name != "modbus share 127.0.0.1:1502" {
		t.Errorf("the daemon has %v, %v", daemon, err)
	}
	if look, err := (collectorSetup{lines: &line.Lines{}, look: true}).collectors(cfg.Devices); err != nil || len(look) != 1 {
		t.Errorf("a look has %v, %v", look, err)
	}
	if config.Options[modbus.Device](cfg.Devices[0]).Share == "" {
		t.Error("a look changed the configuration")
	}
}

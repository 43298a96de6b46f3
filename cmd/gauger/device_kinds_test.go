package main

import (
	"testing"

	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
)

func TestALookOpensNoDoorForOthers(t *testing.T) {
	k := kinds{modbus: []modbus.Device{{Name: "plc", URL: "tcp://127.0.0.1:1", Share: "127.0.0.1:1502", Points: []modbus.Point{{Name: "a", Holding: new(1)}}}}}
	daemon, err := k.collectors("", &line.Lines{})
	if err != nil || len(daemon) != 2 || daemon[1].Name != "modbus share 127.0.0.1:1502" {
		t.Errorf("the daemon has %v, %v", daemon, err)
	}
	if look, err := k.glance("", &line.Lines{}); err != nil || len(look) != 1 {
		t.Errorf("a look has %v, %v", look, err)
	}
	if k.modbus[0].Share == "" {
		t.Error("a look changed the configuration")
	}
}

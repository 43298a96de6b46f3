package config

import (
	"reflect"
	"time"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors/host"
	"gauger/collectors/modbus"
	"gauger/collectors/sim"
)

// makers is what a struct holds before its keys are read. They are functions, so that no two files share a map.
var makers = map[reflect.Type]func() any{
	reflect.TypeFor[Config]():   func() any { return defaultConfig() },
	reflect.TypeFor[Tank]():     func() any { return Tank{Sales: "truck", Temperatures: "in_tank", Loads: tank.DefaultLoads()} },
	reflect.TypeFor[TagValue](): func() any { return TagValue{Every: time.Hour} },
	reflect.TypeFor[Target]():   func() any { return Target{Every: 24 * time.Hour} },
	reflect.TypeFor[modbusEntry](): func() any {
		return modbusEntry{Options: modbus.Device{Unit: new(1), Every: 10 * time.Second, Timeout: time.Second}}
	},
	reflect.TypeFor[recordingEntry](): func() any { return recordingEntry{Options: sim.Device{Every: 10 * time.Second}} },
	reflect.TypeFor[hostEntry]():      func() any { return hostEntry{Options: host.Device{Every: time.Minute}} },
}

// defaultOf is the value of a type before its keys are read.
func defaultOf(t reflect.Type) reflect.Value {
	if make, ok := makers[t]; ok {
		return reflect.ValueOf(make())
	}
	return reflect.Zero(t)
}

func defaultConfig() Config {
	return Config{
		ObjectType:    "Device",
		ProductionDay: TimeOfDay(7 * time.Hour),
		Service:       Service{Wire: cloud.DefaultWire(), Segments: cloud.Segments{Alpha: "vAlpha", Beta: "vBeta"}},
		Store: Store{Path: "/var/lib/gauger", MaxBytes: 64 << 20, Shares: Shares{Events: 50, TagValues: 50, Targets: 25, Refused: 10},
			Receipts: Receipts{Days: 62, MaxBytes: 16 << 20}},
		Recorder: Recorder{MaxBytes: 64 << 20, Days: 30},
		Link:     Link{Rate: rateByPlace},
		Tickets:  Tickets{Review: "send"},
		Book:     Book{LossLimit: 0.8},
		Loads:    tank.DefaultLoads(),
		Log:      Log{Level: "info"},
	}
}

// settable is what p points to, for the decoder.
func settable[T any](p *T) reflect.Value { return reflect.ValueOf(p).Elem() }

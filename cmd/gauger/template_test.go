package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/modbustest"
	"gauger/config"
)

// mapped is a device built from its maker's register map, how a site names it, and what must be read of it.
type mapped struct {
	unit byte
	yaml string // what the device says beside name, modbus and template
	fill func(*modbustest.Bank)
	want []expected // of every point, in order
	// states that the map knows besides: each changes the bank and what is expected of some points.
	states []state
}

type state struct {
	name string
	set  func(*modbustest.Bank)
	want []expected
}

// expected is one reading; a bad one has a reason instead of a value.
type expected struct {
	point string
	value float64
	unit  string
	why   string // empty: good
}

// templateTests has a device for every template. One without fails TestEveryTemplate.
var templateTests = map[string]mapped{
	"rosemount-5300": rosemount, "vegaflex": vega, "abb-lwt300": lwt300, "pneumercator": pneumercator, "varec-8315": varec,
	"signalfire-gateway": signalfire(65523), "signalfire-gateway-9986": signalfire(9986),
}

func TestEveryTemplate(t *testing.T) {
	for _, name := range modbus.Templates() {
		t.Run(name, func(t *testing.T) {
			device, ok := templateTests[name]
			if !ok {
				t.Fatal("no device has been built from its register map to test it")
			}
			for scheme, serve := range templateLines {
				t.Run(scheme, func(t *testing.T) { device.judge(t, name, serve) })
			}
		})
	}
}

// templateLines put a slave on a line, and return its URL.
var templateLines = map[string]func(*testing.T, *modbustest.Slave) string{
	"tcp": func(t *testing.T, s *modbustest.Slave) string { return "tcp://" + onSocket(t, s, modbustest.TCP) },
	"rtu+tcp": func(t *testing.T, s *modbustest.Slave) string {
		return "rtu+tcp://" + onSocket(t, s, modbustest.RTU) + "?baud=115200"
	},
	"rtu": func(t *testing.T, s *modbustest.Slave) string {
		pty, err := modbustest.OpenPty()
		if err != nil {
			t.Skipf("no pseudo-terminals here: %v", err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.ServeStream(ctx, pty, modbustest.RTU) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("slave: %v", err)
			}
		})
		return "rtu://" + pty.Path + "?baud=115200&parity=N"
	},
}

func onSocket(t *testing.T, s *modbustest.Slave, framing modbustest.Framing) string {
	server, err := s.Start("127.0.0.1:0", framing)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Errorf("slave: %v", err)
		}
	})
	return server.Addr
}

func (m mapped) judge(t *testing.T, name string, serve func(*testing.T, *modbustest.Slave) string) {
	slave := modbustest.NewSlave()
	bank := slave.Unit(m.unit)
	bank.Strict(true) // what the map does not have is refused, as a real device does
	m.fill(bank)
	device := deviceOf(t, fmt.Sprintf("  - name: dut\n    modbus: %s\n    template: %s\n%s", serve(t, slave), name, m.yaml))
	lines := &line.Lines{}
	defer func() {
		if err := lines.Close(); err != nil {
			t.Error(err)
		}
	}()
	got := readDevice(t, lines, device)
	if len(got) != len(m.want) {
		t.Errorf("%d points, want %d", len(got), len(m.want))
	}
	compare(t, "healthy", got, m.want)
	for _, s := range m.states {
		m.fill(bank)
		s.set(bank)
		compare(t, s.name, readDevice(t, lines, device), s.want)
	}
}

// deviceOf loads a configuration with the one device whose lines are given.
func deviceOf(t *testing.T, lines string) modbus.Device {
	t.Helper()
	text := "site: S\nid: S\nobject: 6f9619ff-8b86-d011-b42d-00c04fc964ff\ntime_zone: UTC\n" +
		"service: {url: http://127.0.0.1:9, primary_key: {env: K}, secondary_key: {env: L}}\ndevices:\n" + lines
	cfg, err := config.Parse("site.yaml", []byte(text), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return *config.Options[modbus.Device](cfg.Devices[0])
}

func readDevice(t *testing.T, lines *line.Lines, d modbus.Device) map[collectors.Point]collectors.Reading {
	t.Helper()
	batch, err := modbus.Read(t.Context(), lines, []modbus.Device{d})
	if err != nil {
		t.Fatal(err)
	}
	found := map[collectors.Point]collectors.Reading{}
	for _, r := range batch {
		found[r.Point] = r
	}
	return found
}

func compare(t *testing.T, state string, got map[collectors.Point]collectors.Reading, want []expected) {
	t.Helper()
	for _, w := range want {
		r, ok := got[collectors.PointOf("dut", w.point)]
		switch {
		case !ok:
			t.Errorf("%s: no point %s", state, w.point)
		case w.why == "" && (r.Quality != collectors.Good || math.Abs(r.Value-w.value) > 1e-4 || string(r.Unit) != w.unit):
			t.Errorf("%s: %s is %v %s, %s (%v), want %v %s", state, w.point, r.Value, r.Unit, r.Quality, r.Err, w.value, w.unit)
		case w.why != "" && (r.Quality != collectors.Bad || !strings.Contains(r.Err.Error(), w.why)):
			t.Errorf("%s: %s is %v, %s (%v), want bad: %s", state, w.point, r.Value, r.Quality, r.Err, w.why)
		}
	}
}

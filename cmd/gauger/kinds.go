package main

import (
	"fmt"
	"slices"

	"gauger/agent"
	"gauger/collectors/host"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
	"gauger/collectors/sim"
	"gauger/config"
)

// kinds of devices, as the configuration has them, each in the shape that its collector takes.
type kinds struct {
	modbus     []modbus.Device
	mqtt       []mqtt.Device
	recordings []sim.Device
	hosts      []host.Device
}

// kindsOf sorts the configured devices.
func kindsOf(cfg *config.Config) kinds {
	var k kinds
	for _, d := range cfg.Devices {
		switch {
		case d.Modbus != nil:
			k.modbus = append(k.modbus, *d.Modbus)
		case d.MQTT != nil:
			k.mqtt = append(k.mqtt, *d.MQTT)
		case d.Recording != nil:
			played := *d.Recording
			played.Zone = cfg.Zone
			k.recordings = append(k.recordings, played)
		case d.Host != nil:
			k.hosts = append(k.hosts, *d.Host)
		}
	}
	return k
}

// collectors makes what gathers from all of them. Modbus devices share lines, MQTT devices share sessions; the rest
// stand alone.
func (k kinds) collectors(store string, lines *modbus.Lines) ([]agent.Named, error) {
	var all []agent.Named
	if len(k.modbus) > 0 {
		perLine, err := modbus.New(lines, k.modbus)
		if err != nil {
			return nil, fmt.Errorf("modbus: %w", err)
		}
		for _, c := range perLine {
			all = append(all, agent.Named{Name: fmt.Sprint(c), Collector: c})
		}
	}
	if len(k.mqtt) > 0 {
		c, err := mqtt.New(k.mqtt)
		if err != nil {
			return nil, fmt.Errorf("mqtt: %w", err)
		}
		all = append(all, agent.Named{Name: "mqtt", Collector: c})
	}
	for _, d := range k.recordings {
		c, err := sim.New(d)
		if err != nil {
			return nil, fmt.Errorf("recording %s: %w", d.Name, err)
		}
		all = append(all, agent.Named{Name: d.Name, Collector: c})
	}
	for _, d := range k.hosts {
		c, err := host.New(d, store)
		if err != nil {
			return nil, fmt.Errorf("host %s: %w", d.Name, err)
		}
		all = append(all, agent.Named{Name: d.Name, Collector: c})
	}
	return all, nil
}

// glance makes collectors for a look beside everything else: MQTT sessions that leave nothing behind,
// and no address that others could read devices at.
func (k kinds) glance(store string, lines *modbus.Lines) ([]agent.Named, error) {
	brokers := k.mqtt
	k.mqtt, k.modbus = nil, slices.Clone(k.modbus)
	for i := range k.modbus {
		k.modbus[i].Share = "" // nobody else is served meanwhile
	}
	all, err := k.collectors(store, lines)
	if err != nil || len(brokers) == 0 {
		return all, err
	}
	c, err := mqtt.New(brokers, mqtt.Session{Clean: true})
	if err != nil {
		return nil, fmt.Errorf("mqtt: %w", err)
	}
	return append(all, agent.Named{Name: "mqtt", Collector: c}), nil
}

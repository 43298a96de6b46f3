package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
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
		k.modbus = appendOptions(k.modbus, d)
		k.mqtt = appendOptions(k.mqtt, d)
		k.recordings = appendOptions(k.recordings, d)
		k.hosts = appendOptions(k.hosts, d)
	}
	return k
}

// appendOptions appends a device's options when it is of the kind that has such.
func appendOptions[T any](all []T, d config.Device) []T {
	if options := config.Options[T](d); options != nil {
		return append(all, *options)
	}
	return all
}

// collectors makes what gathers from all of them. Modbus devices share lines, MQTT devices share sessions; the rest
// stand alone. The error names what could not be made; the others work.
func (k kinds) collectors(store string, lines *line.Lines) ([]collectors.Named, error) {
	var all []collectors.Named
	var errs []error
	if len(k.modbus) > 0 {
		perLine, err := modbus.New(lines, k.modbus)
		if err != nil {
			errs = append(errs, fmt.Errorf("modbus: %w", err))
		}
		for _, c := range perLine {
			all = append(all, collectors.Named{Name: fmt.Sprint(c), Collector: c})
		}
	}
	if len(k.mqtt) > 0 {
		c, err := mqtt.New(k.mqtt)
		if err != nil {
			errs = append(errs, fmt.Errorf("mqtt: %w", err))
		} else {
			all = append(all, collectors.Named{Name: "mqtt", Collector: c})
		}
	}
	for _, d := range k.recordings {
		c, err := sim.New(d)
		if err != nil {
			errs = append(errs, fmt.Errorf("recording %s: %w", d.Name, err))
			continue
		}
		all = append(all, collectors.Named{Name: d.Name, Collector: c})
	}
	for _, d := range k.hosts {
		c, err := host.New(d, store)
		if err != nil {
			errs = append(errs, fmt.Errorf("host %s: %w", d.Name, err))
			continue
		}
		all = append(all, collectors.Named{Name: d.Name, Collector: c})
	}
	return all, errors.Join(errs...)
}

// unusable stands for devices that could not be made: it says so where it would be read, and stops nothing else.
type unusable struct{ error }

// Run implements collectors.Collector.
func (u unusable) Run(context.Context, collectors.Host) error { return u.error }

// glance makes collectors for a look beside everything else: MQTT sessions that leave nothing behind,
// and no address that others could read devices at.
func (k kinds) glance(store string, lines *line.Lines) ([]collectors.Named, error) {
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
	return append(all, collectors.Named{Name: "mqtt", Collector: c}), nil
}

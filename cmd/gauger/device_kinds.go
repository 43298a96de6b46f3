package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"gauger/collectors"
	"gauger/collectors/host"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
	"gauger/collectors/mqtt"
	"gauger/collectors/sim"
	"gauger/config"
)

// collectorSetup says for what the collectors of a site are made.
type collectorSetup struct {
	store string // its path
	lines *line.Lines
	// look is for a glance beside everything else: MQTT sessions that leave nothing behind, and no address that others
	// could read devices at.
	look    bool
	masters []netip.Prefix // that may read what is shared; none: everybody
}

// collectorsOfKinds is the table of what gathers from the devices of each kind, as config has the one of their options.
var collectorsOfKinds = []func(collectorSetup, []config.Device) ([]collectors.Named, error){
	modbusCollectors, mqttCollectors, recordingCollectors, hostCollectors,
}

// collectors makes what gathers from devices. The error names what could not be made; the others work.
func (s collectorSetup) collectors(devices []config.Device) (all []collectors.Named, err error) {
	for _, make := range collectorsOfKinds {
		made, problem := make(s, devices)
		all, err = append(all, made...), errors.Join(err, problem)
	}
	return all, err
}

// optionsOf are the options of the devices that are of the kind that has such.
func optionsOf[T any](devices []config.Device) (all []T) {
	for _, d := range devices {
		if options := config.Options[T](d); options != nil {
			all = append(all, *options)
		}
	}
	return all
}

// modbusCollectors are one for each line, which devices share, and one for each address that others read at.
func modbusCollectors(s collectorSetup, devices []config.Device) (all []collectors.Named, err error) {
	options := optionsOf[modbus.Device](devices)
	for i := range options {
		if s.look {
			options[i].Share = "" // nobody else is served meanwhile
		}
	}
	if len(options) == 0 {
		return nil, nil
	}
	perLine, err := modbus.New(s.lines, options, s.masters...)
	for _, c := range perLine {
		all = append(all, collectors.Named{Name: fmt.Sprint(c), Collector: c})
	}
	if err != nil {
		err = fmt.Errorf("modbus: %w", err)
	}
	return all, err
}

// mqttCollectors is one for all devices, which share sessions.
func mqttCollectors(s collectorSetup, devices []config.Device) ([]collectors.Named, error) {
	options := optionsOf[mqtt.Device](devices)
	if len(options) == 0 {
		return nil, nil
	}
	c, err := mqtt.New(options, mqtt.Session{Clean: s.look})
	if err != nil {
		return nil, fmt.Errorf("mqtt: %w", err)
	}
	return []collectors.Named{{Name: "mqtt", Collector: c}}, nil
}

func recordingCollectors(_ collectorSetup, devices []config.Device) (all []collectors.Named, err error) {
	for _, d := range optionsOf[sim.Device](devices) {
		c, problem := sim.New(d)
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("recording %s: %w", d.Name, problem))
			continue
		}
		all = append(all, collectors.Named{Name: d.Name, Collector: c})
	}
	return all, err
}

func hostCollectors(s collectorSetup, devices []config.Device) (all []collectors.Named, err error) {
	for _, d := range optionsOf[host.Device](devices) {
		c, problem := host.New(d, s.store)
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("host %s: %w", d.Name, problem))
			continue
		}
		all = append(all, collectors.Named{Name: d.Name, Collector: c})
	}
	return all, err
}

// unusable stands for devices that could not be made: it says so where it would be read, and stops nothing else.
type unusable struct{ error }

func (u unusable) Run(context.Context, collectors.Host) error { return u.error }

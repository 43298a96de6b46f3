package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"gauger/collectors/sim"
)

// running is the line that serve prints, for whoever started it.
type running struct {
	Modbus       string `json:"modbus"`
	Unit         int    `json:"unit"`
	MQTT         string `json:"mqtt"`
	Topic        string `json:"topic"`
	Service      string `json:"service"`
	PrimaryKey   string `json:"primary_key"`
	SecondaryKey string `json:"secondary_key"`
	Control      string `json:"control"`
}

func serveCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	var at addresses
	f.StringVar(&at.modbus, "modbus", loopback.modbus, "where the PLC listens")
	f.StringVar(&at.mqtt, "mqtt", loopback.mqtt, "where the broker listens")
	f.StringVar(&at.service, "service", loopback.service, "where the service listens")
	listen := f.String("control", "127.0.0.1:0", "where the control endpoint listens")
	speed := f.Float64("speed", 1, "how much faster than the wall clock the site's time runs")
	haul := f.Bool("haul", false, "send a truck to every tank that is three quarters full")
	if err := parse(f, args); err != nil {
		return err
	}
	if !(*speed > 0) {
		return fmt.Errorf("speed %g: must be above 0", *speed)
	}
	return serve(ctx, os.Stdout, at, *listen, *speed, *haul)
}

// serve runs a world and its control endpoint until ctx ends.
func serve(ctx context.Context, out io.Writer, at addresses, listen string, speed float64, haul bool) (err error) {
	w, err := newWorld(speed, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	c, err := newControl(w, listen)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	line, err := json.Marshal(running{
		Modbus: "tcp://" + w.slave.addr, Unit: slaveUnit, MQTT: "mqtt://" + w.radio.addr, Topic: radioTopic,
		Service: "http://" + w.service.addr, PrimaryKey: primaryKey, SecondaryKey: secondaryKey, Control: "http://" + c.addr,
	})
	if err != nil {
		return fmt.Errorf("write the addresses: %w", err)
	}
	if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
		return fmt.Errorf("print the addresses: %w", err)
	}
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case do := <-c.tasks:
			do()
		case now := <-tick.C:
			if _, err := w.tick(now); err != nil {
				return err
			}
			if haul {
				w.site.trucks()
			}
		}
	}
}

// trucks sends one to every tank that is three quarters full.
func (s *site) trucks() {
	for _, t := range s.tanks {
		if t.Level() > 0.75*t.Height {
			t.Begin(sim.Draw{Barrels: 180, Rate: 6})
		}
	}
}

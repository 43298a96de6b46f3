// Command wellsim is a simulated well site for demonstrations, tests and benchmarks; it is never packaged. It has two
// stock tanks behind a Modbus PLC, a third behind a radio gateway that publishes over MQTT, trucks that haul them, and
// the service that takes the run tickets.
//
// site.go is the well site in its own time; devices.go shows it, service.go takes the tickets; world.go is all of these,
// with the configuration of gauger beside it. demo.go plays script.go
// against a gauger (child.go), which judge.go judges.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"gauger/collectors/sim"
)

const usage = `usage:
  wellsim serve [--modbus ADDR] [--mqtt ADDR] [--service ADDR] [--speed N] [--haul]
        the site and the service, until interrupted; prints one line of JSON with the addresses
  wellsim demo [--gauger BIN] [--keep]
        plays a day against a real gauger and judges what arrives
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(command(ctx, os.Args[1:]))
}

// command runs one command line and returns its exit status: 0 done, 1 failed, 2 usage.
func command(ctx context.Context, args []string) int {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		return 2
	}
	var err error
	switch args[0] {
	case "serve":
		err = serveCommand(ctx, args[1:])
	case "demo":
		err = demoCommand(ctx, args[1:])
	default:
		err = flag.ErrHelp
		fmt.Fprintf(os.Stderr, "wellsim: no command %q\n", args[0])
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(os.Stderr, usage)
		return 2
	case err != nil:
		fmt.Fprintf(os.Stderr, "wellsim: %v\n", err)
		return 1
	}
	return 0
}

// parse reads flags and refuses what is left over.
func parse(f *flag.FlagSet, args []string) error {
	f.SetOutput(os.Stderr)
	f.Usage = func() {}
	if err := f.Parse(args); err != nil {
		return flag.ErrHelp
	}
	if f.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "wellsim: %q is one word too many\n", f.Arg(0))
		return flag.ErrHelp
	}
	return nil
}

func demoCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("demo", flag.ContinueOnError)
	bin := f.String("gauger", "gauger", "the gauger to try")
	keep := f.Bool("keep", false, "stay up after the table until interrupted")
	if err := parse(f, args); err != nil {
		return err
	}
	return runDemo(ctx, *bin, *keep)
}

// running is the line that serve prints, for whoever started it.
type running struct {
	Modbus       string `json:"modbus"`
	Unit         int    `json:"unit"`
	MQTT         string `json:"mqtt"`
	Topic        string `json:"topic"`
	Service      string `json:"service"`
	PrimaryKey   string `json:"primary_key"`
	SecondaryKey string `json:"secondary_key"`
}

func serveCommand(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("serve", flag.ContinueOnError)
	var at addresses
	f.StringVar(&at.modbus, "modbus", loopback.modbus, "where the PLC listens")
	f.StringVar(&at.mqtt, "mqtt", loopback.mqtt, "where the broker listens")
	f.StringVar(&at.service, "service", loopback.service, "where the service listens")
	speed := f.Float64("speed", 1, "how much faster than the wall clock the site's time runs")
	haul := f.Bool("haul", false, "send a truck to every tank that is three quarters full")
	if err := parse(f, args); err != nil {
		return err
	}
	if !(*speed > 0) {
		return fmt.Errorf("speed %g: must be above 0", *speed)
	}
	return serve(ctx, os.Stdout, at, *speed, *haul)
}

// serve runs a world until ctx ends.
func serve(ctx context.Context, out io.Writer, at addresses, speed float64, haul bool) (err error) {
	w, err := newWorld(speed, at)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	line, err := json.Marshal(running{
		Modbus: "tcp://" + w.slave.addr, Unit: slaveUnit, MQTT: "mqtt://" + w.radio.addr, Topic: radioTopic,
		Service: "http://" + w.service.addr, PrimaryKey: primaryKey, SecondaryKey: secondaryKey,
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

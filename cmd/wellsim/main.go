// Command wellsim is a simulated well site for demonstrations, tests and benchmarks; it is never packaged. It has two
// stock tanks behind a Modbus PLC, a third behind a radio gateway that publishes over MQTT, trucks that haul them, and
// the service that takes the run tickets.
//
// site.go is the well site in its own time; slave.go and radio.go show it, service.go takes the tickets; world.go is all of these,
// control.go its control endpoint, yaml.go the configuration of gauger beside it. serve.go runs a world; demo.go plays script.go
// against a gauger (child.go), which judge.go judges and table.go shows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  wellsim serve [--modbus ADDR] [--mqtt ADDR] [--service ADDR] [--control ADDR] [--speed N] [--haul]
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

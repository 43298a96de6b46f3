// Command gauger measures an oil site's tanks and writes the run tickets: it reads levels from Modbus and MQTT
// devices, finds the loads, queues tickets, events and values in an outbox on disk, and sends them to the field
// production service.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"gauger/config"
	"gauger/outbox"
)

// version is set by the build.
var version = "dev"

// Exit statuses of every command.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitBusy   = 75 // the outbox is held by another gauger, or out of service: start again
	exitConfig = 78
)

// Main is one call of the program, with everything that a test wants to hold.
type Main struct {
	In       io.Reader
	Out, Err io.Writer // the result, and the rest
	Getenv   func(string) string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	m := &Main{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}
	os.Exit(m.Run(ctx, os.Args[1:]))
}

// command is one verb of the command line.
type command struct {
	name, args, about string
	run               func(m *Main, ctx context.Context, args []string) error
}

// usage is a call that nobody can make sense of: exit status 2.
type usage struct{ text string }

func (u usage) Error() string { return u.text }

// errQuiet ends with status 1 after everything has been said.
var errQuiet = errors.New("")

// Run does what args ask for and returns the exit status.
func (m *Main) Run(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		m.help(m.Out)
		return map[bool]int{true: exitUsage, false: exitDone}[len(args) == 0]
	}
	c, rest, err := find(args)
	if err == nil {
		err = c.run(m, ctx, rest)
	}
	return m.status(err)
}

// status says what went wrong and turns it into an exit status.
func (m *Main) status(err error) int {
	problems, isConfig := errors.AsType[config.Problems](err)
	_, isUsage := errors.AsType[usage](err)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errQuiet):
		return exitFailed
	case isConfig:
		fmt.Fprintln(m.Err, problems.Error())
		return exitConfig
	case isUsage:
		fmt.Fprintln(m.Err, "gauger: "+err.Error())
		return exitUsage
	case errors.Is(err, outbox.ErrHeld), errors.Is(err, outbox.ErrDead):
		fmt.Fprintln(m.Err, "gauger: "+err.Error())
		return exitBusy
	}
	fmt.Fprintln(m.Err, "gauger: "+err.Error())
	return exitFailed
}

// find looks the verb up; verbs of two words come first.
func find(args []string) (command, []string, error) {
	for n := min(2, len(args)); n > 0; n-- {
		name := strings.Join(args[:n], " ")
		if i := slices.IndexFunc(commands(), func(c command) bool { return c.name == name }); i >= 0 {
			return commands()[i], args[n:], nil
		}
	}
	var sub []string
	for _, c := range commands() {
		if group, word, ok := strings.Cut(c.name, " "); ok && group == args[0] {
			sub = append(sub, word)
		}
	}
	if sub != nil {
		return command{}, nil, usage{fmt.Sprintf("%s what? one of %s", args[0], strings.Join(sub, ", "))}
	}
	return command{}, nil, usage{fmt.Sprintf("there is no command %q; `gauger help` lists them", args[0])}
}

// help lists the commands, a line each.
func (m *Main) help(w io.Writer) {
	fmt.Fprintln(w, "gauger reads the site's tanks and writes the run tickets.")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  gauger %-34s %s\n", strings.TrimSpace(c.name+" "+c.args), c.about)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "`gauger COMMAND -h` lists a command's flags. Exit status: 0 done, 1 failed, 2 usage, 75 busy, 78 bad configuration.")
}

// flags begins a command's flags. The configuration and the socket are the same everywhere.
func (m *Main) flags(name string) (*flag.FlagSet, *common) {
	f := flag.NewFlagSet("gauger "+name, flag.ContinueOnError)
	f.SetOutput(m.Err)
	c := &common{}
	f.StringVar(&c.config, "c", defaultConfig, "configuration `file`")
	f.StringVar(&c.socket, "socket", defaultSocket, "control `socket` of the running gauger")
	f.StringVar(&c.format, "format", "text", "text, or json for a program")
	return f, c
}

// common is what every command may be told.
type common struct{ config, socket, format string }

const (
	defaultConfig = "/etc/gauger/gauger.yaml"
	defaultSocket = "/run/gauger/gauger.sock"
)

// json says that a program reads the result.
func (c *common) json() bool { return c.format == "json" }

// parse reads the flags wherever they stand among the arguments, and returns the arguments that are none.
func parse(f *flag.FlagSet, c *common, args []string) ([]string, error) {
	var rest []string
	for {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, usage{err.Error()}
		}
		if f.NArg() == 0 {
			break
		}
		rest, args = append(rest, f.Arg(0)), f.Args()[1:]
	}
	if c.format != "text" && c.format != "json" {
		return nil, usage{fmt.Sprintf("--format is text or json, not %q", c.format)}
	}
	return rest, nil
}

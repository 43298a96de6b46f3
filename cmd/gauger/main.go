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
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"gauger/agent/console"
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetOutput(io.Discard) // net/http would print there what a server says unasked, keys and all
	c := &call{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	os.Exit(c.run(ctx, os.Args[1:]))
}

// command is one verb of the command line.
type command struct {
	name, args, about string
	run               func(ctx context.Context, c *call, args []string) error
}

// usage is a call that nobody can make sense of: exit status 2.
type usage struct{ text string }

func (u usage) Error() string { return u.text }

// misconfigured is a configuration that cannot be read at all: exit status 78.
type misconfigured struct{ cause error }

func (m misconfigured) Error() string { return m.cause.Error() }
func (m misconfigured) Unwrap() error { return m.cause }

// errQuiet ends with status 1 after everything has been said.
var errQuiet = errors.New("")

// run does what args ask for and returns the exit status.
func (c *call) run(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		printHelp(c, c.out)
		return map[bool]int{true: exitUsage, false: exitDone}[len(args) == 0]
	}
	found, rest, err := find(args)
	if err == nil {
		err = found.run(ctx, c, rest)
	}
	return exitStatus(c, inWords(ctx, err))
}

// worded is an error that a person can read, and is what it was.
type worded struct {
	text  string
	cause error
}

func (w worded) Error() string { return w.text }
func (w worded) Unwrap() error { return w.cause }

// inWords says in words that a context has ended, wherever in a command that was: an interrupt is the person's own doing.
func inWords(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	ended := "stopped before it was done"
	if ctx.Err() != nil {
		ended = "interrupted"
	}
	return worded{console.Words(err, ended), err}
}

// exitStatus says what went wrong and turns it into an exit status.
func exitStatus(c *call, err error) int {
	problems, isConfig := errors.AsType[config.Problems](err)
	_, isMissing := errors.AsType[misconfigured](err)
	_, isUsage := errors.AsType[usage](err)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errQuiet):
		return exitFailed
	case isConfig:
		fmt.Fprintln(c.err, problems.Error())
		return exitConfig
	case isMissing:
		fmt.Fprintln(c.err, "gauger: "+err.Error())
		return exitConfig
	case isUsage:
		fmt.Fprintln(c.err, "gauger: "+err.Error())
		return exitUsage
	case errors.Is(err, outbox.ErrHeld), errors.Is(err, outbox.ErrDead):
		fmt.Fprintln(c.err, "gauger: "+err.Error())
		return exitBusy
	}
	fmt.Fprintln(c.err, "gauger: "+err.Error())
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
	var first, sub []string
	for _, c := range commands() {
		group, word, ok := strings.Cut(c.name, " ")
		first = append(first, group)
		if ok && group == args[0] {
			sub = append(sub, word)
		}
	}
	switch {
	case sub != nil && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		return command{}, nil, usage{fmt.Sprintf("%s %s is no command%s; %s can %s", args[0], args[1], didYouMean(args[1], sub), args[0], strings.Join(sub, ", "))}
	case sub != nil:
		return command{}, nil, usage{fmt.Sprintf("%s what? one of %s", args[0], strings.Join(sub, ", "))}
	}
	return command{}, nil, usage{fmt.Sprintf("there is no command %q%s; `gauger help` lists them", args[0], didYouMean(args[0], first))}
}

// printHelp lists the commands, a line each.
func printHelp(c *call, w io.Writer) {
	fmt.Fprintln(w, "gauger reads the site's tanks and writes the run tickets.")
	fmt.Fprintln(w)
	for _, c := range commands() {
		fmt.Fprintf(w, "  gauger %-38s %s\n", strings.TrimSpace(c.name+" "+c.args), c.about)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "`gauger COMMAND -h` lists a command's flags. Exit status: 0 done, 1 failed, 2 usage, 75 busy, 78 bad configuration.")
}

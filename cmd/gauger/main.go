// Command gauger measures an oil site's tanks and writes the run tickets: it reads levels from Modbus and MQTT
// devices, finds the loads, queues tickets, events and values in an outbox on disk, and sends them to the field
// production service.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// version is set by the build.
var version = "dev"

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

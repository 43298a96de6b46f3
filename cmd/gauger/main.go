// Command gauger measures an oil site's tanks and writes the run tickets: it reads levels from Modbus and MQTT
// devices, finds the loads, queues tickets, events and values in an outbox on disk, and sends them to the field
// production service.
//
// A file is named by its command, or by the family of commands that share it; commands.go is the tree of all of them.
// To add a command, write its file (a constructor, its options, what it does) and its line in commands.go. Every
// command is given a call: the streams, the environment and what the flags of all commands say. What most of them use
// stands in leaf files: call, exit, print, flags, time_flags, site, suggest; connection is the way to the running gauger.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetOutput(io.Discard) // net/http would print there what a server says unasked, keys and all
	c := &call{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	os.Exit(execute(ctx, c, os.Args[1:]))
}

// execute does what args ask for and returns the exit status.
func execute(ctx context.Context, c *call, args []string) int {
	root := newRoot(c)
	root.SetArgs(twoDashes(root, args))
	return exitStatus(c, inWords(ctx, root.ExecuteContext(ctx)))
}

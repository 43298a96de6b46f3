package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log.SetOutput(io.Discard) // net/http would print there what a server says unasked, keys and all
	if err := hideMemory(); err != nil {
		fmt.Fprintln(os.Stderr, "gauger: other processes of this user can read its memory:", err)
	}
	c := &call{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv}
	os.Exit(execute(ctx, c, os.Args[1:]))
}

// execute does what args ask for and returns the exit status.
func execute(ctx context.Context, c *call, args []string) int {
	c.out, c.err = &unsteered{to: c.out, folds: true}, &unsteered{to: c.err, folds: true}
	root := newRoot(c)
	args = twoDashes(root, args)
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		plainUsages(root)
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, args, err) })
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error { return refuseFlags(cmd, args) }
	var unknown error
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if unknown = unknownCommand(cmd, args); unknown == nil {
			printHelp(cmd, nil)
		}
	})
	err := root.ExecuteContext(ctx)
	return exitStatus(c, inWords(ctx, cmp.Or(err, unknown)))
}

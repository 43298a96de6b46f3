package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gauger/agent/console"
)

// newCommand makes a command: its name and arguments, what it is for, and what it does.
func newCommand(c *call, use, about string, run func(ctx context.Context, c *call, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: about, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			known := formatsOf(cmd)
			if !cmd.Flags().Changed("format") {
				c.format = known[0]
			}
			if !slices.Contains(known, c.format) {
				return usageError{fmt.Sprintf("--format is %s, not %q", joinOr(known), c.format)}
			}
			if c.format != "text" {
				c.out = verbatim(c.out)
			}
			c.command = commandName(cmd)
			c.fileGiven = cmd.Flags().Changed("c") && !cmd.Flags().Changed("socket")
			return run(cmd.Context(), c, args)
		},
	}
}

// takes lets a command have n arguments; with more or fewer the mistake is told in words.
func takes(cmd *cobra.Command, n int, words string) *cobra.Command {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{words}
		}
		return nil
	}
	return cmd
}

// commandName is a command without the program's name before it.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "gauger ") }

// group is a first word that means nothing alone.
func group(name, about string, all ...*cobra.Command) *cobra.Command {
	g := &cobra.Command{Use: name, Short: about, Args: cobra.ArbitraryArgs}
	g.RunE = func(cmd *cobra.Command, args []string) error {
		names := commandNames(cmd)
		if len(args) == 0 {
			return usageError{fmt.Sprintf("%s what? one of %s", name, strings.Join(names, ", "))}
		}
		return usageError{fmt.Sprintf("%s %s is no command%s; %s can %s", name, args[0], didYouMean(args[0], names), name, strings.Join(names, ", "))}
	}
	g.AddCommand(all...)
	return g
}

// commandNames are the words that may follow a command.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(names, sub.Name())
		}
	}
	return names
}

// call is one call of the program: its streams, its environment, and what the flags that all commands share say.
type call struct {
	in       io.Reader
	out, err io.Writer // the result, and the rest
	getenv   func(string) string

	config, socket, format string
	command                string // its name, such as tickets list
	noDaemon               bool   // nobody answered at the socket
	fileGiven              bool   // by -c, and no --socket beside it, until its site is known
	means                  string // id of that site, where another one answers
}

// json says that a program reads the result.
func (c *call) json() bool { return c.format == "json" }

// show prints a result: for a program as JSON, for a person as text does.
func (c *call) show(result any, text func() error) error {
	if c.json() {
		return printJSON(c.out, result)
	}
	return text()
}

// newLogger writes JSON lines to standard error, or readable ones to a terminal.
func newLogger(c *call, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		l = zerolog.InfoLevel
	}
	return zerolog.New(verbatim(c.err)).Level(l).With().Timestamp().Logger()
}

// hideMemory keeps the keys in memory from other processes of the user and from core files. A change of the user undoes it.
func hideMemory() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// localUser is the local user, for what a command does without a daemon.
func localUser(c *call) string {
	for _, name := range []string{"SUDO_USER", "USER", "LOGNAME"} {
		if v := c.getenv(name); v != "" {
			return v
		}
	}
	return console.UserName(os.Getuid())
}

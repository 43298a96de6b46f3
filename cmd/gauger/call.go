package main

import (
	"io"
	"os"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gauger/agent/console"
)

// call is one call of the program: its streams, its environment, and what the flags that all commands share say.
type call struct {
	in       io.Reader
	out, err io.Writer // the result, and the rest
	getenv   func(string) string

	config, socket, format string
	command                string // its name, such as tickets list
	noDaemon               bool   // nobody answered at the socket
}

// json says that a program reads the result.
func (c *call) json() bool { return c.format == "json" }

// newLogger writes JSON lines to standard error, or readable ones to a terminal.
func newLogger(c *call, level string) zerolog.Logger {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		l = zerolog.InfoLevel
	}
	return zerolog.New(c.err).Level(l).With().Timestamp().Logger()
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

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gauger/agent/console"
	"gauger/config"
	"gauger/outbox"
)

// Exit statuses of every command.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitDown   = 3  // status: no gauger runs
	exitBusy   = 75 // the outbox is held by another gauger, or out of service: start again
	exitConfig = 78
)

// usageError is a call that nobody can make sense of: exit status 2.
type usageError struct{ text string }

func (u usageError) Error() string { return u.text }

// configError is a configuration that cannot be read at all: exit status 78.
type configError struct{ cause error }

func (m configError) Error() string { return m.cause.Error() }

func (m configError) Unwrap() error { return m.cause }

// notRunning ends with status 3: nobody reads the site. Its cause is why not even the store can be looked at, if that is so.
type notRunning struct{ cause error }

func (notRunning) Error() string { return notRunningLine }

const notRunningLine = "gauger is NOT running: nothing is read and nothing is sent. `systemctl start gauger` starts it, `journalctl -u gauger -n 20` says why it ended."

// errNoCommand ends with status 2 after the help was printed that nobody asked for.
var errNoCommand = errors.New("no command")

// errQuiet ends with status 1 after everything has been said.
var errQuiet = errors.New("")

// wordedError is an error that a person can read, and is what it was.
type wordedError struct {
	text  string
	cause error
}

func (w wordedError) Error() string { return w.text }

func (w wordedError) Unwrap() error { return w.cause }

// inWords says in words that a context has ended, wherever in a command that was: an interrupt is the person's own doing.
func inWords(ctx context.Context, err error) error {
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return wordedError{console.Words(err, either(ctx.Err() != nil, "interrupted", "stopped before it was done")), err}
}

// exitStatus says what went wrong and turns it into an exit status.
func exitStatus(c *call, err error) int {
	problems, isConfig := errors.AsType[config.Problems](err)
	_, isMissing := errors.AsType[configError](err)
	_, isUsage := errors.AsType[usageError](err)
	down, isDown := errors.AsType[notRunning](err)
	status := exitFailed
	switch {
	case err == nil:
		return exitDone
	case isDown:
		if down.cause != nil { // else the page has said it
			complain(c, down.Error())
			exitStatus(c, down.cause)
		}
		return exitDown
	case errors.Is(err, errQuiet):
		return exitFailed
	case errors.Is(err, errNoCommand):
		return exitUsage
	case isConfig:
		complain(c, problems.Error())
		return exitConfig
	case isMissing:
		status = exitConfig
	case isUsage:
		status = exitUsage
	case errors.Is(err, outbox.ErrHeld), errors.Is(err, outbox.ErrDead):
		status = exitBusy
	}
	complain(c, "gauger: "+err.Error())
	return status
}

// complain says what is wrong, on a terminal in lines of its width.
func complain(c *call, text string) {
	if width := terminalWidth(c.err); width > 0 {
		text = strings.TrimSuffix((&table{width: width}).fit(strings.ReplaceAll(text, "\t", " ")), "\n")
	}
	fmt.Fprintln(c.err, text)
}

// asUsageError says that what was given cannot be used as it is.
func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	if u, ok := errors.AsType[usageError](err); ok {
		return u
	}
	return usageError{err.Error()}
}

// asConfigError is a configuration that is not there: as bad as a wrong one, exit status 78.
func asConfigError(err error) error {
	if _, ok := errors.AsType[config.Problems](err); ok || err == nil {
		return err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return configError{fmt.Errorf("%s cannot be read: %w; give the file with -c, or begin one with `gauger init`", path.Path, path.Err)}
	}
	return configError{err}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"gauger/agent/cloud/keys"
	"gauger/agent/control"
	"gauger/config"
)

// slots are the two keys that a site has.
var slots = []string{"primary", "secondary"}

// slotArg reads the one argument of the commands that change a key.
func slotArg(rest []string, name string) (string, error) {
	if len(rest) == 1 {
		if slot, err := oneOf(rest[0], slots...); err == nil {
			return slot, nil
		}
	}
	return "", usageError{name + " wants primary or secondary"}
}

func keysRenewCommand(c *call) *cobra.Command {
	cmd := newCommand(c, "renew primary|secondary", "renew a key now", runKeysRenew)
	cmd.ValidArgs = slots
	return cmd
}

// runKeysRenew renews a key now. A person may insist: a renewal that is too soon is done, with a warning.
func runKeysRenew(ctx context.Context, c *call, args []string) error {
	slot, err := slotArg(args, "keys renew")
	if err != nil {
		return err
	}
	var got control.RenewResult
	if err := withConnection(c, func(d *connection) error { return d.request(ctx, "keys.renew", control.KeyArgs{Slot: slot}, &got) }); err != nil {
		return fmt.Errorf("%w; `gauger keys show` tells what is known of the keys, `gauger keys set %s` takes a new one", err, slot)
	}
	if got.Warning != "" {
		fmt.Fprintln(c.err, "warning: it was renewed all the same, though "+got.Warning)
	}
	if c.json() {
		return printJSON(c.out, got)
	}
	value := "its value stays"
	if got.Key != "none" {
		value = "its value now has the fingerprint " + got.Key
	}
	_, err = fmt.Fprintf(c.out, "renewed: the %s key ends %s; %s\n", slot, keyEndText(got.Expires, got.Assumed, findSite(c).zone()), value)
	return err
}

type keysSetOptions struct {
	file string
}

func keysSetCommand(c *call) *cobra.Command {
	o := &keysSetOptions{}
	cmd := newCommand(c, "set primary|secondary", "give a new key, read from standard input", o.run)
	cmd.ValidArgs = slots
	cmd.Flags().StringVar(&o.file, "file", "", "`FILE` that holds the key and nothing else; default standard input")
	return cmd
}

// run gives a new key, which never stands on the command line: it would be in the shell's history.
func (o *keysSetOptions) run(ctx context.Context, c *call, args []string) error {
	slot, err := slotArg(args, "keys set")
	if err != nil {
		return err
	}
	key, err := readSecret(ctx, c, o.file, "the "+slot+" key")
	if err != nil {
		return err
	}
	if err := withConnection(c, func(d *connection) error {
		return d.request(ctx, "keys.set", control.KeyArgs{Slot: slot, Key: key}, nil)
	}); err != nil {
		return err
	}
	if cfg, err := config.Load(c.config); err == nil {
		from := cfg.Service.PrimaryKey
		if slot == "secondary" {
			from = cfg.Service.SecondaryKey
		}
		if from.Given() {
			fmt.Fprintf(c.err, "put it into its place too (%s), or the next start tries the old one again\n", from)
		}
	}
	if c.json() {
		return printJSON(c.out, control.KeyArgs{Slot: slot, Key: keys.Secret(key).Fingerprint()})
	}
	_, err = fmt.Fprintf(c.out, "taken: the %s key with the fingerprint %s; the next request tries it\n", slot, keys.Secret(key).Fingerprint())
	return err
}

// readSecret reads a secret of one line from a file, or from standard input, where nothing of it shows on a terminal.
func readSecret(ctx context.Context, c *call, file, what string) (string, error) {
	if file != "" {
		text, err := config.Secret{File: file}.Read()
		return text, asUsageError(err)
	}
	if terminal, ok := c.in.(*os.File); ok {
		if restore := hideTyping(terminal); restore != nil {
			defer restore()
			fmt.Fprintf(c.err, "paste %s and press Enter; it does not show: ", what)
			defer fmt.Fprintln(c.err)
		}
	}
	line, err := firstLineOf(ctx, c.in)
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", what, err)
	case line == "":
		return "", usageError{what + " is read from standard input, and nothing came; or give --file FILE"}
	}
	return line, nil
}

// firstLineOf reads a line, or gives up when ctx ends: nothing else ends the wait for a person at a terminal.
func firstLineOf(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		line string
		err  error
	}
	done := make(chan read, 1)
	go func() { // ends with the line, else with the program
		all := bufio.NewReader(io.LimitReader(in, 16<<10))
		line, err := all.ReadString('\n')
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if more, _ := all.Peek(all.Buffered()); err == nil && len(bytes.TrimSpace(more)) > 0 { // what came with it: nobody waits for more
			err = errors.New("more than one line came; give only the secret")
		}
		done <- read{strings.TrimSpace(line), err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		return "", errors.New("interrupted")
	}
}

// hideTyping stops a terminal from showing what is typed; nil where the file is no terminal.
func hideTyping(f *os.File) (restore func()) {
	fd := int(f.Fd())
	shown, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	hidden := *shown
	hidden.Lflag &^= unix.ECHO
	if unix.IoctlSetTermios(fd, unix.TCSETS, &hidden) != nil {
		return nil
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, shown) } // the terminal is gone then
}

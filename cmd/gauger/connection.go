package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/config"
	"gauger/outbox"
)

// connection is a command's way to the operations: to those of the running daemon, or to its own when none runs.
type connection struct {
	remote *console.Client
	local  *control.Server
	person string // who asks, where there is no daemon to see it
	close  func() error
}

// connect finds the daemon; without one it opens the store itself, which needs the configuration.
func connect(c *call) (*connection, error) {
	remote, err := console.Dial(c.socket)
	if err == nil {
		return &connection{remote: remote, close: func() error { return nil }}, nil
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return nil, err
	}
	cfg, err := config.Load(c.config)
	if err != nil {
		return nil, asConfigError(err)
	}
	d, err := assemble(cfg, zerolog.New(io.Discard), openOnce)
	switch {
	case errors.Is(err, outbox.ErrHeld):
		return nil, fmt.Errorf("%w; it does not answer on %s: give the --socket with which it was started", err, c.socket)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%w; no gauger is running on %s, and the store is not yours: use sudo", err, c.socket)
	case err != nil:
		return nil, err
	}
	d.server.Daemon = false
	untold := printOpened(c, d)
	return &connection{local: d.server, person: localUser(c), close: func() error {
		d.close()
		return errors.Join(untold, chownStore(cfg.Store.Path))
	}}, nil
}

// printOpened says what the outbox found when it was opened, such as a damaged file, and leaves the event of it.
func printOpened(c *call, d *daemon) error {
	said, err := d.agent.QueuePendingNotes()
	for _, text := range said {
		fmt.Fprintln(c.err, text)
	}
	return err
}

// withConnection does something over a connection, and leaves the store in order behind it.
func withConnection(c *call, do func(d *connection) error) error {
	d, err := connect(c)
	if err != nil {
		return err
	}
	err = do(d)
	left := d.close()
	if left != nil && errors.Is(err, errQuiet) {
		return left
	}
	return errors.Join(err, left)
}

// chownStore gives what root has written in the store to the store's owner: the daemon is not root, and must be able to
// read it at its next start. Only plain files that root owns alone are touched.
func chownStore(store string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	folder, err := os.Open(store)
	if err != nil {
		return fmt.Errorf("leave the store to its owner: %w", err)
	}
	defer folder.Close()
	at := int(folder.Fd())
	var owner unix.Stat_t
	if err := unix.Fstat(at, &owner); err != nil {
		return fmt.Errorf("leave the store to its owner: %w", err)
	}
	if owner.Uid == 0 {
		return nil
	}
	names, err := folder.Readdirnames(-1)
	for _, name := range names {
		var is unix.Stat_t
		if unix.Fstatat(at, name, &is, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue // another command has replaced it meanwhile
		}
		if is.Mode&unix.S_IFMT == unix.S_IFREG && is.Uid == 0 && is.Nlink == 1 {
			err = errors.Join(err, unix.Fchownat(at, name, int(owner.Uid), int(owner.Gid), unix.AT_SYMLINK_NOFOLLOW))
		}
	}
	if err != nil {
		return fmt.Errorf("leave the store to its owner: %w", err)
	}
	return nil
}

// request sends a request and reads the result into result, which may be nil.
func (d *connection) request(ctx context.Context, name string, args, result any) error {
	if d.remote != nil {
		return d.remote.Call(ctx, name, args, result)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("write down the request: %w", err)
	}
	got, err := d.local.Call(control.WithPerson(ctx, d.person), name, raw)
	if err != nil || result == nil {
		return err
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write down the answer: %w", err)
	}
	return json.Unmarshal(b, result)
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

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
	caller control.Caller // who asks, where there is no daemon to see it
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
	c.noDaemon = true
	cfg, err := config.Load(c.config)
	if err != nil {
		return nil, asConfigError(err)
	}
	back := func() error { return nil }
	d, err := assemble(cfg, zerolog.New(io.Discard), func(open func() (*outbox.Box, error)) (box *outbox.Box, err error) {
		if back, err = becomeOwner(c, cfg.Store.Path); err != nil {
			return nil, err
		}
		return open()
	})
	if err != nil {
		err = errors.Join(err, back())
	}
	switch {
	case errors.Is(err, outbox.ErrHeld):
		return nil, fmt.Errorf("%w; it does not answer on %s: give the --socket with which it was started", err, c.socket)
	case errors.Is(err, os.ErrPermission) && os.Geteuid() == 0:
		return nil, fmt.Errorf("%w; something in the store does not belong to the store's owner: give it to that user with chown", err)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("%w; no gauger is running on %s, and the store is not yours: use sudo", err, c.socket)
	case err != nil:
		return nil, err
	}
	d.server.Daemon, d.server.Roles = false, nil // who may open the store may do everything
	untold := printOpened(c, d)
	return &connection{local: d.server, caller: control.Caller{UID: os.Getuid(), PID: os.Getpid(), Name: localUser(c)}, close: func() error {
		d.close()
		return errors.Join(untold, back())
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

// becomeOwner lets root's command work in the store as the user whom it belongs to: who may write there could have laid
// links in the place of its files, and what root leaves there the daemon could not read. back gives root's rights again, for
// what the person has asked for elsewhere.
func becomeOwner(c *call, store string) (back func() error, err error) {
	nothing := func() error { return nil }
	var owner unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(store, &owner) != nil || owner.Uid == 0 {
		return nothing, nil // a store that is not there is made, or missed, by whoever opens it
	}
	uid, gid := int(owner.Uid), int(owner.Gid)
	back, err = actAs(uid, gid, []int{gid})
	if err != nil {
		return nothing, fmt.Errorf("work in the store %s as %s, whom it belongs to: %w; use that user instead of root", store, console.UserName(uid), err)
	}
	fmt.Fprintf(c.err, "working in the store %s as its owner, %s\n", store, console.UserName(uid))
	return back, nil
}

// actAs takes the rights of another user in root's place, in all threads; back gives root's again.
func actAs(uid, gid int, groups []int) (back func() error, err error) {
	roots, err := syscall.Getgroups()
	if err == nil {
		err = errors.Join(syscall.Setgroups(groups), syscall.Setresgid(-1, gid, -1), syscall.Setresuid(-1, uid, -1), hideMemory())
	}
	return func() error {
		return errors.Join(syscall.Setresuid(-1, 0, -1), syscall.Setresgid(-1, 0, -1), syscall.Setgroups(roots), hideMemory())
	}, err
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
	got, err := d.local.Call(control.WithCaller(ctx, d.caller), name, raw)
	if err != nil || result == nil {
		return err
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write down the answer: %w", err)
	}
	return json.Unmarshal(b, result)
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"gauger/agent/bundle"
	"gauger/agent/console"
	"gauger/agent/control"
	"gauger/config"
	"gauger/outbox"
)

// connection is a command's way to the operations: to those of the running daemon, or to its own when none runs.
type connection struct {
	remote *console.Client
	caller control.Caller // who asks, where there is no daemon to see it

	command *call
	cfg     *config.Config
	store   string          // of the site, also where a command looks into a copy of it
	local   *control.Server // since the first request; nil where there is a daemon
	looks   bool            // local only looks: at the store, or at another one in its place
	close   func() error    // of what was opened
}

// dial finds the gauger at the socket. Where the file that -c names is another site's a person is told, and that gauger changes nothing.
func (c *call) dial() (*console.Client, error) {
	d, err := console.Dial(c.socket)
	if err != nil {
		return nil, err
	}
	if c.fileGiven {
		c.fileGiven = false
		if cfg, err := config.Load(c.config); err == nil && d.Site != "" && cfg.ID != d.Site {
			c.means = cfg.ID
			fmt.Fprintf(c.err, "%s is of site %s, and on %s answers site %s: what follows is of that; give the --socket of the one that is meant\n", c.config, cfg.ID, c.socket, d.Site)
		}
	}
	d.Means = c.means
	return d, nil
}

// connect finds the daemon; without one the first request opens the store, which needs the configuration.
func connect(c *call) (*connection, error) {
	d := &connection{command: c, close: func() error { return nil }}
	var err error
	if d.remote, err = c.dial(); err == nil {
		return d, nil
	}
	if !errors.Is(err, console.ErrNoDaemon) {
		return nil, err
	}
	c.noDaemon = true
	d.remote, d.caller = nil, control.Caller{UID: os.Getuid(), PID: os.Getpid(), Name: localUser(c)}
	if d.cfg, d.store, err = loadForStore(c); err != nil {
		return nil, err
	}
	return d, nil
}

// loadForStore reads the configuration for a command that looks into the store itself, or into a copy of it. store is the site's own.
func loadForStore(c *call) (cfg *config.Config, store string, err error) {
	if cfg, err = config.Load(c.config); err != nil {
		return nil, "", asConfigError(err)
	}
	store = cfg.Store.Path
	cfg.Store.Path = cmp.Or(c.getenv(storeCopy), store)
	return cfg, store, nil
}

// server answers a request where there is no daemon. What only looks leaves the store as it is: where there is none yet, it sees an
// empty one, and where opening the store would mend it, a copy.
func (d *connection) server(request string) (*control.Server, error) {
	looks := control.LooksOnly(request)
	if d.local != nil && (looks || !d.looks) {
		return d.local, nil
	}
	if err := d.close(); err != nil {
		return nil, err
	}
	d.looks = looks
	open := d.openStore
	if looks && noStoreYet(d.cfg.Store.Path) {
		open = d.openEmpty
	}
	err := open()
	if looks && (errors.Is(err, outbox.ErrDamaged) || errors.Is(err, outbox.ErrLookOnly)) {
		err = d.openCopy(err)
	}
	return d.local, err
}

// noStoreYet says that nothing of a store is in a folder. Of one that cannot be looked into nobody can say.
func noStoreYet(folder string) bool {
	all, err := os.ReadDir(folder)
	return (err == nil || errors.Is(err, fs.ErrNotExist)) && !slices.ContainsFunc(all, func(e os.DirEntry) bool {
		return e.Name() != "outbox.db.lock" && (strings.HasPrefix(e.Name(), "outbox.db") || strings.HasPrefix(e.Name(), "keys"))
	})
}

// openEmpty lets a command look at a site without a store, from a folder that goes with the command.
func (d *connection) openEmpty() error {
	folder, err := os.MkdirTemp("", "gauger-")
	if err != nil {
		return fmt.Errorf("look at a site without a store: %w", err)
	}
	return d.openInstead(folder, 1<<20, fmt.Sprintf("there is no store in %s yet: gauger has not run with this configuration", d.store))
}

// openCopy lets a command look at what the next start will make of a store.
func (d *connection) openCopy(why error) error {
	folder, err := bundle.CopyStore(context.Background(), d.cfg.Store.Path)
	if err != nil {
		return errors.Join(why, err)
	}
	return d.openInstead(folder, d.cfg.Store.MaxBytes, fmt.Sprintf("the store in %s is not in order, and is left as it is for the next start of gauger to mend; what follows is from a copy of it without its keys, which was mended", d.store))
}

// openInstead opens a store in the place of the site's. Its folder goes with the command.
func (d *connection) openInstead(folder string, most config.Size, why string) error {
	cfg := *d.cfg
	cfg.Store.Path, cfg.Store.MaxBytes = folder, most
	site, err := assemble(&cfg, zerolog.New(io.Discard), openNow)
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	fmt.Fprintln(d.command.err, why)
	untold := printOpened(d.command, site)
	d.use(site, func() error { return errors.Join(untold, os.RemoveAll(folder)) })
	return nil
}

func (d *connection) openStore() error {
	back := func() error { return nil }
	parts := newLasting(zerolog.New(io.Discard))
	parts.looks = d.looks
	site, err := parts.assemble(d.cfg, func(open func() (*outbox.Box, error)) (box *outbox.Box, err error) {
		if back, err = becomeOwner(d.command, d.cfg.Store.Path); err != nil {
			return nil, err
		}
		return open()
	})
	if err != nil {
		err = errors.Join(err, back())
	}
	switch {
	case d.looks && (errors.Is(err, outbox.ErrDamaged) || errors.Is(err, outbox.ErrLookOnly)):
		return err
	case errors.Is(err, outbox.ErrHeld):
		return fmt.Errorf("%w; it does not answer on %s: it may be changing its configuration, so try again in a moment, or give the --socket with which it was started", err, d.command.socket)
	case errors.Is(err, os.ErrPermission) && os.Geteuid() == 0:
		return fmt.Errorf("%w; something in the store does not belong to the store's owner: give it to that user with chown", err)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("%w; no gauger is running on %s, and the store is not yours: use sudo", err, d.command.socket)
	case err != nil:
		return err
	}
	untold := printOpened(d.command, site)
	d.use(site, func() error { return errors.Join(untold, back()) })
	return nil
}

// use lets a site that nothing runs of answer; after closes what else was opened.
func (d *connection) use(site *daemon, after func() error) {
	site.agent.Ledger.CopyOf(d.store)
	d.local = site.server
	d.local.Daemon, d.local.Roles = false, nil // who may open the store may do everything
	d.close = func() error {
		site.close()
		d.local, d.close = nil, func() error { return nil }
		return after()
	}
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

// ask sends one request over a connection of its own.
func ask(ctx context.Context, c *call, request string, args, result any) error {
	return withConnection(c, func(d *connection) error { return d.request(ctx, request, args, result) })
}

// becomeOwner lets root's command work in the store as the user whom it belongs to: who may write there could have laid
// links in the place of its files, and what root leaves there the daemon could not read. back gives root's rights again, for
// what the person has asked for elsewhere.
func becomeOwner(c *call, store string) (back func() error, err error) {
	nothing := func() error { return nil }
	var owner unix.Stat_t
	missing := unix.Stat(store, &owner)
	for at := store; missing != nil && at != filepath.Dir(at); missing = unix.Stat(at, &owner) {
		at = filepath.Dir(at) // a store that is not there is made as by whoever owns the folder above
	}
	if os.Geteuid() != 0 || missing != nil || owner.Uid == 0 {
		return nothing, nil
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
	local, err := d.server(name)
	if err != nil {
		return err
	}
	got, err := local.Call(control.WithCaller(ctx, d.caller), name, raw)
	if err != nil || result == nil {
		return err
	}
	b, err := json.Marshal(got)
	if err != nil {
		return fmt.Errorf("write down the answer: %w", err)
	}
	return json.Unmarshal(b, result)
}

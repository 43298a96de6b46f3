package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"gauger/config"
	"gauger/outbox"
)

const ownedYAML = `site: Owned battery
id: OWN
object: 6f9619ff-8b86-d011-b42d-00c04fc964ff
service: {url: "http://127.0.0.1:9", primary_key: {file: key}}
store: {path: store, max_bytes: 2MiB}
`

// ownedSite is a site whose store belongs to a user that is not root.
func ownedSite(t *testing.T) (dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("", "gauger-owned-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	store := filepath.Join(dir, "store")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(store, 0o700), os.Chown(store, ownerOfStore, ownerOfStore),
		os.WriteFile(filepath.Join(dir, "gauger.yaml"), []byte(ownedYAML), 0o644), os.WriteFile(filepath.Join(dir, "key"), []byte(primaryKey), 0o600)); err != nil {
		t.Fatal(err)
	}
	return dir
}

const ownerOfStore = 12345

// rootRuns runs gauger as root does, in a process of its own.
func rootRuns(t *testing.T, dir string, args ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "-c", filepath.Join(dir, "gauger.yaml"), "--socket", filepath.Join(dir, "none.sock"))...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestRootWorksAsTheStoresOwner: what root's command makes is the owner's, and what the person asks for elsewhere is root's.
func TestRootWorksAsTheStoresOwner(t *testing.T) {
	dir := ownedSite(t)
	said, err := rootRuns(t, dir, "memo", "add", "1", "hello", "--no-wait")
	if err != nil || !strings.Contains(said, "as its owner, uid 12345") {
		t.Fatalf("%v, and it said %s", err, said)
	}
	out := filepath.Join(dir, "out.csv")
	if said, err := rootRuns(t, dir, "export", "readings", "-o", out); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if said, err := rootRuns(t, dir, "keys", "show"); err != nil || !strings.Contains(said, "file") {
		t.Errorf("%v, and of root's own key it said %s", err, said)
	}
	err = filepath.WalkDir(filepath.Join(dir, "store"), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != ownerOfStore {
			t.Errorf("%s is not the store's owner's", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(out); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("root's export: %v, %v", info, err)
	}
}

// TestRootBeginsAStoreAsTheOwnerOfTheFolder: before the first start a store is made as whoever owns the folder above would make it.
func TestRootBeginsAStoreAsTheOwnerOfTheFolder(t *testing.T) {
	dir := ownedSite(t)
	store := filepath.Join(dir, "store")
	if err := errors.Join(os.Remove(store), os.Chown(dir, ownerOfStore, ownerOfStore)); err != nil {
		t.Fatal(err)
	}
	if said, err := rootRuns(t, dir, "memo", "add", "1", "hello", "--no-wait"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, path := range []string{store, filepath.Join(store, "outbox.db"), filepath.Join(store, "keys")} {
		if info, err := os.Stat(path); err != nil || info.Sys().(*syscall.Stat_t).Uid != ownerOfStore {
			t.Errorf("%s is not his (%v)", path, err)
		}
	}
}

// TestRootFollowsNoLinkInTheStore: whoever owns the store lays a link to a file of root's in the place of each of its files.
func TestRootFollowsNoLinkInTheStore(t *testing.T) {
	for _, name := range []string{"outbox.db", "outbox.db.high", "outbox.db.receipts", "outbox.db.lock", "outbox.db.new", "keys", "keys.new", "keys.old", "recorder", "audit.log"} {
		t.Run(name, func(t *testing.T) {
			dir := ownedSite(t)
			victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "store", name)
			if err := errors.Join(os.WriteFile(victim, []byte("root's own"), 0o600), os.Symlink(victim, link), os.Lchown(link, ownerOfStore, ownerOfStore)); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"memo", "add", "1", "hello", "--no-wait"}, {"keys", "set", "primary", "--file", filepath.Join(dir, "key")}} {
				said, err := rootRuns(t, dir, args...)
				if b, unread := os.ReadFile(victim); unread != nil || string(b) != "root's own" {
					t.Errorf("%v wrote %q into root's file (%v, %v: %s)", args, b, unread, err, said)
				}
			}
			if info, err := os.Lstat(victim); err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 || info.Mode().Perm() != 0o600 {
				t.Errorf("root's file is now %v (%v)", info, err)
			}
		})
	}
}

// TestCheckHasTheAgentsEyes: a key that root can read is of no use to an agent that cannot, and only the agent's box has to have it.
func TestCheckHasTheAgentsEyes(t *testing.T) {
	dir := ownedSite(t)
	key := filepath.Join(dir, "key")
	for _, c := range []struct {
		mode   os.FileMode
		group  int
		args   []string
		status int
		say    string
	}{
		{0o600, 0, nil, 0, "warning: "},
		{0o600, 0, []string{"--on-box"}, exitConfig, "the user uid 12345 cannot read \"key\": permission denied"},
		{0o640, ownerOfStore, []string{"--on-box"}, 0, "good"},
		{0o644, ownerOfStore, []string{"--on-box"}, exitConfig, "everybody on this box can read"},
	} {
		if err := errors.Join(os.Chown(key, 0, c.group), os.Chmod(key, c.mode)); err != nil {
			t.Fatal(err)
		}
		said, err := rootRuns(t, dir, append([]string{"check"}, c.args...)...)
		status := 0
		if ended, ok := errors.AsType[*exec.ExitError](err); ok {
			status, err = ended.ExitCode(), nil
		}
		if err != nil || status != c.status || !strings.Contains(said, c.say) {
			t.Errorf("%v %v: %v, status %d, and it said %s", c.mode, c.args, err, status, said)
		}
	}
}

// Whoever has no right to the store of another user ends, with the status of one that is held: the gauger whose it is may be at work, with
// the broker's client id and the page's port. systemd's own gauger shows the site, and so does one whose own store takes nothing.
func TestARunLeavesTheStoreOfAnotherAlone(t *testing.T) {
	dir := ownedSite(t)
	for what, x := range map[string]struct {
		store      string
		uid        int
		supervised bool
		ends       bool
	}{
		"another's":                {store: "store", uid: ownerOfStore + 1, ends: true},
		"another's, not there":     {store: "store/deep/er", uid: ownerOfStore + 1, ends: true},
		"another's, and systemd's": {store: "store", uid: ownerOfStore + 1, supervised: true},
		"its own":                  {store: "store", uid: ownerOfStore},
		"not there, and nobody's":  {store: "none", uid: ownerOfStore},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("NOTIFY_SOCKET", map[bool]string{true: filepath.Join(dir, "none")}[x.supervised])
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cfg := &config.Config{Zone: time.UTC}
			cfg.Store.Path = filepath.Join(dir, x.store)
			var log strings.Builder
			hup := make(chan os.Signal, 1)
			hup <- syscall.SIGHUP // who does not end looks again at once
			shut := &storelessSite{cfg: cfg, socket: filepath.Join(dir, "none.sock"), log: zerolog.New(&log), hup: hup}
			back, err := actAs(x.uid, x.uid, nil)
			if err != nil {
				t.Fatal(err)
			}
			tries := 0
			_, err = shut.openWhenPossible(ctx)(func() (*outbox.Box, error) {
				if tries++; tries > 1 {
					cancel() // it goes on without the store
				}
				return nil, fmt.Errorf("open outbox: %w", fs.ErrPermission)
			})
			if err := back(); err != nil {
				t.Fatal(err)
			}
			if ended := errors.Is(err, outbox.ErrHeld) && tries == 1; ended != x.ends || ended && !strings.Contains(err.Error(), "the store belongs to uid 12345, and this is uid 12346") {
				t.Errorf("after %d tries: %v; %s", tries, err, &log)
			}
		})
	}
}

package outbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"

	"gauger/deploy/proof"
	"gauger/outbox"
	"gauger/outbox/outboxtest"
)

// failing is one fault of a proof: which call fails, and how.
type failing struct {
	n    int    // the call
	name string // what it is, for the figures
	kind string // "EIO", "ENOSPC"; "short": a write takes a part, the next one the rest; "short, ENOSPC": the next one finds the disk full
}

// faultsOf lists what can go wrong with a call.
func faultsOf(c *outboxtest.Call) []string {
	switch c.Name {
	case "pwrite64", "write":
		return []string{"EIO", "ENOSPC", "short", "short, ENOSPC"}
	case "fsync", "fdatasync", "ftruncate", "fallocate", "openat", "renameat", "linkat", "unlinkat", "mkdirat":
		return []string{"EIO", "ENOSPC"}
	case "pread64", "read":
		return []string{"EIO"}
	}
	return nil
}

// every call of the script that can fail, in every way; a long proof's script has 200 steps, the short one's 40.
func everyFault(t *testing.T, seed uint64, steps int) (all []failing) {
	t.Helper()
	status, err := traced(scratch(t), seed, steps, nil, func(c *outboxtest.Call) {
		for _, kind := range faultsOf(c) {
			all = append(all, failing{n: c.N, name: c.Name, kind: kind})
		}
	})
	mustPlay(t, status, err)
	return all
}

// strike makes the fault of the call it is for.
func (f failing) strike(c *outboxtest.Call) outboxtest.Fault {
	short := f.kind == "short" || f.kind == "short, ENOSPC"
	switch {
	case c.N == f.n && short:
		return outboxtest.Fault{Short: max(len(c.Data)/2, 1)}
	case c.N == f.n && f.kind == "EIO":
		return outboxtest.Fault{Errno: syscall.EIO}
	case c.N == f.n && f.kind == "ENOSPC", c.N == f.n+1 && f.kind == "short, ENOSPC":
		return outboxtest.Fault{Errno: syscall.ENOSPC}
	}
	return outboxtest.Fault{}
}

// A script is played with one call on storage failing, for every call and every way of failing: what was accepted is
// there, nothing comes twice; a full disk needs no restart while the box is open, a broken one needs one at most.
func TestProveFaults(t *testing.T) {
	stretch := proof.Of(t, 24)
	steps := 25
	if stretch.Long {
		steps = 200
	}
	all := everyFault(t, stretch.Seed, steps)
	root := scratch(t)
	figures := map[string]int{}
	for i := range stretch.Cases() {
		n := i
		if !stretch.Long { // spread over the script
			n = (i*7919 + int(stretch.Seed)) % len(all)
		}
		if n >= len(all) {
			break
		}
		dir := filepath.Join(root, "fault")
		if err := os.Mkdir(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		word, err := all[n].run(t, dir, stretch.Seed, steps)
		if err != nil {
			t.Errorf("seed %d, case %d of a script of %d steps: %s at call %d (%s): %v", stretch.Seed, n, steps, all[n].kind, all[n].n, all[n].name, err)
		}
		figures["cases"]++
		figures[word]++
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	stretch.Tell(t, "of %d faults %d: 0 records lost, 0 sent again after they were put down; %v", len(all), figures["cases"], figures)
}

// run plays the script with the fault, and starts again after it; word is how the first run ended.
func (f failing) run(t *testing.T, dir string, seed uint64, steps int) (word string, err error) {
	s := newStory(seed)
	status, err := traced(dir, seed, steps, f.strike, func(c *outboxtest.Call) {
		if c.Name == "say" {
			s.hear(string(c.Data))
		}
	})
	if err != nil {
		return "no run", err
	}
	full := f.kind == "ENOSPC" || f.kind == "short, ENOSPC"
	switch {
	case status == 0:
		word = f.kind + ", goes on"
	case status == exitDead && !full:
		word = f.kind + ", one restart"
	case status == exitShut:
		word = f.kind + " while opening or closing"
	default:
		return "failed", fmt.Errorf("the script ended with status %d: %s", status, s.ended)
	}
	synctest.Test(t, func(t *testing.T) {
		var b *outbox.Box
		if b, err = outbox.Open(filepath.Join(dir, "outbox.db"), scriptOptions()); err != nil {
			return
		}
		if err = s.promised(b); err == nil {
			err = s.deliver(b, func(stream string, to outbox.Sender) { emptied(t, b, stream, to) })
		}
		shut(t, b)
	})
	if err == nil {
		_, err = s.doubled()
	}
	return word, err
}

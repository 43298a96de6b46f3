package preflight

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gauger/outbox"
)

// A child that had no time to run says nothing of the file; one that ran all the time does.
func TestAStarvedChildIsNoAnswer(t *testing.T) {
	for script, idle := range map[string]bool{"exec sleep 0.01": true, "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done": false} {
		cmd := exec.Command("sh", "-c", script)
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		limit := time.Hour
		if !idle {
			limit = time.Millisecond
		}
		if starved(cmd, limit) != idle {
			t.Errorf("%s: starved is %v after %s of %s", script, !idle, cmd.ProcessState.UserTime(), limit)
		}
	}
}

func TestInChildTellsItsEnds(t *testing.T) {
	if _, err := exec.LookPath("/bin/sh"); err != nil {
		t.Skip("no shell")
	}
	path := filepath.Join(t.TempDir(), "outbox.db")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for script, want := range map[string]struct{ damaged, fails bool }{
		"exit 0": {false, false}, "exit 1": {true, true}, "exit 2": {true, true}, "kill -SEGV $$": {true, true}, "kill -KILL $$": {true, true},
		"exit 75": {false, true}, "kill -SYS $$": {false, true},
	} {
		err := InChild("/bin/sh", "-c", script)(path)
		if errors.Is(err, outbox.ErrDamaged) != want.damaged || (err != nil) != want.fails {
			t.Errorf("%s: %v", script, err)
		}
	}
	if err := InChild("/no/such/program")(path); err == nil || errors.Is(err, outbox.ErrDamaged) {
		t.Errorf("a child that does not start: %v", err)
	}
}

// TestTheChildSeesNoSecret: of the environment it gets what Go's runtime reads, and no more.
func TestTheChildSeesNoSecret(t *testing.T) {
	t.Setenv("GAUGER_PRIMARY_KEY", "a-secret-key")
	t.Setenv("PRIMARY_KEY", "a-secret-key")
	t.Setenv("GOMEMLIMIT", "40MiB")
	path := filepath.Join(t.TempDir(), "outbox.db")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := InChild("/bin/sh", "-c", "env; exit 1")(path)
	if err == nil || !strings.Contains(err.Error(), "GOMEMLIMIT=40MiB") || strings.Contains(err.Error(), "a-secret-key") {
		t.Errorf("the child's environment: %v", err)
	}
}

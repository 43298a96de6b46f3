// Package preflight has a box's file examined by a child before it is opened: a damaged bbolt file can crash or hang its
// reader, and a child's crash is an answer.
//
// The child is bound to its process, inherits no secret, and its time limit says something of the file only if it really
// ran.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"gauger/outbox"
	"gauger/outbox/receipts"
)

// maxOutput bounds what is told of a child's words, in bytes.
const maxOutput = 512

// InChild returns a function for Options.Preflight that runs a command with the file's path behind its arguments,
// for at most 10 s and 1 s per 10 MB. The command calls Check and exits 0 for a sound file. Any other end of it, a crash
// and the time limit too, means a damaged file, but four: it cannot be started at all, it hardly ran in all that time, it
// exits 75 since it could not look, or the system does not let it run (SIGSYS, of a unit's filter).
func InChild(command string, args ...string) func(path string) error {
	return func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		limit := 10*time.Second + time.Duration(info.Size()/10_000_000)*time.Second
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		cmd := exec.CommandContext(ctx, command, append(append([]string{}, args...), path)...)
		cmd.Env = bareEnv(os.Environ())
		cmd.WaitDelay = time.Second // whoever still holds its output is not waited for
		out, err := runBound(cmd)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil && starved(cmd, limit) {
			return fmt.Errorf("the check of %s was not done after %s, in which it hardly ran: box or disk are busy", path, limit)
		}
		if ctx.Err() == nil && !looked(err) {
			return fmt.Errorf("run %s: %w: %s", command, err, receipts.Shorten(strings.TrimSpace(string(out)), maxOutput))
		}
		return fmt.Errorf("the check of %s ended with %w: %s: %w", path, err, receipts.Shorten(strings.TrimSpace(string(out)), maxOutput), outbox.ErrDamaged)
	}
}

// looked reports whether a child that ended with err has looked at the file.
func looked(err error) bool {
	const tempFail = 75
	ended, ok := errors.AsType[*exec.ExitError](err)
	if !ok || ended.ExitCode() == tempFail {
		return false
	}
	status, ok := ended.Sys().(syscall.WaitStatus)
	return !ok || !status.Signaled() || status.Signal() != syscall.SIGSYS
}

// bareEnv returns the variables that Go's runtime reads. Nothing else is the child's business: secrets may stand there.
func bareEnv(all []string) []string {
	bare := []string{}
	for _, v := range all {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "GOMEMLIMIT", "GOGC", "GOMAXPROCS", "GODEBUG", "GOTRACEBACK", "GORACE", "GOCOVERDIR":
			bare = append(bare, v)
		}
	}
	return bare
}

// starved says that a child which was ended at its limit had hardly run: a busy box or disk has held it up, not the file.
// A file that hangs its reader lets it run in circles.
func starved(cmd *exec.Cmd, limit time.Duration) bool {
	s := cmd.ProcessState
	return s != nil && s.UserTime()+s.SystemTime() < limit/4
}

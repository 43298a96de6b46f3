package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The examination ends with the process that asked for it, also when it hangs: it would hold the file against the next.
func TestTheExaminationEndsWithItsProcess(t *testing.T) {
	path := boxPath(t)
	if err := os.WriteFile(path, []byte("anything"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), hangingCheck+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	until(t, func() bool {
		b, err := os.ReadFile(path + ".pid")
		if err == nil && bytes.HasSuffix(b, []byte("\n")) {
			child, err = strconv.Atoi(string(bytes.TrimSpace(b)))
		}
		return err == nil && child > 0
	})
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	until(t, func() bool { return ended(child) })
}

// ended says that a process is no more, or only waits to be forgotten by whoever has inherited it.
func ended(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || bytes.Contains(b, []byte(") Z "))
}

// until looks again and again, for half a minute at most.
func until(t *testing.T, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatal("waited in vain")
		case <-tick.C:
		}
	}
}

package preflight

import (
	"os/exec"
	"runtime"
	"syscall"
)

// runBound runs a command that ends with this process: a child that hangs over a damaged file would otherwise hold it,
// and keep the next process from opening it. Linux watches the thread that started the child, so that stays.
func runBound(cmd *exec.Cmd) ([]byte, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.CombinedOutput()
}

//go:build !linux

package outbox

import "os/exec"

// runBound runs a command; only Linux can end it with this process.
func runBound(cmd *exec.Cmd) ([]byte, error) { return cmd.CombinedOutput() }

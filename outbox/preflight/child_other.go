//go:build !linux

package preflight

import "os/exec"

// runBound runs a command; only Linux can end it with this process.
func runBound(cmd *exec.Cmd) ([]byte, error) { return cmd.CombinedOutput() }

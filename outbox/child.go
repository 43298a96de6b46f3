package outbox

import (
	"os/exec"
	"time"
)

// starved says that a child which was ended at its limit had hardly run: a busy box or disk has held it up, not the file.
// A file that hangs its reader lets it run in circles.
func starved(cmd *exec.Cmd, limit time.Duration) bool {
	s := cmd.ProcessState
	return s != nil && s.UserTime()+s.SystemTime() < limit/4
}

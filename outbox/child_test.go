package outbox

import (
	"os/exec"
	"testing"
	"time"
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

package sim

import (
	"fmt"
	"time"

	"gauger/collectors"
)

// position is the last instant of a recording that the agent's state holds.
type position struct {
	boot int64 // as the agent counts: the recorded boot plus one; 0 when nothing was played yet
	mono time.Duration
}

// recall asks the host how far an earlier run came.
func recall(host collectors.Host) (position, error) {
	b, err := host.Recall(collectors.ReplayPosition)
	if err != nil {
		return position{}, fmt.Errorf("ask how far the recording was played: %w", err)
	}
	if len(b) == 0 {
		return position{}, nil
	}
	var boot, mono int64
	if n, err := fmt.Sscanf(string(b), "%d %d", &boot, &mono); n != 2 {
		return position{}, fmt.Errorf("remembered position %q: not a boot and nanoseconds: %w", b, err)
	}
	return position{boot: boot, mono: time.Duration(mono)}, nil
}

// holds says whether a row had been played before.
func (p position) holds(r row) bool {
	boot := r.boot + 1
	return boot < p.boot || boot == p.boot && r.mono <= p.mono
}

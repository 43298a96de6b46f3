package ledger

import (
	"hash/fnv"
	"time"

	"gauger/agent/clock"
)

// SetBoot tells the ledger which boot of the box this run belongs to: its detector then counts time by the box's uptime,
// so that neither a restart of the program nor a step of the clock meanwhile moves a load.
func (l *Ledger) SetBoot(boot clock.Boot) error {
	if boot.ID == "" {
		return nil
	}
	up, err := boot.Uptime()
	if err != nil {
		return err
	}
	h := fnv.New64a()
	h.Write([]byte(boot.ID)) // never fails
	l.mu.Lock()
	defer l.mu.Unlock()
	l.boxBoot, l.uptimeAtStart = int64(h.Sum64()), up-time.Since(l.started)
	return nil
}

// mono is an instant of this run on the clock that never steps.
func (l *Ledger) mono(now time.Time) time.Duration { return l.uptimeAtStart + now.Sub(l.started) }

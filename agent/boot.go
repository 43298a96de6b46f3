package agent

import (
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"time"
)

// Boot is the box's boot that a run of the program belongs to: several runs share one, and with it a clock.
type Boot struct {
	ID     string                        // the kernel's own; empty when it cannot be read
	Uptime func() (time.Duration, error) // since the boot, suspends included
}

// ThisBoot asks the kernel.
func ThisBoot() Boot {
	b := Boot{Uptime: uptime}
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		b.ID = strings.TrimSpace(string(id))
	}
	return b
}

func uptime() (time.Duration, error) {
	b, err := os.ReadFile("/proc/uptime")
	if err != nil {
		return 0, fmt.Errorf("read the box's uptime: %w", err)
	}
	seconds, _, _ := strings.Cut(string(b), " ")
	v, err := strconv.ParseFloat(seconds, 64)
	if err != nil {
		return 0, fmt.Errorf("read the box's uptime: %w", err)
	}
	return time.Duration(v * float64(time.Second)), nil
}

// Join tells the ledger which boot of the box this run belongs to: its detector then counts time by the box's uptime,
// so that neither a restart of the program nor a step of the clock meanwhile moves a load.
func (l *Ledger) Join(boot Boot) error {
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
	l.bootID, l.uptime = int64(h.Sum64()), up-time.Since(l.born)
	return nil
}

// mono is an instant of this run on the clock that never steps.
func (l *Ledger) mono(now time.Time) time.Duration { return l.uptime + now.Sub(l.born) }

// clockRecord is what a run leaves of its clock, for the next run on the same boot: a restart of the program is no
// reason to doubt a clock that has been steady all the time.
type clockRecord struct {
	Boot      string
	Zero      time.Time     // what the wall clock said when the box's uptime was 0
	Steady    time.Duration // for how long it had run without a step
	Uptime    time.Duration // when this was written
	Confirmed bool
	Astray    time.Duration `json:",omitempty"` // of a clock in doubt, from where it was last believed
}

// record is the clock as it stands.
func (c *Clock) record(now time.Time, boot Boot) (clockRecord, error) {
	up, err := boot.Uptime()
	if err != nil {
		return clockRecord{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := clockRecord{Boot: boot.ID, Zero: now.Round(0).Add(-up), Steady: c.look(now) - c.since, Uptime: up, Confirmed: c.confirmed}
	if c.doubt {
		r.Astray = c.offset - c.good
	}
	return r, nil
}

// resume takes up what an earlier run left. On the same boot of the box the clock that never steps tells whether the
// wall clock was set in between. After another boot only a clock that is behind what was seen before gives itself away.
func (c *Clock) resume(r clockRecord, now time.Time, boot Boot) error {
	if r.Boot == "" {
		return nil
	}
	up, err := boot.Uptime()
	if err != nil {
		return err
	}
	wall := now.Round(0)
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.Boot != boot.ID || up < r.Uptime {
		if behind := r.Zero.Add(r.Uptime).Sub(wall); r.Astray == 0 && behind >= dateWithin {
			c.good, c.doubt = behind, true
		}
		return nil
	}
	step := wall.Add(-up).Sub(r.Zero)
	astray := r.Astray
	if step.Abs() >= stepSize {
		astray += step
	}
	if astray.Abs() >= dateWithin {
		c.good, c.doubt = -astray, true
	}
	if step.Abs() >= dateWithin {
		c.set = wall.Add(r.Uptime - up)
		return nil
	}
	c.since = now.Sub(c.born) - (r.Steady + up - r.Uptime)
	c.confirmed = c.confirmed || r.Confirmed
	return nil
}

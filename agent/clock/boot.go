package clock

import (
	"fmt"
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

// Saved is a run's clock for the next run on the same boot: a restart of the program is no
// reason to doubt a clock that has been steady all the time.
type Saved struct {
	Boot      string
	Zero      time.Time     // what the wall clock said when the box's uptime was 0
	Steady    time.Duration // for how long it had run without a step
	Uptime    time.Duration // when this was written
	Confirmed bool
	Voucher   Voucher       `json:",omitempty"` // of a confirmed clock; Nobody: an older version did not say
	Against   time.Duration `json:",omitempty"` // by how much the service says that it is wrong
	Overruled bool          `json:",omitempty"` // Against is what a person knows, who said that the clock is right
	Astray    time.Duration `json:",omitempty"` // of a clock in doubt, from where it was last believed
}

// Save is the clock as it stands.
func (c *Clock) Save(now time.Time, boot Boot) (Saved, error) {
	up, err := boot.Uptime()
	if err != nil {
		return Saved{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Saved{Boot: boot.ID, Zero: now.Round(0).Add(-up), Steady: c.noticeStep(now) - c.stepAt, Uptime: up,
		Confirmed: c.confirmed != Nobody, Voucher: c.confirmed, Against: c.contradiction(), Overruled: c.answers == overruled}
	if r.Overruled {
		r.Against = c.said - c.offset
	}
	if c.inDoubt {
		r.Astray = c.offset - c.believedOffset
	}
	return r, nil
}

// Resume takes up what an earlier run left. On the same boot of the box the clock that never steps tells whether the
// wall clock was set in between. After another boot only a clock that is behind what was seen before gives itself away: the store's newest
// time, or what the clock was believed to be when it was left.
func (c *Clock) Resume(r Saved, newest, now time.Time, boot Boot) error {
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
		last := r.Zero.Add(r.Uptime - r.Astray)
		if r.Astray == 0 && newest.After(last) {
			last = newest
		}
		if behind := last.Sub(wall); behind >= Tolerance {
			c.believedOffset, c.inDoubt = behind, true
		}
		return nil
	}
	step := wall.Add(-up).Sub(r.Zero)
	if r.Against != 0 {
		c.said, c.answers = c.offset+r.Against-step, repeated
	}
	astray := r.Astray
	if step.Abs() >= MinStep {
		astray += step
	}
	if astray.Abs() >= Tolerance {
		c.believedOffset, c.inDoubt = -astray, true
	}
	if step.Abs() >= Tolerance {
		c.setAt = wall.Add(r.Uptime - up)
		return nil
	}
	c.stepAt = now.Sub(c.started) - (r.Steady + up - r.Uptime)
	if r.Confirmed && c.confirmed == Nobody {
		c.confirmed = max(r.Voucher, Service)
	}
	if r.Overruled {
		c.answers = overruled
	}
	return nil
}

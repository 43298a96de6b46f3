package main

import (
	"os"
	"time"

	"gauger/agent/clock"
	"gauger/agent/ledger"
)

// earliestClock is the day before which no clock can be right.
var earliestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// timesyncMarker is touched by systemd-timesyncd when it has set or compared the clock.
const timesyncMarker = "/run/systemd/timesync/synchronized"

// newClock starts watching the clock.
func newClock(site ledger.Site) *clock.Clock {
	return clock.New(time.Now(), earliestClock, site.Steady(), func() time.Time {
		info, err := os.Stat(timesyncMarker) // the daemon touches it whenever it has set or compared the clock
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	})
}

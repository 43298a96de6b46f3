package main

import (
	"fmt"
	"strconv"
	"time"
)

// Row 6: so many devices of 100 registers, each a socket of its own, polled every second by one core.
const (
	throughputDevices = 10_000
	registersEach     = 100
	throughputGoal    = 1_000_000
)

func measureThroughput() ([]finding, error) {
	var outcomes [2]outcome
	for i, poller := range []string{"collector", "floor"} {
		t := trial{
			field: []stationSpec{{Every: time.Second}}, poller: poller, how: launch{oneCore: true}, spread: true,
			load:   load{Units: 1, Registers: registersEach, Every: time.Second, Timeout: time.Second},
			settle: 4 * time.Second, window: 10 * time.Second,
		}
		for n := range throughputDevices {
			t.load.URLs = append(t.load.URLs, "tcp://d"+strconv.Itoa(n)+":502")
		}
		o, err := t.run()
		if err != nil {
			return nil, err
		}
		outcomes[i] = o
	}
	return throughputFindings(outcomes[0], outcomes[1]), nil
}

func throughputFindings(ours, floor outcome) []finding {
	rate := ours.rate()
	missed := ours.missed()
	limit, can := floor.rate()/max(1e-9, floor.cores()), rate/max(1e-9, ours.cores())
	polls := max(1, ours.self.Batches)
	return []finding{
		{
			row: 6, what: fmt.Sprintf("%d devices x %d registers at 1 s, one core, registers/s", throughputDevices, registersEach),
			theory: fmt.Sprint(throughputDevices * registersEach), measured: fmt.Sprintf("%.0f, %d polls missed, %d bad values; %.2f s waited for the core", rate, missed, ours.self.Bad, ours.used.Wait.Seconds()),
			ratio: rate / (throughputDevices * registersEach), goal: ">= 1,000,000 and none missed", judged: true,
			met: rate >= 0.9999*throughputGoal && missed == 0 && ours.self.Bad == 0,
		},
		{
			row: 6, what: "by the CPU it took, a whole core would do (bare library beside it), registers/s",
			theory: fmt.Sprintf("%.0f (%.1f %% of a core)", limit, 100*floor.cores()), measured: fmt.Sprintf("%.0f (%.1f %% of a core)", can, 100*ours.cores()),
			ratio: can / limit,
		},
		{
			row: 6, what: "a poll of 100 registers: CPU, objects, bytes allocated",
			theory:   fmt.Sprintf("%s, %d, %d", floor.perPoll(), floor.self.Allocs/max(1, floor.self.Batches), floor.self.Bytes/max(1, floor.self.Batches)),
			measured: fmt.Sprintf("%s, %d, %d", ours.perPoll(), ours.self.Allocs/polls, ours.self.Bytes/polls),
		},
		{
			row: 6, what: "memory at that load, KiB a device (resident)",
			theory: fmt.Sprintf("%.1f", float64(floor.used.RSS)/throughputDevices), measured: fmt.Sprintf("%.1f", float64(ours.used.RSS)/throughputDevices),
			ratio: float64(ours.used.RSS) / float64(max(1, floor.used.RSS)),
		},
	}
}

// rate is the registers a second that were served, from each unit's own mean interval, so that the window's edges
// do not count.
func (o outcome) rate() float64 {
	sum := 0.0
	for _, l := range o.lines {
		for _, u := range l.Units {
			if u.Mean > 0 {
				sum += registersEach / u.Mean.Seconds()
			}
		}
	}
	return sum
}

// perPoll is the CPU time of one batch.
func (o outcome) perPoll() time.Duration {
	return (o.used.CPU / time.Duration(max(1, o.self.Batches))).Round(100 * time.Nanosecond)
}

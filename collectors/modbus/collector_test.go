package modbus

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// site runs collectors for devices on memory lines for a while of virtual time.
type site struct {
	*testing.T
	host   *collectorstest.Host
	lines  *line.Lines
	cancel context.CancelFunc
	ended  chan error
	count  int
}

func runSite(t *testing.T, lines *line.Lines, host *collectorstest.Host, devices ...Device) *site {
	t.Helper()
	all, err := New(lines, devices)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s := &site{T: t, host: host, lines: lines, cancel: cancel, ended: make(chan error, len(all)), count: len(all)}
	for _, c := range all {
		go func() { s.ended <- c.Run(ctx, host) }()
	}
	return s
}

func (s *site) stop() {
	s.Helper()
	s.cancel()
	for range s.count {
		if err := <-s.ended; err != nil {
			s.Errorf("Run: %v", err)
		}
	}
	linetest.Close(s.T, s.lines)
}

// tally counts the batches of each device, and the Good readings of each point, since a given batch.
func (s *site) tally(since int) (polls map[string]int, good map[collectors.Point]int) {
	polls, good = map[string]int{}, map[collectors.Point]int{}
	for _, batch := range s.host.Batches()[since:] {
		device, _, _ := strings.Cut(string(batch[0].Point), "/")
		polls[device]++
		for _, r := range batch {
			if r.Quality == collectors.Good {
				good[r.Point]++
			}
		}
	}
	return polls, good
}

func TestEachDeviceKeepsItsBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Turnaround = 120 * time.Millisecond // ten of these do not fit into a second
		var devices []Device
		for unit := 1; unit <= 10; unit++ {
			slave.Unit(byte(unit)).Set(modbustest.Holding, 0, 1)
			devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: "tcp://site", Unit: new(unit), Every: time.Second, Points: []Point{holding("p", 0)}})
		}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
		linetest.Await(t, 2*time.Minute)
		s.stop()
		last := map[collectors.Point]time.Time{}
		for _, batch := range s.host.Batches() {
			p, at := batch[0].Point, batch[0].At
			if before, ok := last[p]; ok && math.Abs(float64(at.Sub(before)-1200*time.Millisecond)) > float64(20*time.Millisecond) {
				t.Errorf("%s: %s between two polls, want the 1.2s that a round takes", p, at.Sub(before))
			}
			last[p] = at
		}
	})
}

package modbus

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// slowDisk is a host that takes so long for each batch.
type slowDisk struct {
	collectorstest.Host
	takes   time.Duration
	writing atomic.Int32
	most    int32
}

func (h *slowDisk) Emit(ctx context.Context, batch []collectors.Reading) error {
	h.most = max(h.most, h.writing.Add(1))
	defer h.writing.Add(-1)
	<-time.After(h.takes)
	return h.Host.Emit(ctx, batch)
}

// The next unit is asked while a batch is on its way to the disk, and no more than one batch is ahead of it: a disk that is
// slower than the line sets the pace.
func TestTheLineDoesNotWaitForTheDisk(t *testing.T) {
	for _, c := range []struct{ takes, round time.Duration }{
		{0, 1200 * time.Millisecond}, {100 * time.Millisecond, 1200 * time.Millisecond}, {300 * time.Millisecond, 3 * time.Second},
	} {
		t.Run(fmt.Sprintf("a sync of %s", c.takes), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slave := linetest.NumberedSlave()
				slave.Turnaround = 120 * time.Millisecond // for each of ten
				var devices []Device
				for unit := 1; unit <= 10; unit++ {
					slave.Unit(byte(unit)).Set(modbustest.Holding, 0, 1)
					devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: "tcp://site", Unit: new(unit), Every: time.Second, Points: []Point{holding("p", 0)}})
				}
				lines := pipeLines(t, linetest.Only(slave))
				all, err := New(lines, devices)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				host, ended := &slowDisk{takes: c.takes}, make(chan error)
				go func() { ended <- all[0].Run(ctx, host) }()
				linetest.Await(t, 2*time.Minute)
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if host.most != 1 || host.writing.Load() != 0 {
					t.Errorf("%d batches at once, %d after the end", host.most, host.writing.Load())
				}
				linetest.Close(t, lines)
				last, before := map[collectors.Point]time.Time{}, time.Time{}
				for i, batch := range host.Batches() {
					p, at := batch[0].Point, batch[0].At
					if was, ok := last[p]; ok && i > 20 && (at.Sub(was)-c.round).Abs() > 20*time.Millisecond {
						t.Errorf("%s: %s between two polls, want the %s that a round takes", p, at.Sub(was), c.round)
					}
					if !at.After(before) {
						t.Errorf("%s of %s came after one of %s", p, at, before)
					}
					last[p], before = at, at
				}
			})
		})
	}
}

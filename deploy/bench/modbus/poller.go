package main

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"

	"gauger/collectors"
	"gauger/collectors/modbus"
	"gauger/collectors/modbus/line"
)

// load to be polled: Units units behind each URL, each asked for so many holding registers, one point
// to a register. With Dial every URL leads to that address, and each unit is asked for other registers, so that
// the slave can tell them apart.
type load struct {
	URLs      []string
	Dial      string
	Units     int
	Registers int
	Every     time.Duration
	Timeout   time.Duration
}

// first is the first register of device n.
func (l load) first(n int) int {
	if l.Dial == "" {
		return 0
	}
	return n
}

// devices is the load as a configuration would give it.
func (l load) devices() []modbus.Device {
	var all []modbus.Device
	for n := range len(l.URLs) * l.Units {
		unit := 1 + n%l.Units
		d := modbus.Device{Name: "d" + strconv.Itoa(n), URL: l.URLs[n/l.Units], Unit: &unit, Every: l.Every, Timeout: l.Timeout}
		for i := range l.Registers {
			address := l.first(n) + i
			d.Points = append(d.Points, modbus.Point{Name: "p" + strconv.Itoa(i), Holding: &address})
		}
		all = append(all, d)
	}
	return all
}

// pollReport of a poller about itself.
type pollReport struct {
	Batches uint64
	Good    uint64 // readings
	Bad     uint64
	Allocs  uint64 // objects
	Bytes   uint64 // allocated
}

// gatherer runs the collectors alone: the host counts, and keeps nothing.
type gatherer struct {
	counts pollCounts
	opened pollReport
}

type pollCounts struct{ batches, good, bad atomic.Uint64 }

func (c *pollCounts) read() pollReport {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return pollReport{Batches: c.batches.Load(), Good: c.good.Load(), Bad: c.bad.Load(), Allocs: m.Mallocs, Bytes: m.TotalAlloc}
}

func (r pollReport) since(before pollReport) pollReport {
	return pollReport{r.Batches - before.Batches, r.Good - before.Good, r.Bad - before.Bad, r.Allocs - before.Allocs, r.Bytes - before.Bytes}
}

// startCollectors polls until the process ends.
func startCollectors(l load) (worker, any, error) {
	lines := &line.Lines{}
	if l.Dial != "" {
		var dialer net.Dialer
		lines.Dial = func(ctx context.Context, _ string) (line.Stream, error) {
			return dialer.DialContext(ctx, "tcp", l.Dial)
		}
	}
	all, err := modbus.New(lines, l.devices())
	if err != nil {
		return nil, nil, err
	}
	debug.FreeOSMemory() // of what the options took, as the program itself does
	g := &gatherer{}
	for _, c := range all {
		go func() {
			if err := c.Run(context.Background(), g); err != nil {
				panic(fmt.Errorf("a collector ended: %w", err)) // the parent sees the end and the reason
			}
		}()
	}
	return g, struct{}{}, nil
}

func (g *gatherer) open() any {
	g.opened = g.counts.read()
	return struct{}{}
}

func (g *gatherer) report() any { return g.counts.read().since(g.opened) }

// Emit implements collectors.Host.
func (g *gatherer) Emit(_ context.Context, batch []collectors.Reading) error {
	good := uint64(0)
	for i := range batch {
		if batch[i].Quality == collectors.Good {
			good++
		}
	}
	g.counts.batches.Add(1)
	g.counts.good.Add(good)
	g.counts.bad.Add(uint64(len(batch)) - good)
	return nil
}

// Refuse implements collectors.Host.
func (g *gatherer) Keeps(collectors.Refusal) bool { return true }

func (g *gatherer) Refuse(context.Context, []collectors.Refusal) error { return nil }

// Notice implements collectors.Host.
func (g *gatherer) Notice(context.Context, collectors.Notice) error { return nil }

// Hurry implements collectors.Host.
func (g *gatherer) Hurry([]collectors.Point) bool { return false }

// Recall implements collectors.Host.
func (g *gatherer) Recall(string) ([]byte, error) { return nil, nil }

// Remember implements collectors.Host.
func (g *gatherer) Remember(string, []byte) error { return nil }

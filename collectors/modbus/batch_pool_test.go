package modbus

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

func TestABorrowedBatchIsEmpty(t *testing.T) {
	for _, n := range []int{3, 2, 5, 1} {
		batch := borrowBatch(n)
		if len(batch) != n {
			t.Fatalf("%d readings, want %d", len(batch), n)
		}
		for i := range batch {
			if batch[i] != (collectors.Reading{}) {
				t.Errorf("%d of %d still says %+v", i, n, batch[i])
			}
			batch[i] = collectors.Reading{Point: "d/p", Value: 7, Quality: collectors.Good}
		}
		returnBatch(batch)
	}
	returnBatch(nil)
}

// slowHost takes batches once it is open.
type slowHost struct {
	collectorstest.Host
	open    chan struct{}
	waiting atomic.Int32
}

func (h *slowHost) Emit(ctx context.Context, batch []collectors.Reading) error {
	h.waiting.Add(1)
	defer h.waiting.Add(-1)
	select {
	case <-h.open:
		return h.Host.Emit(ctx, batch)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestFewAnswersAreDecodedAtOnce while the host takes its time, and all devices are read all the same, when they have been away too.
func TestFewAnswersAreDecodedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		host := &slowHost{open: make(chan struct{})}
		const devices = 3 * decodingMost
		lines := pipeLines(t, linetest.Only(slave))
		defer linetest.Close(t, lines)
		var options []Device
		for i := range devices {
			options = append(options, Device{Name: fmt.Sprint("d", i), URL: fmt.Sprint("tcp://site", i), Every: 10 * time.Second, Points: []Point{holding("p", 7)}})
		}
		var all []collectors.Collector
		for _, d := range options { // each by itself, as the program makes those of devices that share nothing
			made, err := New(lines, []Device{d})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, made...)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, c := range all {
			running.Go(func() { _ = c.Run(ctx, host) }) // ends with ctx alone
		}
		linetest.Await(t, 5*time.Second)
		if n := host.waiting.Load(); n != decodingMost {
			t.Errorf("%d batches wait for the host, want %d", n, decodingMost)
		}
		close(host.open)
		linetest.Await(t, time.Second)
		if n := len(host.Batches()); n != devices {
			t.Errorf("%d devices were read, want %d", n, devices)
		}
		slave.SetFaults(modbustest.Fault{Silent: true})
		linetest.Await(t, 2*time.Minute)
		slave.SetFaults()
		linetest.Await(t, 2*time.Minute)
		for i := range devices {
			if r, ok := host.Last(collectors.Point(fmt.Sprintf("d%d/p", i))); !ok || r.Quality != collectors.Good {
				t.Errorf("d%d, which was away: %+v", i, r)
			}
		}
		stop()
		running.Wait()
	})
}

package memory

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// LeastPercent of garbage beside what lives starts a collection, where collecting is cheap; mostPercent, however dear it is.
	LeastPercent = 15
	mostPercent  = 100

	dearShare = 0.35            // of the work that is done, which collecting may take before it is put off
	lookEvery = 2 * time.Second // at what it takes
	minChange = 1.1             // by which the percentage is changed at least: each change stops the program for some microseconds

	settled   = 3 * time.Second // after the start, when that has done what it alone does
	dropEvery = time.Hour
)

// Run lets the collector's percentage follow what it costs, unless it is fixed, and gives back what the program does not need of its
// file, until ctx ends.
func Run(ctx context.Context, fixed bool) error {
	look, drop := time.NewTicker(lookEvery), time.NewTimer(settled)
	defer look.Stop()
	defer drop.Stop()
	if fixed {
		look.Stop()
	}
	last, percent := read(), LeastPercent
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-drop.C:
			dropProgram()
			drop.Reset(dropEvery)
		case <-look.C:
			now := read()
			if next := nextPercent(percent, now.since(last)); next != percent {
				debug.SetGCPercent(next)
				percent = next
			}
			last = now
		}
	}
}

// usage is what the runtime knows of its work and its memory. Its times move at the end of each collection.
type usage struct {
	collecting, working float64 // seconds of processor: for the collector, and for all that is done
	collected           uint64  // bytes that a percentage is of: what lived after the last collection, stacks, and globals
	room                float64 // bytes below the limit
}

// since is the work since an earlier look, and the memory of now.
func (u usage) since(before usage) usage {
	u.collecting -= before.collecting
	u.working -= before.working
	return u
}

func read() usage {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(s)
	u := usage{
		collecting: s[0].Value.Float64(), collected: s[2].Value.Uint64() + s[3].Value.Uint64() + s[4].Value.Uint64(),
		room: float64(debug.SetMemoryLimit(-1)) - float64(s[5].Value.Uint64()-s[6].Value.Uint64()),
	}
	u.working = u.collecting + s[1].Value.Float64()
	return u
}

// nextPercent is the percentage after one at which collecting took what it did. Half the percentage is about twice the work, so
// that the share says where to go; half or twice of what it was is as far as one look leads.
func nextPercent(percent int, u usage) int {
	share := 0. // of nothing that was done
	if u.working > 0 {
		share = u.collecting / u.working
	}
	want := float64(percent) * min(max(share/dearShare, 0.5), 2)
	if garbage := float64(u.collected) * want / 100; garbage > u.room/2 {
		want = 100 * max(u.room, 0) / 2 / float64(max(u.collected, 1))
	}
	next := int(math.Round(min(max(want, LeastPercent), mostPercent)))
	if ratio := float64(next) / float64(percent); ratio < minChange && ratio > 1/minChange && next != LeastPercent {
		return percent
	}
	return next
}

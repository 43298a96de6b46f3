// Package collectorstest is what every collector must do, as a suite, and a host in memory to try collectors with.
package collectorstest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"gauger/collectors"
)

// Host is a collectors.Host that keeps everything in memory. The zero value is ready for use.
type Host struct {
	mu      sync.Mutex
	batches [][]collectors.Reading
	notices []collectors.Notice
	memory  map[string][]byte
	failing int
	refused int // emits that were answered with an error
	loading map[collectors.Point]bool
	changed chan struct{}
}

// errEmit is the host's answer while failEmits lasts.
var errEmit = errors.New("collectorstest: the batch was not taken")

// failEmits makes the next n calls of Emit fail.
func (h *Host) failEmits(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failing = n
}

// Emit implements collectors.Host.
func (h *Host) Emit(_ context.Context, batch []collectors.Reading) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer h.wake()
	if h.failing > 0 {
		h.failing--
		h.refused++
		return errEmit
	}
	h.batches = append(h.batches, slices.Clone(batch))
	return nil
}

// Keeps implements collectors.Host.
func (h *Host) Keeps(collectors.Refusal) bool { return true }

// Refuse implements collectors.Host.
func (h *Host) Refuse(context.Context, []collectors.Refusal) error { return nil }

// Notice implements collectors.Host.
func (h *Host) Notice(_ context.Context, n collectors.Notice) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notices = append(h.notices, n)
	h.wake()
	return nil
}

// Recall implements collectors.Host.
func (h *Host) Recall(name string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.memory[name]), nil
}

// Remember implements collectors.Host.
func (h *Host) Remember(name string, v []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.memory == nil {
		h.memory = map[string][]byte{}
	}
	if v == nil {
		delete(h.memory, name)
	} else {
		h.memory[name] = slices.Clone(v)
	}
	h.wake()
	return nil
}

// Load says which points are levels of tanks that are being hauled from now on.
func (h *Host) Load(points ...collectors.Point) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loading = map[collectors.Point]bool{}
	for _, p := range points {
		h.loading[p] = true
	}
}

// Hurry implements collectors.Host.
func (h *Host) Hurry(points []collectors.Point) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(points, func(p collectors.Point) bool { return h.loading[p] })
}

// wake tells those who wait that something has changed. The lock is held.
func (h *Host) wake() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// Batches are the batches that were taken, in order.
func (h *Host) Batches() [][]collectors.Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.batches)
}

// Notices are all notices, in order.
func (h *Host) Notices() []collectors.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.notices)
}

// Memory is a copy of all that was remembered.
func (h *Host) Memory() map[string][]byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.memory)
}

// failedEmits counts the batches that were answered with errEmit.
func (h *Host) failedEmits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// Last is the newest reading of a point, and false when there is none.
func (h *Host) Last(p collectors.Point) (collectors.Reading, bool) {
	for _, batch := range slices.Backward(h.Batches()) {
		for _, r := range slices.Backward(batch) {
			if r.Point == p {
				return r, true
			}
		}
	}
	return collectors.Reading{}, false
}

// Await returns when done is true, which is asked again after everything that a collector tells the host; false
// when ctx ends first.
func (h *Host) Await(ctx context.Context, done func() bool) bool {
	for {
		h.mu.Lock()
		if h.changed == nil {
			h.changed = make(chan struct{})
		}
		changed := h.changed
		h.mu.Unlock()
		if done() {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

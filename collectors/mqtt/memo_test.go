package mqtt

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"gauger/collectors"
)

// patienceOfTests bounds a test's wait for something that must come.
const patienceOfTests = 20 * time.Second

// memo is a Host that keeps everything in memory and can be told to fail.
type memo struct {
	mu       sync.Mutex
	batches  [][]collectors.Reading
	notices  []collectors.Notice
	refused  []collectors.Refusal
	memory   map[string][]byte
	emitting func(batch []collectors.Reading) error // asked before a batch is taken
	deny     error                                  // for Notice, Recall and Remember
	changed  chan struct{}
}

func newMemo() *memo {
	return &memo{memory: map[string][]byte{}, changed: make(chan struct{})}
}

// touch wakes whoever waits; mu is held.
func (h *memo) touch() {
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *memo) Emit(_ context.Context, batch []collectors.Reading) error {
	h.mu.Lock()
	ask := h.emitting
	h.mu.Unlock()
	if ask != nil {
		if err := ask(batch); err != nil {
			return err
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches = append(h.batches, slices.Clone(batch))
	h.touch()
	return nil
}

func (h *memo) Keeps(collectors.Refusal) bool { return true }

func (h *memo) Refuse(_ context.Context, batch []collectors.Refusal) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range batch {
		r.Raw = slices.Clone(r.Raw)
		h.refused = append(h.refused, r)
	}
	h.touch()
	return nil
}

func (h *memo) Notice(_ context.Context, n collectors.Notice) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.deny != nil {
		return h.deny
	}
	h.notices = append(h.notices, n)
	h.touch()
	return nil
}

func (h *memo) Recall(name string) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.memory[name], h.deny
}

func (h *memo) Hurry([]collectors.Point) bool { return false }

func (h *memo) Remember(name string, v []byte) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.deny != nil {
		return h.deny
	}
	h.memory[name] = v
	h.touch()
	return nil
}

// readings are all readings of a point so far, in order; of every point when the name is empty. mu is held.
func (h *memo) readings(point string) []collectors.Reading {
	var found []collectors.Reading
	for _, b := range h.batches {
		for _, r := range b {
			if point == "" || string(r.Point) == point {
				found = append(found, r)
			}
		}
	}
	return found
}

// told are the notices of a rule so far. mu is held.
func (h *memo) told(rule string) []collectors.Notice {
	return slices.DeleteFunc(slices.Clone(h.notices), func(n collectors.Notice) bool { return n.Rule != rule })
}

// all is readings, for a test that does not hold mu.
func (h *memo) all(point string) []collectors.Reading {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.readings(point)
}

// noticed is told, for a test that does not hold mu.
func (h *memo) noticed(rule string) []collectors.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told(rule)
}

// commits counts the batches that were taken so far, for a test that does not hold mu.
func (h *memo) commits() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.batches)
}

// kept are the refused messages so far, for a test that does not hold mu.
func (h *memo) kept() []collectors.Refusal {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.refused)
}

// until waits until the condition holds; it is looked at whenever the host has taken something, with mu held.
func (h *memo) until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	limit := time.NewTimer(patienceOfTests)
	defer limit.Stop()
	for {
		h.mu.Lock()
		done, changed := condition(), h.changed
		h.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			h.mu.Lock()
			defer h.mu.Unlock()
			t.Fatalf("did not come: %s\nreadings: %v\nnotices: %v\nrefused: %v", what, h.readings(""), h.notices, h.refused)
		}
	}
}

// values waits for at least n readings of a point that are not Bad and returns the values.
func (h *memo) values(t testing.TB, point string, n int) []float64 {
	t.Helper()
	var values []float64
	h.until(t, "readings of "+point, func() bool {
		values = nil
		for _, r := range h.readings(point) {
			if r.Quality != collectors.Bad {
				values = append(values, r.Value)
			}
		}
		return len(values) >= n
	})
	return values
}

// start runs a collector until the test, or the returned function, ends it.
func start(t testing.TB, host collectors.Host, c collectors.Collector) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx, host) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// collect prepares a collector and fails the test when the options are wrong.
func collect(t testing.TB, opt Session, devices ...Device) collectors.Collector {
	t.Helper()
	c, err := New(devices, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// firstReading is the first one that who only looks on gets of a device.
func firstReading(t testing.TB, opt Session, d Device) collectors.Reading {
	t.Helper()
	opt.Clean = true
	h := newMemo()
	stop := start(t, h, collect(t, opt, d))
	defer stop()
	h.until(t, "a reading", func() bool { return len(h.readings("")) > 0 })
	return h.all("")[0]
}

// connected waits until every session of a collector has made its subscriptions.
func connected(t testing.TB, c collectors.Collector) {
	t.Helper()
	limit := time.NewTimer(patienceOfTests)
	defer limit.Stop()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for _, s := range c.(collector) {
		for state, _ := s.link.state(); !state.up; state, _ = s.link.state() {
			select {
			case <-look.C:
			case <-limit.C:
				t.Fatalf("no connection: %+v", state)
			}
		}
	}
}

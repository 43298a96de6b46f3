package collectorstest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"gauger/agent/eventrules"
	"gauger/collectors"
)

// Subject is a collector as the suite wants it: one device that answers, and one that does not.
type Subject struct {
	// New makes a fresh collector. It is called once for each test of the suite, and what it starts for the test
	// (a slave, a broker) must end in t.Cleanup.
	New func(t *testing.T) collectors.Collector
	// Live are all points of a device that answers, with Good readings. At least one.
	Live []collectors.Point
	// Absent are all points of a device that is away, refuses or talks nonsense, and Source is what the notice
	// about it names. None: this kind of collector cannot lose a device.
	Absent []collectors.Point
	Source string
	// Rule is the notice's rule; empty: comm-loss.
	Rule string
	// Listens says that values come one by one, as the device sends them, and not in polls of the whole device.
	Listens bool
	// Patience is the longest wait for anything; 0: five seconds.
	Patience time.Duration
}

// Run tries everything that the contract of collectors.Collector and Host says.
func Run(t *testing.T, s Subject) {
	if s.Patience == 0 {
		s.Patience = 5 * time.Second
	}
	s.Rule = cmp.Or(s.Rule, eventrules.CommLoss)
	t.Run("readings are sound", s.soundReadings)
	t.Run("one batch for a poll", s.oneBatch)
	t.Run("an absent device", s.absentDevice)
	t.Run("a host that does not take a batch", s.emitErrors)
	t.Run("the context ends", s.contextEnds)
}

// runningCollector is a running collector.
type runningCollector struct {
	*testing.T
	host   *Host
	ctx    context.Context // ends with the test's patience
	cancel context.CancelFunc
	ended  chan error
	before map[string]int
}

func (s Subject) start(t *testing.T, host *Host) *runningCollector {
	t.Helper()
	c := s.New(t)
	before := goroutines()
	patience, done := context.WithTimeout(context.Background(), s.Patience)
	t.Cleanup(done)
	running, cancel := context.WithCancel(context.Background())
	r := &runningCollector{T: t, host: host, ctx: patience, cancel: cancel, ended: make(chan error, 1), before: before}
	go func() { r.ended <- c.Run(running, host) }()
	return r
}

// stop ends the context and says how Run took it.
func (r *runningCollector) stop(patience time.Duration) {
	r.Helper()
	r.cancel()
	select {
	case err := <-r.ended:
		if err != nil {
			r.Errorf("Run returned %v when its context ended, want nil", err)
		}
	case <-time.After(patience):
		r.Fatalf("Run did not return within %s of the end of its context", patience)
	}
}

func (s Subject) soundReadings(t *testing.T) {
	host := &Host{}
	r := s.start(t, host)
	good := func() bool { return s.allGood(host) }
	if !host.Await(r.ctx, good) {
		t.Errorf("no good reading of each of %v; last: %s", s.Live, lastReadings(host, s.Live))
	}
	r.stop(s.Patience)
	for _, batch := range host.Batches() {
		for _, reading := range batch {
			if why := unsound(reading); why != "" {
				t.Errorf("%s: %s", reading.Point, why)
			}
		}
	}
}

func (s Subject) allGood(host *Host) bool {
	for _, p := range s.Live {
		if r, ok := host.Last(p); !ok || r.Quality != collectors.Good {
			return false
		}
	}
	return true
}

func lastReadings(host *Host, points []collectors.Point) string {
	var all []string
	for _, p := range points {
		r, ok := host.Last(p)
		all = append(all, fmt.Sprintf("%s: %t %s %v %v", p, ok, r.Quality, r.Value, r.Err))
	}
	return strings.Join(all, "; ")
}

// unsound says which rule of collectors.Reading a reading breaks; empty when none.
func unsound(r collectors.Reading) string {
	switch {
	case r.Point == "" || !strings.Contains(string(r.Point), "/"):
		return fmt.Sprintf("the point %q is not DEVICE/POINT", r.Point)
	case r.At.IsZero():
		return "no time"
	case r.Quality == collectors.Good && r.Err != nil:
		return fmt.Sprintf("good, but with the error %v", r.Err)
	case r.Quality != collectors.Good && r.Err == nil:
		return fmt.Sprintf("%s without a reason", r.Quality)
	case r.Quality == collectors.Good && math.IsNaN(r.Value) && r.Text == "":
		return "good without a value"
	case math.IsInf(r.Value, 0):
		return "an infinite value"
	}
	return ""
}

// oneBatch: what belongs to one poll comes in one batch, each point once.
func (s Subject) oneBatch(t *testing.T) {
	if s.Listens {
		t.Skip("a collector that listens hands over what has arrived")
	}
	host := &Host{}
	r := s.start(t, host)
	host.Await(r.ctx, func() bool { return len(host.Batches()) >= 3 && s.allGood(host) })
	r.stop(s.Patience)
	for i, batch := range host.Batches() {
		count := map[collectors.Point]int{}
		for _, reading := range batch {
			count[reading.Point]++
		}
		for _, device := range [][]collectors.Point{s.Live, s.Absent} {
			if len(device) == 0 || count[device[0]] == 0 {
				continue
			}
			for _, p := range device {
				if count[p] != 1 {
					t.Errorf("batch %d has %s %d times, want once like every point of the device", i, p, count[p])
				}
			}
		}
	}
}

// absentDevice: its points are Bad with a reason, one notice tells of it, and the other device goes on.
func (s Subject) absentDevice(t *testing.T) {
	if len(s.Absent) == 0 {
		t.Skip("this collector cannot lose a device")
	}
	host := &Host{}
	r := s.start(t, host)
	told := func() bool { return len(s.about(host)) > 0 }
	if !host.Await(r.ctx, told) {
		t.Errorf("no notice %s about %s; notices: %+v", s.Rule, s.Source, host.Notices())
	}
	bad := func() bool {
		for _, p := range s.Absent {
			if last, ok := host.Last(p); !ok || last.Quality != collectors.Bad || last.Err == nil {
				return false
			}
		}
		return s.allGood(host)
	}
	if !host.Await(r.ctx, bad) {
		t.Errorf("want %v bad with a reason and %v good; last: %s; %s", s.Absent, s.Live, lastReadings(host, s.Absent), lastReadings(host, s.Live))
	}
	r.stop(s.Patience)
	for i, n := range s.about(host) {
		if i > 0 || n.Since.IsZero() || !n.Until.IsZero() || n.Note == "" {
			t.Errorf("notice %d: %+v; want one only, with an onset, a note and no end", i, n)
		}
	}
}

func (s Subject) about(host *Host) []collectors.Notice {
	var found []collectors.Notice
	for _, n := range host.Notices() {
		if n.Rule == s.Rule && n.Source == s.Source {
			found = append(found, n)
		}
	}
	return found
}

// emitErrors: a batch that is not taken ends nothing, and values come again.
func (s Subject) emitErrors(t *testing.T) {
	host := &Host{}
	host.failEmits(3)
	r := s.start(t, host)
	if !host.Await(r.ctx, func() bool { return host.failedEmits() == 3 && s.allGood(host) }) {
		t.Errorf("after %d refused batches: %s", host.failedEmits(), lastReadings(host, s.Live))
	}
	r.stop(s.Patience)
}

// contextEnds: Run returns nil, soon, and nothing of it is left.
func (s Subject) contextEnds(t *testing.T) {
	host := &Host{}
	r := s.start(t, host)
	host.Await(r.ctx, func() bool { return len(host.Batches()) > 0 })
	r.stop(s.Patience)
	if left := awaitGone(r.ctx, r.before); left != "" {
		t.Errorf("goroutines are left after Run has returned:\n%s", left)
	}
}

// awaitGone returns once no goroutine runs code of a collector that did not run it before, and what is left when
// ctx ends first. Goroutines need a moment to end after what they wait for has come.
func awaitGone(ctx context.Context, before map[string]int) string {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		left := extraGoroutines(goroutines(), before)
		if left == "" {
			return ""
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return left
		}
	}
}

// goroutines counts the goroutines that run a collector's code, or paho's for it, by where they were started.
func goroutines() map[string]int {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	count := map[string]int{}
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if !isCollectors(stack) {
			continue
		}
		_, created, _ := strings.Cut(stack, "\ncreated by ")
		where, _, _ := strings.Cut(created, " in goroutine")
		count[where]++
	}
	return count
}

// isCollectors says whether a stack is a collector's: not the test's own, and not that of a device that a test provides.
func isCollectors(stack string) bool {
	if strings.Contains(stack, "testing.tRunner") {
		return false
	}
	for line := range strings.Lines(stack) {
		function := !strings.HasPrefix(line, "\t")
		ours := strings.Contains(line, "/collectors") && !strings.Contains(line, "test.")
		if function && (ours || strings.Contains(line, "paho")) {
			return true
		}
	}
	return false
}

func extraGoroutines(now, before map[string]int) string {
	var left []string
	for where, n := range now {
		if n > before[where] {
			left = append(left, fmt.Sprintf("%d started by %s", n-before[where], where))
		}
	}
	return strings.Join(left, "\n")
}

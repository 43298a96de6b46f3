package modbus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
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
	closeLines(s.T, s.lines)
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

func TestCommLossOpensAfterThreeMissesAndClosesOnReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		start := time.Now()
		device := Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7)}}
		s := runSite(t, pipeLines(t, only(slave)), &collectorstest.Host{}, device)
		linetest.Await(t, 35*time.Second)
		slave.SetFaults(modbustest.Fault{Silent: true})
		linetest.Await(t, 20*time.Second) // polls at 40 and 50
		if n := s.host.Notices(); len(n) != 0 {
			t.Errorf("after two misses: %+v", n)
		}
		linetest.Await(t, time.Minute)
		n := s.host.Notices()
		if len(n) != 1 || n[0].Rule != "comm-loss" || n[0].Source != "d" || n[0].Since.Sub(start) != 41*time.Second || !n[0].Until.IsZero() {
			t.Fatalf("after three misses: %+v", n)
		}
		slave.SetFaults()
		linetest.Await(t, 20*time.Second)
		n = s.host.Notices()
		if len(n) != 2 || n[1].Rule != "comm-loss" || !n[1].Since.Equal(n[0].Since) || n[1].Until.IsZero() {
			t.Fatalf("after the return: %+v", n[1:])
		}
		if r, _ := s.host.Last("d/p"); r.Quality != collectors.Good || r.Value != float64(linetest.Word(1, line.Holding, 7)) {
			t.Errorf("after the return: %+v", r)
		}
		s.stop()
	})
}

// stubborn is a host that does not take notices for a while.
type stubborn struct {
	collectorstest.Host
	refuse atomic.Bool
}

func (s *stubborn) Notice(ctx context.Context, n collectors.Notice) error {
	if s.refuse.Load() {
		return errors.New("disk full")
	}
	return s.Host.Notice(ctx, n)
}

func TestANoticeThatIsNotTakenComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stubborn{}
		host.refuse.Store(true)
		lines := pipeLines(t, func(string) (*modbustest.Slave, error) { return nil, errors.New("no route to host") })
		all, err := New(lines, []Device{{Name: "d", URL: "tcp://site", Points: []Point{holding("p", 0)}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- all[0].Run(ctx, host) }()
		linetest.Await(t, time.Minute)
		host.refuse.Store(false)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if n := host.Notices(); len(n) != 1 || !strings.Contains(n[0].Note, "no route to host") {
			t.Errorf("%+v, want the one notice that was refused before", n)
		}
	})
}

func TestVerifyBelievesOnlyWhatTwoRequestsAgreeOn(t *testing.T) {
	level := func(p *Point) { p.Type, p.Verify, p.Agree, p.Unit = "float32", "twice", 0.5, "in" }
	d := Device{Name: "d", URL: "rtu+tcp://site:4001", Points: []Point{holding("level", 0, level), holding("other", 2)}}
	for _, tt := range []struct {
		second float32
		good   bool
	}{{100, true}, {100.5, true}, {99.5, true}, {100.75, false}, {12, false}} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			slave.Unit(1).SetFloat32(modbustest.Holding, 0, 100, modbustest.ABCD)
			lines := pipeLines(t, only(slave))
			changed := &change{after: 1, do: func() { slave.Unit(1).SetFloat32(modbustest.Holding, 0, tt.second, modbustest.ABCD) }}
			lines.Dial = changed.under(lines.Dial)
			got := readings(t, lines, d)
			level, other := got["d/level"], got["d/other"]
			if other.Quality != collectors.Good {
				t.Errorf("the point that is read once: %+v", other)
			}
			if tt.good && (level.Quality != collectors.Good || level.Value != float64(tt.second)) {
				t.Errorf("then %v: %v (%v), want the second value", tt.second, level.Value, level.Err)
			}
			mismatches := openLine(t, lines, d.URL).Stats().Mismatches
			if !tt.good && (level.Quality != collectors.Bad || !strings.Contains(level.Err.Error(), "do not agree") || mismatches != 1) {
				t.Errorf("then %v: %s %v (%v), %d counted", tt.second, level.Quality, level.Value, level.Err, mismatches)
			}
			if n := slave.Requests(1); n != 2 {
				t.Errorf("%d requests, want two", n)
			}
			closeLines(t, lines)
		})
	}
}

// change does something between two requests.
type change struct {
	line.Stream
	after int
	do    func()
}

func (c *change) under(dial func(context.Context, string) (line.Stream, error)) func(context.Context, string) (line.Stream, error) {
	return func(ctx context.Context, url string) (s line.Stream, err error) {
		c.Stream, err = dial(ctx, url)
		return c, err
	}
}

func (c *change) Write(b []byte) (int, error) {
	if c.after--; c.after == -1 {
		c.do()
	}
	return c.Stream.Write(b)
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
		s := runSite(t, pipeLines(t, only(slave)), &collectorstest.Host{}, devices...)
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

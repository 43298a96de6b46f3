package modbus

import (
	"context"
	"errors"
	"fmt"
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

func TestCommLossOpensAfterThreeMissesAndClosesOnReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		start := time.Now()
		device := Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, device)
		linetest.Await(t, 35*time.Second)
		slave.SetFaults(modbustest.Fault{Silent: true})
		linetest.Await(t, 20*time.Second) // polls at 40 and 50
		if n := s.host.Notices(); len(n) != 0 {
			t.Errorf("after two misses: %+v", n)
		}
		linetest.Await(t, time.Minute)
		n := s.host.Notices()
		if len(n) != 1 || n[0].Rule != "comm-loss" || n[0].Source != "d" {
			t.Fatalf("after three misses: %+v, want one comm-loss of d", n)
		}
		if since := n[0].Since.Sub(start); since != 41*time.Second || !n[0].Until.IsZero() {
			t.Fatalf("lost since %s until %s, want 41s and no end", since, n[0].Until)
		}
		slave.SetFaults()
		linetest.Await(t, 20*time.Second)
		n = s.host.Notices()
		if len(n) != 2 || n[1].Rule != "comm-loss" {
			t.Fatalf("after the return: %+v, want one more comm-loss", n[1:])
		}
		if !n[1].Since.Equal(n[0].Since) || n[1].Until.IsZero() {
			t.Fatalf("after the return: since %s until %s, want the same beginning and an end", n[1].Since, n[1].Until)
		}
		if r, _ := s.host.Last("d/p"); r.Quality != collectors.Good || r.Value != float64(linetest.Word(1, line.Holding, 7)) {
			t.Errorf("after the return: %+v", r)
		}
		s.stop()
	})
}

// What is told of a unit that is away is the reason of now: a wire that was put back into another socket is no silence any more. Its beginning
// stays, and the same reason at another address is not told again.
func TestTheReasonOfALossIsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{},
			Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7), holding("q", 12)}})
		linetest.Await(t, 35*time.Second)
		slave.SetFaults(modbustest.Fault{Silent: true})
		linetest.Await(t, 3*time.Minute)
		slave.SetFaults(modbustest.Fault{Reset: true})
		linetest.Await(t, 3*time.Minute)
		n := s.host.Notices()
		if len(n) != 2 || n[1].Rule != "comm-loss" || !n[1].Since.Equal(n[0].Since) || !n[1].Until.IsZero() || !strings.Contains(n[0].Note, "no answer within") || strings.Contains(n[1].Note, "no answer within") {
			t.Errorf("silent, then closed: %+v; want one comm-loss, and its newer reason", n)
		}
		s.stop()
	})
}

// A unit that refuses whatever it is asked is there, but no tank is read: that is told after ten minutes, until it gives a value, or is lost.
// While it refuses all, no place that is read across is accused.
func TestAUnitThatOnlyRefusesIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		start := time.Now()
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{},
			Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("p", 7), holding("q", 12)}})
		linetest.Await(t, 35*time.Second)
		slave.SetFaults(modbustest.Fault{Exception: 4})
		linetest.Await(t, 9*time.Minute)
		if n := s.host.Notices(); len(n) != 0 {
			t.Errorf("before ten minutes: %+v", n)
		}
		if r, _ := s.host.Last("d/p"); r.Err == nil || strings.Contains(r.Err.Error(), "forbidden") {
			t.Errorf("while it refuses all: %v", r.Err)
		}
		linetest.Await(t, 2*time.Minute)
		n := s.host.Notices()
		if len(n) != 1 || n[0].Rule != "device-status" || n[0].Since.Sub(start).Truncate(time.Second) != 40*time.Second || !n[0].Until.IsZero() || !strings.Contains(n[0].Note, "exception 4") {
			t.Fatalf("after eleven minutes: %+v, want one device-status since 40s that goes on", n)
		}
		slave.SetFaults(modbustest.Fault{Silent: true})
		linetest.Await(t, 2*time.Minute)
		n = s.host.Notices()
		if len(n) != 3 || n[1].Rule != "device-status" || n[1].Until.IsZero() || n[2].Rule != "comm-loss" || !n[2].Until.IsZero() {
			t.Fatalf("lost instead: %+v, want its end and a comm-loss", n[1:])
		}
		slave.SetFaults(modbustest.Fault{Exception: 4})
		linetest.Await(t, 2*time.Minute)
		if n = s.host.Notices(); len(n) != 4 || n[3].Rule != "comm-loss" || n[3].Until.IsZero() {
			t.Fatalf("it refuses again: %+v, want the end of the comm-loss", n[3:])
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

// TestASilentUnitsReasonsNameTheirOwnRegisters, or say that those were not asked for: a probe asks for one thing only.
func TestASilentUnitsReasonsNameTheirOwnRegisters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.SetFaults(modbustest.Fault{Silent: true})
		host := &collectorstest.Host{}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, Device{Name: "d", URL: "tcp://site", Every: time.Second, Points: []Point{holding("a", 100), holding("b", 300)}})
		for range 30 {
			linetest.Await(t, time.Second)
			for name, own := range map[string]string{"a": "holding 100", "b": "holding 300"} {
				r, heard := host.Last(collectors.Point("d/" + name))
				if !heard {
					continue
				}
				why := fmt.Sprint(r.Err)
				if !strings.HasPrefix(why, own+" was not asked for, ") && !strings.HasPrefix(why, "read "+own+" ") {
					t.Fatalf("%s: %s", name, why)
				}
			}
		}
		s.stop()
	})
}

package modbus

import (
	"errors"
	"fmt"
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

func TestOneAbsentPointLeavesTheOthersAlone(t *testing.T) {
	for _, url := range []string{"tcp://site", "rtu+tcp://site:4001"} {
		t.Run(url, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { absentPoint(t, url) }) })
	}
}

func absentPoint(t *testing.T, url string) {
	slave := modbustest.NewSlave()
	bank := slave.Unit(1)
	bank.Strict(true)
	d := Device{Name: "d", URL: url, Every: time.Second}
	for a := range 40 {
		d.Points = append(d.Points, holding(fmt.Sprint(a), a))
		if a != 17 {
			bank.Set(modbustest.Holding, uint16(a), uint16(1000+a))
		}
	}
	host := &collectorstest.Host{}
	s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
	linetest.Await(t, 500*time.Millisecond)
	first := slave.Requests(1)
	for a := range 40 {
		r, _ := host.Last(collectors.Point(fmt.Sprintf("d/%d", a)))
		switch {
		case a == 17 && (r.Quality != collectors.Bad || !strings.Contains(fmt.Sprint(r.Err), "exception 2")):
			t.Errorf("the absent one: %+v", r)
		case a != 17 && r.Value != float64(1000+a):
			t.Errorf("%d in the first poll: %v (%v)", a, r.Value, r.Err)
		}
	}
	linetest.Await(t, 9*time.Second)
	if n := slave.Requests(1) - first; first > 13 || n != 9*2 {
		t.Errorf("%d requests in the first poll, then %d in nine; want two each", first, n)
	}
	s.stop()

	again := numberedRequests(t, slave, host, url, d)
	if again != 3 {
		t.Errorf("%d requests in the first poll after a restart, want one before, one behind and one for the absent point", again)
	}
	bank.Set(modbustest.Holding, 17, 1017)
	s = runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
	linetest.Await(t, 2*time.Minute)
	if r, _ := host.Last("d/17"); r.Value != 1017 || len(host.Memory()) != 0 {
		t.Errorf("the point that has come: %+v; still remembered: %q", r, host.Memory())
	}
	linetest.Await(t, 500*time.Millisecond)
	before := slave.Requests(1)
	linetest.Await(t, 10*time.Second)
	if n := slave.Requests(1) - before; n != 10 {
		t.Errorf("%d requests in ten polls, want one each again", n)
	}
	s.stop()
}

// numberedRequests counts those of the first poll after a start.
func numberedRequests(t *testing.T, slave *modbustest.Slave, host *collectorstest.Host, url string, d Device) int {
	before := slave.Requests(1)
	s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
	linetest.Await(t, 500*time.Millisecond)
	s.stop()
	return slave.Requests(1) - before
}

func TestAGapThatIsRefusedIsNoLongerReadAcross(t *testing.T) {
	for name, fault := range map[string]modbustest.Fault{"refused": {From: 5, To: 6, Exception: 2}, "unanswered": {From: 5, To: 6, Silent: true},
		"failing": {From: 5, To: 6, Exception: 4}, "unknown to the standard": {From: 5, To: 6, Exception: 0x55}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				slave := linetest.NumberedSlave()
				slave.SetFaults(fault)
				d := Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("a", 3), holding("b", 4), holding("c", 7), holding("e", 8)}}
				host := &collectorstest.Host{}
				s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
				linetest.Await(t, 5*time.Minute+5*time.Second)
				before := len(host.Batches())
				asked := slave.Requests(1)
				linetest.Await(t, 10*time.Minute)
				_, good := s.tally(before)
				for _, p := range []collectors.Point{"d/a", "d/b", "d/c", "d/e"} {
					if good[p] != 60 {
						t.Errorf("%s: good in %d of 60 polls", p, good[p])
					}
				}
				if n := slave.Requests(1) - asked; n != 120 {
					t.Errorf("%d requests in 60 polls, want one before the gap and one behind it each", n)
				}
				if got := string(host.Memory()["modbus/d/holes"]); got != "[[0,5,2]]" {
					t.Errorf("remembered %q, want the two addresses of the gap", got)
				}
				s.stop()
			})
		})
	}
}

func TestAUnitThatTakesOnlyShortRequestsIsStillRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Longer: 16, Exception: 3})
		d := Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second}
		for a := range 40 {
			d.Points = append(d.Points, holding(fmt.Sprint(a), a))
		}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, d)
		linetest.Await(t, time.Minute+time.Second)
		before, asked := len(s.host.Batches()), slave.Requests(1)
		linetest.Await(t, time.Minute)
		_, good := s.tally(before)
		for _, p := range d.Points {
			if good[collectors.PointOf("d", p.Name)] != 6 {
				t.Errorf("%s: good in %d of 6 polls", p.Name, good[collectors.PointOf("d", p.Name)])
			}
		}
		if n := slave.Requests(1) - asked; n != 6*4 {
			t.Errorf("%d requests in six polls, want four of ten registers each", n)
		}
		s.stop()
	})
}

func TestAMuteUnitIsFoundByOneOfItsPoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		// The only request of the plan covers register 5, and the unit says nothing to that.
		slave.SetFaults(modbustest.Fault{From: 5, To: 5, Silent: true})
		d := Device{Name: "d", URL: "rtu+tcp://site:4001", Every: 10 * time.Second, Points: []Point{holding("a", 3), holding("b", 5), holding("c", 7)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, d)
		linetest.Await(t, time.Minute)
		before := len(s.host.Batches())
		linetest.Await(t, 10*time.Minute)
		_, good := s.tally(before)
		if good["d/a"] < 55 || good["d/c"] < 55 || good["d/b"] != 0 {
			t.Errorf("good in 60 polls: %v, want nearly all of a and c", good)
		}
		s.stop()
	})
}

func TestRefusalsOtherThanOfTheAddressAreNotSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Exception: 4})
		d := Device{Name: "d", URL: "tcp://site", Points: []Point{holding("a", 3), holding("b", 4)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, d)
		linetest.Await(t, 61*time.Second)
		if n := slave.Requests(1); n != 7+7/3 || len(s.host.Notices()) != 0 {
			t.Errorf("%d requests in seven polls, notices %+v; want one each and a third more, and a unit that refuses is there", n, s.host.Notices())
		}
		s.stop()
	})
}

// TestARegisterThatFailsCostsOnlyItself: some units say that they fail, or are busy, of a register that they cannot read.
func TestARegisterThatFailsCostsOnlyItself(t *testing.T) {
	for _, code := range []byte{1, 4, 6} {
		for _, failing := range []uint16{1, 17, 39} {
			synctest.Test(t, func(t *testing.T) {
				slave, d := refusedAt("tcp://site")
				slave.SetFaults(modbustest.Fault{From: failing, To: failing, Exception: code})
				s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, d)
				linetest.Await(t, 75*time.Second) // the first place that is asked for alone may be the failing one
				s.onlyBad(fmt.Sprintf("exception %d", code), int(failing))
				before := slave.Requests(1)
				linetest.Await(t, 10*time.Minute)
				if n := slave.Requests(1) - before; n > 60*3 {
					t.Errorf("exception %d: %d requests in sixty polls, want one before, one behind and at times the register itself", code, n)
				}
				s.stop()
			})
		}
	}
}

// TestWhatIsReadAcrossIsNamedWhereItMayBeAtFault: the first answer tells a person already what keeps the unit readable.
func TestWhatIsReadAcrossIsNamedWhereItMayBeAtFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{From: 5, To: 6, Exception: 4})
		host := &collectorstest.Host{}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, Points: []Point{holding("a", 3), holding("b", 4), holding("c", 7)}})
		linetest.Await(t, time.Second)
		if r, _ := host.Last("d/c"); !strings.Contains(fmt.Sprint(r.Err), "no point wants holding 5-6") || !strings.Contains(fmt.Sprint(r.Err), "`forbidden: [{holding: 5, count: 2}]`") {
			t.Errorf("%v", r.Err)
		}
		s.stop()
	})
}

// TestAProbeIsNotSpentOnAPlaceThatWasRefused: a lost unit is asked at each of its beats, and the reason that its points
// have is that it is lost, not that a neighbour was refused before.
func TestAProbeIsNotSpentOnAPlaceThatWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{From: 200, To: 200, Exception: 2})
		host := &collectorstest.Host{}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, Device{Name: "d", URL: "tcp://site", Every: time.Second, Timeout: 100 * time.Millisecond,
			Points: []Point{holding("a", 198), holding("b", 200), holding("c", 202)}})
		linetest.Await(t, 100*time.Second)
		slave.Remove(1)
		linetest.Await(t, 5500*time.Millisecond) // between two beats: at one it is chance whether its request has gone
		polls, asked := len(host.Batches()), slave.Requests(1)
		linetest.Await(t, 20*time.Second)
		lost := host.Batches()[polls:]
		if n := slave.Requests(1) - asked; n < len(lost) || len(lost) < 20 {
			t.Errorf("%d requests at %d beats", n, len(lost))
		}
		for _, batch := range lost {
			if !errors.Is(batch[0].Err, line.ErrSilent) || !errors.Is(batch[2].Err, line.ErrSilent) {
				t.Fatalf("%v; %v", batch[0].Err, batch[2].Err)
			}
		}
		s.stop()
	})
}

func FuzzRememberedHoles(f *testing.F) {
	f.Add([]byte(`[[0,17,1],[3,100,0]]`))
	f.Add([]byte(`[[0,-5,70000],[9,1,1]]`))
	f.Fuzz(func(t *testing.T, memory []byte) {
		d, err := newDevice(&line.Lines{}, Device{Name: "d", URL: "tcp://site", Points: []Point{holding("a", 0), holding("b", 9), holding("c", 65535)}})
		if err != nil {
			t.Fatal(err)
		}
		_ = d.loadHoles(memory) // whatever it says, a poll must ask for every point
		asked := map[uint16]bool{}
		for _, b := range d.blocks {
			r := line.Request{Unit: 1, Table: b.Table, Address: uint16(b.From), Quantity: uint16(b.Count)}
			if err := r.Check(); err != nil || int(r.Address) != b.From || int(r.Quantity) != b.Count {
				t.Fatalf("%s makes a request for %+v: %v", memory, b.Span, err)
			}
			for _, p := range b.points {
				asked[p] = true
			}
		}
		if len(asked) != len(d.points) {
			t.Fatalf("%s leaves %d of %d points", memory, len(asked), len(d.points))
		}
	})
}

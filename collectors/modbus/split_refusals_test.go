package modbus

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// refusedAt is a device of forty registers, of which the unit does not have some.
func refusedAt(url string, missing ...int) (*modbustest.Slave, Device) {
	slave := modbustest.NewSlave()
	bank := slave.Unit(1)
	bank.Strict(true)
	d := Device{Name: "d", URL: url, Every: 10 * time.Second}
	for a := range 40 {
		d.Points = append(d.Points, holding(fmt.Sprint(a), a))
		if !slices.Contains(missing, a) {
			bank.Set(modbustest.Holding, uint16(a), uint16(1000+a))
		}
	}
	return slave, d
}

// onlyBad checks the newest reading of every point of refusedAt: Good with its own value, or Bad where it may be.
func (s *site) onlyBad(when string, missing ...int) {
	s.Helper()
	for a := range 40 {
		r, _ := s.host.Last(collectors.Point(fmt.Sprintf("d/%d", a)))
		absent := slices.Contains(missing, a)
		if absent != (r.Quality == collectors.Bad) || !absent && r.Value != float64(1000+a) {
			s.Errorf("%s: register %d is %s, %v: %v", when, a, r.Quality, r.Value, r.Err)
		}
	}
}

func TestOnlyTheRefusedRegistersAreBad(t *testing.T) {
	for _, url := range []string{"tcp://site", "tls://site", "rtu:///dev/x", "rtu+tcp://site:4001", "ascii:///dev/x", "ascii+tcp://site:4002"} {
		for _, missing := range [][]int{{0}, {17}, {39}, {17, 18}, {5, 6, 7, 8, 9}, {3, 20, 36}} {
			t.Run(fmt.Sprint(url, missing), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					slave, d := refusedAt(url, missing...)
					host := &collectorstest.Host{}
					s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
					linetest.Await(t, 15*time.Second)
					s.onlyBad("after two rounds", missing...)
					linetest.Await(t, 3*time.Minute)
					s.onlyBad("after three minutes", missing...)
					s.stop()
					before := slave.Requests(1)
					s = runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
					linetest.Await(t, 5*time.Second)
					s.onlyBad("after a restart", missing...)
					if n := slave.Requests(1) - before; n > 1+2*len(missing) {
						t.Errorf("%d requests in the first round after a restart: the split was not remembered", n)
					}
					s.stop()
				})
			})
		}
	}
}

// TestARegisterThatIsRefusedAtTimes costs the others nothing, and does not wear the flash by being remembered anew.
func TestARegisterThatIsRefusedAtTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, d := refusedAt("tcp://site")
		host := &collectorstest.Host{}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
		changes, last := 0, 0
		for minute := range 6 * 60 {
			if minute%3 == 0 {
				slave.SetFaults(modbustest.Fault{From: 17, To: 17, Exception: 2})
			} else {
				slave.SetFaults()
			}
			linetest.Await(t, time.Minute)
			if n := len(host.Memory()); n != last {
				changes, last = changes+1, n
			}
		}
		s.stop()
		_, good := s.tally(0)
		for a := range 40 {
			n := good[collectors.Point(fmt.Sprintf("d/%d", a))]
			if a != 17 && n < 6*6*60 || a == 17 && (n < 600 || math.Abs(float64(n)-6*6*40) > 300) {
				t.Errorf("register %d was good %d times in six hours", a, n)
			}
		}
		if changes > 3 {
			t.Errorf("the memory changed %d times", changes)
		}
	})
}

// TestAUnitThatRefusesAllItIsAskedForIsThere: it answers, and nobody is told that it does not.
func TestAUnitThatRefusesAllItIsAskedForIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.SetFaults(modbustest.Fault{Unit: 1, Exception: 2})
		host := &collectorstest.Host{}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host,
			Device{Name: "d", URL: "tcp://site", Every: time.Second, Points: []Point{holding("a", 3)}},
			Device{Name: "e", URL: "tcp://site", Unit: new(2), Every: time.Second, Points: []Point{holding("a", 3)}})
		linetest.Await(t, 5*time.Minute)
		if n := host.Notices(); len(n) != 0 {
			t.Errorf("notices: %+v", n)
		}
		if r, _ := host.Last("d/a"); r.Quality != collectors.Bad || time.Since(r.At) > 2*time.Second {
			t.Errorf("%s at %s", r.Quality, r.At)
		}
		s.stop()
	})
}

// TestAUnitThatIsBusyIsNeitherSplitNorLost: exceptions 4, 5 and 6 are no word about an address while every place has them.
func TestAUnitThatIsBusyIsNeitherSplitNorLost(t *testing.T) {
	for _, url := range []string{"tcp://site", "rtu+tcp://site:4001"} {
		for _, code := range []byte{4, 5, 6} {
			synctest.Test(t, func(t *testing.T) {
				slave, d := refusedAt(url)
				slave.SetFaults(modbustest.Fault{Exception: code})
				host := &collectorstest.Host{}
				lines := pipeLines(t, linetest.Only(slave))
				s := runSite(t, lines, host, d)
				linetest.Await(t, 5*time.Minute+time.Second)
				if n := slave.Requests(1); n != 31+31/3 || len(host.Notices()) != 0 || len(host.Memory()) != 0 {
					t.Errorf("exception %d: %d requests in 31 polls, notices %v, memory %q", code, n, host.Notices(), host.Memory())
				}
				slave.SetFaults()
				linetest.Await(t, 10*time.Second)
				s.onlyBad("afterwards")
				s.stop()
				if n := linetest.Open(t, lines, url).Stats().Opened; n != 1 {
					t.Errorf("opened %d times: an exception is no reason to reconnect", n)
				}
			})
		}
	}
}

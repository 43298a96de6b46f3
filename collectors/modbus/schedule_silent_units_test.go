package modbus

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// deaths are the ways in which one of ten units is away.
var deaths = map[string]modbustest.Fault{
	"silent": {Unit: 5, Silent: true}, "the gateway says so after a second": {Unit: 5, Exception: 11, Delay: 950 * time.Millisecond},
	"it closes the connection": {Unit: 5, Reset: true},
}

var busLines = map[string]string{"gateway": "tcp://site", "rtu": "rtu+tcp://site:4001?baud=115200", "ascii": "ascii:///dev/x?baud=115200"}

// tenUnits are ten units that are asked each second for one register, in 20 ms.
func tenUnits(url string) (*modbustest.Slave, []Device) {
	slave := modbustest.NewSlave()
	slave.Turnaround = 20 * time.Millisecond
	var devices []Device
	for unit := 1; unit <= 10; unit++ {
		slave.Unit(byte(unit)).Set(modbustest.Holding, 0, uint16(unit))
		devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: url, Unit: new(unit), Every: time.Second,
			Points: []Point{holding("p", 0)}})
	}
	return slave, devices
}

func TestOneDeadUnitOfTenCostsTheOthersNothing(t *testing.T) {
	for how, fault := range deaths {
		for line, url := range busLines {
			t.Run(how+", "+line, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					slave, devices := tenUnits(url)
					slave.SetFaults(fault)
					s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
					linetest.Await(t, 10*time.Second)
					for minute := range 10 {
						before := len(s.host.Batches())
						linetest.Await(t, time.Minute)
						s.tenPolled(before, fmt.Sprint("minute ", minute), 5)
					}
					s.stop()
				})
			})
		}
	}
}

// tenPolled checks what a minute has brought: each unit but the dead one its sixty polls, and that one none. A poll
// at either end of the minute may fall into the next.
func (s *site) tenPolled(since int, when string, dead int) {
	s.Helper()
	_, good := s.tally(since)
	for unit := 1; unit <= 10; unit++ {
		n := good[collectors.Point(fmt.Sprintf("u%d/p", unit))]
		if unit == dead && n != 0 || unit != dead && (n < 59 || n > 61) {
			s.Errorf("%s: unit %d got %d of 60 polls", when, unit, n)
		}
	}
}

// TestAUnitThatDiesCostsTheOthersNothing is the minute in which it dies, with everything at its full rate before.
func TestAUnitThatDiesCostsTheOthersNothing(t *testing.T) {
	for how, fault := range deaths {
		for line, url := range busLines {
			t.Run(how+", "+line, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					slave, devices := tenUnits(url)
					s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
					linetest.Await(t, 30*time.Second+437*time.Millisecond)
					slave.SetFaults(fault)
					before := len(s.host.Batches())
					linetest.Await(t, time.Minute)
					_, good := s.tally(before)
					for unit := 1; unit <= 10; unit++ {
						if n := good[collectors.Point(fmt.Sprintf("u%d/p", unit))]; unit != 5 && n < 57 {
							t.Errorf("unit %d got %d of 60 polls", unit, n)
						}
					}
					s.stop()
				})
			})
		}
	}
}

// TestADeadUnitIsBackAtOnce lets the unit come back at any moment between two probes, after a while and after long.
func TestADeadUnitIsBackAtOnce(t *testing.T) {
	for how, fault := range deaths {
		for line, url := range busLines {
			t.Run(how+", "+line, func(t *testing.T) {
				for phase := range 12 {
					away := 20*time.Second + time.Duration(phase)*186*time.Millisecond
					if phase == 0 {
						away += 10 * time.Minute
					}
					synctest.Test(t, func(t *testing.T) { comesBack(t, url, fault, away) })
				}
			})
		}
	}
}

func comesBack(t *testing.T, url string, fault modbustest.Fault, away time.Duration) {
	slave, devices := tenUnits(url)
	slave.SetFaults(fault)
	s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
	linetest.Await(t, away)
	slave.SetFaults()
	back := time.Now()
	// Two intervals; on a serial line a unit that was silent is left alone for a time-out, lest its late answer be
	// taken for another's, and with that it may be a little more.
	linetest.Await(t, 2*time.Second+100*time.Millisecond)
	r, _ := s.host.Last("u5/p")
	if r.Quality != collectors.Good {
		t.Errorf("away for %s: two intervals later it is not read: %v", away, r.Err)
	}
	before := len(s.host.Batches())
	linetest.Await(t, 10*time.Second)
	_, good := s.tally(before)
	for unit := 1; unit <= 10; unit++ {
		if n := good[collectors.Point(fmt.Sprintf("u%d/p", unit))]; n < 10 {
			t.Errorf("away for %s: unit %d got %d of 10 polls after %s", away, unit, n, time.Since(back))
		}
	}
	s.stop()
}

// stalling is a stream on which the first silence after ten seconds is noticed half a second late.
type stalling struct {
	line.Stream
	from *time.Time
}

func (s stalling) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b)
	if err != nil && time.Now().After(*s.from) {
		*s.from = s.from.Add(time.Hour)
		collectors.Wait(context.Background(), 500*time.Millisecond)
	}
	return n, err
}

// TestABusyMomentOfThisBoxIsNotTakenForTheCostOfAProbe: the silent unit would otherwise be asked as if each probe
// took as long as that one, which costs the others too much, and be back half a minute late.
func TestABusyMomentOfThisBoxIsNotTakenForTheCostOfAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, devices := tenUnits("tcp://site")
		slave.Remove(5)
		lines, busy := pipeLines(t, linetest.Only(slave)), time.Now().Add(10*time.Second)
		dial := lines.Dial
		lines.Dial = func(ctx context.Context, url string) (line.Stream, error) {
			s, err := dial(ctx, url)
			return stalling{s, &busy}, err
		}
		s := runSite(t, lines, &collectorstest.Host{}, devices...)
		linetest.Await(t, 15*time.Second)
		before := slave.Requests(5)
		linetest.Await(t, 10*time.Second)
		if n := slave.Requests(5) - before; n < 5 {
			t.Errorf("asked %d times in ten seconds, want every second second", n)
		}
		s.stop()
	})
}

func TestSeveralDeadUnitsShareTheProbing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, devices := tenUnits("tcp://site")
		for _, unit := range []byte{2, 5, 9} {
			slave.Remove(unit)
		}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
		linetest.Await(t, 20*time.Second)
		before := len(s.host.Batches())
		var asked [11]int
		for unit := range byte(11) {
			asked[unit] = slave.Requests(unit)
		}
		linetest.Await(t, time.Minute)
		polls, good := s.tally(before)
		for unit := 1; unit <= 10; unit++ {
			n := slave.Requests(byte(unit)) - asked[unit]
			dead := unit == 2 || unit == 5 || unit == 9
			if dead && (n < 11 || n > 15) || !dead && good[collectors.Point(fmt.Sprintf("u%d/p", unit))] < 59 {
				t.Errorf("unit %d: %d requests, %d batches in a minute", unit, n, polls[fmt.Sprintf("u%d", unit)])
			}
		}
		s.stop()
	})
}

// TestAProbeThatFitsNowhereIsStillMade: the time-out is longer than the interval, so each probe costs polls.
func TestAProbeThatFitsNowhereIsStillMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, devices := tenUnits("tcp://site")
		devices[4].Timeout = 1500 * time.Millisecond
		slave.Remove(5)
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
		linetest.Await(t, 10*time.Second)
		for minute := range 5 {
			before, asked := len(s.host.Batches()), slave.Requests(5)
			linetest.Await(t, time.Minute)
			_, good := s.tally(before)
			if n := slave.Requests(5) - asked; n < 1 || n > 2 {
				t.Errorf("minute %d: the silent unit was asked %d times, want once in 45 s", minute, n)
			}
			for unit := 1; unit <= 10; unit++ {
				if n := good[collectors.Point(fmt.Sprintf("u%d/p", unit))]; unit != 5 && n < 57 {
					t.Errorf("minute %d: unit %d got %d of 60 polls", minute, unit, n)
				}
			}
		}
		s.stop()
	})
}

func TestADeadUnitIsNotAskedForEverythingItHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		dead := Device{Name: "dead", URL: "tcp://site", Unit: new(9), Every: 5 * time.Second}
		for a := range 10 {
			dead.Points = append(dead.Points, holding(fmt.Sprint(a), 100*a))
		}
		live := Device{Name: "live", URL: "tcp://site", Every: 5 * time.Second, Points: []Point{holding("p", 0)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, dead, live)
		linetest.Await(t, 14*time.Second)
		if n := slave.Requests(9); n != 4 {
			t.Errorf("asked %d times in three polls, want twice and then once each", n)
		}
		linetest.Await(t, 10*time.Minute)
		if n := slave.Requests(9) - 4; n != 120 {
			t.Errorf("asked %d times in ten minutes, want once in each interval", n)
		}
		s.stop()
	})
}

package modbus

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors"
	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// sent is one request on a Modbus TCP line.
type sent struct {
	after   time.Duration // since the tap was made
	unit    byte
	address uint16
}

// tap notes every request that goes out.
type tap struct {
	line.Stream
	start time.Time
	mu    sync.Mutex
	all   []sent
}

// tapped is a site whose requests are noted.
func tapped(lines *line.Lines) *tap {
	t := &tap{start: time.Now()}
	dial := lines.Dial
	lines.Dial = func(ctx context.Context, url string) (s line.Stream, err error) {
		t.Stream, err = dial(ctx, url)
		return t, err
	}
	return t
}

func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	t.all = append(t.all, sent{time.Since(t.start), b[6], binary.BigEndian.Uint16(b[8:])})
	t.mu.Unlock()
	return t.Stream.Write(b)
}

// of are the times of the requests of one unit.
func (t *tap) of(unit byte) (at []time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.all {
		if s.unit == unit {
			at = append(at, s.after)
		}
	}
	return at
}

// sd is the standard deviation of the intervals between times, and their mean, in seconds.
func sd(at []time.Duration) (mean, deviation float64) {
	var sum, squares float64
	for i := 1; i < len(at); i++ {
		d := (at[i] - at[i-1]).Seconds()
		sum, squares = sum+d, squares+d*d
	}
	n := float64(len(at) - 1)
	return sum / n, math.Sqrt(max(0, squares/n-sum/n*sum/n))
}

func TestTheFirstRoundIsAtOnceAndThenTheBeatsAreSpread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave, devices := tenUnits("tcp://site")
		lines := pipeLines(t, linetest.Only(slave))
		requests := tapped(lines)
		s := runSite(t, lines, &collectorstest.Host{}, devices...)
		linetest.Await(t, 10*time.Second)
		s.stop()
		for i, r := range requests.all[:10] {
			if want := time.Duration(i) * 20 * time.Millisecond; int(r.unit) != i+1 || r.after != want {
				t.Errorf("request %d goes to unit %d after %s, want unit %d after %s", i, r.unit, r.after, i+1, want)
			}
		}
		for unit := range byte(10) {
			at := requests.of(unit + 1)
			phase := time.Duration(unit) * 100 * time.Millisecond
			for _, x := range at[len(at)-5:] {
				if x%time.Second != phase {
					t.Errorf("unit %d is asked at %s, want its beat at %s of each second", unit+1, x, phase)
				}
			}
		}
	})
}

// TestTheIntervalsAreEvenAt19200 is the tenth goal of a serial line: ten units of thirty registers, half of its time.
func TestTheIntervalsAreEvenAt19200(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := modbustest.NewSlave()
		slave.Char, slave.Turnaround = 11*time.Second/19200, 5*time.Millisecond+77*time.Second/38400 // 11 bits a character, 3.5 characters of silence
		var devices []Device
		for unit := 1; unit <= 10; unit++ {
			slave.Unit(byte(unit))
			devices = append(devices, Device{Name: fmt.Sprint("u", unit), URL: "rtu:///dev/x", Unit: new(unit), Every: time.Second, Points: span30()})
		}
		// One of them is slower by much, and asked at another interval.
		devices[3].Every = 700 * time.Millisecond
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
		linetest.Await(t, 5*time.Minute)
		s.stop()
		at := map[collectors.Point][]time.Duration{}
		for _, batch := range s.host.Batches()[20:] {
			at[batch[0].Point] = append(at[batch[0].Point], batch[0].At.Sub(testTime))
		}
		for point, times := range at {
			want := 1.0
			if point == "u4/holding-0" {
				want = 0.7
			}
			mean, deviation := sd(times)
			if math.Abs(mean-want) > 0.001 || deviation > 0.020 {
				t.Errorf("%s: every %.4f s with a deviation of %.1f ms", point, mean, 1000*deviation)
			}
		}
	})
}

// TestAnOverloadedLineIsSharedAlike: the polls need 1.5 times what there is, at intervals of one and three seconds.
func TestAnOverloadedLineIsSharedAlike(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Turnaround = 150 * time.Millisecond
		var devices []Device
		load := 0.0
		for unit := 1; unit <= 12; unit++ {
			slave.Unit(byte(unit)).Set(modbustest.Holding, 0, 1)
			every := time.Second
			if unit > 9 {
				every = 3 * time.Second
			}
			load += 0.15 / every.Seconds()
			devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: "tcp://site", Unit: new(unit), Every: every, Points: []Point{holding("p", 0)}})
		}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, devices...)
		linetest.Await(t, 10*time.Minute)
		s.stop()
		polls, _ := s.tally(0)
		for _, d := range devices {
			want := 600 / d.Every.Seconds() / load
			if got := float64(polls[d.Name]); math.Abs(got/want-1) > 0.06 {
				t.Errorf("%s: %v polls, its share is %.0f", d.Name, got, want)
			}
		}
	})
}

// TestAShortIntervalDoesNotWaitForALongRound: one unit has twenty requests of 100 ms, the others are asked each half
// second meanwhile.
func TestAShortIntervalDoesNotWaitForALongRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Turnaround = 10 * time.Millisecond
		slave.SetFaults(modbustest.Fault{Unit: 1, Delay: 90 * time.Millisecond})
		long := Device{Name: "long", URL: "tcp://site", Every: 30 * time.Second}
		for a := range 20 {
			long.Points = append(long.Points, holding(fmt.Sprint(a), 100*a))
		}
		devices := []Device{long}
		for unit := 2; unit <= 5; unit++ {
			slave.Unit(byte(unit)).Set(modbustest.Holding, 0, 1)
			devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: "tcp://site", Unit: new(unit), Every: 500 * time.Millisecond, Points: []Point{holding("p", 0)}})
		}
		lines := pipeLines(t, linetest.Only(slave))
		requests := tapped(lines)
		s := runSite(t, lines, &collectorstest.Host{}, devices...)
		linetest.Await(t, 5*time.Minute-time.Second)
		s.stop()
		if n := len(requests.of(1)); n != 200 {
			t.Errorf("%d requests of the long one, want twenty in each of ten rounds", n)
		}
		for unit := byte(2); unit <= 5; unit++ {
			at := requests.of(unit)
			for i := 10; i < len(at); i++ {
				if d := at[i] - at[i-1]; d > 620*time.Millisecond {
					t.Errorf("unit %d: %s between two requests, half a second and at most one request of the long unit are right", unit, d)
				}
			}
			if len(at) < 594 {
				t.Errorf("unit %d was asked %d times in five minutes", unit, len(at))
			}
		}
	})
}

// TestNobodyComesBetweenTheTwoRequestsOfVerify: the second answer must be as near to the first as the line allows.
func TestNobodyComesBetweenTheTwoRequestsOfVerify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Turnaround = 40 * time.Millisecond
		twice := Device{Name: "level", URL: "tcp://site", Every: 5 * time.Second, Points: []Point{
			holding("a", 0), holding("level", 500, func(p *Point) { p.Verify = "twice" }), holding("b", 900)}}
		devices := []Device{twice}
		for unit := 2; unit <= 9; unit++ {
			slave.Unit(byte(unit)).Set(modbustest.Holding, 0, 1)
			devices = append(devices, Device{Name: fmt.Sprintf("u%d", unit), URL: "tcp://site", Unit: new(unit), Every: 470 * time.Millisecond, Points: []Point{holding("p", 0)}})
		}
		lines := pipeLines(t, linetest.Only(slave))
		requests := tapped(lines)
		s := runSite(t, lines, &collectorstest.Host{}, devices...)
		linetest.Await(t, 2*time.Minute)
		s.stop()
		passed, pairs := 0, 0
		for i, r := range requests.all {
			switch {
			case r.unit != 1 || i == 0:
			case r.address == 500 && requests.all[i-1].unit != 1:
				passed++
				if i+1 < len(requests.all) && (requests.all[i+1].address != 500 || requests.all[i+1].unit != 1) {
					t.Fatalf("behind the first request of the level comes %+v", requests.all[i+1])
				}
			case r.address == 500:
				pairs++
			}
		}
		if passed == 0 || pairs < 20 {
			t.Errorf("others went before the level %d times, and it was asked for twice %d times", passed, pairs)
		}
	})
}

func TestAHauledTankIsReadFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		host := &collectorstest.Host{}
		d := Device{Name: "d", URL: "tcp://site", Every: 10 * time.Second, EveryWhileLoading: 2 * time.Second, Points: []Point{holding("level", 0), holding("other", 1)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, d)
		count := func(d time.Duration) int {
			before := slave.Requests(1)
			linetest.Await(t, d)
			return slave.Requests(1) - before
		}
		linetest.Await(t, 35*time.Second)
		if n := count(time.Minute); n != 6 {
			t.Errorf("%d polls in a minute, want one each ten seconds", n)
		}
		host.Load("d/level", "another/level")
		if n := count(5*time.Second + time.Millisecond); n != 1 {
			t.Errorf("%d polls until the next beat", n)
		}
		if n := count(time.Minute); n != 30 {
			t.Errorf("%d polls in a minute of a haul, want one each two seconds", n)
		}
		host.Load()
		linetest.Await(t, 10*time.Second)
		if n := count(time.Minute); n != 6 {
			t.Errorf("%d polls in a minute after the haul", n)
		}
		s.stop()
	})
}

// TestAHaulThatARestartFindsIsReadFasterAtOnce: the beat of the second unit begins half an interval later, and the
// faster one must not wait for it.
func TestAHaulThatARestartFindsIsReadFasterAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slave := linetest.NumberedSlave()
		slave.Unit(2).Set(modbustest.Holding, 0, 1)
		host := &collectorstest.Host{}
		host.Load("b/level")
		slow := Device{Name: "a", URL: "tcp://site", Every: time.Minute, Points: []Point{holding("p", 0)}}
		hauled := Device{Name: "b", URL: "tcp://site", Unit: new(2), Every: time.Minute, EveryWhileLoading: 2 * time.Second, Points: []Point{holding("level", 0)}}
		s := runSite(t, pipeLines(t, linetest.Only(slave)), host, slow, hauled)
		linetest.Await(t, 21*time.Second)
		if n := slave.Requests(2); n != 11 {
			t.Errorf("%d polls in 21 s of a haul, want one each two seconds", n)
		}
		s.stop()
	})
}

func TestNoRequestTouchesWhatIsForbidden(t *testing.T) {
	for _, url := range []string{"tcp://site", "rtu+tcp://site:4001"} {
		synctest.Test(t, func(t *testing.T) {
			slave := linetest.NumberedSlave()
			// Whoever touches 5 or 6 is refused: the plan reads across neither, whatever happens to the others.
			slave.SetFaults(modbustest.Fault{From: 5, To: 6, Exception: 4}, modbustest.Fault{From: 8, To: 8, Exception: 2})
			d := Device{Name: "d", URL: url, Every: 10 * time.Second, Forbidden: []Forbidden{{Holding: new(5), Count: 2}},
				Points: []Point{holding("a", 3), holding("b", 4), holding("c", 7), holding("e", 8), holding("f", 9)}}
			if got := blocksOf(t, d); !slices.Equal(got, []string{"holding 3-4", "holding 7-9"}) {
				t.Errorf("the plan is %v", got)
			}
			s := runSite(t, pipeLines(t, linetest.Only(slave)), &collectorstest.Host{}, d)
			linetest.Await(t, 5*time.Minute)
			s.stop()
			for _, batch := range s.host.Batches() {
				for _, r := range batch {
					if good := r.Quality == collectors.Good; good != (r.Point != "d/e") {
						t.Fatalf("%s is %s: %v", r.Point, r.Quality, r.Err)
					}
				}
			}
		})
	}
}

// blocksOf are the requests of a device's plan.
func blocksOf(t *testing.T, d Device) (all []string) {
	t.Helper()
	for _, b := range Budgets([]Device{d}) {
		for _, r := range b.Shares[0].Requests {
			all = append(all, fmt.Sprintf("%s %d-%d", r.Table, r.From, r.To))
		}
	}
	return all
}

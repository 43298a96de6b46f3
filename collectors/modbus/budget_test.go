package modbus

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gauger/collectors/collectorstest"
	"gauger/collectors/modbus/line"
	"gauger/collectors/modbus/linetest"
	"gauger/collectors/modbus/modbustest"
)

// layout is a line with its devices, and how its units think.
type layout struct {
	name       string
	url        string
	units      int
	turnaround time.Duration
	points     func() []Point
	change     func(*Device)
}

func wordsFrom(table line.Table, addresses ...int) []Point {
	var points []Point
	for _, a := range addresses {
		p := Point{Name: fmt.Sprintf("%s-%d", table, a)}
		*[]**int{&p.Holding, &p.Input, &p.Coil, &p.Discrete}[table] = new(a)
		points = append(points, p)
	}
	return points
}

func farApart() []Point { return wordsFrom(line.Holding, steps(10, 100)...) }

func span30() []Point { return wordsFrom(line.Holding, steps(30, 1)...) }

// layouts of real sites: baud rates, parities, numbers of units, merged and split requests, verify.
var layouts = []layout{
	{"30 registers at 1200", "rtu:///dev/x?baud=1200&parity=N", 1, 50 * time.Millisecond, span30, nil},
	{"10 units at 9600", "rtu:///dev/x?baud=9600", 10, 5 * time.Millisecond, span30, nil},
	{"10 units at 19200", "rtu:///dev/x", 10, 5 * time.Millisecond, span30, nil},
	{"5 units at 38400", "rtu:///dev/x?baud=38400&parity=O", 5, 10 * time.Millisecond, span30, nil},
	{"10 units at 115200", "rtu:///dev/x?baud=115200&parity=N&stop=2", 10, 20 * time.Millisecond, span30, nil},
	{"one register of each of 8 units", "rtu:///dev/x?baud=9600", 8, 15 * time.Millisecond, func() []Point { return wordsFrom(line.Input, 7) }, nil},
	{"read across gaps at 19200", "rtu+tcp://s:4001", 4, 5 * time.Millisecond, func() []Point { return wordsFrom(line.Holding, steps(20, 5)...) }, nil},
	{"too far apart at 19200", "rtu+tcp://s:4001", 4, 5 * time.Millisecond, farApart, nil},
	{"bits and registers", "rtu:///dev/x?baud=9600", 3, 8 * time.Millisecond, func() []Point {
		return append(append(span30(), wordsFrom(line.Coil, steps(100, 1)...)...), wordsFrom(line.Discrete, 3, 19, 700)...)
	}, nil},
	{"levels are read twice", "rtu:///dev/x?baud=9600", 4, 5 * time.Millisecond, func() []Point {
		points := span30()
		points[3].Verify, points[5].Verify = "twice", "twice"
		return points
	}, nil},
	{"a unit that takes ten registers, with forbidden ones", "rtu:///dev/x?baud=57600", 3, 30 * time.Millisecond, span30, func(d *Device) {
		d.MaxRegisters, d.Forbidden = 10, []Forbidden{{Holding: new(40), Count: 2}}
	}},
	{"a gateway with 20 ms a transaction", "tcp://s", 10, 20 * time.Millisecond, span30, nil},
	{"ASCII at 9600", "ascii:///dev/x?baud=9600", 3, 10 * time.Millisecond, span30, nil},
	{"ASCII through a serial server, with a pause", "ascii+tcp://s:4001?baud=19200&data=8&pause=30ms", 2, 10 * time.Millisecond, farApart, nil},
	{"values of 32 bits in Enron's way", "rtu:///dev/x?baud=19200", 2, 10 * time.Millisecond, func() []Point {
		points := wordsFrom(line.Holding, steps(70, 1)...)
		for i := range points {
			points[i].Type = "float32"
		}
		return points
	}, func(d *Device) { d.Enron = true }},
	{"TLS with a pause", "tls://s?pause=10ms", 4, 25 * time.Millisecond, farApart, nil},
	{"300 registers behind a slow radio", "tcp://s", 2, 150 * time.Millisecond, func() []Point { return wordsFrom(line.Input, steps(300, 1)...) }, nil},
}

// TestTheComputedRoundIsTheMeasuredOne asks simulated units with true character times for everything every three seconds
// and takes the time that their requests had the line.
func TestTheComputedRoundIsTheMeasuredOne(t *testing.T) {
	for _, l := range layouts {
		t.Run(l.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { l.compare(t) }) })
	}
}

func (l layout) compare(t *testing.T) {
	at, err := line.ParseEndpoint(l.url)
	if err != nil {
		t.Fatal(err)
	}
	// A unit on an RTU line knows that a request is over by 3.5 characters of silence, and begins to think then.
	slave := modbustest.NewSlave()
	slave.Turnaround = l.turnaround
	if at.IsSerial() {
		slave.Char = at.Cost(0).CharTime
	}
	if at.IsSerial() && !strings.HasPrefix(l.url, "ascii") {
		slave.Turnaround += at.FrameGap()
	}
	var devices []Device
	for unit := 1; unit <= l.units; unit++ {
		bank := slave.Unit(byte(unit))
		d := Device{Name: fmt.Sprint("u", unit), URL: l.url, Unit: new(unit), Every: 3 * time.Second, Turnaround: l.turnaround, Points: l.points()}
		if l.change != nil {
			l.change(&d)
		}
		if d.Enron {
			bank.SetEnron(modbustest.Holding, 0, make([]uint32, 100)...)
		}
		devices = append(devices, d)
	}
	budgets := Budgets(devices)
	if len(budgets) != 1 || len(budgets[0].Shares) != l.units {
		t.Fatalf("%d lines, %+v", len(budgets), budgets)
	}
	lines := pipeLines(t, linetest.Only(slave))
	s := runSite(t, lines, &collectorstest.Host{}, devices...)
	linetest.Await(t, 5*time.Minute+30*time.Second)
	s.stop()
	polled := linetest.Open(t, lines, l.url)
	var rounds time.Duration
	for _, r := range polled.Rounds() {
		rounds += r.Took
	}
	requests := 0
	for _, share := range budgets[0].Shares {
		requests += len(share.Requests)
	}
	stats := polled.Stats()
	busy := time.Duration(float64(stats.Busy) / float64(stats.Requests) * float64(requests))
	t.Logf("computed %s, measured %s (%.1f %%), %d requests", budgets[0].Round, rounds, 100*budgets[0].Round.Seconds()/rounds.Seconds(), requests)
	for _, measured := range []time.Duration{rounds, busy} {
		if ratio := budgets[0].Round.Seconds() / measured.Seconds(); math.Abs(ratio-1) > 0.1 {
			t.Errorf("computed %s, measured %s", budgets[0].Round, measured)
		}
	}
	// The first polls are extra: everything is asked at once, and then on its beat.
	if want := budgets[0].Load; math.Abs(stats.Load/want-1) > 0.1 {
		t.Errorf("computed load %.4f, measured %.4f", want, stats.Load)
	}
}

func TestWhatDoesNotFitIsSaid(t *testing.T) {
	slow := Device{Name: "battery-plc", URL: "rtu:///dev/ttyS1?baud=1200", Every: 10 * time.Second, Turnaround: 100 * time.Millisecond}
	for a := range 6 {
		slow.Points = append(slow.Points, wordsFrom(line.Holding, steps(100, 1)...)...)
		for i := range 100 {
			p := &slow.Points[100*a+i]
			p.Name, *p.Holding = fmt.Sprint(a, "-", i), 1000*a+i
		}
	}
	b := Budgets([]Device{slow})[0]
	// 220 characters at 9.1667 ms (1200 baud, 11 bits), and 100 ms, six times.
	if want := 6 * (220*11*time.Second/1200 + 100*time.Millisecond); (b.Round - want).Abs() > time.Millisecond {
		t.Errorf("a round of %s, want %s", b.Round, want)
	}
	if device, got := b.Problem(); device != "battery-plc" || got != "line rtu:///dev/ttyS1?baud=1200&parity=E&stop=1: a round takes 12.7 s, and battery-plc wants one every 10s; slow it down (every: 15s), or raise the baud rate if the line can" {
		t.Error(got)
	}
	slow.Every, slow.EveryWhileLoading = time.Minute, 5*time.Second
	b = Budgets([]Device{slow})[0]
	if _, got := b.Problem(); got != "" {
		t.Error(got)
	}
	if device, got := b.Warning(); device != "battery-plc" || !strings.Contains(got, "254 %") {
		t.Errorf("%q: %s", device, got)
	}
}

func TestALineOfManyIsSlowedDownTogether(t *testing.T) {
	var devices []Device
	for unit := 1; unit <= 30; unit++ {
		devices = append(devices, Device{Name: fmt.Sprint("u", unit), URL: "rtu:///dev/ttyS1?baud=9600", Unit: new(unit), Every: time.Second, Points: span30()})
	}
	b := Budgets(devices)[0]
	if _, got := b.Problem(); !strings.Contains(got, "a round takes 2.9 s, and u1 wants one every 1s; slow its 30 devices down (every: 5s)") {
		t.Error(got)
	}
	if math.Abs(b.Load-2.9) > 0.01 {
		t.Errorf("load %v", b.Load)
	}
	// 29 rounds of 96.67 ms, and one time-out with the 73 characters that might have come.
	if want := 29*96667*time.Microsecond + time.Second + 73*11*time.Second/9600; (b.Silent - want).Abs() > time.Millisecond {
		t.Errorf("%s with one unit silent, want %s", b.Silent, want)
	}
}

func TestThePlanShowsEveryRequest(t *testing.T) {
	d := Device{Name: "d", URL: "rtu:///dev/ttyS1", Points: append(wordsFrom(line.Holding, 0, 5, 100), Point{Name: "level", Input: new(7), Type: "float32", Verify: "twice"})}
	asks := Budgets([]Device{d})[0].Shares[0].Requests
	want := []PlannedRequest{
		{Table: "holding", From: 0, To: 5, Points: 2, Gaps: 4}, {Table: "holding", From: 100, To: 100, Points: 1},
		{Table: "input", From: 7, To: 8, Points: 1}, {Table: "input", From: 7, To: 8, Points: 1, Again: true},
	}
	if len(asks) != len(want) {
		t.Fatalf("%+v", asks)
	}
	for i, a := range asks {
		if a.Takes <= 0 {
			t.Errorf("%+v takes no time", a)
		}
		if a.Takes = 0; a != want[i] {
			t.Errorf("request %d: %+v, want %+v", i, a, want[i])
		}
	}
}

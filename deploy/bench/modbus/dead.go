package main

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Row 7: ten units behind one line, one of them dead, in every way that units are dead.
const (
	deadUnit     = 5
	deadWindow   = time.Minute
	deadSettle   = 10 * time.Second
	deadInterval = time.Second
)

var deaths = []struct {
	what string
	spec stationSpec
}{
	{"gateway on TCP, 20 ms a request: silent", stationSpec{Fault: "silent", Turnaround: 20 * time.Millisecond}},
	{"gateway on TCP: exception 0x0B after 1 s", stationSpec{Fault: "busy", Turnaround: 20 * time.Millisecond}},
	{"gateway on TCP: closes the connection", stationSpec{Fault: "close", Turnaround: 20 * time.Millisecond}},
	{"gateway on TCP: exception 2 at once", stationSpec{Fault: "refuse", Turnaround: 20 * time.Millisecond}},
	{"RTU at 19200: silent", stationSpec{Fault: "silent", Pty: true, Serial: &wire{Baud: 19200, Turnaround: busTurnaround}}},
	{"RTU over TCP at 19200: silent", stationSpec{Fault: "silent", Serial: &wire{Baud: 19200, Turnaround: busTurnaround}}},
}

// measureDead runs all of them side by side: they hardly take the processor.
func measureDead() ([]finding, error) {
	t := trial{
		poller: "collector", settle: deadSettle, window: deadWindow,
		load: load{Units: 10, Registers: 10, Every: deadInterval, Timeout: time.Second},
	}
	for _, d := range deaths {
		d.spec.Dead, d.spec.Every = deadUnit, deadInterval
		t.field, t.load.URLs = append(t.field, d.spec), append(t.load.URLs, "")
	}
	next := 0
	t.url = func(address string) string {
		spec := t.field[next]
		next++
		switch {
		case spec.Pty:
			return "rtu://" + address
		case spec.Serial != nil:
			return "rtu+tcp://" + address
		}
		return "tcp://" + address
	}
	o, err := t.run()
	if err != nil {
		return nil, err
	}
	var all []finding
	for i, l := range o.lines {
		all = append(all, deadFinding(deaths[i].what, deaths[i].spec.Fault, l))
	}
	return all, nil
}

func deadFinding(what, fault string, l lineReport) finding {
	nominal := int(deadWindow / deadInterval)
	polls := pollsOf(l)
	dead := polls[deadUnit]
	delete(polls, deadUnit)
	least := slices.Min(slices.Collect(maps.Values(polls)))
	f := finding{
		row: 7, what: "one of ten dead, " + what + ": polls of the worst live unit in 60 s", theory: fmt.Sprint(nominal),
		measured: fmt.Sprintf("%d; the dead one was asked %d times, %d connections", least, dead, l.Connections),
		ratio:    float64(least) / float64(nominal), goal: ">= 0.95", judged: true, met: float64(least) >= 0.95*float64(nominal),
	}
	if fault == "refuse" || fault == "busy" {
		f.goal, f.met = f.goal+", no reconnect", f.met && l.Connections == 1
	}
	return f
}

// pollsOf counts each unit's polls. A unit may have been asked for something else besides, such as whether it is there:
// what it was asked for most often is the poll.
func pollsOf(l lineReport) map[byte]int {
	polls := map[byte]int{}
	for _, u := range l.Units {
		polls[u.Unit] = max(polls[u.Unit], u.Count)
	}
	return polls
}

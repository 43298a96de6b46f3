package main

import (
	"fmt"
	"time"
)

// The serial line of rows 8 and 9.
const (
	busUnits      = 10
	busRegisters  = 30
	busTurnaround = 5 * time.Millisecond
)

// serialTrial polls units on a pseudo-terminal or through a serial server, each at the given interval.
func serialTrial(baud int, pty bool, every time.Duration) trial {
	return trial{
		field:  []stationSpec{{Pty: pty, Serial: &wire{Baud: baud, Turnaround: busTurnaround}, Every: every}},
		poller: "collector",
		load:   load{URLs: []string{""}, Units: busUnits, Registers: busRegisters, Every: every, Timeout: time.Second},
		url: func(address string) string {
			scheme := "rtu+tcp"
			if pty {
				scheme = "rtu"
			}
			return fmt.Sprintf("%s://%s?baud=%d&parity=E", scheme, address, baud)
		},
		settle: 2 * time.Second, window: 6 * time.Second,
	}
}

// measureBackToBack is row 8: the interval is shorter than a round, so that the line never rests.
func measureBackToBack() ([]finding, error) {
	var all []finding
	for _, baud := range []int{9600, 19200, 115200} {
		for _, pty := range []bool{true, false} {
			t := serialTrial(baud, pty, 10*time.Millisecond)
			o, err := t.run()
			if err != nil {
				return nil, err
			}
			all = append(all, backToBack(*t.field[0].Serial, pty, o.lines[0]))
		}
	}
	return all, nil
}

func backToBack(w wire, pty bool, l lineReport) finding {
	where, goal := "serial server (socket)", 0.95
	if pty {
		where = "pseudo-terminal"
	}
	if w.Baud > 19200 {
		goal = 0.90
	}
	rate := func(read time.Duration) float64 { return busRegisters / max(1e-9, read.Seconds()) }
	ratio := w.read(busRegisters).Seconds() / max(1e-9, l.Requests.Mean.Seconds())
	return finding{
		row: 8, what: fmt.Sprintf("RTU back to back at %d, %d x %d registers, %s: registers/s", w.Baud, busUnits, busRegisters, where),
		theory:   fmt.Sprintf("%.0f", rate(w.read(busRegisters))),
		measured: fmt.Sprintf("%.0f; %d too early (least silence %.2f of %.2f ms), %d damaged", rate(l.Requests.Mean), l.Early, milliseconds(l.Silence), milliseconds(w.gap()), l.Damaged),
		ratio:    ratio, goal: fmt.Sprintf(">= %.2f, none early", goal), judged: true,
		met: ratio >= goal && l.Early == 0 && l.Damaged == 0,
	}
}

// measureIntervals is row 9: each unit's own interval, on a line that has room for it and on one that has not.
func measureIntervals() ([]finding, error) {
	const baud, window = 19200, 20 * time.Second
	roomy, tight := serialTrial(baud, true, time.Second), serialTrial(baud, true, 400*time.Millisecond)
	roomy.window, tight.window = window, window
	fits, err := roomy.run()
	if err != nil {
		return nil, err
	}
	over, err := tight.run()
	if err != nil {
		return nil, err
	}
	round := busUnits * roomy.field[0].Serial.read(busRegisters)
	calm, late := worst(fits.lines[0]), worst(over.lines[0])
	return []finding{
		{
			row: 9, what: "interval of each unit at 19200, every 1 s (a round takes 508 ms): worst mean, sd, longest",
			theory: "1000 ms, sd 0", measured: fmt.Sprintf("%.1f ms, sd %.1f, %.0f ms", milliseconds(calm.Mean), milliseconds(calm.SD), milliseconds(calm.Most)),
			ratio: time.Second.Seconds() / calm.Mean.Seconds(), goal: "sd <= 20 ms", judged: true,
			met: calm.SD <= 20*time.Millisecond && calm.Mean < 1005*time.Millisecond,
		},
		{
			row: 9, what: "every 400 ms where a round takes 508 ms: slower by the overrun only: worst mean, sd, longest",
			theory:   fmt.Sprintf("%.1f ms", milliseconds(round)),
			measured: fmt.Sprintf("%.1f ms, sd %.1f, %.0f ms", milliseconds(late.Mean), milliseconds(late.SD), milliseconds(late.Most)),
			ratio:    round.Seconds() / late.Mean.Seconds(), goal: ">= 0.95, sd <= 20 ms", judged: true,
			met: round.Seconds() >= 0.95*late.Mean.Seconds() && late.SD <= 20*time.Millisecond,
		},
	}, nil
}

// worst takes the worst of each figure over all units.
func worst(l lineReport) tally {
	var w tally
	for _, u := range l.Units {
		w.Mean, w.SD, w.Most = max(w.Mean, u.Mean), max(w.SD, u.SD), max(w.Most, u.Most)
	}
	return w
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

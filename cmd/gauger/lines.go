package main

import (
	"time"

	"gauger/agent"
	"gauger/collectors/modbus"
)

// statusOf is what the Modbus lines have done so far.
func statusOf(lines *modbus.Lines) (all []agent.LineStatus) {
	lines.Each(func(l *modbus.Line) {
		n := l.Stats()
		s := agent.LineStatus{
			Line: l.URL(), Load: n.Load, Busy: n.Busy.Seconds(), Requests: n.Requests, Timeouts: n.Timeouts, Exceptions: n.Exceptions,
			BadFrames: n.BadFrames, Late: n.Late, CrossTalk: n.CrossTalk, Reconnects: max(n.Opened, 1) - 1, Mismatches: n.Mismatches,
			Rounds: []agent.RoundStatus{},
		}
		for _, r := range l.Rounds() {
			s.Rounds = append(s.Rounds, agent.RoundStatus{Device: r.Device, Every: r.Every.Seconds(), Took: r.Took.Seconds(), At: r.At.Round(0)})
		}
		all = append(all, s)
	})
	return all
}

// lines says how each line does: how much of its time is taken, and what went wrong on it.
func (p *page) lines() {
	head := "\nLINE\tLOAD\tROUND\tREQUESTS\tNO ANSWER\tREFUSED\tDAMAGED\tRECONNECTS\n"
	for _, l := range p.s.Lines {
		round := 0.0
		for _, r := range l.Rounds {
			round += r.Took
		}
		p.line("%s%s\t%.0f %%\t%s\t%d\t%d\t%d\t%d\t%d", head, l.Line, 100*l.Load, lasting(time.Duration(round*float64(time.Second))), l.Requests, l.Timeouts, l.Exceptions, l.BadFrames, l.Reconnects)
		head = ""
	}
}

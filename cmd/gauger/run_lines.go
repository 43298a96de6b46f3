package main

import (
	"gauger/agent/control"
	"gauger/collectors/modbus/line"
)

// lineStatuses counts what happened on each Modbus line since the start.
func lineStatuses(lines *line.Lines) (all []control.LineStatus) {
	lines.Each(func(l *line.Line) {
		n := l.Stats()
		s := control.LineStatus{
			Line: l.URL(), Load: n.Load, Busy: n.Busy.Seconds(), Requests: n.Requests, Timeouts: n.Timeouts, Exceptions: n.Exceptions,
			BadFrames: n.BadFrames, Late: n.Late, CrossTalk: n.CrossTalk, Reconnects: max(n.Opened, 1) - 1, Mismatches: n.Mismatches,
			Rounds: []control.RoundStatus{},
		}
		for _, r := range l.Rounds() {
			s.Rounds = append(s.Rounds, control.RoundStatus{Device: r.Device, Every: r.Every.Seconds(), Took: r.Took.Seconds(), At: r.At.Round(0)})
		}
		all = append(all, s)
	})
	return all
}

package modbus

import "sync/atomic"

// Stats counts what a line has seen since the program started.
type Stats struct {
	Requests   uint64 // requests that had the line
	Timeouts   uint64 // requests that got no answer in time
	Exceptions uint64 // answers that were refusals
	BadFrames  uint64 // requests whose answer could not be used: torn, wrong length, wrong function, checksum
	Late       uint64 // answers dropped because they belonged to an earlier request
	CrossTalk  uint64 // answers dropped because another unit or function sent them
	Opened     uint64 // times that the socket or port was opened; reconnects are this less one
	Mismatches uint64 // values that two requests did not agree on
}

type counters struct {
	requests, timeouts, exceptions, frames, late, crossTalk, opened, mismatches atomic.Uint64
}

func (c *counters) read() Stats {
	return Stats{
		Requests:   c.requests.Load(),
		Timeouts:   c.timeouts.Load(),
		Exceptions: c.exceptions.Load(),
		BadFrames:  c.frames.Load(),
		Late:       c.late.Load(),
		CrossTalk:  c.crossTalk.Load(),
		Opened:     c.opened.Load(),
		Mismatches: c.mismatches.Load(),
	}
}

package modbus

import "time"

// How long a unit thinks before it answers, where the configuration does not say. On a serial line most answer in
// 2 to 10 ms; on a socket a unit that answers itself takes about one.
const (
	DefaultTurnaround       = 5 * time.Millisecond
	DefaultSocketTurnaround = time.Millisecond
)

// networkByte is a byte at 10 Mbit/s, the slowest network that devices have.
const networkByte = 800 * time.Nanosecond

// worthRegisters is how many registers that nobody wants a request on a socket is worth.
const worthRegisters = 21

// cost is what one request to a unit takes. The plan and the budget both count with it.
//
// On a serial line the request and the answer take the time of their characters, each ends with 3.5 characters of
// silence, and the unit thinks in between (Modbus over Serial Line V1.02, 2.5.1). Behind a socket bytes take next to
// nothing, so that by time alone it would always pay to read through a gap. But units with holes in their map are
// common, and so are gateways with a serial line behind them: there an address counts as a 21st part of a request
// on top of its time.
type cost struct {
	request    int           // characters of a request
	answer     int           // characters of an answer round its data
	perByte    int           // characters for each byte of data
	char       time.Duration // on the wire
	silence    time.Duration // round one request: what must be waited for though nothing is sent
	turnaround time.Duration
	scruple    time.Duration // what two bytes of data count on top of their time
}

// cost is what requests take behind this endpoint, to a unit that thinks for the given time (0: the usual one).
func (e endpoint) cost(turnaround time.Duration) cost {
	c := cost{
		request: 12, answer: 9, perByte: 1, char: networkByte, silence: e.pause,
		turnaround: DefaultSocketTurnaround, scruple: DefaultSocketTurnaround / worthRegisters,
	}
	if e.serialLine() {
		c = e.serialCost()
	}
	if turnaround > 0 {
		c.turnaround = turnaround
	}
	return c
}

func (e endpoint) serialCost() cost {
	frames := e.codec()
	c := cost{
		request: len(frames.request(nil, 0, Request{}.pdu())), answer: frames.size(0), perByte: (frames.size(2) - frames.size(0)) / 2,
		char: e.serial.char(), silence: 2*e.serial.gap() + e.pause, turnaround: DefaultTurnaround,
	}
	if e.text() {
		c.silence -= e.serial.gap() // an ASCII frame says itself where it ends, so the unit waits for no silence
	}
	return c
}

// takes is the time from the first character of a request to the end of the silence after its answer.
func (c cost) takes(s span) time.Duration {
	return c.turnaround + c.silence + c.char*time.Duration(c.request+c.answer+c.perByte*s.bytes())
}

// price is what the plan keeps low: the time, and on a socket the scruple about addresses.
func (c cost) price(s span) time.Duration {
	return c.takes(s) + c.scruple*time.Duration(s.bytes())/2
}

// silent is the time that a request takes to which nobody answers.
func (c cost) silent(timeout time.Duration, s span) time.Duration {
	return timeout + c.char*time.Duration(c.request+c.answer+c.perByte*s.bytes())
}

package line

import "time"

// How long a unit thinks before it answers, where the configuration does not say. On a serial line most answer in
// 2 to 10 ms; on a socket a unit that answers itself takes about one.
const (
	defaultTurnaround       = 5 * time.Millisecond
	defaultSocketTurnaround = time.Millisecond
)

// networkByteTime is a byte at 10 Mbit/s, the slowest network that devices have.
const networkByteTime = 800 * time.Nanosecond

// requestWorthRegisters: so many registers that nobody wants weigh as much as a request on a socket.
const requestWorthRegisters = 21

// Cost computes the time of one request to a unit. The plan and the budget both count with it.
//
// On a serial line the request and the answer take the time of their characters, each ends with 3.5 characters of
// silence, and the unit thinks in between (Modbus over Serial Line V1.02, 2.5.1). Behind a socket bytes take next to
// nothing, so that by time alone it would always pay to read through a gap. But units with holes in their map are
// common, and so are gateways with a serial line behind them: there an address counts as a 21st part of a request
// on top of its time.
type Cost struct {
	requestChars int           // characters of a request
	answerChars  int           // characters of an answer round its data
	CharsPerByte int           // characters for each byte of data
	CharTime     time.Duration // on the wire
	silence      time.Duration // round one request: what must be waited for though nothing is sent
	Turnaround   time.Duration
	gapPenalty   time.Duration // what two bytes of data count on top of their time
}

// Cost of requests behind this endpoint, to a unit that thinks for the given time (0: the usual one).
func (e Endpoint) Cost(turnaround time.Duration) Cost {
	c := Cost{
		requestChars: 12, answerChars: 9, CharsPerByte: 1, CharTime: networkByteTime, silence: e.pause,
		Turnaround: defaultSocketTurnaround, gapPenalty: defaultSocketTurnaround / requestWorthRegisters,
	}
	if e.IsSerial() {
		c = e.serialCost()
	}
	if turnaround > 0 {
		c.Turnaround = turnaround
	}
	return c
}

func (e Endpoint) serialCost() Cost {
	frames := e.codec()
	c := Cost{
		requestChars: len(frames.appendRequest(nil, 0, Request{}.pdu())), answerChars: frames.answerSize(0), CharsPerByte: (frames.answerSize(2) - frames.answerSize(0)) / 2,
		CharTime: e.serial.charTime(), silence: 2*e.serial.frameGap() + e.pause, Turnaround: defaultTurnaround,
	}
	if e.isASCII() {
		c.silence -= e.serial.frameGap() // an ASCII frame says itself where it ends, so the unit waits for no silence
	}
	return c
}

// Duration is the time from the first character of a request to the end of the silence after its answer.
func (c Cost) Duration(s Span) time.Duration {
	return c.Turnaround + c.silence + c.CharTime*time.Duration(c.requestChars+c.answerChars+c.CharsPerByte*s.dataLength())
}

// Price is kept low by the plan: the time, and on a socket the penalty for addresses that nobody wants.
func (c Cost) Price(s Span) time.Duration {
	return c.Duration(s) + c.gapPenalty*time.Duration(s.dataLength())/2
}

// Unanswered is the time that a request takes to which nobody answers.
func (c Cost) Unanswered(timeout time.Duration, s Span) time.Duration {
	return timeout + c.CharTime*time.Duration(c.requestChars+c.answerChars+c.CharsPerByte*s.dataLength())
}

// AllUnanswered is the time of so many requests for one register to which nobody answers: each time-out with the request
// in front of it, on a serial line the characters and silences, and on a socket, which is given up when nobody answers
// for some requests, the pause after it is opened.
func (e Endpoint) AllUnanswered(requests int, timeout time.Duration) time.Duration {
	each := timeout + e.pause
	if e.IsSerial() {
		codec := e.codec()
		frames := len(codec.appendRequest(nil, 1, Request{}.pdu())) + codec.answerSize(Holding.DataLength(1))
		each += time.Duration(frames)*e.serial.charTime() + 2*e.serial.frameGap()
	}
	opened := 1
	if !e.IsPort() {
		opened += requests / closeSocketAfter
	}
	return time.Duration(requests)*each + time.Duration(opened)*e.connectPause
}

package line

// codec packs and unpacks the frames of a serial line. The guard against late answers is the bus's, and the same for all.
type codec interface {
	// appendRequest appends the frame that carries a request to a unit.
	appendRequest(dst []byte, unit byte, pdu []byte) []byte
	// answerSize counts the characters of an answer's frame with so many bytes of data.
	answerSize(data int) int
	// answerLength is the length of the answer frame that b begins with, of whatever unit: a read's data, or an
	// exception. 0: there is none, or it is not complete, or it is damaged.
	answerLength(b []byte) int
	// unpack takes a whole frame apart.
	unpack(frame []byte) (unit byte, pdu []byte)
	// mayBegin says whether b, at least as long as the shortest answer, may be the beginning of the data that was
	// asked for.
	mayBegin(b []byte, r Request) bool
}

// shortestAnswer is the length of the shortest answer, an exception. What is shorter is noise: many RS-485 drivers add a
// byte or two when they turn round.
func shortestAnswer(c codec) int { return c.answerSize(0) }

// isAnswer says whether one whole frame answers the request: its unit, its function or that function's exception,
// and exactly as much data as was asked for.
func isAnswer(c codec, frame []byte, r Request) bool {
	unit, pdu := c.unpack(frame)
	return unit == r.Unit && (r.isRefusal(pdu) || r.isData(pdu))
}

// findAnswer looks for the answer in b, since noise and other units' frames may stand before it. end is 0 when
// there is none, or not yet.
func findAnswer(c codec, b []byte, r Request) (start, end int) {
	for i := 0; i+shortestAnswer(c) <= len(b); {
		n := c.answerLength(b[i:])
		switch {
		case n > 0 && isAnswer(c, b[i:i+n], r):
			return i, i + n
		case n > 0:
			i += n
		case c.mayBegin(b[i:], r) && len(b)-i < c.answerSize(r.dataLength()):
			return 0, 0
		default:
			i++
		}
	}
	return 0, 0
}

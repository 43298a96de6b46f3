package modbustest

import "time"

// Fault is one way in which an answer goes wrong. The zero value of each field is no fault; several may be
// combined. A fault applies to the requests that Unit, From, To and Longer let through, Times times.
type Fault struct {
	Unit     byte   // of this unit only; 0: of every unit
	From, To uint16 // only requests that touch these addresses, both included; both 0: all requests
	Longer   int    // only requests for more addresses than this; 0: all
	Skip     int    // so many requests pass unharmed first
	Times    int    // so many are spoilt, then the fault is used up; 0: for ever

	Silent    bool          // no answer
	Delay     time.Duration // the answer comes later by this; the slave is busy meanwhile
	Late      int           // the answer is held back and sent in front of the one to the n-th request after it
	Doubled   bool          // the answer is sent twice
	Exception byte          // the answer is this exception
	Torn      int           // only so many first bytes are sent; -1: none
	Rest      time.Duration // after Torn: the other bytes come after this time
	Unitshift byte          // added to the unit id of the answer
	Idshift   uint16        // added to the transaction id of the answer (TCP only)
	Function  byte          // the answer's function code
	Short     int           // the data is so many bytes shorter, and the count, length and checksum say so
	Garbage   []byte        // sent before the answer
	Flip      int           // the n-th byte of the frame (from 1) is inverted on the way; checksums stay
	Reset     bool          // the connection is closed instead of (or, with Torn, after a part of) the answer
}

// active is a fault with how often it has been met.
type active struct {
	Fault
	seen int
}

// meets says whether the fault spoils this request, and counts it.
func (f *active) meets(r request) bool {
	if f.Unit != 0 && f.Unit != r.unit {
		return false
	}
	if (f.From != 0 || f.To != 0) && (int(f.To) < r.address || int(f.From) >= r.address+r.quantity) {
		return false
	}
	if r.quantity <= f.Longer {
		return false
	}
	f.seen++
	n := f.seen - f.Skip
	return n >= 1 && (f.Times == 0 || n <= f.Times)
}

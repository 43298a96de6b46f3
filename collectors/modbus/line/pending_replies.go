package line

import (
	"slices"
	"time"
)

// pendingReplies are the answers that a unit may still give to requests that have failed, oldest first.
//
// A unit's answers do not overtake each other. So data of a length that was asked for only once since proves that
// every earlier answer is out of the way, and while none of the length that is wanted may still come, the first
// one of that length is the right one. Requests of one length in a row stand here once; no other length is
// asked for twice.
type pendingReplies struct {
	askAgainAt time.Time // when the unit may be asked again
	replies    []pendingReply
}

// pendingReply is a number of requests in a row whose answers have one form.
type pendingReply struct {
	function   byte
	dataLength int
	times      int
}

// maxCounted answers of one form are counted. Only refusals, which are all alike, need the number.
const maxCounted = 4

func (a *pendingReplies) index(r Request) int {
	return slices.IndexFunc(a.replies, func(o pendingReply) bool { return o.function == r.Table.function() && o.dataLength == r.dataLength() })
}

// ambiguous says whether an answer to an earlier request could be taken for one to r.
func (a *pendingReplies) ambiguous(r Request) bool { return a.index(r) >= 0 }

// add notes a request, which is either of a form that is not owed yet or of the last one that is.
func (a *pendingReplies) add(r Request) {
	i := a.index(r)
	if i < 0 {
		a.replies = append(a.replies, pendingReply{r.Table.function(), r.dataLength(), 1})
		return
	}
	a.replies[i].times = min(a.replies[i].times+1, maxCounted)
}

// resyncRequest is a request of the same unit and table as r whose data can be told from r's own, and proves by coming
// that nothing is owed any more that was asked for before it. It keeps away from what is to be avoided.
func (a *pendingReplies) resyncRequest(r Request, avoid []Span) Request {
	step := r
	for step.Quantity = 1; step.dataLength() == r.dataLength() || a.ambiguous(step) && a.index(step) < len(a.replies)-1; {
		if r.Table.IsBits() {
			step.Quantity += 8
		} else {
			step.Quantity++
		}
	}
	return nearestAllowed(step, avoid)
}

// nearestAllowed is a request for as many addresses, the nearest ones that need not be avoided.
func nearestAllowed(r Request, avoid []Span) Request {
	last := 1<<16 - int(r.Quantity)
	first := min(int(r.Address), last)
	for away := range last + 1 {
		for _, address := range [...]int{first - away, first + away} {
			s := Span{r.Table, address, int(r.Quantity)}
			if address >= 0 && address <= last && !slices.ContainsFunc(avoid, func(h Span) bool { return h.Overlaps(s) }) {
				r.Address = uint16(address)
				return r
			}
		}
	}
	r.Address = uint16(first)
	return r
}

// received takes an answer of r's form off. It may be the one to the first request of that form, or, since refusals
// do not say what they refuse, the one to the first request of all with that function.
func (a *pendingReplies) received(r Request, refusal bool) {
	a.askAgainAt = time.Time{}
	i := a.index(r)
	if refusal {
		i = slices.IndexFunc(a.replies, func(o pendingReply) bool { return o.function == r.Table.function() })
	}
	a.replies = a.replies[i:]
	a.replies[0].times--
	if a.replies[0].times == 0 {
		a.replies = a.replies[1:]
	}
}

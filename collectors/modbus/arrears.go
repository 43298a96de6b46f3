package modbus

import (
	"slices"
	"time"
)

// arrears are the answers that a unit may still give to requests that have failed, oldest first.
//
// A unit's answers do not overtake each other. So data of a length that was asked for only once since proves that
// every earlier answer is out of the way, and while none of the length that is wanted may still come, the first
// one of that length is the right one. Requests of one length in a row stand here once; no other length is
// asked for twice.
type arrears struct {
	again time.Time // when the unit may be asked again
	owed  []owing
}

// owing is a number of requests in a row whose answers have one form.
type owing struct {
	function byte
	bytes    int
	times    int
}

// countMost is how many answers of one form are counted. Only refusals, which are all alike, need the number.
const countMost = 4

func (a *arrears) find(r Request) int {
	return slices.IndexFunc(a.owed, func(o owing) bool { return o.function == r.Table.function() && o.bytes == r.bytes() })
}

// owes says whether an answer to an earlier request could be taken for one to r.
func (a *arrears) owes(r Request) bool { return a.find(r) >= 0 }

// sent notes a request, which is either of a form that is not owed yet or of the last one that is.
func (a *arrears) sent(r Request) {
	i := a.find(r)
	if i < 0 {
		a.owed = append(a.owed, owing{r.Table.function(), r.bytes(), 1})
		return
	}
	a.owed[i].times = min(a.owed[i].times+1, countMost)
}

// inStep is a request of the same unit and table as r whose data can be told from r's own, and proves by coming
// that nothing is owed any more that was asked for before it. It keeps away from what is to be avoided.
func (a *arrears) inStep(r Request, avoid []span) Request {
	step := r
	for step.Quantity = 1; step.bytes() == r.bytes() || a.owes(step) && a.find(step) < len(a.owed)-1; {
		if r.Table.bits() {
			step.Quantity += 8
		} else {
			step.Quantity++
		}
	}
	return near(step, avoid)
}

// near is a request for as many addresses, the nearest ones that need not be avoided.
func near(r Request, avoid []span) Request {
	last := 1<<16 - int(r.Quantity)
	first := min(int(r.Address), last)
	for away := range last + 1 {
		for _, address := range [...]int{first - away, first + away} {
			s := span{r.Table, address, int(r.Quantity)}
			if address >= 0 && address <= last && !slices.ContainsFunc(avoid, func(h span) bool { return overlap(h, s) }) {
				r.Address = uint16(address)
				return r
			}
		}
	}
	r.Address = uint16(first)
	return r
}

// came takes an answer of r's form off. It may be the one to the first request of that form, or, since refusals
// do not say what they refuse, the one to the first request of all with that function.
func (a *arrears) came(r Request, refusal bool) {
	a.again = time.Time{}
	i := a.find(r)
	if refusal {
		i = slices.IndexFunc(a.owed, func(o owing) bool { return o.function == r.Table.function() })
	}
	a.owed = a.owed[i:]
	a.owed[0].times--
	if a.owed[0].times == 0 {
		a.owed = a.owed[1:]
	}
}

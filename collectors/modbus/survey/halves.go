package survey

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gauger/collectors/registers"
)

// usualWord is what the less significant word of a measured float is hardly ever below: it is as good as chance.
const usualWord = 4096

// Of floats from 0.25 to 8000, as levels are, the more significant word lies between these.
const (
	leastHigh = 0x3E80
	mostHigh  = 0x45FA
)

// By how much (a logarithm) an order of words has to be likelier than that in which a person named the register, to be told of and to
// be offered first.
const (
	told  = 1
	first = 2
)

// floats are registers looked at as floats of two registers, each with its more significant word at every other address. Which of
// the words between belong to which is what the two orders differ in; only those at the two ends tell.
type floats struct {
	snapshot
	q       Question
	swapped bool // the two bytes of each word
}

func floatsIn(p snapshot, q Question, order string) floats {
	return floats{p, q, order == "BADC" || order == "DCBA"}
}

// highFirst says where an order has the more significant word.
func highFirst(order string) bool { return order == "ABCD" || order == "BADC" }

func (f floats) word(at int) (w uint16, there bool) {
	w, there = f.words[at]
	if f.swapped {
		w = bits.ReverseBytes16(w)
	}
	return w, there
}

func (f floats) isHigh(at int) bool {
	w, there := f.word(at)
	return there && w >= leastHigh && w <= mostHigh
}

// isLow says whether a register is as the less significant word of a float is: of a round number it ends in zeros.
func (f floats) isLow(at int) bool {
	w, there := f.word(at)
	return there && (w%usualWord == 0 || w >= usualWord && !f.isHigh(at))
}

func (f floats) seen(at int) bool {
	return at >= f.q.Address-registersBefore && at <= f.q.Address+registersAfter
}

// ends weighs, as logarithms, what a register at the end of a row of floats would be: the less significant word of one, or no part of them.
func (f floats) ends(at int) (low, stray float64) {
	w, there := f.word(at)
	switch {
	case !f.seen(at):
		return 0, 0
	case !there:
		return -20, 0
	case w == 0:
		return -1, 0
	case w < usualWord:
		return math.Log(usualWord / 65536.), 0
	}
	return 0, -1.5
}

// lowFirst weighs the two orders of words in the row of floats to which the more significant word at an address belongs: by how much it is
// likelier that the other word stands before it. An end at which nobody has looked could say the contrary.
func (f floats) lowFirst(high int) float64 {
	from, to := high, high
	for f.isHigh(from - 2) {
		from -= 2
	}
	for f.isHigh(to + 2) {
		to += 2
	}
	lowBefore, strayBefore := f.ends(from - 1)
	lowAfter, strayAfter := f.ends(to + 1)
	more := lowBefore + strayAfter - lowAfter - strayBefore
	if !f.seen(from-1) || !f.seen(to+1) {
		more /= 2
	}
	return more
}

// otherHalf is the float whose more significant word is that of c, in the other order, where the registers about it speak for that: c is
// then its beginning with another value's end. It is wrong by less than a person sees, and no gauge can tell.
func (p snapshot) otherHalf(q Question, c Candidate) (address int, order string, value, likelier float64) {
	if c.Type != registers.Float32.String() || c.Why != "" {
		return 0, "", 0, 0
	}
	f := floatsIn(p, q, c.Order)
	order = map[string]string{"ABCD": "CDAB", "CDAB": "ABCD", "BADC": "DCBA", "DCBA": "BADC"}[c.Order]
	high, address := c.Address, c.Address-1
	if !highFirst(c.Order) {
		high, address = c.Address+1, c.Address+1
	}
	words, there := p.registersFrom(address, 2)
	if !there || !f.isHigh(high) {
		return 0, "", 0, 0
	}
	value, err := registers.Float32.Number(interpretation{registers.Float32, order, 1, words}.rawBits())
	if err != nil || value == c.Value {
		return 0, "", 0, 0
	}
	if likelier = f.lowFirst(high); !highFirst(c.Order) {
		likelier = -likelier
	}
	return address, order, value, likelier
}

// halvesLast puts what is half of a float behind it: a float with another value's end, and what takes a part of its two registers for a
// value, unless that is what was expected.
func (p snapshot) halvesLast(q Question, all []*Candidate) {
	var whole *Candidate
	for _, c := range all {
		if address, order, value, likelier := p.otherHalf(q, *c); likelier >= told {
			c.Doubt = fmt.Sprintf("%s %d in order %s is %.7g, of words as a float has them: that is likelier, unless the device's own list says %d", q.Table, address, order, value, c.Address)
			i := slices.IndexFunc(all, func(other *Candidate) bool {
				return other.Type == c.Type && other.Order == order && other.Address == address && other.Measure == c.Measure
			})
			switch {
			case i < 0:
			case c.Fits && !all[i].Fits && likelier < first: // the gauge says more
			case c.Fits && !all[i].Fits: // a half has the gauge by the words that both have; what the whole is beside it is an offset
				all[i].rank = min(all[i].rank, c.rank)
				c.rank = all[i].rank + 0.1
			case likelier >= first:
				c.rank = max(c.rank, all[i].rank+0.1)
			}
			continue
		}
		if p.isLevel(q, *c) && (whole == nil || c.covers(q.Address) && !whole.covers(q.Address) || c.covers(q.Address) == whole.covers(q.Address) && c.rank < whole.rank) {
			whole = c
		}
	}
	if whole == nil {
		return
	}
	for _, c := range all {
		level := p.isLevel(q, *c)
		switch apart := c.Address >= whole.Address+2 || c.Address+len(c.Words) <= whole.Address; {
		case apart && !c.covers(q.Address) && !c.Fits:
			c.rank = max(c.rank, whole.rank+0.1) // nobody asked for it
		case !level && !apart && !c.Fits && c.Doubt == "" && len(c.Words) <= 2 && (len(c.Words) == 1 || c.Address != whole.Address):
			c.HalfOf = fmt.Sprintf("%s %s at %s %d", whole.Type, whole.Order, q.Table, whole.Address)
			c.rank = max(c.rank, whole.rank) + behind
		}
	}
}

// covers says that a reading takes a register.
func (c *Candidate) covers(at int) bool { return c.Address <= at && at < c.Address+len(c.Words) }

// behind all that is no half.
const behind = 1000

// isLevel says that a reading is a float as a level is, and is what was expected. With the bytes swapped too much looks so.
func (p snapshot) isLevel(q Question, c Candidate) bool {
	if c.Type != registers.Float32.String() || c.Order != "ABCD" && c.Order != "CDAB" || c.Why != "" || q.expects() && !c.Fits {
		return false
	}
	f, high, low := floatsIn(p, q, c.Order), c.Address, c.Address+1
	if !highFirst(c.Order) {
		high, low = low, high
	}
	return f.isHigh(high) && f.isLow(low)
}

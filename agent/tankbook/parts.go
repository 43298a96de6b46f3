package tankbook

import (
	"fmt"
	"math"

	"gauger/agent/tank/stats"
)

const (
	partsMost = 8   // of a day that are kept each by itself; the smallest of more are taken together
	whyMost   = 400 // bytes
)

// Part is an amount in a day's other barrels that has a name; below 0: it came.
type Part struct {
	Kind string  `json:"kind"`
	Bbl  float64 `json:"bbl"`
	What string  `json:"what"`
}

// The kinds of parts.
const (
	PartTickets    = "tickets"    // by the level more has left in loads than the run tickets have
	PartRemeasured = "remeasured" // another table or offset makes other barrels of the same oil
	PartUnseen     = "unseen"     // over a gap the level has changed by more than production makes
)

// partKinds are those that an open day has, by the number under which they are stored.
var partKinds = []string{PartRemeasured, PartUnseen}

// namedPart is what the sentence of a part is made of.
type namedPart struct {
	kind     int
	from, to float64 // unix s
	bbl      float64 // of the day's other barrels
	before   gauged
	after    gauged
	made     float64 // bbl that production makes in this time
	why      string
	times    int // so many were taken together
}

// gauged is a level and the barrels that it means.
type gauged struct{ in, bbl float64 }

func (e stockAt) gauged() gauged { return gauged{e.level, e.stock} }

// addPart books an amount that has a name.
func (s *openDay) addPart(x namedPart) {
	if !stats.Finite(x.bbl+x.made) || !stats.Finite(x.before.in+x.before.bbl+x.after.in+x.after.bbl) {
		return
	}
	s.other += x.bbl
	s.parts = append(s.parts[:len(s.parts):len(s.parts)], x)
	if len(s.parts) > partsMost {
		s.joinSmallest()
	}
}

// joinSmallest takes the two smallest parts of the kind that has most of them together.
func (s *openDay) joinSmallest() {
	var of [2]int
	for _, x := range s.parts {
		of[x.kind]++
	}
	kind := 0
	if of[1] > of[0] {
		kind = 1
	}
	a, b := -1, -1 // the smallest, and the one after it
	for k, x := range s.parts {
		switch {
		case x.kind != kind:
		case a < 0 || math.Abs(x.bbl) < math.Abs(s.parts[a].bbl):
			a, b = k, a
		case b < 0 || math.Abs(x.bbl) < math.Abs(s.parts[b].bbl):
			b = k
		}
	}
	x, y := s.parts[a], s.parts[b]
	joined := namedPart{kind: kind, from: math.Min(x.from, y.from), to: math.Max(x.to, y.to), bbl: x.bbl + y.bbl, times: x.times + y.times}
	var left []namedPart
	for k, x := range s.parts {
		if k != a && k != b {
			left = append(left, x)
		}
	}
	s.parts = append(left, joined)
}

// dropParts takes the parts off a day of which drop says that something else explains them.
func (s *openDay) dropParts(drop func(namedPart) bool) {
	var left []namedPart
	for _, x := range s.parts {
		if drop(x) {
			s.other -= x.bbl
			continue
		}
		left = append(left, x)
	}
	s.parts = left
}

// moreOrLess are the barrels between two gaugings.
func moreOrLess(from, to gauged) string {
	if to.bbl < from.bbl {
		return fmt.Sprintf("%.2f bbl less", from.bbl-to.bbl)
	}
	return fmt.Sprintf("%.2f bbl more", to.bbl-from.bbl)
}

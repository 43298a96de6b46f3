package tankbook

import (
	"cmp"
	"fmt"
	"math"
	"slices"

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
	movement // its barrels are of the day's other ones
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
	s.parts = append(slices.Clip(s.parts), x)
	if len(s.parts) > partsMost {
		s.joinSmallest()
	}
}

// joinSmallest takes the two smallest parts of the kind that has most of them together.
func (s *openDay) joinSmallest() {
	var of [2][]int // the places of each kind's
	for k, x := range s.parts {
		of[x.kind] = append(of[x.kind], k)
	}
	kind := 0
	if len(of[1]) > len(of[0]) {
		kind = 1
	}
	at := of[kind]
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(math.Abs(s.parts[a].bbl), math.Abs(s.parts[b].bbl)) })
	x, y := s.parts[at[0]], s.parts[at[1]]
	joined := movement{math.Min(x.from, y.from), math.Max(x.to, y.to), x.bbl + y.bbl}
	first, second := min(at[0], at[1]), max(at[0], at[1])
	s.parts = append(slices.Delete(slices.Delete(s.parts, second, second+1), first, first+1), namedPart{kind: kind, movement: joined, times: x.times + y.times})
}

// moreOrLess are the barrels between two gaugings.
func moreOrLess(from, to gauged) string {
	if to.bbl < from.bbl {
		return fmt.Sprintf("%.2f bbl less", from.bbl-to.bbl)
	}
	return fmt.Sprintf("%.2f bbl more", to.bbl-from.bbl)
}

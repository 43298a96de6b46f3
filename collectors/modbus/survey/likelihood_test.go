package survey

import (
	"cmp"
	"slices"
	"testing"
)

// Where nobody has said what to expect, no scaled number is the first: a scale is then a guess on top of a guess.
func TestPlainNumbersComeFirst(t *testing.T) {
	for _, words := range []map[int]uint16{
		{100: 1500}, {100: 1500, 101: 0}, {100: 0, 101: 1500}, {100: 1500, 101: 685, 102: 412}, {100: 1500, 101: 20000}, {100: 3, 101: 54321},
		{100: 18420, 101: 1300}, {98: 12, 99: 40000, 100: 1500, 101: 30211, 102: 5, 103: 65000},
	} {
		all := snapshot{words: words}.candidates(Question{Address: 100}, 0)
		slices.SortStableFunc(all, func(a, b *Candidate) int {
			if a.rank < b.rank {
				return -1
			}
			return 1
		})
		if all[0].Scale != 1 {
			t.Errorf("%v: the first is %+v", words, *all[0])
		}
	}
}

// A level is never negative: where a gauge is expected the unsigned type is the first, which has room above 32767; another value may be.
func TestALevelIsUnsigned(t *testing.T) {
	first := func(q Question) string {
		all := snapshot{words: map[int]uint16{100: 3060}}.candidates(q, 0)
		return slices.MinFunc(all, func(a, b *Candidate) int { return cmp.Compare(a.rank, b.rank) }).Type
	}
	inches := 3060 / 25.4
	q := Question{Address: 100, Low: inches, High: inches, Within: 0.5, Measures: []Measure{{"in", 1}, {"mm", 1 / 25.4}}}
	if got := first(q); got != "uint16" {
		t.Errorf("a level: %s", got)
	}
	if got := first(Question{Address: 100, Low: 3060, High: 3060, Within: 0.5}); got != "int16" {
		t.Errorf("any value: %s", got)
	}
}

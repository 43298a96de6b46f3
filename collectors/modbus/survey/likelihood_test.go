package survey

import (
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

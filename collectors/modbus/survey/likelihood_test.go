package survey

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"gauger/collectors/modbus/modbustest"
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

// A status of 0 beside a level is no part of it: of readings that say the same the narrowest is first, where a tank has room in it. What no
// gauge bears out and has its bytes swapped comes behind what is plain.
func TestTheNarrowestOfTheSameIsFirst(t *testing.T) {
	measures := []Measure{{"in", 1}, {"ft", 12}, {"percent", 1.92}}
	for _, tt := range []struct {
		low   float64
		all   []Measure
		words []uint16
		want  string
	}{
		{117, measures, []uint16{6094, 0}, "- {name: NAME, holding: 100, type: uint16, scale: 0.01, unit: percent}"},
		{6094, nil, []uint16{6094, 0}, "- {name: NAME, holding: 100, type: int16}"},
		{60, measures, []uint16{60000, 0}, "- {name: NAME, holding: 100, type: int32, order: CDAB, scale: 0.001, unit: in}"}, // 65.5 in is no tank
	} {
		found, err := probeOne(t, Question{Low: tt.low, High: tt.low, Within: 0.5, Measures: tt.all}, func(b *modbustest.Bank) {
			b.Strict(true)
			b.Set(modbustest.Holding, 100, tt.words...)
		})
		if err != nil || found.Candidates[0].YAML != tt.want && found.Candidates[0].YAML != strings.Replace(tt.want, "int32", "uint32", 1) {
			t.Errorf("%v: %s, %v", tt.words, found.Candidates[0].YAML, err)
		}
	}
	found, err := probeOne(t, Question{Low: 60, High: 60, Within: 0.5, Measures: measures[:2]}, func(b *modbustest.Bank) {
		b.Strict(true)
		b.Set(modbustest.Holding, 100, 3125, 0)
	})
	if c := found.Candidates[0]; err != nil || c.Fits || !c.Plain() {
		t.Errorf("no height: %+v, %v", c, err)
	}
}

package cloud

import (
	"bytes"
	"slices"
	"time"
)

// storedSet is a set as a record holds it: its code and its values keep their bytes.
type storedSet struct {
	code   []byte // with its quotes
	values []byte // with the commas between
}

// setPerCode joins sets of one code to one, at the place of the first: a request has one set of each code. What is not of the
// form that appendSet gives stays as it is.
func setPerCode(sets [][]byte) [][]byte {
	type sameCode struct {
		sets  []storedSet
		place int
	}
	joined := make([][]byte, 0, len(sets))
	var codes []sameCode // a few: of the service's six, mostly
	for _, raw := range sets {
		s, ok := readSet(raw)
		at := slices.IndexFunc(codes, func(c sameCode) bool { return ok && bytes.Equal(c.sets[0].code, s.code) })
		switch {
		case at >= 0:
			codes[at].sets = append(codes[at].sets, s)
			continue
		case ok:
			codes = append(codes, sameCode{append(make([]storedSet, 0, len(sets)), s), len(joined)})
		}
		joined = append(joined, raw)
	}
	for _, c := range codes {
		if len(c.sets) > 1 {
			joined[c.place] = joinSets(c.sets)
		}
	}
	return joined
}

// JoinSets makes one set of several of one code, as they were encoded; false: they cannot be joined.
func JoinSets(sets [][]byte) ([]byte, bool) {
	joined := setPerCode(sets)
	return joined[0], len(joined) == 1
}

// readSet parts a set that has at least one value.
func readSet(raw []byte) (s storedSet, ok bool) {
	rest, begins := bytes.CutPrefix(raw, []byte(setBegin))
	rest, ends := bytes.CutSuffix(rest, []byte(setEnd))
	if !begins || !ends || len(rest) == 0 || rest[0] != '"' {
		return s, false
	}
	end := 1
	for ; end < len(rest) && rest[end] != '"'; end++ {
		if rest[end] == '\\' {
			end++
		}
	}
	if end++; end >= len(rest) {
		return s, false
	}
	s.code = rest[:end]
	s.values, ok = bytes.CutPrefix(rest[end:], []byte(setValues))
	return s, ok && len(s.code) > len(`""`) && bytes.HasPrefix(s.values, []byte(valueBegin)) && bytes.HasSuffix(s.values, []byte(valueTail))
}

// SplitSet makes a set of each of a set's values, in their order; nil where it is no such set.
func SplitSet(body []byte) (sets [][]byte) {
	s, ok := readSet(body)
	for values := s.values; ok && len(values) > 0; {
		var value []byte
		value, values = nextValue(values)
		sets = append(sets, slices.Concat([]byte(setBegin), s.code, []byte(setValues), value, []byte(setEnd)))
	}
	return sets
}

// SetCode is the code of a set as it was encoded here; false: it is no such set, or the code has characters that JSON escapes.
func SetCode(body []byte) (string, bool) {
	s, ok := readSet(body)
	if !ok || bytes.IndexByte(s.code, '\\') >= 0 {
		return "", false
	}
	return string(s.code[1 : len(s.code)-1]), true
}

// nextValue takes a value from the front of those of a set.
func nextValue(values []byte) (value, rest []byte) {
	value = values
	if i := bytes.Index(values, []byte(valueTail+",")); i >= 0 {
		value = values[:i+len(valueTail)]
	}
	return value, bytes.TrimPrefix(values[len(value):], []byte(","))
}

// timeOf is the text of a value's time.
func timeOf(value []byte) []byte {
	_, text, _ := bytes.Cut(value, []byte(valueTime))
	return bytes.TrimSuffix(text, []byte(valueTail))
}

// inOrder says that the values of sets need no sorting: where the offsets are the same, times are in the order of their texts.
func inOrder(sets []storedSet) bool {
	const offset = len("2006-01-02T15:04:05")
	var last []byte
	for _, s := range sets {
		for value, rest := nextValue(s.values); len(value) > 0; value, rest = nextValue(rest) {
			at := timeOf(value)
			if len(at) != len(valueLayout) || last != nil && (!bytes.Equal(last[offset:], at[offset:]) || bytes.Compare(last, at) > 0) {
				return false
			}
			last = at
		}
	}
	return true
}

// joinSets makes one set of several with one code. The values are in the order of their times, where all can be read: what
// a device had kept is queued after newer ones.
func joinSets(sets []storedSet) []byte {
	size := len(setBegin) + len(sets[0].code) + len(setValues) + len(setEnd)
	for _, s := range sets {
		size += len(s.values) + 1
	}
	if !inOrder(sets) {
		sets = sortedValues(sets)
	}
	b := make([]byte, 0, size)
	b = append(append(append(b, setBegin...), sets[0].code...), setValues...)
	for i, s := range sets {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, s.values...)
	}
	return append(b, setEnd...)
}

// sortedValues are sets of one value each, in the order of their times if all can be read.
func sortedValues(sets []storedSet) []storedSet {
	type timed struct {
		storedSet
		at time.Time
	}
	var all []timed
	known := true
	for _, s := range sets {
		for value, rest := nextValue(s.values); len(value) > 0; value, rest = nextValue(rest) {
			at, err := time.Parse(time.RFC3339, string(timeOf(value)))
			known = known && err == nil
			all = append(all, timed{storedSet{s.code, value}, at})
		}
	}
	if known {
		slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	}
	sorted := make([]storedSet, len(all))
	for i, v := range all {
		sorted[i] = v.storedSet
	}
	return sorted
}

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
	joined := make([][]byte, 0, len(sets))
	byCode := map[string][]storedSet{}
	places := map[string]int{}
	for _, raw := range sets {
		s, ok := readSet(raw)
		if !ok {
			joined = append(joined, raw)
			continue
		}
		if byCode[string(s.code)] = append(byCode[string(s.code)], s); len(byCode[string(s.code)]) == 1 {
			places[string(s.code)] = len(joined)
			joined = append(joined, raw)
		}
	}
	for code, place := range places {
		if len(byCode[code]) > 1 {
			joined[place] = joinSets(byCode[code])
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

// joinSets makes one set of several with one code. The values are in the order of their times, where all can be read: what
// a device had kept is queued after newer ones.
func joinSets(sets []storedSet) []byte {
	type timed struct {
		raw []byte
		at  time.Time
	}
	all, size := make([]timed, 0, len(sets)), 0
	known := true
	for _, s := range sets {
		size += len(s.values) + 1
		for rest := s.values; len(rest) > 0; {
			raw := rest
			if i := bytes.Index(rest, []byte(valueTail+",")); i >= 0 {
				raw = rest[:i+len(valueTail)]
			}
			rest = bytes.TrimPrefix(rest[len(raw):], []byte(","))
			_, text, _ := bytes.Cut(raw, []byte(valueTime))
			at, err := time.Parse(time.RFC3339, string(bytes.TrimSuffix(text, []byte(valueTail))))
			known = known && err == nil
			all = append(all, timed{raw, at})
		}
	}
	if known {
		slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	}
	b := make([]byte, 0, len(setBegin)+len(sets[0].code)+len(setValues)+size+len(setEnd))
	b = append(append(append(b, setBegin...), sets[0].code...), setValues...)
	for i, v := range all {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, v.raw...)
	}
	return append(b, setEnd...)
}

package cloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// storedSet is a set as a record holds it; its values keep their bytes.
type storedSet struct {
	Code   string            `json:"dataClassificationCode"`
	Values []json.RawMessage `json:"values"`
}

// setPerCode joins sets of one code to one, at the place of the first: a request has one set of each code. What cannot be
// read as a set stays as it is.
func setPerCode(sets [][]byte) ([][]byte, error) {
	joined := make([][]byte, 0, len(sets))
	byCode := map[string][]storedSet{}
	places := map[string]int{}
	for _, raw := range sets {
		s, ok := readSet(raw)
		if !ok {
			joined = append(joined, raw)
			continue
		}
		if byCode[s.Code] = append(byCode[s.Code], s); len(byCode[s.Code]) == 1 {
			places[s.Code] = len(joined)
			joined = append(joined, raw)
		}
	}
	for code, place := range places {
		if len(byCode[code]) == 1 {
			continue
		}
		b, err := joinSets(byCode[code])
		if err != nil {
			return nil, fmt.Errorf("the values of %s: %w", code, err)
		}
		joined[place] = b
	}
	return joined, nil
}

func readSet(raw []byte) (s storedSet, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return s, d.Decode(&s) == nil && s.Code != "" && len(s.Values) > 0
}

// joinSets makes one set of several with one code. The values are in the order of their times, where all can be read: what
// a device had kept is queued after newer ones.
func joinSets(sets []storedSet) ([]byte, error) {
	type timed struct {
		raw json.RawMessage
		at  time.Time
	}
	var all []timed
	known := true
	for _, s := range sets {
		for _, raw := range s.Values {
			var v valueBody
			err := json.Unmarshal(raw, &v)
			at, unreadable := time.Parse(time.RFC3339, v.Timestamp)
			known = known && err == nil && unreadable == nil
			all = append(all, timed{raw, at})
		}
	}
	if known {
		slices.SortStableFunc(all, func(a, b timed) int { return a.at.Compare(b.at) })
	}
	values := make([]json.RawMessage, len(all))
	for i, v := range all {
		values[i] = v.raw
	}
	code, err := encode(sets[0].Code)
	if err != nil {
		return nil, err
	}
	return object(property{"dataClassificationCode", code}, property{"values", array(values)})
}

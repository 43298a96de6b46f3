package cloudtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// codes are the six of section 2.5.
var codes = []string{
	"Average Cost per BBL, Oil", "Average Cost per BBL, Water", "Average Cost per MCF",
	"Production Target Gas", "Production Target Oil", "Production Target Water",
}

// Value is one tag value or production target as it was stored.
type Value struct {
	ObjectID  string
	Code      string
	Value     int64
	Timestamp string    // as it came
	Time      time.Time // what it means; zero for a target whose text is no time
	At        time.Time // when it arrived
}

func (s *Service) saveValues(c *Call, _ []string) (any, error) {
	fields, err := members(c.Body, "request", []string{"objectId", "objectType", "tagValues"}, nil)
	if err != nil {
		return nil, err
	}
	r := reader{what: "request", fields: fields}
	id := r.filled("objectId")
	if kind := r.text("objectType"); kind != "Well" {
		r.wrong("objectType", "the only supported value is Well")
	}
	if r.err != nil {
		return nil, r.err
	}
	got, err := readSets(fields["tagValues"], "tagValues", true)
	if err != nil {
		return nil, err
	}
	s.values = append(s.values, stamped(got, id, c.At)...)
	return map[string]int{"saved": len(got)}, nil
}

func (s *Service) saveTargets(c *Call, _ []string) (any, error) {
	fields, err := members(c.Body, "request", []string{"objectId", "targets"}, nil)
	if err != nil {
		return nil, err
	}
	r := reader{what: "request", fields: fields}
	id := r.filled("objectId")
	if r.err != nil {
		return nil, r.err
	}
	got, err := readSets(fields["targets"], "targets", false)
	if err != nil {
		return nil, err
	}
	s.targets = append(s.targets, stamped(got, id, c.At)...)
	return map[string]int{"saved": len(got)}, nil
}

// readSets reads value sets, one of each code. strict holds the two rules that are stated for tag values only: the six
// codes, and times with an offset.
func readSets(raw json.RawMessage, what string, strict bool) ([]Value, error) {
	list, err := elements(raw, what)
	if err != nil {
		return nil, err
	}
	var got []Value
	seen := map[string]bool{}
	for i, set := range list {
		what := fmt.Sprintf("%s[%d]", what, i)
		fields, err := members(set, what, []string{"dataClassificationCode", "values"}, nil)
		if err != nil {
			return nil, err
		}
		r := reader{what: what, fields: fields}
		code := r.filled("dataClassificationCode")
		if strict && !slices.Contains(codes, code) {
			r.wrong("dataClassificationCode", "%q is not one of the six", code)
		}
		if seen[code] {
			r.wrong("dataClassificationCode", "%q has a set in this request already", code)
		}
		seen[code] = true
		if r.err != nil {
			return nil, r.err
		}
		rows, err := readRows(fields["values"], what+".values", code, strict)
		if err != nil {
			return nil, err
		}
		got = append(got, rows...)
	}
	return got, nil
}

func readRows(raw json.RawMessage, what, code string, strict bool) ([]Value, error) {
	list, err := elements(raw, what)
	if err != nil {
		return nil, err
	}
	var got []Value
	for i, row := range list {
		what := fmt.Sprintf("%s[%d]", what, i)
		fields, err := members(row, what, []string{"value", "timestamp"}, nil)
		if err != nil {
			return nil, err
		}
		r := reader{what: what, fields: fields}
		v := Value{Code: code, Value: r.integer("value"), Timestamp: r.filled("timestamp")}
		if strict {
			v.Time = r.offsetTime("timestamp")
		} else if t, err := time.Parse(time.RFC3339, v.Timestamp); err == nil {
			v.Time = t
		}
		if r.err != nil {
			return nil, r.err
		}
		got = append(got, v)
	}
	return got, nil
}

func stamped(values []Value, object string, at time.Time) []Value {
	for i := range values {
		values[i].ObjectID, values[i].At = object, at
	}
	return values
}

// TagValues gives every tag value in the order of arrival.
func (s *Service) TagValues() []Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// Targets gives every production target in the order of arrival.
func (s *Service) Targets() []Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.targets)
}

// Memo is a memo as it was stored.
type Memo struct {
	DeviceID string
	Text     string
	Email    string // empty: the user of the subscription
	At       time.Time
}

func (s *Service) addMemo(c *Call, args []string) (any, error) {
	text, email := cmp.Or(s.MemoText, "text"), cmp.Or(s.MemoEmail, "email")
	fields, err := members(c.Body, "memo", []string{text}, []string{email})
	if err != nil {
		return nil, err
	}
	r := reader{what: "memo", fields: fields}
	m := Memo{DeviceID: args[0], Text: r.filled(text), Email: r.text(email), At: c.At}
	if r.err != nil {
		return nil, r.err
	}
	s.memos = append(s.memos, m)
	return map[string]int{"saved": 1}, nil
}

// Memos gives every memo in the order of arrival.
func (s *Service) Memos() []Memo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.memos)
}

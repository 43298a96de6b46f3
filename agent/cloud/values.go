package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ValueSet is a row of values with one data classification code: an element of a tag value or target request.
type ValueSet struct {
	Code   string
	Values []Value
}

// Value is one number and when it held. It is sent as a whole number.
type Value struct {
	Value float64
	At    time.Time
}

// Memo is a text that is added to a device (interface specification 4.8).
type Memo struct {
	Text  string
	Email string // whose memo it is; empty: the user of the subscription
}

// valueLayout is ISO 8601 with a numeric offset, also for UTC (interface specification 2.5).
const valueLayout = "2006-01-02T15:04:05-07:00"

// The form of a set, in which sets.go finds its values again.
const (
	setBegin   = `{"dataClassificationCode":`
	setValues  = `,"values":[`
	valueBegin = `{"value":`
	valueTime  = `,"timestamp":"`
	valueTail  = `"}`
	setEnd     = `]}`
)

// EncodeTagValues gives the JSON object of one tag value set. It refuses a code that the service does not take
// and, with ErrRounding as the cause, a value that a whole number cannot stand for.
func (w Wire) EncodeTagValues(s ValueSet) ([]byte, error) {
	return w.AppendTagValues(nil, s.Code, s.Values...)
}

// AppendTagValues is EncodeTagValues behind what is there.
func (w Wire) AppendTagValues(to []byte, code string, values ...Value) ([]byte, error) {
	if !slices.Contains(w.Codes, code) {
		return nil, fmt.Errorf("encoding tag values %q: this code is not one of the service's; use %s", code, quoted(w.Codes))
	}
	to, err := w.appendSet(to, code, values)
	if err != nil {
		return nil, fmt.Errorf("encoding tag values %q: %w", code, err)
	}
	return to, nil
}

// EncodeTargets gives the JSON object of one target set. A code that is not among Wire.TargetCodes is encoded
// all the same, with a warning for a person; errors are those of EncodeTagValues.
func (w Wire) EncodeTargets(s ValueSet) (body []byte, warning string, err error) {
	if s.Code != "" && !slices.Contains(w.TargetCodes, s.Code) {
		warning = fmt.Sprintf("production target code %q is not among %s; the service may refuse it", s.Code, quoted(w.TargetCodes))
	}
	body, err = w.AppendTargets(nil, s.Code, s.Values...)
	return body, warning, err
}

// AppendTargets is EncodeTargets behind what is there, without the warning.
func (w Wire) AppendTargets(to []byte, code string, values ...Value) ([]byte, error) {
	if code == "" {
		return nil, errors.New("encoding production targets: the code is empty")
	}
	to, err := w.appendSet(to, code, values)
	if err != nil {
		return nil, fmt.Errorf("encoding production targets %q: %w", code, err)
	}
	return to, nil
}

func (w Wire) appendSet(to []byte, code string, values []Value) (_ []byte, err error) {
	if len(values) == 0 {
		return nil, errors.New("there is no value")
	}
	if to, err = appendString(append(to, setBegin...), code); err != nil {
		return nil, err
	}
	to = append(to, setValues...)
	for i, v := range values {
		n, err := w.whole(v.Value)
		if err != nil {
			return nil, err
		}
		if !validTime(v.At) {
			return nil, errors.New("a value's time is not set or not a year of four digits")
		}
		if i > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendInt(append(to, valueBegin...), n, 10)
		to = v.At.In(w.zone()).AppendFormat(append(to, valueTime...), valueLayout)
		to = append(to, valueTail...)
	}
	return append(to, setEnd...), nil
}

// appendString writes a text as JSON.
func appendString(to []byte, s string) ([]byte, error) {
	plain := func(r rune) bool { return r >= ' ' && r <= '~' && r != '"' && r != '\\' }
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return append(append(append(to, '"'), s...), '"'), nil
	}
	b, err := encode(s)
	return append(to, b...), err
}

// EncodeMemo gives a memo's JSON object, with the property names of Wire.MemoText and Wire.MemoEmail.
func (w Wire) EncodeMemo(m Memo) ([]byte, error) {
	if strings.TrimSpace(m.Text) == "" {
		return nil, errors.New("encoding memo: it has no text")
	}
	text, err := encode(m.Text)
	if err != nil {
		return nil, fmt.Errorf("encoding memo: %w", err)
	}
	pairs := []property{{w.MemoText, text}}
	if m.Email != "" {
		if a, err := mail.ParseAddress(m.Email); err != nil || a.Address != m.Email {
			return nil, fmt.Errorf("encoding memo: %q is not an e-mail address", m.Email)
		}
		email, err := encode(m.Email)
		if err != nil {
			return nil, fmt.Errorf("encoding memo: %w", err)
		}
		pairs = append(pairs, property{w.MemoEmail, email})
	}
	return object(pairs...)
}

// property is one member of a JSON object whose name is a setting or whose value is encoded already.
type property struct {
	name  string
	value []byte
}

// object joins members in the given order, which a map would not keep.
func object(members ...property) ([]byte, error) {
	var b bytes.Buffer
	for i, m := range members {
		name, err := encode(m.name)
		if err != nil {
			return nil, fmt.Errorf("property %q: %w", m.name, err)
		}
		b.WriteByte("{,"[min(i, 1)])
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	if !json.Valid(b.Bytes()) {
		return nil, errors.New("joined properties are not JSON")
	}
	return b.Bytes(), nil
}

// array joins encoded elements.
func array[B ~[]byte](elements []B) []byte {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e)
	}
	b.WriteByte(']')
	return b.Bytes()
}

func quoted(codes []string) string {
	return `"` + strings.Join(codes, `", "`) + `"`
}

package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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

// The form of a set, in which JoinSets finds its values again.
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
	size := len("{}")
	for _, m := range members {
		size += len(m.name) + len(m.value) + len(`"":,`)
	}
	b := make([]byte, 0, size)
	for i, m := range members {
		var err error
		if b, err = appendString(append(b, "{,"[min(i, 1)]), m.name); err != nil {
			return nil, fmt.Errorf("property %q: %w", m.name, err)
		}
		b = append(append(b, ':'), m.value...)
	}
	b = append(b, '}')
	if !json.Valid(b) {
		return nil, errors.New("joined properties are not JSON")
	}
	return b, nil
}

// array joins encoded elements.
func array[B ~[]byte](elements []B) []byte {
	size := len("[]")
	for _, e := range elements {
		size += len(e) + len(",")
	}
	b := append(make([]byte, 0, size), '[')
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ']')
}

func quoted(codes []string) string {
	return `"` + strings.Join(codes, `", "`) + `"`
}

// decimal rounds half away from zero, once, to the given places, without trailing zeros or an exponent.
func decimal(v float64, places int) json.Number {
	p := math.Pow10(places)
	r := math.Round(v*p) / p
	if math.IsInf(r, 0) { // v times p left the range of a float64: v has no such places anyway
		r = v
	}
	return json.Number(strconv.FormatFloat(r+0, 'f', -1, 64)) // +0 makes of -0 a 0
}

// whole applies the integer rule of tag values: scaled, rounded half away from zero, and refused when the
// rounding moved it by more than the configured share.
func (w Wire) whole(v float64) (int64, error) {
	if !finite(&v) {
		return 0, errors.New("the value is not a number")
	}
	scaled := v * w.ValueScale
	rounded := math.Round(scaled)
	if math.Abs(rounded) > 1<<53 {
		return 0, fmt.Errorf("the value %g is too large for a whole number", v)
	}
	if off := math.Abs(rounded - scaled); off*100 > w.ValueRounding*math.Abs(scaled) {
		if math.Abs(v) < leastMeasured {
			return 0, fmt.Errorf("%g is nearer to zero than what is measured: look at the type and the order of its point with `gauger probe`", v)
		}
		return 0, fmt.Errorf("%w: %g would be sent as %g, which is off by more than %g percent; give it as a whole number, or let service.wire.value_rounding allow more", ErrRounding, scaled, rounded, w.ValueRounding)
	}
	return int64(rounded), nil
}

// leastMeasured is the size below which a number that is not zero is registers that are read amiss.
const leastMeasured = 1e-6

// ErrRounding is the cause when a value is refused because the service takes whole numbers only.
var ErrRounding = errors.New("rounding loses too much")

func finite(v *float64) bool {
	return v == nil || !math.IsNaN(*v) && !math.IsInf(*v, 0)
}

// validTime refuses the zero time and years that RFC 3339 cannot hold.
func validTime(t time.Time) bool {
	return !t.IsZero() && t.Year() >= 1000 && t.Year() <= 9998
}

// cut shortens a text to most characters and shows by three dots that it did.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	r := []rune(text)
	if most <= 3 {
		return string(r[:most])
	}
	return string(r[:most-3]) + "..."
}

// encode is json.Marshal without the escaping of <, > and &, which a person reads in comments.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

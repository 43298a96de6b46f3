package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"
)

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
		return 0, fmt.Errorf("%w: %g would be sent as %g, which is off by more than %g percent", ErrRounding, scaled, rounded, w.ValueRounding)
	}
	return int64(rounded), nil
}

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

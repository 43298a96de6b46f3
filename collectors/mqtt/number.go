package mqtt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// shown is how much of a payload an error repeats, in bytes.
const shown = 40

// number reads a decimal number, or a word for a switch. White space around it and the NUL at the end of a C string
// are no part of it; units, decimal commas, hexadecimal and "nan" are refused rather than guessed at.
func number(text string) (float64, error) {
	text = strings.TrimSpace(strings.TrimRight(text, "\x00"))
	switch strings.ToLower(text) {
	case "":
		return 0, errors.New("is empty")
	case "on", "true":
		return 1, nil
	case "off", "false":
		return 0, nil
	}
	digits := strings.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.+-eE", r) })
	if digits > 0 && text[digits] == ',' {
		return 0, fmt.Errorf("is %s: a number is written with a decimal point, and without commas between thousands", excerpt(text))
	}
	if digits > 0 {
		if _, err := strconv.ParseFloat(strings.TrimSpace(text[:digits]), 64); err == nil {
			return 0, fmt.Errorf("is %s: a number with something after it; send the number alone and name the unit in the configuration", excerpt(text))
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if digits >= 0 || errors.Is(err, strconv.ErrSyntax) {
		return 0, fmt.Errorf("is %s, not a number", excerpt(text))
	}
	if err != nil {
		return 0, fmt.Errorf("is %s, too large for a number", excerpt(text))
	}
	return v, nil
}

// exactDigits returns the digits of a whole number too long for a float64 to hold exactly, else nothing.
func exactDigits(text string, v float64) string {
	text = strings.TrimSpace(text)
	if math.Abs(v) < 1<<53 || strings.ContainsAny(text, ".eE") {
		return ""
	}
	return text
}

// excerpt quotes the beginning of what a device sent, so that an error stays one short line.
func excerpt(text string) string {
	if len(text) > shown {
		return strconv.Quote(strings.ToValidUTF8(text[:shown], "?")) + "..."
	}
	return strconv.Quote(text)
}

// A device's time outside these years is a clock that was never set, or a unit that was misread.
var (
	earliest = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// instant reads a device's time: RFC 3339 with a zone, or seconds or milliseconds since 1970. The two cannot be
// mistaken for each other: between 2015 and 2100 their numbers do not overlap.
func instant(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		n, errN := strconv.ParseFloat(text, 64)
		if errN != nil || math.IsNaN(n) {
			return time.Time{}, fmt.Errorf("%s is no time; RFC 3339 with a zone, or seconds or milliseconds since 1970, are understood", excerpt(text))
		}
		if math.Abs(n) < float64(earliest.UnixMilli()) {
			n *= 1000
		}
		if math.Abs(n) > 1e15 {
			return time.Time{}, fmt.Errorf("%s is outside the years 2015 to 2100", excerpt(text))
		}
		t = time.UnixMicro(int64(math.Round(n * 1000)))
	}
	if t.Before(earliest) || !t.Before(latest) {
		return time.Time{}, fmt.Errorf("%s is outside the years 2015 to 2100", excerpt(text))
	}
	return t.UTC(), nil
}

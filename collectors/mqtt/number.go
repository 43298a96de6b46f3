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

// zoneless are the layouts of a time that does not say its zone, as many programs write it.
var zoneless = []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05"}

// instant reads a device's time: RFC 3339, seconds or milliseconds since 1970, or a date and time without a zone. Seconds
// and milliseconds cannot be mistaken for each other: between 2015 and 2100 their numbers do not overlap. A time without
// a zone is UTC or the box's local time, whichever is nearer to the arrival and not after it.
func instant(text string, arrived time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = local(text, arrived)
	}
	if err != nil {
		n, errN := strconv.ParseFloat(text, 64)
		if errN != nil || math.IsNaN(n) {
			return time.Time{}, fmt.Errorf("%s is no time; RFC 3339, or seconds or milliseconds since 1970, are understood", excerpt(text))
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

// local reads a time without a zone.
func local(text string, arrived time.Time) (time.Time, error) {
	const ahead = time.Minute // how far a device's clock may be ahead of ours
	var err error
	for _, layout := range zoneless {
		var utc, here time.Time
		if utc, err = time.Parse(layout, text); err != nil {
			continue
		}
		if here, err = time.ParseInLocation(layout, text, time.Local); err != nil {
			continue
		}
		if here.After(arrived.Add(ahead)) || !utc.After(arrived.Add(ahead)) && arrived.Sub(utc) < arrived.Sub(here) {
			return utc, nil
		}
		return here, nil
	}
	return time.Time{}, err
}

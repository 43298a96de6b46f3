package mqtt

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gauger/collectors"
	"gauger/collectors/mqtt/sparkplug"
)

// excerptBytes bounds the part of a payload that an error repeats.
const excerptBytes = 40

// parseNumber reads a decimal number, or a word for a switch. White space around it and the NUL at the end of a C string
// are no part of it; units, decimal commas, hexadecimal and "nan" are refused rather than guessed at.
func parseNumber(text string) (float64, error) {
	text = strings.TrimSpace(strings.TrimRight(text, "\x00"))
	switch strings.ToLower(text) {
	case "":
		return 0, errors.New("is empty")
	case "on", "true", "open", "yes":
		return 1, nil
	case "off", "false", "closed", "no":
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

// unitName is the name that the configuration has for a unit as devices write it.
func unitName(text string) string {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "inch", "inches", "in.", "\"", "\u2033", "in":
		return "in"
	case "foot", "feet", "ft.", "'", "ft":
		return "ft"
	case "meter", "meters", "metre", "metres", "m":
		return "m"
	case "%", "pct", "percent":
		return "percent"
	case "f", "\u00b0f", "degf", "deg f", "fahrenheit":
		return "degF"
	case "c", "\u00b0c", "degc", "deg c", "celsius":
		return "degC"
	case "barrel", "barrels", "bbls", "bbl":
		return "bbl"
	}
	return text
}

// exactDigits returns the digits of a whole number too long for a float64 to hold exactly, else nothing.
func exactDigits(text string, v float64) string {
	text = strings.TrimSpace(text)
	if math.Abs(v) < 1<<53 || strings.ContainsAny(text, ".eE") {
		return ""
	}
	return strings.Clone(text)
}

// excerpt quotes the beginning of what a device sent, so that an error stays one short line.
func excerpt(text string) string {
	if len(text) > excerptBytes {
		return strconv.Quote(strings.ToValidUTF8(text[:excerptBytes], "?")) + "..."
	}
	return strconv.Quote(text)
}

// A device's time outside these years is a clock that was never set, or a unit that was misread.
var (
	earliestTime = time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC)
	latestTime   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// A device's time that is more ahead of our clock, or behind it, is not believed: nothing keeps its values for longer than a year, and a
// clock without a battery begins in a year of its maker's.
const (
	farAhead  = 10 * time.Minute
	farBehind = 366 * 24 * time.Hour
)

var (
	// errZone says that a time cannot be read for want of its zone.
	errZone = errors.New("it has no zone, and whether it is the site's, UTC or the box's is not known; set time_zone at the point, or the device to one of them")
	// errNewZone is the same for a moment, until live messages have told.
	errNewZone = errors.New("it has no zone, which the next live messages tell")
	// errNoTime says that a text is no date and time. It is most often a number, of which the library's error would cost more.
	errNoTime = errors.New("no date and time")
)

// parseTime reads a device's time: RFC 3339, seconds, milliseconds, microseconds or nanoseconds since 1970, or a date and
// time without a zone. These cannot be mistaken for each other: between 2015 and 2100 their numbers do
// not overlap.
func parseTime(text string, arrived time.Time, without zoneless) (t time.Time, err error) {
	if text = strings.TrimSpace(text); hasZone(text) {
		t, err = time.Parse(time.RFC3339, text)
	} else {
		t, err = without.parse(text, arrived)
	}
	if errors.Is(err, errZone) || errors.Is(err, errNewZone) {
		return t, err
	}
	if err != nil {
		n, errN := strconv.ParseFloat(text, 64)
		if errN != nil || math.IsNaN(n) {
			return time.Time{}, fmt.Errorf("%s is no time; RFC 3339, or seconds or milliseconds since 1970, are understood", excerpt(text))
		}
		micros := 1e6 // in one of the units that n counts
		for first := float64(earliestTime.Unix()) * 1000; n >= first && micros > 1e-3; first *= 1000 {
			micros /= 1000
		}
		if math.Abs(n*micros) > 1e16 {
			return time.Time{}, fmt.Errorf("%s is outside the years 2015 to 2100", excerpt(text))
		}
		t = time.UnixMicro(int64(math.Round(n * micros)))
	}
	return plausibleTime(t, arrived)
}

// plausibleTime refuses a time that no clock in order can tell. A box whose own clock was never set judges nothing by it.
func plausibleTime(t, arrived time.Time) (time.Time, error) {
	switch {
	case t.Before(earliestTime) || !t.Before(latestTime):
		return t, fmt.Errorf("%s is outside the years 2015 to 2100", t.UTC().Format(time.RFC3339))
	case t.Sub(arrived) > farAhead && arrived.After(earliestTime):
		return t, fmt.Errorf("%s is %s ahead of this box's clock", t.UTC().Format(time.RFC3339), t.Sub(arrived).Round(time.Minute))
	case arrived.Sub(t) > farBehind:
		return t, fmt.Errorf("%s is more than a year behind this box's clock", t.UTC().Format(time.RFC3339))
	}
	return t.UTC(), nil
}

// hasZone says that a text, if it is a date and time, ends with a zone: Z or +01:00.
func hasZone(text string) bool {
	n := len(text)
	return n > 6 && (text[n-1] == 'Z' || text[n-6] == '+' || text[n-6] == '-')
}

// parseInZone reads a time without a zone, in one. Of the two that an hour has which comes twice, in autumn, it is the later one
// that can have been when the message arrived.
func parseInZone(text string, zone *time.Location, arrived time.Time) (at time.Time, err error) {
	const date = len("2006-01-02")
	layout := "2006-01-02T15:04:05"
	switch {
	case len(text) < len(layout) || hasZone(text) || text[4] != '-':
		return at, errNoTime
	case text[date] == ' ': // as many programs write it
		layout = "2006-01-02 15:04:05"
	}
	if at, err = time.ParseInLocation(layout, text, zone); err != nil {
		return at, err
	}
	first := at
	for _, step := range [...]time.Duration{-time.Hour, time.Hour} {
		other := first.Add(step)
		if twice := wallClock(other) == wallClock(at); twice && at.Sub(arrived) > farAhead || twice && other.After(at) && other.Sub(arrived) <= farAhead {
			at = other
		}
	}
	return at, nil
}

// wallClock is what a clock in the time's zone shows, as a number of seconds.
func wallClock(t time.Time) int64 {
	_, offset := t.Zone()
	return t.Unix() + int64(offset)
}

// parseQuality judges what a device writes as the quality of a value: a word, true or false, or an OPC number.
func parseQuality(text string, good []string) (collectors.Quality, error) {
	text = strings.TrimSpace(text)
	if len(good) > 0 {
		for _, word := range good {
			if strings.EqualFold(text, word) {
				return collectors.Good, nil
			}
		}
		return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
	}
	switch strings.ToLower(text) {
	case "good", "ok", "valid", "true":
		return collectors.Good, nil
	case "uncertain":
		return collectors.Uncertain, errors.New("the device calls it uncertain")
	}
	if n, err := parseNumber(text); err == nil && n == float64(sparkplug.OPC(n)) && n >= 0 {
		return sparkplug.OPC(n).Judge()
	}
	return collectors.Bad, fmt.Errorf("the device gives it the quality %s", excerpt(text))
}

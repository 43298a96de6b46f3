package cloud

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// LeastNumber is the shortest limit that a ticket number can be kept unique in: a letter, a hyphen and fifty bits of a
// hash.
const LeastNumber = 12

// leastLimit is the least time limit within which any service has answered.
const leastLimit = 100 * time.Millisecond

// Mend finds the settings that Check lets pass, since earlier versions did and a site that runs must not go dark, but
// with which nothing can be sent. Where something is known that can be lived with it takes their place; the problem
// says so.
func (w *Wire) Mend() []Problem {
	var found []Problem
	bad := func(key, format string, args ...any) {
		found = append(found, Problem{key, fmt.Sprintf(format, args...)})
	}
	if n := w.NumberMax; n > 0 && n < LeastNumber {
		bad("number_max", "%d characters are too few for a ticket number; write at least %d. Until then gauger works with %d", n, LeastNumber, LeastNumber)
		w.NumberMax = LeastNumber
	}
	usual := DefaultWire()
	for _, f := range []struct {
		key   string
		v     *time.Duration
		usual time.Duration
	}{{"connect_timeout", &w.ConnectTimeout, usual.ConnectTimeout}, {"request_timeout", &w.RequestTimeout, usual.RequestTimeout}} {
		if *f.v > 0 && *f.v < leastLimit {
			bad(f.key, "%s is too short for any answer; write at least %s. Until then gauger works with %s", *f.v, leastLimit, f.usual)
			*f.v = f.usual
		}
	}
	w.mendHeaders(bad)
	if u, err := url.Parse(w.Proxy); err == nil && u.Port() != "" {
		if n, err := strconv.Atoi(u.Port()); err != nil || n < 1 || n > 65535 {
			bad("proxy", "%q is no port; write one from 1 to 65535. Until then nothing leaves, and everything is kept", u.Port())
		}
	}
	for _, f := range [][2]string{{"time_layout", w.TimeLayout}, {"range_layout", w.RangeLayout}} {
		sample := time.Date(2031, 11, 22, 17, 44, 55, 0, time.UTC)
		if t, err := time.Parse(f[1], sample.Format(f[1])); err == nil && (t.Month() != sample.Month() || t.Hour() != sample.Hour()) {
			bad(f[0], "%q leaves out the month, or which half of the day it is; write the example 2006-01-02T15:04:05-07:00 in the wanted form. Until then it is used as it is", f[1])
		}
	}
	return found
}

// mendHeaders takes away what cannot stand in a request: the transport would refuse each one for it.
func (w *Wire) mendHeaders(bad func(key, format string, args ...any)) {
	kept, first := map[string]string{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(w.Headers)) {
		value, same := w.Headers[name], http.CanonicalHeaderKey(name)
		switch {
		case !headerName(name):
			bad("headers", "%q is no name of a header; use letters, digits and -. Until then gauger leaves it out", name)
		case !headerValue(value):
			bad("headers", "the value of %s holds a line break or a control character; write it in one line. Until then gauger leaves it out", name)
		case first[same] != "":
			bad("headers", "%s and %s are one header; keep one. Until then gauger leaves %s out", first[same], name, name)
		default:
			kept[name], first[same] = value, name
		}
	}
	if len(kept) < len(w.Headers) {
		w.Headers = kept
	}
}

// headerName says that a text is a token of HTTP, which a header's name must be.
func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// headerValue says that a text fits into the line of a header.
func headerValue(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

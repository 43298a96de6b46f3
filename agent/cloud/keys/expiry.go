package keys

import (
	"strconv"
	"strings"
	"time"
)

// Expiry is the end of a key. The format of the service's text is not shown, so that several are tried.
type Expiry struct {
	Text    string    // as the service wrote it
	At      time.Time // what it means; zero when there is no text
	Assumed bool      // the text could not be read: At is half a year less a day from now
}

// Grant is a key that the service gave, at a login or a renewal.
type Grant struct {
	Key     Secret // may be a new value; empty: the service did not give it, so that it stays
	Expires Expiry
}

// TimeLayouts are tried in turn; those without a zone mean UTC.
var TimeLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02", "1/2/2006 3:04:05 PM", "1/2/2006 15:04:05", "1/2/2006", time.RFC1123, time.RFC1123Z,
}

// ParseExpiry reads a key's expiration. It is for people and for Status: nothing is ever decided by it.
func ParseExpiry(text string, now time.Time) Expiry {
	text = strings.TrimSpace(text)
	if text == "" {
		return Expiry{}
	}
	for _, layout := range TimeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return expiryAt(text, t, now)
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 && n < 1e15 {
		if n >= 1e11 {
			return expiryAt(text, time.UnixMilli(n), now)
		}
		return expiryAt(text, time.Unix(n, 0), now)
	}
	return assumedEnd(text, now)
}

// expiryAt holds an expiry within the years that can be written. Before 1970 no key ended: such a time says nothing.
func expiryAt(text string, t, now time.Time) Expiry {
	if t.Before(firstTime) {
		return assumedEnd(text, now)
	}
	return Expiry{Text: text, At: writable(t)}
}

// assumedEnd is the end of a key of which the service has said nothing that can be read.
func assumedEnd(text string, now time.Time) Expiry {
	return Expiry{Text: text, At: now.UTC().AddDate(0, 6, -1), Assumed: true}
}

package cloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gauger/agent/cloud/keys"
)

// Class sorts answers by what is to be done with the records that were sent.
type Class uint8

// The classes. Zero is Ambiguous, so that a forgotten class never counts as stored.
const (
	Ambiguous    Class = iota // it was sent and no answer came: the service may have it
	Stored                    // the service has it: delete it
	Poison                    // the service refuses what was sent, and would refuse it again
	TooLarge                  // too much in one request
	Wait                      // the service has it not: send it again later
	Unauthorized              // no key is accepted, or the key may not do this
	WrongAddress              // wrong address, redirect or version: keep it, a person must look
)

// String is the class in lower-case words.
func (c Class) String() string {
	words := [...]string{"ambiguous", "stored", "poison", "too large", "wait", "key", "path"}
	if int(c) < len(words) {
		return words[c]
	}
	return "class " + strconv.Itoa(int(c))
}

// classify says what a status means. batch is how many records were in the request, attempt how many ambiguous
// attempts with the same records came before.
//
// A conflict counts as stored only for a single ticket that an earlier attempt may have delivered; else the
// number belongs to another ticket. What no rule names is kept, never thrown away.
func classify(op Operation, status, batch, attempt int) Class {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return Poison
	case http.StatusUnauthorized, http.StatusForbidden:
		return Unauthorized
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return Wait
	case http.StatusConflict:
		if op == SaveRunTickets && batch == 1 && attempt > 0 {
			return Stored
		}
		return Poison
	case http.StatusRequestEntityTooLarge:
		return TooLarge
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return WrongAddress
	}
	switch {
	case status >= 200 && status <= 299:
		return Stored
	case status >= 500 && status <= 599:
		return Wait
	}
	return WrongAddress
}

// Answer is the end of one request, also where none came from the service.
type Answer struct {
	Class         Class
	Status        int           // 0: no answer came
	CorrelationID string        // the service's name for this exchange, for its support; may be empty
	RetryAfter    time.Duration // how long the service asks to wait, 1 s to 1 h; 0: it does not say
	Message       string        // for a person: what the service or the network said
	Body          string        // the first 2 KB of what the service answered, for the log
	Foreign       bool          // a 2xx came with a web page, a script, an image or an error: it is none
	Lacking       bool          // no key may do this, and the service takes them for something else: the subscription lacks it
	Late          bool          // no answer came in the time that it had
	ClockDoubt    bool          // the certificate's dates do not fit this box's clock: one of them is wrong
}

// Limits of Retry-After: less hammers the service, more would let a wrong header stop the site.
const (
	leastWait = time.Second
	mostWait  = time.Hour
)

// retryAfter reads both forms of the header: seconds, and a date, which is measured against the answer's own
// Date so that this box's clock does not matter.
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		if !(seconds > 0) {
			return leastWait
		}
		return clampWait(time.Duration(min(seconds, mostWait.Seconds()) * float64(time.Second)))
	}
	until, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return clampWait(until.Sub(now))
}

func clampWait(d time.Duration) time.Duration { return max(leastWait, min(d, mostWait)) }

// errorBody is the body of an answer that reports an error (interface specification 2.10). A field that the
// answer does not have is zero.
type errorBody struct {
	Status      int    // httpStatusCode
	Message     string // message
	Code        int    // errorCode
	Description string // errorDescription
	Correlation string // correlationId
}

// Error is an exchange that did not do what was asked.
type Error struct {
	Op Operation
	Answer
	Cause error // nil when the service answered
}

// Error says what was being done and what came of it. No key is ever part of it.
func (e *Error) Error() string { return routes[e.Op].doing + ": " + e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

var errorFields = [...]string{"httpStatusCode", "statusCode", "message", "errorCode", "errorDescription", "correlationId"}

// parseErrorBody reads an error body leniently: gateways in front of the service answer with statusCode instead
// of httpStatusCode, with numbers as strings, or with no JSON at all.
func parseErrorBody(b []byte) errorBody {
	b = bytes.TrimSpace(b)
	if len(b) == 0 || b[0] != '{' || !json.Valid(b) {
		return errorBody{}
	}
	raw := map[string]json.RawMessage{}
	for name, v := range inside(b) {
		for _, field := range errorFields {
			if isName(name, field) {
				raw[field] = v
			}
		}
	}
	text := func(name string) string { return clean(scalar(raw[name])) }
	number := func(name string) int {
		n, err := strconv.Atoi(text(name))
		if err != nil {
			return 0 // absent or no number: the status line says it as well
		}
		return n
	}
	return errorBody{
		Status:      cmp.Or(number("httpStatusCode"), number("statusCode")),
		Message:     text("message"),
		Code:        number("errorCode"),
		Description: text("errorDescription"),
		Correlation: text("correlationId"),
	}
}

// inSuccess says what an error means that came with a success's status.
func (b errorBody) inSuccess(status int) string {
	return fmt.Sprintf("%d %s, but its body is an error, so that it does not count as taken: %s; ask the service",
		status, http.StatusText(status), b.sentence(cmp.Or(b.Status, status)))
}

// scrubbed hides secrets that the service repeats.
func (b errorBody) scrubbed(secrets []keys.Secret) errorBody {
	for _, field := range [...]*string{&b.Message, &b.Description, &b.Correlation} {
		*field = Scrub(*field, secrets)
	}
	return b
}

func (b errorBody) sentence(status int) string {
	said := strconv.Itoa(status)
	if t := http.StatusText(status); t != "" {
		said += " " + t
	}
	if b.Message != "" && !strings.EqualFold(b.Message, http.StatusText(status)) {
		said += ": " + b.Message
	}
	if b.Description != "" && b.Description != b.Message && !strings.EqualFold(b.Description, http.StatusText(status)) {
		said += ": " + b.Description
	}
	if b.Code != 0 {
		said += fmt.Sprintf(" (error code %d)", b.Code)
	}
	return said
}

// scalar gives the text of a JSON string, number or boolean; anything else is empty.
func scalar(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || raw[0] == 'n' {
		return ""
	}
	var s string
	if raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// clean makes a text from outside one short line without control characters.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	return cut(strings.TrimSpace(s), 500)
}

// webPage says that an answer is one for a browser: a maintenance page, a gateway's, or that of a proxy which inspects TLS.
// The service speaks JSON. An answer without a body is no page, whatever its type.
func webPage(h http.Header, body []byte) bool {
	said := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(said) == 0 {
		return false
	}
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return said[0] == '<' || strings.EqualFold(strings.TrimSpace(media), "text/html")
}

// aboutPage says what stood there instead of the service.
func aboutPage(p reply) string {
	if p.foreign {
		return fmt.Sprintf("%d %s with what no service of records says, %s%s: a portal, a gateway or a proxy; look at "+
			"service.url and at what stands between (wire.accept_html, if the service itself answers so)",
			p.status, http.StatusText(p.status), cmp.Or(clean(cut(p.header.Get("Content-Type"), 40)), "of no type"), pageTitle(p.body))
	}
	return fmt.Sprintf("%d %s with a web page%s, which is not the service's answer: a maintenance page, a gateway or a proxy; "+
		"look at service.url and at what stands between (wire.accept_html, if the service itself answers so)",
		p.status, http.StatusText(p.status), pageTitle(p.body))
}

// pageTitle is the title of a page in quotes; without one, how its text begins.
func pageTitle(body []byte) string {
	text := string(body[:min(len(body), 4*loggedBody)])
	lower := strings.ToLower(text)
	if at := strings.Index(lower, "<title"); at >= 0 && len(lower) == len(text) { // else the places differ
		text, _, _ = strings.Cut(text[at:], "</")
	}
	title := strings.Join(strings.Fields(clean(withoutTags(text))), " ")
	if title == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", cut(title, 100))
}

// withoutTags leaves out what stands between < and >.
func withoutTags(text string) string {
	var b strings.Builder
	for text != "" {
		words, tag, _ := strings.Cut(text, "<")
		b.WriteString(words + " ")
		_, text, _ = strings.Cut(tag, ">")
	}
	return b.String()
}

const (
	piece          = 8 // bytes of a secret in a row that must not show
	shortestHidden = 4 // bytes of a secret that is hidden; a shorter one would hide words
)

// Scrub hides the given secrets in a text that came from outside, and every piece of them: a text may have been cut in the
// middle of a key, or tell only how it begins. Small and capital letters are the same.
func Scrub(text string, secrets []keys.Secret) string {
	if len(text) < shortestHidden { // most answers say nothing
		return text
	}
	pieces := map[string]bool{}
	for _, s := range secrets {
		if len(s) >= shortestHidden && len(s) < piece {
			text = strings.ReplaceAll(text, string(s), "(hidden)")
		}
		low := lower(string(s))
		for i := range max(0, len(low)-piece+1) {
			pieces[low[i:i+piece]] = true
		}
	}
	low := lower(text)
	var out strings.Builder
	kept, until := 0, -1 // what is written to out; where the pieces found so far end
	for i := range max(0, len(low)-piece+1) {
		if !pieces[low[i:i+piece]] {
			continue
		}
		if i > until { // else it goes on
			out.WriteString(text[kept:i])
			out.WriteString("(hidden)")
		}
		until = i + piece
		kept = until
	}
	return out.String() + text[kept:]
}

// lower makes the plain capital letters of a text small and leaves every byte in its place.
func lower(text string) string {
	b := []byte(text)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

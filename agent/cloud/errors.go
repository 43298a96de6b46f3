package cloud

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gauger/agent/cloud/keys"
)

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

// ownErrorFields are those of the specification; a gateway has statusCode.
var ownErrorFields = [...]string{"httpStatusCode", "message", "errorCode", "errorDescription", "correlationId", "timestamp"}

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

// reportsError says that the body of an answer which calls itself a success is the service's error and nothing else: an object of
// the error's fields alone, with a status that is no success or, where it has none, an error's code. Of anything more the
// specification shows too little.
func reportsError(body []byte) bool {
	e := parseErrorBody(body)
	if e.Message == "" && e.Description == "" || e.Status == 0 && e.Code == 0 || e.Status >= 200 && e.Status <= 299 {
		return false
	}
	for name := range inside(bytes.TrimSpace(body)) {
		if !slices.ContainsFunc(ownErrorFields[:], func(own string) bool { return isName(name, own) }) {
			return false
		}
	}
	return true
}

// inSuccess says what an error means that came with a success's status.
func (b errorBody) inSuccess(status int) string {
	return fmt.Sprintf("%d %s, but its body is the service's own error, so that it does not count as taken: %s; ask the service",
		status, http.StatusText(status), b.sentence(cmp.Or(b.Status, status)))
}

// scrubbed hides secrets that the service repeats.
func (b errorBody) scrubbed(secrets []keys.Secret) errorBody {
	for _, field := range [...]*string{&b.Message, &b.Description, &b.Correlation} {
		*field = Scrub(*field, secrets)
	}
	return b
}

// sentence is the status with what the error body says, for a person.
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

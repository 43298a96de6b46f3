package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// reportsError says that the body of an answer which calls itself a success is an error and nothing else: an object with a status that is
// no success, an error's code, success: false or an error, of what goes with errors alone; a list of nothing but such objects; a plain no,
// or a word of failure. The service's own shape is that of the specification; gateways, API managers and portals have the others. Of
// anything more the specification shows too little.
//
// In an answer to something saved, of which sent is the body, what repeats a field of that or is empty, as a count of none, speaks for no success
// beside an error; nor does an object or a list inside that is such an error itself. A count of what was taken does: sent again, that came twice.
func reportsError(body, sent []byte) bool {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	switch {
	case len(body) == 0:
		return false
	case body[0] == '[' && json.Unmarshal(body, &list) == nil:
		return len(list) > 0 && !slices.ContainsFunc(list, func(m json.RawMessage) bool { return !reportsError(m, sent) })
	case body[0] != '{':
		word := strings.ToLower(strings.TrimLeft(string(body), `"`))
		return word == "false" || strings.HasPrefix(word, "error") || strings.HasPrefix(word, "fail") || strings.Contains(word, "unavailable")
	case !json.Valid(body):
		return false
	}
	good, failed, code, told, other := false, false, false, false, false
	for name, raw := range inside(body) {
		of := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(scalar(name), n) })
		}
		text := scalar(raw)
		status, err := strconv.Atoi(text) // where it is no number, zero
		switch {
		case of("httpStatusCode", "statusCode"):
			good = good || status >= 200 && status <= 299
			failed = failed || status != 0 && !good
		case of("success", "succeeded", "isSuccess"):
			if strings.EqualFold(text, "true") {
				return false
			}
			failed = failed || strings.EqualFold(text, "false")
		case of("status"):
			failed = failed || status >= 400 || slices.Contains([]string{"error", "fail", "failed"}, strings.ToLower(text))
		case of("errorCode"):
			code = code || err == nil && status != 0
		case of("error", "errors"):
			told = told || tells(raw, 3)
		case sent != nil && of("rejected", "failed"):
			failed = failed || status > 0
		case sent != nil && (raw[0] == '{' || raw[0] == '[') && reportsError(raw, sent):
			failed = true
		case sent != nil && (blank(raw) || bytes.Contains(sent, slices.Concat(name, []byte(":"))) || of("id", "index", "row", "path", "instance")):
		default:
			other = other || !of("message", "errorDescription", "errorMessage", "correlationId", "timestamp", "activityId", "requestId", "traceId", "code", "type", "title", "detail")
		}
	}
	return (failed || code || told && !good) && !other
}

// blank says that a JSON value is none, or an empty one.
func blank(raw json.RawMessage) bool {
	return slices.Contains([]string{"null", "0", "false", `""`, "{}", "[]"}, string(raw))
}

// tells says that the value of an error's field tells of one; deep is how many levels down it is looked for.
func tells(raw json.RawMessage, deep int) bool {
	if raw[0] != '{' && raw[0] != '[' {
		return !blank(raw) && !slices.Contains([]string{"none", "no error", "ok", "success"}, strings.ToLower(scalar(raw)))
	}
	for _, v := range inside(raw) {
		if deep > 0 && tells(v, deep-1) {
			return true
		}
	}
	return false
}

// readSaved says what the body of an answer to something saved is: what no service of records says (an image, a script, a long text), or the
// beginning of a JSON value and no more, or broken, where it does not call itself a text and is neither JSON nor words. What the service says to
// what it saved is not shown: nothing at all, any JSON and a word are right.
func readSaved(h http.Header, body []byte) (foreign, begun, broken bool) {
	foreign = len(body) > saveLimit && !json.Valid(body)
	body = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\ufeff")))
	if len(body) == 0 {
		return foreign, false, false
	}
	media, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(h.Get("Content-Type"))), ";")
	kind, sort, _ := strings.Cut(media, "/")
	foreign = foreign || slices.Contains([]string{"image", "audio", "video", "font"}, kind) || strings.HasSuffix(sort, "javascript") || media == "text/css"
	var whole json.RawMessage
	e, wrong := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &whole))
	begun = wrong && e.Offset >= int64(len(body)) && strings.HasPrefix(e.Error(), "unexpected end")
	broken = wrong && kind != "text" && h.Get("Content-Encoding") == "" && (bytes.IndexByte([]byte(`{["`), body[0]) >= 0 || bytes.ContainsFunc(body, noWord))
	return foreign, begun, broken
}

// noWord is a character that stands in no text for people; bytes that are no UTF-8 come as one.
func noWord(r rune) bool {
	return r == unicode.ReplacementChar || unicode.IsControl(r) && !unicode.IsSpace(r)
}

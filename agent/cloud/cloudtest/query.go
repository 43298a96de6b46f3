package cloudtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// query is the parameters of a request, each at most once.
type query map[string]string

func queryOf(v url.Values, allowed ...string) (query, error) {
	q := query{}
	for name, values := range v {
		if !slices.Contains(allowed, name) {
			return nil, invalid("there is no parameter %q", name)
		}
		if len(values) > 1 {
			return nil, invalid("%s is there twice", name)
		}
		q[name] = values[0]
	}
	return q, nil
}

func oneOf(name, have string, allowed ...string) error {
	if !slices.Contains(allowed, have) {
		return invalid("%s %q is not one of %s", name, have, strings.Join(allowed, ", "))
	}
	return nil
}

// timeRange reads startTime and endTime, with an offset or, for UTC, without.
func (q query) timeRange() (from, to time.Time, err error) {
	read := func(name string) (time.Time, error) {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
			if t, err := time.Parse(layout, q[name]); err == nil {
				return t, nil
			}
		}
		return time.Time{}, invalid("%s %q is not a time", name, q[name])
	}
	if from, err = read("startTime"); err != nil {
		return from, to, err
	}
	to, err = read("endTime")
	return from, to, err
}

// count reads a parameter that counts from 1.
func (q query) count(name string, otherwise int) (int, error) {
	text, given := q[name]
	if !given {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, invalid("%s %q does not count from 1", name, text)
	}
	return n, nil
}

// page cuts the page out that was asked for.
func (s *Service) page(all []any, q query, size int) (any, error) {
	number, err := q.count("pageNumber", 1)
	if err != nil {
		return nil, err
	}
	if size, err = q.count("pageSize", size); err != nil {
		return nil, err
	}
	if s.MaxPage > 0 {
		size = min(size, s.MaxPage)
	}
	first := len(all)
	if number-1 <= len(all)/size {
		first = min((number-1)*size, len(all))
	}
	part := append([]any{}, all[first:min(first+size, len(all))]...)
	if s.ListName == "" {
		return part, nil
	}
	return map[string]any{s.ListName: part, "pageNumber": number, "pageSize": size, "total": len(all)}, nil
}

// members reads a JSON object whose member names must be exactly the required and optional ones, each once.
// Go's own decoder would take other upper and lower case, unknown names and repeats.
func members(raw []byte, what string, required, optional []string) (map[string]json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, invalid("%s: a JSON object is expected", what)
	}
	found := map[string]json.RawMessage{}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil, invalid("%s: it is not JSON", what)
		}
		if !slices.Contains(required, name) && !slices.Contains(optional, name) {
			return nil, invalid("%s: there is no field %q", what, name)
		}
		if _, twice := found[name]; twice {
			return nil, invalid("%s: %s is there twice", what, name)
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return nil, invalid("%s.%s: it is not JSON", what, name)
		}
		found[name] = v
	}
	if t, err := d.Token(); err != nil || t != json.Delim('}') {
		return nil, invalid("%s: it is not JSON", what)
	}
	if rest := bytes.TrimSpace(raw[d.InputOffset():]); len(rest) > 0 {
		return nil, invalid("%s: something follows the object", what)
	}
	for _, name := range required {
		if _, ok := found[name]; !ok {
			return nil, invalid("%s.%s: it is required", what, name)
		}
	}
	return found, nil
}

// elements reads a JSON array that is not empty.
func elements(raw []byte, what string) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || trimmed[0] != '[' || json.Unmarshal(trimmed, &list) != nil {
		return nil, invalid("%s: a JSON array is expected", what)
	}
	if len(list) == 0 {
		return nil, invalid("%s: it is empty", what)
	}
	return list, nil
}

// reader reads fields of one object and keeps the first complaint.
type reader struct {
	what   string
	fields map[string]json.RawMessage
	err    error
}

func (r *reader) wrong(name, format string, args ...any) {
	if r.err == nil {
		r.err = invalid("%s.%s: %s", r.what, name, fmt.Sprintf(format, args...))
	}
}

// text is a JSON string; absent is "".
func (r *reader) text(name string) string {
	raw, ok := r.fields[name]
	if !ok {
		return ""
	}
	var s *string
	if json.Unmarshal(raw, &s) != nil || s == nil {
		r.wrong(name, "a string is expected")
		return ""
	}
	return *s
}

// filled is a JSON string that is not empty.
func (r *reader) filled(name string) string {
	s := r.text(name)
	if strings.TrimSpace(s) == "" {
		r.wrong(name, "it must not be empty")
	}
	return s
}

// number is a JSON number; nil when absent.
func (r *reader) number(name string) *float64 {
	raw, ok := r.fields[name]
	if !ok {
		return nil
	}
	var f *float64
	if json.Unmarshal(raw, &f) != nil || f == nil {
		r.wrong(name, "a number is expected")
		return nil
	}
	return f
}

// integer is a JSON number without fraction or exponent.
func (r *reader) integer(name string) int64 {
	var n *int64
	if json.Unmarshal(r.fields[name], &n) != nil || n == nil {
		r.wrong(name, "a whole number is expected")
		return 0
	}
	return *n
}

var (
	guidForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
	offsetForm = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$`)
	plainForm  = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$`)
)

func (r *reader) guid(name string) string {
	s := r.text(name)
	if !guidForm.MatchString(s) {
		r.wrong(name, "%q is not a GUID", s)
	}
	return s
}

// offsetTime is ISO 8601 with a UTC offset.
func (r *reader) offsetTime(name string) time.Time {
	s := r.text(name)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700"} {
		if t, err := time.Parse(layout, s); err == nil && offsetForm.MatchString(s) {
			return t
		}
	}
	r.wrong(name, "%q is not ISO 8601 with a UTC offset", s)
	return time.Time{}
}

// plainTime is a date and time without zone.
func (r *reader) plainTime(name string) time.Time {
	s := r.text(name)
	t, err := time.Parse("2006-01-02T15:04:05", s)
	if err != nil || !plainForm.MatchString(s) {
		r.wrong(name, "%q is not YYYY-MM-DDThh:mm:ss", s)
	}
	return t
}

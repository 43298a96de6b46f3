package cloudtest

import (
	"net/url"
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

package mqtt

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// path leads to one value within a JSON document.
type path []step

// step is one part of a path: a key of an object, an index into an array, or each element of one.
type step struct {
	key   string
	index int
	array bool
	all   bool
}

// maxIndex is larger than any array that fits into a message of the usual limit.
const maxIndex = 1 << 20

// errAbsent means that a document has nothing at a path.
var errAbsent = errors.New("not in the message")

// parsePath reads names joined by dots, indexes in brackets, and quoted keys in brackets: a.b, values[0].v, ["a.b"][2].
func parsePath(text string) (path, error) {
	if text == "$" || strings.HasPrefix(text, "$.") || strings.HasPrefix(text, "$[") {
		return nil, errors.New("begins with $; write the keys alone, like level.in")
	}
	var p path
	rest := text
	for rest != "" {
		var s step
		var err error
		if rest[0] == '[' {
			s, rest, err = parseBracket(rest)
		} else {
			s, rest, err = parseName(rest, len(p) == 0)
		}
		if err != nil {
			return nil, err
		}
		p = append(p, s)
	}
	if len(p) == 0 {
		return nil, errors.New("is empty")
	}
	return p, nil
}

// parseName takes a key that stands without quotes from the front; all but the first follow a dot.
func parseName(text string, first bool) (step, string, error) {
	name := text
	if !first {
		if text[0] != '.' {
			return step{}, "", fmt.Errorf("needs a dot before %q", text)
		}
		name = text[1:]
	}
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	key := name[:end]
	if key == "" {
		return step{}, "", errors.New(`has an empty key; quote keys with dots, like ["a.b"]`)
	}
	if strings.ContainsAny(key, `]"`) {
		return step{}, "", fmt.Errorf(`has a stray bracket or quote in %q; quote such a key, like ["a.b"]`, key)
	}
	return step{key: key}, name[end:], nil
}

// parseBracket takes an index or a quoted key in brackets from the front.
func parseBracket(text string) (step, string, error) {
	inner := text[1:]
	if quoted, err := strconv.QuotedPrefix(inner); err == nil && inner[0] == '"' {
		key, err := strconv.Unquote(quoted)
		if err != nil {
			return step{}, "", fmt.Errorf("key %s: %w", quoted, err)
		}
		after, closed := strings.CutPrefix(inner[len(quoted):], "]")
		if !closed {
			return step{}, "", fmt.Errorf("needs ] after %s", quoted)
		}
		return step{key: key}, after, nil
	}
	digits, after, closed := strings.Cut(inner, "]")
	if !closed {
		return step{}, "", fmt.Errorf("needs ] after %q", text)
	}
	if digits == "*" {
		return step{array: true, all: true}, after, nil
	}
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil || n > maxIndex {
		return step{}, "", fmt.Errorf("%q is no index; write a number from 0, or a key in quotes", digits)
	}
	return step{index: int(n), array: true}, after, nil
}

// split parts a path at [*]: what leads to the list, and what leads on from each of its elements. The list is nil where
// there is none, and not nil but empty where the whole document is one.
func (p path) split() (list, rest path, err error) {
	at := slices.IndexFunc(p, func(s step) bool { return s.all })
	if at < 0 {
		return nil, p, nil
	}
	list, rest = append(path{}, p[:at]...), p[at+1:]
	if slices.ContainsFunc(rest, func(s step) bool { return s.all }) {
		return nil, nil, errors.New("has more than one [*]; a list in a list cannot be told apart")
	}
	return list, rest, nil
}

// keysNamed are the keys that an error names.
const keysNamed = 8

// missing is errAbsent with what stands where the path ends, so that a person sees the key that was meant. It keeps nothing of the
// document but words.
func missing(walked path, at jsonText) error {
	where := ", which"
	if len(walked) > 0 {
		where = "; " + excerpt(walked.text()) + " there"
	}
	switch {
	case at.isObject():
		keys := at.keys()
		if len(keys) == 0 {
			return fmt.Errorf("%w%s is empty", errAbsent, where)
		}
		for i, k := range keys {
			keys[i] = excerpt(k)
		}
		if more := len(keys) - keysNamed; more > 0 {
			keys = append(keys[:keysNamed], fmt.Sprintf("%d more", more))
		}
		return fmt.Errorf("%w%s has the keys %s", errAbsent, where, strings.Join(keys, ", "))
	case at.isList():
		return fmt.Errorf("%w%s is a list of %d", errAbsent, where, len(at.items(nil)))
	}
	return fmt.Errorf("%w%s is a single value", errAbsent, where)
}

// text is a path as it is written, but for quotes.
func (p path) text() string {
	out := ""
	for _, s := range p {
		if s.array {
			out += fmt.Sprintf("[%d]", s.index)
		} else {
			out += "." + s.key
		}
	}
	return strings.TrimPrefix(out, ".")
}

// lookUp follows the path from the root of a document. The error is errAbsent when it leads nowhere.
func (p path) lookUp(root jsonText) (jsonText, error) {
	at := root
	for i, s := range p {
		var next jsonText
		var ok bool
		switch {
		case s.array && at.isList():
			next, ok = at.item(s.index)
		case !s.array && at.isObject():
			next, ok = at.member(s.key)
		}
		if !ok {
			return nil, missing(p[:i], at)
		}
		at = next
	}
	return at, nil
}

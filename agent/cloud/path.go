package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// ErrShape is the cause when an answer's shape, which the specification does not show, is not the one that the
// configured paths expect. It means "unknown", never "none".
var ErrShape = errors.New("the answer has another shape")

// path is one setting: alternatives, each a row of steps.
type path [][]step

// step leads into the member of an object, or into an element of a list when name is empty.
type step struct {
	name  string
	index int
}

// parsePath reads names with dots between them, [n] for elements, and | between alternatives. Empty is no path.
func parsePath(text string) (path, error) {
	if text == "" {
		return nil, nil
	}
	var p path
	for alternative := range strings.SplitSeq(text, "|") {
		var steps []step
		for part := range strings.SplitSeq(strings.TrimSpace(alternative), ".") {
			more, err := parseSteps(part)
			if err != nil {
				return nil, fmt.Errorf("path %q: %w", text, err)
			}
			steps = append(steps, more...)
		}
		p = append(p, steps)
	}
	return p, nil
}

// parseSteps reads one part between dots: a name, elements, or a name with elements.
func parseSteps(part string) ([]step, error) {
	name, rest, indexed := strings.Cut(part, "[")
	var steps []step
	if name != "" {
		steps = append(steps, step{name: name})
	}
	if !indexed {
		if name == "" {
			return nil, errors.New("a name is missing; want for example data.items[0].id")
		}
		return steps, nil
	}
	for index := range strings.SplitSeq(rest, "[") {
		digits, closed := strings.CutSuffix(index, "]")
		n, err := strconv.ParseUint(digits, 10, 16)
		if !closed || err != nil {
			return nil, errors.New("an element is written [0], [1] and so on")
		}
		steps = append(steps, step{index: int(n)})
	}
	return steps, nil
}

// find follows the alternatives in turn; nil when none leads anywhere, or to null.
func (p path) find(raw json.RawMessage) json.RawMessage {
	for _, steps := range p {
		if v := follow(raw, steps); v != nil {
			return v
		}
	}
	return nil
}

func follow(raw json.RawMessage, steps []step) json.RawMessage {
	for _, s := range steps {
		if raw = s.within(raw); raw == nil {
			return nil
		}
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// within is the member or element that a step leads to; of members of one name the last, as elsewhere in Go.
func (s step) within(raw json.RawMessage) (found json.RawMessage) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || (s.name != "") != (raw[0] == '{') {
		return nil
	}
	at := 0
	for name, v := range inside(raw) {
		switch {
		case s.name != "" && isName(name, s.name):
			found = v
		case s.name == "" && at == s.index:
			return v
		}
		at++
	}
	return found
}

// What one answer may list. Of a few bytes an element could be, which takes a hundred times as many once it is read.
const (
	mostElements = 20_000
	mostDepth    = 100
)

// list gives the elements of an answer's list: the one that the path names, else the answer itself, else the
// only list among its members that is no list of errors. Anything else, and an error body, is ErrShape. The elements lie in body.
func list(body []byte, at path) ([]json.RawMessage, error) {
	raw := json.RawMessage(bytes.Trim(body, " \t\r\n")) // the white space of JSON, which is less than Unicode's
	switch {
	case len(raw) == 0:
		return nil, fmt.Errorf("%w: the answer is empty", ErrShape)
	case tooDeep(raw):
		return nil, fmt.Errorf("%w: it is nested more than %d deep", ErrShape, mostDepth)
	case !json.Valid(raw):
		return nil, fmt.Errorf("%w: it is no JSON", ErrShape)
	}
	if at != nil {
		raw = at.find(raw)
	}
	if len(raw) > 0 && raw[0] == '[' {
		return elementsOf(raw)
	}
	if at != nil || len(raw) == 0 || raw[0] != '{' {
		return nil, fmt.Errorf("%w: there is no list where one is expected; name its path in service.wire", ErrShape)
	}
	if e := parseErrorBody(body); e.Status > 299 || e.Code != 0 || e.Description != "" {
		return nil, fmt.Errorf("%w: it reports an error", ErrShape)
	}
	var only json.RawMessage
	found := 0
	for name, m := range inside(raw) {
		if m[0] == '[' && !bytes.Contains(bytes.ToLower(name), []byte("error")) {
			only = m
			found++
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("%w: it has %d lists; name the path of the right one in wire", ErrShape, found)
	}
	return elementsOf(only)
}

// elementsOf is what a list holds.
func elementsOf(raw json.RawMessage) ([]json.RawMessage, error) {
	elements := []json.RawMessage{}
	for _, v := range inside(raw) {
		if len(elements) == mostElements {
			return nil, fmt.Errorf("%w: it lists more than %d elements; ask for smaller pages", ErrShape, mostElements)
		}
		elements = append(elements, v)
	}
	return elements, nil
}

// inside shows what a list or an object holds, in order and without a copy, since an answer may hold a million of them. The
// name is JSON too; in a list it is nil. Of what is no valid JSON it shows anything, but nothing that is not in raw.
func inside(raw json.RawMessage) iter.Seq2[json.RawMessage, json.RawMessage] {
	return func(yield func(name, value json.RawMessage) bool) {
		if len(raw) == 0 {
			return
		}
		object, rest := raw[0] == '{', raw[1:]
		for {
			rest = bytes.TrimLeft(rest, " \t\r\n,")
			var name json.RawMessage
			if object {
				end := valueEnd(rest)
				name, rest = rest[:end], bytes.TrimLeft(rest[end:], " \t\r\n:")
			}
			end := valueEnd(rest)
			if end == 0 || !yield(name, rest[:end:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// valueEnd is where the JSON value ends with which b begins; 0 where none begins.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i+1:])
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return i
			}
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(b)
}

// stringEnd is the length of a JSON string's rest after its first quote, the last one included.
func stringEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// tooDeep says that lists and objects stand more than mostDepth deep in each other.
func tooDeep(b []byte) bool {
	depth := 0
	for i := 0; i < len(b) && depth <= mostDepth; i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i+1:])
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return depth > mostDepth
}

// isName says that a name in JSON is the given one.
func isName(raw json.RawMessage, name string) bool {
	if len(raw) >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1:len(raw)-1]) == name
	}
	var text string
	return json.Unmarshal(raw, &text) == nil && text == name
}

// text reads the scalar that a path leads to; "" when there is none.
func text(raw json.RawMessage, setting string) string {
	p, err := parsePath(setting)
	if err != nil {
		return "" // New refuses such a setting
	}
	return scalar(p.find(raw))
}

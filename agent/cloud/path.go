package cloud

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
		if s.name != "" {
			var o map[string]json.RawMessage
			if json.Unmarshal(raw, &o) != nil {
				return nil
			}
			raw = o[s.name]
			continue
		}
		var l []json.RawMessage
		if json.Unmarshal(raw, &l) != nil || s.index >= len(l) {
			return nil
		}
		raw = l[s.index]
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// list gives the elements of an answer's list: the one that the path names, else the answer itself, else the
// only list among its members that is no list of errors. Anything else, and an error body, is ErrShape.
func list(body []byte, at path) ([]json.RawMessage, error) {
	raw := json.RawMessage(bytes.TrimSpace(body))
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: the answer is empty", ErrShape)
	}
	if at != nil {
		raw = at.find(raw)
	}
	var elements []json.RawMessage
	if len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &elements) == nil {
		return elements, nil
	}
	var members map[string]json.RawMessage
	if at != nil || json.Unmarshal(raw, &members) != nil || members == nil {
		return nil, fmt.Errorf("%w: there is no list where one is expected; name its path in service.wire", ErrShape)
	}
	if e := parseErrorBody(body); e.Status > 299 || e.Code != 0 || e.Description != "" {
		return nil, fmt.Errorf("%w: it reports an error", ErrShape)
	}
	found := 0
	for name, m := range members {
		var l []json.RawMessage
		if m[0] == '[' && json.Unmarshal(m, &l) == nil && !strings.Contains(strings.ToLower(name), "error") {
			elements = l
			found++
		}
	}
	if found != 1 {
		return nil, fmt.Errorf("%w: it has %d lists; name the path of the right one in wire", ErrShape, found)
	}
	return elements, nil
}

// text reads the scalar that a path leads to; "" when there is none.
func text(raw json.RawMessage, setting string) string {
	p, err := parsePath(setting)
	if err != nil {
		return "" // New refuses such a setting
	}
	return scalar(p.find(raw))
}

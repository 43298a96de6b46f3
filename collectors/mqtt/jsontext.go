package mqtt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// jsonText is one value of a JSON document that is known to be valid, as it is written there; empty: there is none. What it
// holds is found by walking over the text, so that reading a number out of a message makes no garbage.
type jsonText []byte

// checkJSON says whether a payload is one JSON value, and gives it without what stands around. Its depth is bounded by
// encoding/json, its size by the packet limit.
func checkJSON(payload []byte) (jsonText, error) {
	text := bytes.TrimRight(payload, "\x00")
	if json.Valid(text) {
		return bytes.TrimSpace(text), nil
	}
	dec := json.NewDecoder(bytes.NewReader(text)) // it says why not
	var first json.RawMessage
	if err := dec.Decode(&first); err != nil {
		return nil, fmt.Errorf("decode %s as JSON: %w", excerpt(string(payload)), err)
	}
	return nil, fmt.Errorf("decode %s as JSON: something follows the first value", excerpt(string(payload)))
}

// isObject and isList tell what a value is; it may be neither.
func (v jsonText) isObject() bool { return len(v) > 0 && v[0] == '{' }
func (v jsonText) isList() bool   { return len(v) > 0 && v[0] == '[' }

// isNull is also true where there is no value.
func (v jsonText) isNull() bool { return len(v) == 0 || v[0] == 'n' }

// scalar is a string without its quotes, or a number, true or false as they are written; false: it is null, an object or a list.
func (v jsonText) scalar() ([]byte, bool) {
	switch {
	case v.isNull() || v.isObject() || v.isList():
		return nil, false
	case v[0] == '"':
		return v.unquoted(), true
	}
	return v, true
}

// unquoted is what a string means. One without escapes is a part of the message.
func (v jsonText) unquoted() []byte {
	inner := v[1 : len(v)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return inner
	}
	var s string
	_ = json.Unmarshal(v, &s) // the document is valid
	return []byte(s)
}

// member is the value of a key of an object: of one that stands there twice the last, as everywhere with encoding/json.
func (v jsonText) member(key string) (found jsonText, ok bool) {
	for name, value, rest := v[1:].nextMember(); name != nil; name, value, rest = rest.nextMember() {
		if string(name.unquoted()) == key {
			found, ok = value, true
		}
	}
	return found, ok
}

// keys are those of an object, sorted, each once.
func (v jsonText) keys() (all []string) {
	for name, _, rest := v[1:].nextMember(); name != nil; name, _, rest = rest.nextMember() {
		all = append(all, string(name.unquoted()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// item is an element of a list.
func (v jsonText) item(index int) (jsonText, bool) {
	value, rest := v[1:].next()
	for ; value != nil && index > 0; index-- {
		value, rest = rest.next()
	}
	return value, value != nil
}

// items appends the elements of a list.
func (v jsonText) items(to []jsonText) []jsonText {
	for value, rest := v[1:].next(); value != nil; value, rest = rest.next() {
		to = append(to, value)
	}
	return to
}

// nextMember takes a key and its value from the front of the inside of an object; nil: it ends.
func (v jsonText) nextMember() (name, value, rest jsonText) {
	if name, rest = v.next(); name == nil {
		return nil, nil, nil
	}
	value, rest = rest.next()
	return name, value, rest
}

// next takes a value from the front of the inside of an object or a list, with what parts it from the one before; nil: it ends.
func (v jsonText) next() (value, rest jsonText) {
	for len(v) > 0 && (v[0] == ' ' || v[0] == '\t' || v[0] == '\r' || v[0] == '\n' || v[0] == ',' || v[0] == ':') {
		v = v[1:]
	}
	if len(v) == 0 || v[0] == '}' || v[0] == ']' {
		return nil, nil
	}
	end := v.end()
	return v[:end:end], v[end:]
}

// end is where the value at the front ends.
func (v jsonText) end() int {
	depth := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			i += v[i:].stringEnd()
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n', ',', ':':
			continue
		default:
			for i+1 < len(v) && !isDelimiter(v[i+1]) {
				i++
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(v)
}

// stringEnd is the place of the quote that ends the string at the front.
func (v jsonText) stringEnd() int {
	for i := 1; i < len(v); i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(v) - 1
}

func isDelimiter(b byte) bool {
	switch b {
	case ' ', '\t', '\r', '\n', ',', ':', '}', ']':
		return true
	}
	return false
}

package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// What one file may hold: twenty tanks with tables by the inch in place are a quarter of it, and it is read, or found
// wrong, within a tenth of a second.
const (
	maxBytes = 256 << 10
	maxDepth = 64
)

// flaw is a mistake of the file as YAML, before any key is looked at.
type flaw struct {
	line, column int
	message      string
}

// parse reads one YAML document. The node is nil when there is a flaw.
func parse(b []byte) (*yaml.Node, *flaw) {
	if len(b) > maxBytes {
		return nil, &flaw{1, 1, fmt.Sprintf("the file has %d bytes; a configuration has at most %d: put strapping tables into files of their own", len(b), maxBytes)}
	}
	if f := invalidByte(b); f != nil {
		return nil, f
	}
	feed := &lineReader{rest: b}
	dec := yaml.NewDecoder(feed)
	doc, err := next(dec)
	switch {
	case errors.Is(err, io.EOF), err == nil && isNull(doc.Content[0]):
		return nil, &flaw{1, 1, "the file holds nothing; begin with site: and id:"}
	case err != nil:
		return nil, flawOf(b, err, feed.served)
	}
	if second, err := next(dec); err == nil {
		return nil, &flaw{second.Line, second.Column, "a second document begins here; a configuration is one document: remove the line ---"}
	} else if !errors.Is(err, io.EOF) {
		return nil, flawOf(b, err, feed.served)
	}
	root := doc.Content[0]
	if n := tooDeep(root, maxDepth); n != nil {
		return nil, &flaw{n.Line, n.Column, fmt.Sprintf("nested more than %d deep; no key of a configuration is", maxDepth)}
	}
	return root, nil
}

// next is the next document. The library reports its mistakes by error, and by panic where it has overlooked one.
func next(dec *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	doc = new(yaml.Node)
	if err := dec.Decode(doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, io.EOF
	}
	return doc, nil
}

// lineReader serves one line to each Read, so that how far the parser had read tells about where it stumbled: the line
// in its own message is that of the surrounding block, or one too few.
type lineReader struct {
	rest   []byte
	served int
}

func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	end := bytes.IndexByte(l.rest, '\n') + 1
	end = cmp.Or(end, len(l.rest))
	n := copy(p, l.rest[:end])
	if n == end {
		l.served++
	}
	l.rest = l.rest[n:]
	return n, nil
}

// invalidByte finds bytes that no YAML file holds, and tabs that indent, with their exact place.
func invalidByte(b []byte) *flaw {
	if bytes.HasPrefix(b, []byte{0xFE, 0xFF}) || bytes.HasPrefix(b, []byte{0xFF, 0xFE}) {
		return &flaw{1, 1, "the file is UTF-16; save it as UTF-8"}
	}
	line := 0
	for row := range bytes.Lines(b) {
		line++
		if f := invalidByteIn(row, line); f != nil {
			return f
		}
	}
	return nil
}

func invalidByteIn(row []byte, line int) *flaw {
	column, indent := 0, true
	for i := 0; i < len(row); {
		r, size := utf8.DecodeRune(row[i:])
		i, column = i+size, column+1
		switch {
		case r == utf8.RuneError && size == 1:
			return &flaw{line, column, "a byte that is not UTF-8; save the file as UTF-8"}
		case r == '\t' && indent:
			return &flaw{line, column, "a tab in the indentation; indent with spaces"}
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7F:
			return &flaw{line, column, fmt.Sprintf("a control character (%#02x); remove it", r)}
		}
		indent = indent && r == ' '
	}
	return nil
}

// tooDeep is the first node more than depth levels down. It does not follow aliases.
func tooDeep(n *yaml.Node, depth int) *yaml.Node {
	if depth == 0 {
		return n
	}
	for _, c := range n.Content {
		if deep := tooDeep(c, depth-1); deep != nil {
			return deep
		}
	}
	return nil
}

// lastLine is the number of the last line. YAML ends lines at four characters beside the usual one.
func lastLine(b []byte) int {
	n := 1
	for _, end := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029"} {
		n += bytes.Count(b, []byte(end))
	}
	if bytes.HasSuffix(b, []byte("\n")) {
		n--
	}
	return n
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// flawOf is the flaw behind an error of the parser: the line after the longest beginning of the file that
// parses. served is how many lines the parser had read.
func flawOf(b []byte, err error, served int) *flaw {
	text := err.Error()
	m := yamlLine.FindStringSubmatch(text)
	said := 1
	if m != nil {
		text = text[len(m[0]):]
		if n, err := strconv.Atoi(m[1]); err == nil {
			said = n
		}
	}
	ends := lineEnds(b)
	line := min(max(1, failingLine(b, ends, said, served)), max(1, len(ends)))
	return &flaw{line, indentOf(b, ends, line) + 1, explain(text)}
}

func lineEnds(b []byte) []int {
	var ends []int
	at := 0
	for row := range bytes.Lines(b) {
		at += len(row)
		ends = append(ends, at)
	}
	return ends
}

func indentOf(b []byte, ends []int, line int) int {
	if line > len(ends) {
		return 0
	}
	from := 0
	if line > 1 {
		from = ends[line-2]
	}
	row := b[from:ends[line-1]]
	return len(row) - len(bytes.TrimLeft(row, " "))
}

// failingLine finds the line by parsing beginnings of the file: a few around the line where the parser stood, then by
// halving. What is parsed is bounded, so that a huge file costs no more than a second reading of it.
func failingLine(b []byte, ends []int, said, served int) int {
	budget := maxBytes
	fits := func(n int) bool {
		if n <= 0 {
			return true
		}
		end := ends[min(n, len(ends))-1]
		budget -= end
		_, err := next(yaml.NewDecoder(bytes.NewReader(b[:end])))
		return err == nil || errors.Is(err, io.EOF)
	}
	const around = 12
	for n := min(served, len(ends)); n > served-around && budget > 0; n-- {
		if fits(n) {
			return n + 1
		}
	}
	low, high := 0, min(served, len(ends)) // fits(low), not fits(high)
	for high-low > 1 && budget > 0 {
		if mid := (low + high) / 2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	if budget <= 0 {
		return said
	}
	return high
}

// explain adds to the parser's words what to do.
func explain(text string) string {
	for _, e := range explanations {
		if strings.Contains(text, e.sign) {
			return e.say
		}
	}
	return text + "; this is not YAML"
}

var explanations = []struct{ sign, say string }{
	{"mapping values are not allowed", "a second colon, or a line that is indented too far; put a text that holds \": \" in quotes, or move the line under its neighbours"},
	{"did not find expected key", "this line does not fit under the one above; give all keys of one block the same indentation, and close quotes before the line ends"},
	{"did not find expected '-' indicator", "this line does not fit into the list above; begin an entry with \"- \", or move the key to the left"},
	{"could not find expected ':'", "a line without a colon; write key: value"},
	{"cannot start any token", "a text cannot begin with this character; put the text in quotes"},
	{"expected ',' or '}'", "a { that is not closed, or a comma missing; write {key: value, key: value}"},
	{"expected ',' or ']'", "a [ that is not closed, or a comma missing; write [a, b]"},
	{"did not find expected node content", "a bracket or comma that does not belong here; remove it, or put the text in quotes"},
	{"unexpected end of stream", "a quote that is not closed; close it on the same line"},
	{"unknown escape character", "a backslash inside double quotes; use single quotes, or write it twice"},
	{"unknown anchor", "a text that begins with * refers to an anchor (&name) that is not in the file; put the text in quotes"},
	{"excessive aliasing", "aliases (*name) that repeat without end; write the keys out"},
	{"exceeded max depth", "brackets nested without end; no key of a configuration is"},
}

package config

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetTank is text, a configuration, with a plain value under a key of one tank. Everything else stays as it is, to the
// byte. note becomes a comment at the end of the value's line, in the place of the one of an earlier commissioning.
func SetTank(text []byte, id, key, value, note string) ([]byte, error) {
	_, tank, err := tankNode(text, id)
	if err != nil {
		return nil, err
	}
	for _, note := range []string{note, ""} { // a text that goes on over the line's end has no room for one
		var changed []byte
		changed, err = setValue(bytes.SplitAfter(text, []byte("\n")), tank, key, value, note)
		if err == nil {
			err = sameBut(text, changed, id, key, value)
		}
		if err == nil {
			return changed, nil
		}
	}
	return nil, fmt.Errorf("tank %s: %w; write it by hand: %s: %s", id, err, key, value)
}

// tankNode is the mapping of a tank as it stands in text, and the whole.
func tankNode(text []byte, id string) (root, tank *yaml.Node, err error) {
	root, flaw := parse(text)
	if flaw != nil {
		return nil, nil, fmt.Errorf("line %d: %s", flaw.line, flaw.message)
	}
	tanks, _ := locate(root, "tanks")
	for _, t := range tanks.Content {
		if name := child(t, "id"); t.Kind == yaml.MappingNode && name != nil && name.Value == id {
			return root, t, nil
		}
	}
	return nil, nil, fmt.Errorf("tank %s does not stand among the tanks with its own keys; write it by hand", id)
}

func setValue(lines [][]byte, tank *yaml.Node, key, value, note string) ([]byte, error) {
	idAt, id := ownPair(tank, "id")
	keyAt, at := ownPair(tank, key)
	flow := tank.Style&yaml.FlowStyle != 0
	switch {
	case at == nil && flow:
		at, value = id, id.Value+", "+key+": "+value
	case at == nil:
		indent := strings.Repeat(" ", idAt.Column-1)
		added := noted([]byte(indent+key+": "+value+"\n"), "", note)
		if !bytes.HasSuffix(lines[id.Line-1], []byte("\n")) {
			lines[id.Line-1] = append(lines[id.Line-1], '\n')
		}
		return bytes.Join(slices.Insert(lines, id.Line, added), nil), nil
	case at.Kind != yaml.ScalarNode || at.Line != keyAt.Line:
		return nil, fmt.Errorf("its %s is no plain value", key)
	}
	err := replaceScalar(lines, at, value)
	if of := ""; err == nil {
		if flow { // others may stand on that line
			of = id.Value + ": "
		}
		lines[at.Line-1] = noted(lines[at.Line-1], of, note)
	}
	return bytes.Join(lines, nil), err
}

// noted is a line with a note at its end, behind a comment that is there. What an earlier commissioning left of the same goes.
func noted(line []byte, of, note string) []byte {
	if note == "" {
		return line
	}
	line = regexp.MustCompile(`\s+# `+regexp.QuoteMeta(of)+`\d{4}-\d\d-\d\d, [^#\r\n]*: gauged [^#\r\n]*[^#\s]`).ReplaceAll(line, nil)
	text := bytes.TrimRight(line, "\r\n")
	return slices.Concat(text, []byte("   # "+of+note), line[len(text):])
}

// replaceScalar writes another value in the place of one on a single line.
func replaceScalar(lines [][]byte, old *yaml.Node, value string) error {
	line := []rune(string(lines[old.Line-1]))
	before, rest := string(line[:old.Column-1]), string(line[old.Column-1:])
	written := old.Value
	switch old.Style {
	case yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle:
		end := strings.IndexByte(rest[1:], rest[0])
		if end < 0 {
			return errors.New("its value goes over several lines")
		}
		written = rest[:end+2]
	}
	after, found := strings.CutPrefix(rest, written)
	if !found {
		return fmt.Errorf("its value %q is not written plainly", old.Value)
	}
	lines[old.Line-1] = []byte(before + value + after)
	return nil
}

// sameBut checks that two texts say the same but for one key of one tank, which has become value.
func sameBut(old, changed []byte, id, key, value string) error {
	var sums [2]uint32
	for i, text := range [][]byte{old, changed} {
		root, tank, err := tankNode(text, id)
		if err != nil {
			return err
		}
		if at, v := ownPair(tank, key); at != nil {
			if i == 1 && v.Value != value {
				return fmt.Errorf("its %s would become %q", key, v.Value)
			}
			k := slices.Index(tank.Content, at)
			tank.Content = slices.Delete(tank.Content, k, k+2)
		} else if i == 1 {
			return fmt.Errorf("its %s would not be there", key)
		}
		sum := crc32.NewIEEE()
		hashNode(sum, root)
		sums[i] = sum.Sum32()
	}
	if sums[0] != sums[1] {
		return errors.New("more than that would change")
	}
	return nil
}

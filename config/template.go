package config

import (
	"fmt"
	"slices"
	"strconv"

	"gauger/collectors/modbus"

	"go.yaml.in/yaml/v3"
)

// template names the register map that a Modbus device begins with. Once the map is filled in
// these keys have done their work: the device in force has none.
type template struct {
	Name  string   `yaml:"template" doc:"a register map that gauger brings along, such as rosemount-5300; gauger check --templates lists them. What the device says itself goes over it, point by point and key by key; a key without a value takes the map's away"`
	Only  []string `yaml:"only" doc:"points of the template to read, with those that they rest on. Default: all"`
	Shift int      `yaml:"shift" doc:"added to every address of the template: -1 where the device counts from 1 and the map from 0"`
}

// places are the keys of a point that say where it is; a point has one of them.
var places = []string{"holding", "input", "coil", "discrete", "modicon"}

// layTemplate puts what the device's template says under what the entry n says itself, in the tree, so that the merged
// device is decoded and its mistakes are told as those of any other. Keys from the template stand at the line that
// names it.
func (d *decoder) layTemplate(n *yaml.Node, path string) {
	name := child(n, "template")
	switch {
	case name == nil:
		d.refuseWithoutTemplate(n, path)
		return
	case isNull(name):
		return // told when the key is decoded
	}
	text, known := modbus.Template(name.Value)
	if !known {
		d.addf(name, join(path, "template"), "%s is not known; %s", quote(name.Value), suggest(name.Value, modbus.Templates()))
		return
	}
	base, flaw := parse(text)
	if flaw != nil {
		d.addf(name, join(path, "template"), "line %d of the template: %s", flaw.line, flaw.message)
		return
	}
	d.written += countNodes(base)
	moveTo(base, name)
	d.shift(base, child(n, "shift"))
	own, _ := d.pairs(n, path)
	merged := d.layOver(own, d.peek(base, path))
	if points := d.mergePoints(n, base, name.Value, path); points != nil {
		merged = append(slices.DeleteFunc(merged, func(p pair) bool { return p.name == "points" }), pair{"points", keyNode("points", points), points})
	}
	n.Content = contentOf(merged)
}

// refuseWithoutTemplate refuses the keys that say something about a template where there is none.
func (d *decoder) refuseWithoutTemplate(n *yaml.Node, path string) {
	for _, key := range []string{"only", "shift"} {
		if at := child(n, key); at != nil {
			d.addf(at, join(path, key), "belongs to a template, and none is named; write template: NAME, or remove the line")
		}
	}
}

// peek is the keys of a mapping without a word about its mistakes, which are told when it is decoded.
func (d *decoder) peek(n *yaml.Node, path string) []pair {
	before := len(d.problems)
	pairs, _ := d.pairs(n, path)
	d.problems = d.problems[:before]
	return pairs
}

func pairValue(pairs []pair, name string) *yaml.Node {
	for _, p := range pairs {
		if p.name == name {
			return p.value
		}
	}
	return nil
}

func keyNode(name string, at *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: at.Line, Column: at.Column}
}

func contentOf(pairs []pair) []*yaml.Node {
	content := make([]*yaml.Node, 0, 2*len(pairs))
	for _, p := range pairs {
		content = append(content, p.key, p.value)
	}
	return content
}

// moveTo gives a tree the place of another node.
func moveTo(n, place *yaml.Node) {
	n.Line, n.Column = place.Line, place.Column
	for _, c := range n.Content {
		moveTo(c, place)
	}
}

// layOver lays own keys over those of the template. An own key without a value takes the template's away, and a place
// replaces a place of another kind.
func (d *decoder) layOver(own, base []pair) []pair {
	placed := slices.ContainsFunc(own, func(p pair) bool { return slices.Contains(places, p.name) })
	var out []pair
	for _, p := range own {
		if !isNull(target(p.value)) || pairValue(base, p.name) == nil {
			out = append(out, p)
		}
	}
	for _, p := range base {
		if pairValue(own, p.name) == nil && !(placed && slices.Contains(places, p.name)) {
			out = append(out, p)
		}
	}
	return out
}

// shift adds the configured number to every address of the template.
func (d *decoder) shift(base, by *yaml.Node) {
	if by == nil {
		return
	}
	n, err := strconv.Atoi(target(by).Value)
	points, ok := locate(base, "points")
	if err != nil || !ok {
		return // told when the key is decoded
	}
	for _, p := range points.Content {
		for _, key := range places {
			if at := child(p, key); at != nil {
				address, _ := strconv.Atoi(at.Value) // a number in every template: its test says so
				at.Value = strconv.Itoa(address + n)
			}
		}
	}
}

// mergePoints are the template's points with the entry's own laid over them, then those that only the entry has. nil: the
// entry's own are no list, which is told when they are decoded.
func (d *decoder) mergePoints(n, base *yaml.Node, name, path string) *yaml.Node {
	theirs, _ := locate(base, "points")
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: theirs.Line, Column: theirs.Column}
	var mine []*yaml.Node
	if own := child(n, "points"); own != nil && own.Kind == yaml.SequenceNode {
		list.Line, list.Column, mine = own.Line, own.Column, own.Content
	} else if own != nil && !isNull(own) {
		return nil
	}
	wanted := d.wantedPoints(n, theirs, mine, name, path)
	for _, p := range theirs.Content {
		i := slices.IndexFunc(mine, func(m *yaml.Node) bool { return pointNameOf(m) == pointNameOf(p) })
		switch {
		case i >= 0:
			list.Content = append(list.Content, d.overlayPoint(target(mine[i]), p, fmt.Sprintf("%s.points[%d]", path, i)))
		case wanted(p):
			list.Content = append(list.Content, p)
		}
	}
	for _, m := range mine {
		if !slices.ContainsFunc(theirs.Content, func(p *yaml.Node) bool { return pointNameOf(p) == pointNameOf(m) }) {
			list.Content = append(list.Content, m)
		}
	}
	return list
}

// overlayPoint is one point of the entry over the template's of the same name. Mistakes in how the entry's is written
// are told here, since the merged one no longer shows them.
func (d *decoder) overlayPoint(own, base *yaml.Node, path string) *yaml.Node {
	mine, _ := d.pairs(own, path)
	merged := *own
	merged.Content = contentOf(d.layOver(mine, d.peek(base, path)))
	return &merged
}

func pointNameOf(point *yaml.Node) string {
	if n := child(point, "name"); n != nil {
		return n.Value
	}
	return ""
}

// wantedPoints says which of the template's points are read: those that only names, or all, and those that one of the
// points in force rests on.
func (d *decoder) wantedPoints(n, theirs *yaml.Node, mine []*yaml.Node, name, path string) func(*yaml.Node) bool {
	all := func(*yaml.Node) bool { return true }
	only := child(n, "only")
	if only == nil || only.Kind != yaml.SequenceNode {
		return all
	}
	var names, known []string
	for _, p := range slices.Concat(theirs.Content, mine) {
		known = append(known, pointNameOf(p))
	}
	for i, o := range only.Content {
		word := target(o).Value
		if !slices.Contains(known, word) {
			d.addf(o, fmt.Sprintf("%s.only[%d]", path, i), "%s is no point of %s; %s", quote(word), name, suggest(word, known))
			return all // so that what is missing then is not told as well
		}
		names = append(names, word)
	}
	for _, p := range slices.Concat(theirs.Content, mine) {
		if !slices.Contains(names, pointNameOf(p)) && !slices.Contains(mine, p) {
			continue
		}
		for _, key := range []string{"age.point", "good_when.point"} {
			if at, ok := locate(p, key); ok {
				names = append(names, at.Value)
			}
		}
	}
	return func(p *yaml.Node) bool { return slices.Contains(names, pointNameOf(p)) }
}

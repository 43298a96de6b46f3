package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gauger/collectors/modbus"

	"go.yaml.in/yaml/v3"
)

// Line is one entry of a list as it stands in a file, on a line: {name: tk1, topic: field/tk1}. What has its default is
// left out. v is the struct of such an entry: a point, for instance.
func Line(v any) (string, error) {
	entry := reflect.ValueOf(v)
	node, err := printer{}.encode(entry, defaultOf(entry.Type()))
	if err == nil {
		inOneLine(node)
		var b []byte
		if b, err = yaml.Marshal(node); err == nil {
			return strings.TrimSuffix(string(b), "\n"), nil
		}
	}
	return "", fmt.Errorf("write a %s as YAML: %w", entry.Type(), err)
}

// Lines are a device's keys as they stand in a file, a line each, without its points.
func Lines(d Device) ([]string, error) {
	node, err := printer{}.encode(reflect.ValueOf(d), reflect.Value{})
	if err != nil {
		return nil, fmt.Errorf("write device %s as YAML: %w", d.Name, err)
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == "points" {
			node.Content = slices.Delete(node.Content, i, i+2)
			break
		}
	}
	b, err := yaml.Marshal(node)
	if err != nil {
		return nil, fmt.Errorf("write device %s as YAML: %w", d.Name, err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), nil
}

func inOneLine(n *yaml.Node) {
	n.Style |= yaml.FlowStyle
	for _, c := range n.Content {
		if c.Kind == yaml.MappingNode || c.Kind == yaml.SequenceNode {
			inOneLine(c)
		}
	}
}

// ReadTemplate reads a register map as modbus.Template has them: keys of a Modbus device.
func ReadTemplate(text []byte) (modbus.Device, error) {
	root, flaw := parse(text)
	if flaw != nil {
		return modbus.Device{}, fmt.Errorf("line %d: %s", flaw.line, flaw.message)
	}
	e := new(modbusEntry)
	d := &decoder{file: "template", last: lastLine(text), home: homeOf, open: map[*yaml.Node]bool{}, written: countNodes(root)}
	d.decode(root, settable(e), "")
	if len(d.problems) > 0 {
		return modbus.Device{}, Problems(sorted(d.problems))
	}
	if len(e.Options.Points) == 0 {
		return modbus.Device{}, errors.New("no points in it")
	}
	return e.Options, nil
}

// notOfTemplates are the keys of a Modbus device that no register map has: they are one site's.
var notOfTemplates = []string{"name", "modbus", "share", "object", "object_type", "points"}

// TemplateKeys are the keys of a device that a register map has, a line each, without its points.
func TemplateKeys(d modbus.Device) ([]string, error) {
	usual := newModbusEntry().(*modbusEntry)
	node, err := printer{}.encode(reflect.ValueOf(d), reflect.ValueOf(usual.Options))
	if err != nil {
		return nil, fmt.Errorf("write a template: %w", err)
	}
	var lines []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i].Value; !slices.Contains(notOfTemplates, key) {
			inOneLine(node.Content[i+1])
			b, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: node.Content[i : i+2]})
			if err != nil {
				return nil, fmt.Errorf("write a template: %w", err)
			}
			lines = append(lines, strings.TrimSuffix(string(b), "\n"))
		}
	}
	return lines, nil
}

// TemplateOf is a register map made of a device: its keys and points, with what a person has to add at its top.
func TemplateOf(d modbus.Device) ([]byte, error) {
	keys, err := TemplateKeys(d)
	if err != nil {
		return nil, err
	}
	text := "# " + d.Name + ": WRITE HERE what it is a map of, in one line\n#\n# Rests on: WRITE HERE the manual, its tables and what was tried on site.\n#\n" +
		"# Check on site:\n# - WRITE HERE what differs from one device to the next: units, the order of words, what is wired.\n#\n" +
		"# For another site: gauger init --modbus URL,map=FILE; or copy what is below under the device.\n"
	for _, key := range keys {
		text += key + "\n"
	}
	text += "points:\n"
	for _, p := range d.Points {
		if p.Verify == "twice" && d.SerialLine() {
			p.Verify = "" // as the level of a tank there has it by itself
		}
		line, err := Line(p)
		if err != nil {
			return nil, err
		}
		text += "  - " + line + "\n"
	}
	return []byte(text), nil
}

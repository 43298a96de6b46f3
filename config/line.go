package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

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

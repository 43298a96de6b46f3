package config

import (
	"path/filepath"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// locate walks a path such as devices[0].points[2].unit through the tree. It returns the last node that is there, and
// whether that is the whole path.
func locate(n *yaml.Node, path string) (*yaml.Node, bool) {
	for path != "" {
		var step string
		step, path = cutStep(path)
		next := child(n, step)
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}

// cutStep takes the first key or [index] off a path.
func cutStep(path string) (step, rest string) {
	path = strings.TrimPrefix(path, ".")
	end := len(path)
	if i := strings.IndexAny(path[1:], ".["); i >= 0 {
		end = i + 1
	}
	return path[:end], path[end:]
}

// parent is a path without its last key or [index].
func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// child is the node under a key or [index]; nil when there is none. Merged keys come after those written out.
func child(n *yaml.Node, step string) *yaml.Node {
	n = target(n)
	if n.Kind == yaml.SequenceNode {
		i, err := strconv.Atoi(strings.Trim(step, "[]"))
		if err != nil || i < 0 || i >= len(n.Content) {
			return nil
		}
		return target(n.Content[i])
	}
	if _, value := ownPair(n, step); value != nil {
		return target(value)
	}
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 { // what << names, but not what that names in turn
		if n.Content[i].Tag == "!!merge" {
			if _, value := ownPair(target(n.Content[i+1]), step); value != nil {
				return target(value)
			}
		}
	}
	return nil
}

// ownPair is a key of a mapping with its value; nil where it is not written there.
func ownPair(n *yaml.Node, key string) (at, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// target is the node that an alias names.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// shapeOf names a node for a person.
func shapeOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a block of keys"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "nothing"
	}
	return "a single value"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// resolve is a file name of the configuration as seen from where gauger runs.
func resolve(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

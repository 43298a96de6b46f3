package config

import (
	"encoding"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"gauger/agent/cloud"
	"gauger/agent/tank"
	"gauger/collectors/modbus"
	"gauger/collectors/mqtt"
)

// Print writes the effective configuration as YAML: defaults filled in, file names resolved, of secrets only where
// they are kept. What it writes loads again and means the same.
func (c *Config) Print(w io.Writer) error {
	node, err := c.node()
	if err != nil {
		return err
	}
	enc := yaml.NewEncoder(w)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return nil
}

// node is the effective configuration as YAML nodes.
func (c *Config) node() (*yaml.Node, error) {
	node, err := printer{c}.encode(reflect.ValueOf(*c), reflect.ValueOf(defaultConfig()))
	if err != nil {
		return nil, fmt.Errorf("print configuration: %w", err)
	}
	return node, nil
}

// Hash is a CRC-32C over the effective configuration and the rows of its strapping tables, as Load found them. Every
// record carries the hash of the configuration that made it.
func (c *Config) Hash() uint32 { return c.hash }

// checksum goes through the devices one by one, and keeps the sum of each: all at once, the nodes of a large site take a gigabyte.
func (c *Config) checksum() (uint32, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	rest := *c
	rest.Devices = nil
	if err := rest.hashInto(sum); err != nil {
		return 0, err
	}
	for i := range c.Devices {
		one, own := Config{Devices: c.Devices[i : i+1]}, crc64.New(crc64.MakeTable(crc64.ECMA))
		if err := one.hashInto(io.MultiWriter(sum, own)); err != nil {
			return 0, err
		}
		c.Devices[i].options.hashUnwritten(own)
		c.Devices[i].sum = own.Sum64()
	}
	for _, t := range c.Tanks {
		hashTable(sum, t.Table)
	}
	return sum.Sum32(), nil
}

// hashInto adds what Print would write.
func (c *Config) hashInto(sum io.Writer) error {
	node, err := c.node()
	if err != nil {
		return err
	}
	hashNode(sum, node)
	return nil
}

// hashNode adds a node and what is in it; its length before each value keeps neighbours apart.
func hashNode(sum io.Writer, n *yaml.Node) {
	sum.Write(append(binary.LittleEndian.AppendUint32([]byte{byte(n.Kind)}, uint32(len(n.Value)+len(n.Content))), n.Value...))
	for _, c := range n.Content {
		hashNode(sum, c)
	}
}

// mostTableSteps is a table of 1,000 ft.
const mostTableSteps = 48_000

// hashTable adds what a table says at every quarter inch, which is as fine as tables are; one that is higher than any
// tank, in as many places.
func hashTable(sum hash.Hash32, table tank.Table) {
	step := max(0.25, (table.Top()-table.Bottom())/mostTableSteps)
	for i, at := 0, table.Bottom(); i <= mostTableSteps && at <= table.Top(); i, at = i+1, at+step {
		barrels, err := table.Barrels(at)
		if err != nil {
			return
		}
		sum.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(barrels)))
	}
}

// printer turns the values of one configuration into nodes.
type printer struct{ cfg *Config }

// encode is the node of a value. usual is what the value is when its key is left out.
func (p printer) encode(v, usual reflect.Value) (*yaml.Node, error) {
	switch x := v.Interface().(type) {
	case time.Duration:
		return scalarNode("", shortDuration(x)), nil
	case tank.Length:
		return scalarNode("", strconv.FormatFloat(float64(x), 'f', -1, 64)+"in"), nil
	case Source:
		if x.Constant != nil {
			return scalarNode("", x.String()), nil
		}
		return scalarNode("!!str", x.String()), nil
	case Strapping:
		if x.File != "" {
			return scalarNode("!!str", x.File), nil
		}
		return p.encodeList(reflect.ValueOf(x.Rows))
	case mqtt.Brokers:
		if len(x) == 1 {
			return stringNode(x[0]), nil
		}
	case Device:
		entry := x.entry()
		return p.encodeStruct(entry, reflect.ValueOf(x.kind.entry()).Elem())
	case map[string]string: // of headers
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			value := x[name]
			if cloud.SecretHeader(name, value) {
				value = "(hidden)"
			}
			n.Content = append(n.Content, stringNode(name), stringNode(value))
		}
		return n, nil
	case Secret:
		if x.strange {
			return scalarNode("!!str", "(hidden)"), nil
		}
		return p.encodeStruct(v, usual)
	case map[string]Secret:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, name := range slices.Sorted(maps.Keys(x)) {
			from, err := p.encode(reflect.ValueOf(x[name]), reflect.ValueOf(Secret{}))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, stringNode(name), from)
		}
		return n, nil
	case encoding.TextMarshaler:
		b, err := x.MarshalText()
		return scalarNode("!!str", string(b)), err
	case interface{ String() string }:
		if v.Kind() != reflect.Struct {
			return scalarNode("", x.String()), nil
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return p.encode(v.Elem(), defaultOf(v.Type().Elem()))
	case reflect.Struct:
		return p.encodeStruct(v, usual)
	case reflect.Slice, reflect.Array:
		return p.encodeList(v)
	}
	return encodeScalar(v)
}

// encodeScalar is the node of one value. The library's own way is a parser and an emitter for each, and a
// configuration has thousands.
func encodeScalar(v reflect.Value) (*yaml.Node, error) {
	switch v.Kind() {
	case reflect.String:
		return stringNode(v.String()), nil
	case reflect.Bool, reflect.Int, reflect.Float64:
		return scalarNode("", fmt.Sprint(v.Interface())), nil
	}
	n := new(yaml.Node)
	return n, n.Encode(v.Interface())
}

// stringNode quotes what older readers of YAML take for a truth value.
func stringNode(s string) *yaml.Node {
	n := scalarNode("!!str", s)
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off":
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func scalarNode(tag, s string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: s}
}

// encodeStruct writes the keys that say something: those that are not zero, or that are zero where leaving them out
// would say otherwise.
func (p printer) encodeStruct(v, usual reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range fieldsOf(v.Type()) {
		value, left := v.FieldByIndex(f.index), usual.FieldByIndex(f.index)
		if value.IsZero() && left.IsZero() {
			continue
		}
		inner, err := p.encode(value, left)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		if inner.Kind == yaml.MappingNode && len(inner.Content) == 0 {
			continue
		}
		n.Content = append(n.Content, scalarNode("!!str", f.name), inner)
	}
	return n, nil
}

// encodeList writes entries of few plain values on one line each.
func (p printer) encodeList(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	usual := defaultOf(v.Type().Elem())
	if t, ok := usual.Interface().(Tank); ok {
		t.Loads = p.cfg.Loads
		usual = reflect.ValueOf(t)
	}
	flat := true
	for i := range v.Len() {
		inner, err := p.encode(v.Index(i), usual)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		flat = flat && inner.Kind == yaml.ScalarNode
		if isFlat(inner) {
			inner.Style |= yaml.FlowStyle
		}
		n.Content = append(n.Content, inner)
	}
	if flat {
		n.Style |= yaml.FlowStyle
	}
	return n, nil
}

// isFlat says that a mapping or list has nothing nested but lists of numbers and words.
func isFlat(n *yaml.Node) bool {
	for _, c := range n.Content {
		if c.Kind == yaml.MappingNode || c.Kind == yaml.SequenceNode && c.Style&yaml.FlowStyle == 0 {
			return false
		}
	}
	return n.Kind != yaml.ScalarNode
}

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
			p.Verify = "" // as a level or a value there has it by itself
		}
		line, err := Line(p)
		if err != nil {
			return nil, err
		}
		text += "  - " + line + "\n"
	}
	return []byte(text), nil
}

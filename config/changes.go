package config

import (
	"cmp"
	"fmt"
	"hash/crc64"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"gauger/agent/cloud"
)

// Group is devices that cannot be parted while they are read: on one line, by the sessions of MQTT, behind one shared address. A device
// that shares nothing is a group of its own.
type Group struct {
	Key     string // of all that decides how they are read: alike in two configurations, nothing of it has changed
	Reached []string
	Devices []Device
}

// Groups parts the devices.
func (c *Config) Groups() (all []Group) {
	for _, d := range c.Devices {
		by := d.options.reached()
		joined := Group{Reached: append([]string{d.Name}, by...), Devices: []Device{d}}
		all = slices.DeleteFunc(all, func(g Group) bool {
			if !slices.ContainsFunc(by, func(one string) bool { return slices.Contains(g.Reached, one) }) {
				return false
			}
			joined.Reached = append(slices.Clone(g.Reached), joined.Reached...)
			joined.Devices = append(slices.Clone(g.Devices), joined.Devices...)
			return true
		})
		all = append(all, joined)
	}
	for i := range all {
		all[i].Key = c.groupKey(all[i].Devices)
	}
	return all
}

func (c *Config) groupKey(devices []Device) string {
	sum := crc64.New(crc64.MakeTable(crc64.ECMA))
	for _, d := range devices {
		fmt.Fprint(sum, d.sum, d.Name, c.ID, c.Zone, c.Share.Prefixes(), c.Store.Path)
	}
	return fmt.Sprintf("%s %016x", devices[0].Name, sum.Sum64())
}

// Change is one key, or one entry of a list, that two configurations have differently.
type Change struct {
	Path     string // as service.url, or tanks TK-1 offset: an entry goes by its name
	Old, New string // empty: it is not there
}

// Of a change of a whole entry.
const (
	there   = "there"
	another = "another one"
)

// Added and Removed say that an entry is new, or no longer there.
func (c Change) Added() bool { return c.Old == "" && c.New == there }

// Removed says that an entry is no longer there.
func (c Change) Removed() bool { return c.New == "" && c.Old == there }

// String is the change in words.
func (c Change) String() string {
	switch {
	case c.Added():
		return c.Path + " is added"
	case c.Removed():
		return c.Path + " is taken out"
	case c.Old == "":
		return c.Path + " is " + c.New + " (was not set)"
	case c.New == "":
		return c.Path + " is not set (was " + c.Old + ")"
	}
	return c.Path + " is " + c.New + " (was " + c.Old + ")"
}

// ChangesFrom says what is another one than in an older configuration: settings first, then devices, then strapping tables.
func (c *Config) ChangesFrom(old *Config) (all []Change, err error) {
	now, was := *c, *old
	now.Devices, was.Devices = nil, nil
	now.Tanks, was.Tanks = withoutTables(c.Tanks), withoutTables(old.Tanks)
	if all, err = changesBetween(&was, &now); err != nil {
		return nil, err
	}
	for name, is := range c.Service.Wire.Headers {
		if was := old.Service.Wire.Headers[name]; is != was && cloud.SecretHeader(name, is) && cloud.SecretHeader(name, was) { // both are written as (hidden)
			all = append(all, Change{"service.wire.headers." + name, "(hidden)", another})
		}
	}
	before := map[string]*Device{}
	for i := range old.Devices {
		before[old.Devices[i].Name] = &old.Devices[i]
	}
	for i := range c.Devices { // one by one: all at once, the nodes of a large site take a gigabyte
		d := c.Devices[i]
		one, none := &Config{Devices: []Device{d}}, &Config{}
		b := before[d.Name]
		delete(before, d.Name)
		if b != nil && b.sum == d.sum {
			continue
		} else if b != nil {
			none.Devices = []Device{*b}
		}
		found, err := changesBetween(none, one)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		all = append(all, Change{Path: "devices " + name, Old: there})
	}
	for _, t := range c.Tanks {
		o := old.Tank(t.ID)
		if o != nil && !t.Table.Same(o.Table) && (t.Strapping.Given() || o.Strapping.Given()) { // else its height or its diameter tells
			all = append(all, Change{"tanks " + t.ID + " strapping", measureText(o), another + ": " + measureText(&t)})
		}
	}
	return all, nil
}

// measureText says what makes barrels of a tank's inches.
func measureText(t *Tank) string {
	bbl := 0.0
	rows := t.Table.Rows()
	for _, r := range rows {
		bbl = max(bbl, r[1])
	}
	text := fmt.Sprintf("%d rows to %.2f bbl", len(rows), bbl)
	switch {
	case t.Strapping.File != "":
		return t.Strapping.File + ", " + text
	case t.Strapping.Given():
		return text
	}
	return fmt.Sprintf("none, by the diameter of %gin", float64(t.Diameter))
}

// withoutTables leaves out where a table stands: what it says counts. Nothing else may be left out, or nobody would see it change.
func withoutTables(tanks []Tank) []Tank {
	tanks = slices.Clone(tanks)
	for i := range tanks {
		tanks[i].Strapping = Strapping{}
	}
	return tanks
}

func changesBetween(old, new *Config) (all []Change, err error) {
	var was, now flatNodes
	for c, into := range map[*Config]*flatNodes{old: &was, new: &now} {
		node, err := c.node()
		if err != nil {
			return nil, err
		}
		*into = flatNodes{values: map[string]string{}}
		into.add("", node)
	}
	gone := func(path string, other flatNodes) bool { // its whole entry, which is told by itself
		for at, i := path, 0; ; path = at {
			if i = strings.LastIndexByte(at, ' '); i < 0 {
				return false
			}
			if at = at[:i]; other.values[at] != there && (was.values[at] == there || now.values[at] == there) {
				return true
			}
		}
	}
	for _, path := range now.order {
		if old, found := was.values[path]; old != now.values[path] && (found || !gone(path, was)) {
			all = append(all, Change{path, old, now.values[path]})
		}
	}
	for _, path := range was.order {
		if _, found := now.values[path]; !found && !gone(path, now) {
			all = append(all, Change{Path: path, Old: was.values[path]})
		}
	}
	return all, nil
}

// flatNodes are the values of a tree by their paths.
type flatNodes struct {
	values map[string]string
	order  []string
}

func (f *flatNodes) set(path, value string) {
	if _, twice := f.values[path]; !twice {
		f.order = append(f.order, path)
	}
	f.values[path] = value
}

func (f *flatNodes) add(path string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		mark := "."
		if strings.Contains(path, " ") { // behind an entry's name
			mark = " "
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			f.add(strings.TrimPrefix(path+mark+n.Content[i].Value, "."), n.Content[i+1])
		}
	case yaml.SequenceNode:
		var plain []string
		for i, c := range n.Content {
			if c.Kind == yaml.ScalarNode {
				plain = append(plain, c.Value)
				continue
			}
			entry := path + " " + entryName(c, i)
			f.set(entry, there)
			f.add(entry, c)
		}
		if plain != nil || len(n.Content) == 0 { // an empty list says more than none: of a role, that nobody has it
			f.set(path, cmp.Or(strings.Join(plain, ", "), "[]"))
		}
	default:
		f.set(path, n.Value)
	}
}

// entryName is what an entry of a list goes by.
func entryName(n *yaml.Node, i int) string {
	var parts []string
	for k := 0; k+1 < len(n.Content) && n.Kind == yaml.MappingNode; k += 2 {
		if slices.Contains([]string{"name", "id", "rule", "point", "code"}, n.Content[k].Value) && n.Content[k+1].Kind == yaml.ScalarNode {
			parts = append(parts, n.Content[k+1].Value)
		}
		if slices.Contains([]string{"name", "id"}, n.Content[k].Value) {
			break
		}
	}
	if parts == nil {
		return fmt.Sprintf("[%d]", i)
	}
	return strings.Join(parts, " of ")
}

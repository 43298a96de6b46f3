package config

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestExampleLoads(t *testing.T) {
	cfg, err := Parse("example.yaml", Example, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range cfg.Warnings {
		if w.Path != "service.secondary_key" { // its file is not on this box
			t.Error("warning:", w)
		}
	}
}

var (
	behindHash = regexp.MustCompile(`(?m)^( *)#([^ \n])`)
	belowHash  = regexp.MustCompile(`(?m)^( *)#(  .*)$`)
)

// withLeftOut is the example with the keys behind a # in place.
func withLeftOut(text []byte) []byte {
	return belowHash.ReplaceAll(behindHash.ReplaceAll(text, []byte("$1$2")), []byte("$1$2"))
}

func TestExampleLoadsWithWhatIsLeftOut(t *testing.T) {
	cfg, err := Parse("example.yaml", withLeftOut(Example), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// Files that are not on this box, a recording, and codes and groups that only stand there to be seen.
	allowed := []string{"service.ca_file", "service.secondary_key", "service.login.subscription_key", "service.login.password_hash", "service.login.token", "service.login.api_key", "devices[1].ca_file", "devices[1].cert_file", "devices[1].key_file",
		"devices[5].recording", "tanks[0].group"}
	for _, w := range cfg.Warnings {
		if !strings.Contains(strings.Join(allowed, " ")+" ", w.Path+" ") {
			t.Error("warning:", w)
		}
	}
}

// TestExampleShowsEveryKey walks the structs and the example side by side.
func TestExampleShowsEveryKey(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal(withLeftOut(Example), &doc); err != nil {
		t.Fatal(err)
	}
	shown := map[string]bool{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		for i, c := range n.Content {
			switch {
			case n.Kind != yaml.MappingNode:
				walk(c, path)
			case i%2 == 0:
				shown[join(path, c.Value)] = true
				walk(n.Content[i+1], join(path, c.Value))
			}
		}
	}
	walk(doc.Content[0], "")
	for _, path := range keysOf(reflect.TypeFor[Config](), "") {
		if strings.HasPrefix(path, "tanks.loads.") || strings.HasSuffix(path, ".credential") || strings.HasSuffix(path, ".file") || strings.HasSuffix(path, ".env") {
			continue // shown once, elsewhere
		}
		if strings.HasPrefix(path, "service.wire.devices.") || strings.HasPrefix(path, "service.wire.events.") {
			continue // eleven paths of the same kind
		}
		if !shown[path] {
			t.Errorf("example.yaml does not show %s", path)
		}
	}
}

// keysOf is every key below a type, without the places in lists.
func keysOf(typ reflect.Type, path string) []string {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	var out []string
	if typ == reflect.TypeFor[Device]() {
		for _, kind := range kinds {
			out = append(out, keysOf(kind.entryType(), path)...)
		}
		return out
	}
	if typ.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range fieldsOf(typ) {
		out = append(out, join(path, f.name))
		out = append(out, keysOf(f.typ, join(path, f.name))...)
	}
	return out
}

func TestEveryKeyIsDescribed(t *testing.T) {
	var check func(typ reflect.Type, path string)
	check = func(typ reflect.Type, path string) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ == reflect.TypeFor[Device]() {
			for _, kind := range kinds {
				check(kind.entryType(), path)
			}
			return
		}
		if typ.Kind() != reflect.Struct {
			return
		}
		for _, f := range fieldsOf(typ) {
			if len(f.doc) < 4 {
				t.Errorf("%s has no doc tag", join(path, f.name))
			}
			check(f.typ, join(path, f.name))
		}
	}
	check(reflect.TypeFor[Config](), "")
}

func TestExampleShowsTheDefaults(t *testing.T) {
	cfg, err := Parse("example.yaml", Example, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	usual := defaultConfig()
	usual.Service.Wire.Zone = cfg.Zone
	if !reflect.DeepEqual(cfg.Service.Wire, usual.Service.Wire) || cfg.Service.Segments != usual.Service.Segments {
		t.Errorf("wire in the example\n%+v\ndefaults\n%+v", cfg.Service.Wire, usual.Service.Wire)
	}
	for key, x := range map[string][2]any{
		"loads": {cfg.Loads, usual.Loads}, "link": {cfg.Link, Link{Rate: 1}}, "log": {cfg.Log, usual.Log}, "store": {cfg.Store, usual.Store},
		"production_day": {cfg.ProductionDay, usual.ProductionDay},
	} {
		if !reflect.DeepEqual(x[0], x[1]) {
			t.Errorf("%s in the example\n%+v\ndefaults\n%+v", key, x[0], x[1])
		}
	}
}

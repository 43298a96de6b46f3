package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever the bytes are, the answer is a configuration that prints as what it is, or problems that have
// a place in the file.
func FuzzParse(f *testing.F) {
	f.Add(Example)
	f.Add(withLeftOut(Example))
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range append(files, "testdata/good.yaml") {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, s := range []string{"", "a", "- a", "---", "? I", "a: &a [*a]", "<<: *x", "? {a: b}\n: c", "site: !!binary aGk=", "devices: [{modbus: }]",
		"devices: [{name: a, modbus: tcp://h, template: vegaflex, only: [level, sv], shift: 1, points: [&x {name: level, good_when: }, *x, a, [b], {<<: *x}]}]",
		"tanks: [{strapping: [[0, 0], [1, 1]], height: 1in, diameter: 1in}]", "%YAML 1.1\n---\nsite: x", "site: \"\\ud800\"", "a: 'b\n\nc'\n d: e"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		cfg, err := Parse("f.yaml", b, "testdata")
		if err == nil {
			reparsed(t, cfg)
			return
		}
		ps, ok := errors.AsType[Problems](err)
		if !ok || len(ps) == 0 || cfg != nil {
			t.Fatalf("%v, %v", cfg, err)
		}
		last := bytes.Count(b, []byte("\n")) + bytes.Count(b, []byte("\r")) + bytes.Count(b, []byte("\u0085")) +
			bytes.Count(b, []byte("\u2028")) + bytes.Count(b, []byte("\u2029")) + 1
		for _, p := range ps {
			if p.File != "f.yaml" || p.Line < 1 || p.Line > last || p.Column < 1 || p.Message == "" {
				t.Errorf("%+v in a file of %d lines; want its name, a line and column in it, and a message", p, last)
			}
		}
	})
}

func reparsed(t *testing.T, cfg *Config) {
	var b bytes.Buffer
	if err := cfg.Print(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Parse("printed.yaml", b.Bytes(), "")
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if again.Hash() != cfg.Hash() {
		t.Errorf("hash %08x, printed and read again %08x\n%s", cfg.Hash(), again.Hash(), b.String())
	}
}

func BenchmarkParseExample(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("example.yaml", Example, ""); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWrongFile is the time of a check that ends with mistakes, which a person waits for.
func BenchmarkWrongFile(b *testing.B) {
	large := append(bytes.Clone(Example), strings.Repeat("# a long remark on the site\n", 3000)...)
	for name, text := range map[string][]byte{
		"keys":   bytes.ReplaceAll(Example, []byte("unit"), []byte("unti")),
		"syntax": bytes.Replace(Example, []byte("range: [0, 240]"), []byte("range: [0, 240"), 1),
		"quote":  bytes.Replace(large, []byte(`"07:00"`), []byte(`"07:00`), 1),
		"huge":   bytes.Repeat([]byte("site: [a, b]\n"), maxBytes/13),
		"flow":   append(bytes.Repeat([]byte("[a, "), maxDepth), bytes.Repeat([]byte("b, "), maxBytes/4)...),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Parse("wrong.yaml", text, ""); err == nil {
					b.Fatal("no mistake found")
				}
			}
		})
	}
}

func BenchmarkSchema(b *testing.B) {
	for b.Loop() {
		Schema()
	}
}

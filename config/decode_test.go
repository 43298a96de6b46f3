package config

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"gauger/agent/tank"

	"go.yaml.in/yaml/v3"
)

func TestScalars(t *testing.T) {
	type values struct {
		Int      int           `yaml:"int"`
		Float    float64       `yaml:"float"`
		Bool     bool          `yaml:"bool"`
		Text     string        `yaml:"text"`
		Duration time.Duration `yaml:"duration"`
		Length   tank.Length   `yaml:"length"`
		Size     Size          `yaml:"size"`
		Rate     Rate          `yaml:"rate"`
		Day      TimeOfDay     `yaml:"day"`
	}
	for _, c := range []struct {
		text string
		want any // the field's value, or the needed part of the message
	}{
		{"int: 12", 12}, {"int: -3", -3}, {"int: 0x10", 16}, {"int: 0", 0}, {"int: 012", "write 12"}, {"int: 00", "write 0"},
		{"int: 1.5", "whole number"}, {"int: 1e3", "whole number"}, {"int: 99999999999999999999", "whole number"}, {"int: a", "whole number"},
		{"float: 0.5", 0.5}, {"float: -1e3", -1000.0}, {"float: 1_000", 1000.0}, {"float: \"0,83\"", "write 0.83"}, {"float: .nan", "not a number"}, {"float: -.inf", "not a number"},
		{"bool: true", true}, {"bool: false", false}, {"bool: on", "write true"}, {"bool: no", "write false"}, {"bool: 1", "true or false"},
		{"text: 1001", "1001?"}, {"text: 007", "007?"}, {"text: true", "true?"}, {"text: \"\"", "?"}, {"text:", "no value"}, {"text: {a: b}", "one value is wanted"},
		{"duration: 1m30s", 90 * time.Second}, {"duration: 0s", time.Duration(0)}, {"duration: 1.5h", 90 * time.Minute}, {"duration: 5", "write 5ms, 5s, 5m or 5h"},
		{"duration: 5 s", "not a duration"}, {"duration: -1s", "negative"}, {"duration: 300000000h", "not a duration"}, {"duration: 7d", "write 168h"},
		{"length: 20ft", tank.Length(240)}, {"length: 14-03-1", tank.Length(171.25)}, {"length: 12", tank.Length(12)}, {"length: 1.2m", tank.Length(1.2 / 0.0254)}, {"length: tall", "14'3 1/4"},
		{"size: 64MiB", Size(64 << 20)}, {"size: 1GiB", Size(1 << 30)}, {"size: 2 kB", Size(2000)}, {"size: 1024", Size(1024)}, {"size: 0.5KiB", Size(512)},
		{"size: -1MiB", "64MiB"}, {"size: 0.3", "64MiB"}, {"size: 1e30", "64MiB"}, {"size: MiB", "64MiB"}, {"size: NaN", "64MiB"},
		{"rate: 2", Rate(2)}, {"rate: off", Rate(0)}, {"rate: 0", "off"}, {"rate: fast", "off"},
		{"day: \"07:00\"", TimeOfDay(7 * time.Hour)}, {"day: 23:59", TimeOfDay(23*time.Hour + 59*time.Minute)}, {"day: 7:00", "07:00"}, {"day: 12:60", "07:00"},
	} {
		v, ps := decodeText[values](t, c.text)
		key, _, _ := strings.Cut(c.text, ":")
		got := reflect.ValueOf(v).FieldByNameFunc(func(n string) bool { return strings.EqualFold(n, key) })
		want, isText := c.want.(string)
		switch text, of := strings.CutSuffix(want, "?"); {
		case isText && of:
			if got.String() != text || len(ps) > 0 {
				t.Errorf("%s: %q, %v; want %q", c.text, got, ps, text)
			}
		case isText:
			if len(ps) != 1 || !strings.Contains(ps[0].Message, want) {
				t.Errorf("%s: %v, %v; want a problem with %q", c.text, got, ps, want)
			}
		case len(ps) > 0 || got.Interface() != c.want:
			t.Errorf("%s: %v, %v; want %v", c.text, got, ps, c.want)
		}
	}
}

// decodeText decodes one block of keys into a T.
func decodeText[T any](t *testing.T, text string) (T, []Problem) {
	t.Helper()
	var v T
	root, f := parse([]byte(text))
	if f != nil {
		t.Fatalf("%q: %v", text, f)
	}
	d := &decoder{file: "f", last: lastLine([]byte(text)), loads: new(tank.Loads), home: homeOf, open: map[*yaml.Node]bool{}}
	d.decode(root, settable(&v), "")
	return v, d.problems
}

func TestSizesAreWrittenAsTheyAreRead(t *testing.T) {
	for s, want := range map[Size]string{64 << 20: "64MiB", 1 << 30: "1GiB", 1536: "1536", 0: "0", 3 << 10: "3KiB"} {
		var back Size
		if err := back.UnmarshalText([]byte(s.String())); s.String() != want || err != nil || back != s {
			t.Errorf("%d: %q, back %d, %v; want %q", s, s.String(), back, err, want)
		}
	}
}

func TestAliasesAndMerges(t *testing.T) {
	type inner struct {
		A int `yaml:"a"`
		B int `yaml:"b"`
	}
	type outer struct {
		One  inner   `yaml:"one"`
		Two  inner   `yaml:"two"`
		Many []inner `yaml:"many"`
		Grid [][]int `yaml:"grid"`
	}
	v, ps := decodeText[outer](t, "one: &x {a: 1, b: 2}\ntwo: {<<: *x, b: 3}\nmany: [*x, {<<: [{a: 7}, *x]}]\ngrid: [[1], []]\n")
	want := outer{inner{1, 2}, inner{1, 3}, []inner{{1, 2}, {7, 2}}, [][]int{{1}, {}}}
	if len(ps) > 0 || !reflect.DeepEqual(v, want) {
		t.Errorf("got %+v, %v; want %+v", v, ps, want)
	}
	for text, say := range map[string]string{
		"one: &x {a: 1, <<: *x}": "inside itself",
		"grid: &g [*g]":          "inside itself",
		"one: {<<: 4}":           "the name of a mapping",
		"one: {[a]: 4}":          "a key is one word",
		"one: &x {c: 1}\ntwo: 4": "keys are wanted",
	} {
		_, ps := decodeText[outer](t, text)
		if !strings.Contains(Problems(ps).Error(), say) {
			t.Errorf("%s: %v; want ...%s...", text, ps, say)
		}
	}
}

func TestSmallFilesThatUnfoldEndlesslyAreRefused(t *testing.T) {
	var tags, bombs, merges strings.Builder
	tags.WriteString("x0: &x0 [{a: 1}]\n")
	merges.WriteString("m0: &m0 {a: 1}\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&bombs, "x%d: &x%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*x%d, ", i-1), 9))
		fmt.Fprintf(&merges, "m%d: &m%d {<<: [%s]}\n", i, i, strings.Repeat(fmt.Sprintf("*m%d, ", i-1), 9))
	}
	for name, text := range map[string]string{
		"lists":  tags.String() + bombs.String() + "devices: *x29\n",
		"merges": merges.String() + "store: *m29\ndevices: [*m29, *m29]\n",
		"deep":   "devices: " + strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"deeper": "devices: " + strings.Repeat("[", 100_000),
		"huge":   "site: " + strings.Repeat("x", maxBytes),
		"many":   strings.Repeat("k: 1\n", 50_000),
	} {
		_, err := Parse("f", []byte(text), "")
		ps, _ := err.(Problems)
		if len(ps) == 0 || len(ps) > maxProblems+1 {
			t.Errorf("%s: %d problems", name, len(ps))
		}
	}
}

func TestManyMistakesEndWithAWord(t *testing.T) {
	text := "site: a\n" + strings.Repeat("site: b\n", 500)
	ps := problemsOf(t, text)
	if len(ps) != maxProblems+1 || !strings.Contains(ps[maxProblems].Message, "more mistakes follow") {
		t.Errorf("%d problems, the last %v", len(ps), ps[len(ps)-1])
	}
}

func TestNearWords(t *testing.T) {
	words := []string{"level", "interface", "height", "bsw", "top_temperature", "battery-plc/tk1-level"}
	for got, want := range map[string]string{
		"levle": "level", "levl": "level", "Level": "level", "LEVEL": "level", "interfaces": "interface", "hieght": "height",
		"bws": "bsw", "toptemperature": "top_temperature", "top-temperature": "top_temperature", "battery-plc/tk2-level": "battery-plc/tk1-level",
		"colour": "", "x": "", "": "", strings.Repeat("level", 100): "",
	} {
		if Nearest(got, words) != want {
			t.Errorf("near %q: %q, want %q", got, Nearest(got, words), want)
		}
	}
	points := []string{"plc/tk1-level", "plc/tk2-level", "radar/tk3-level", "radar2/tk3-level", "broker/tk4-level"}
	for got, want := range map[string]string{"plc/tk4-level": "broker/tk4-level", "radr/tk3-level": "radar/tk3-level", "plc/TK4-level": "broker/tk4-level", "plc/tk9-level": "plc/tk1-level"} {
		if Nearest(got, points) != want {
			t.Errorf("near %q: %q, want %q", got, Nearest(got, points), want)
		}
	}
	for pair, want := range map[[2]string]int{{"abc", "abc"}: 0, {"abc", "acb"}: 1, {"abc", "ab"}: 1, {"", "abc"}: 3, {"abc", "xyz"}: 3, {"abcd", "bacd"}: 1} {
		if got := distance(pair[0], pair[1]); got != want {
			t.Errorf("%q: %d, want %d", pair, got, want)
		}
	}
}

func TestPathsAreFound(t *testing.T) {
	root, _ := parse([]byte("a:\n  - x: 1\n    y: [1, 2]\nb: &b {c: 3}\nd: *b\ne: {<<: *b}\n"))
	for path, line := range map[string]int{"a[0].x": 2, "a[0].y[1]": 3, "d.c": 4, "e.c": 4} {
		if n, there := locate(root, path); !there || n.Line != line {
			t.Errorf("%s: line %d, %t; want %d", path, n.Line, there, line)
		}
	}
	for path, line := range map[string]int{"a[0].z": 2, "a[7].x": 2, "f": 1, "b.c.d": 4, "a[x]": 2} {
		if n, there := locate(root, path); there || n.Line != line {
			t.Errorf("%s: line %d, %t; want the block at line %d", path, n.Line, there, line)
		}
	}
}

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mistake is one edit of testdata/good.yaml, and the one problem it must make.
type mistake struct {
	name     string
	old, new string // first occurrence of old becomes new
	line     int
	path     string
	say      string // part of the message
}

func good(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// problemsOf parses a text that must have mistakes.
func problemsOf(t *testing.T, text string) Problems {
	t.Helper()
	cfg, err := Parse("gauger.yaml", []byte(text), "testdata")
	ps, ok := errors.AsType[Problems](err)
	if !ok || cfg != nil {
		t.Fatalf("Parse gave %v, %v; want no configuration and Problems", cfg, err)
	}
	return ps
}

func TestGoodFileLoadsSilently(t *testing.T) {
	cfg, err := Load("testdata/good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range besideTheKey(cfg.Warnings) {
		t.Error("warning:", w)
	}
}

func TestEachMistakeIsToldOnceAtItsLine(t *testing.T) {
	base := good(t)
	all := [][]mistake{syntaxMistakes, siteMistakes, serviceMistakes, deviceMistakes, lineMistakes, pointMistakes, tankMistakes, strappingMistakes, eventMistakes}
	count := 0
	names := map[string]bool{}
	for _, list := range all {
		for _, m := range list {
			count++
			if names[m.name] {
				t.Errorf("two cases are called %q", m.name)
			}
			names[m.name] = true
			t.Run(m.name, func(t *testing.T) { m.check(t, base) })
		}
	}
	if count < 60 {
		t.Errorf("%d mistakes; want at least 60", count)
	}
}

func (m mistake) check(t *testing.T, base string) {
	if !strings.Contains(base, m.old) {
		t.Fatalf("good.yaml does not hold %q", m.old)
	}
	ps := problemsOf(t, strings.Replace(base, m.old, m.new, 1))
	if len(ps) != 1 {
		t.Errorf("%d problems, want 1:\n%v", len(ps), ps)
	}
	p := ps[0]
	if p.Line != m.line || p.Path != m.path || !strings.Contains(p.Message, m.say) || p.File != "gauger.yaml" || p.Column < 1 {
		t.Errorf("got  %v\nwant line %d, %s: ...%s...", p, m.line, m.path, m.say)
	}
	if !strings.HasPrefix(p.Path, "devices[") && !strings.ContainsAny(p.Message, ";?:") {
		t.Errorf("%q does not say what would be right", p.Message)
	}
}

func TestTenMistakesShowTen(t *testing.T) {
	_, err := Load(filepath.Join("testdata", "broken", "ten.yaml"))
	ps, _ := errors.AsType[Problems](err)
	var got []string
	for _, p := range ps {
		got = append(got, p.Path)
	}
	want := []string{"id", "time_zone", "service.url", "service.primry_key", "store.max_bytes", "devices[0].every",
		"devices[0].points[0].type", "tanks[0].level", "tanks[0].strapping[2]", "events[0].above"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Fatalf("got  %v\nwant %v\n%v", got, want, err)
	}
	for i, line := range []int{2, 4, 6, 7, 8, 12, 14, 17, 19, 24} {
		if ps[i].Line != line {
			t.Errorf("%v: want line %d", ps[i], line)
		}
	}
}

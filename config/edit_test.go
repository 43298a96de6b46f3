package config

import (
	"strings"
	"testing"
)

func TestOneValueOfATankIsChangedAndNothingElse(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"a new key behind the id", "tanks:\n  # west\n  - id: TK-1   # the old one\n    height: 20ft\n\n  - {id: TK-2, height: 16ft}\n",
			"tanks:\n  # west\n  - id: TK-1   # the old one\n    offset: 1.25in   # seen\n    height: 20ft\n\n  - {id: TK-2, height: 16ft}\n"},
		{"the id is not the first key, and ends the file", "tanks:\n- height: 20ft\n  id: TK-1", "tanks:\n- height: 20ft\n  id: TK-1\n  offset: 1.25in   # seen\n"},
		{"an old value with its comment", "tanks:\n  - id: TK-1\n    offset: 0in  # from commissioning\n", "tanks:\n  - id: TK-1\n    offset: 1.25in  # from commissioning   # seen\n"},
		{"an old value without one", "tanks:\n  - id: TK-1\n    offset: -0.5in\n    height: 1ft\n", "tanks:\n  - id: TK-1\n    offset: 1.25in   # seen\n    height: 1ft\n"},
		{"quoted", "tanks:\n  - id: \"TK-1\"\n    offset: \"0'1\\\"\"\n", ""},
		{"quoted plainly", "tanks:\n  - id: 'TK-1'\n    offset: '1in' # was\n", "tanks:\n  - id: 'TK-1'\n    offset: 1.25in # was   # seen\n"},
		{"in braces", "tanks: [{id: TK-2}, {id: TK-1, height: 20ft}] # two\n", "tanks: [{id: TK-2}, {id: TK-1, offset: 1.25in, height: 20ft}] # two   # TK-1: seen\n"},
		{"in braces, there", "tanks:\n  - {id: TK-1, offset: 0in, height: 20ft}\n", "tanks:\n  - {id: TK-1, offset: 1.25in, height: 20ft}   # TK-1: seen\n"},
		{"letters of several bytes before it", "tanks:\n  - {comments: \"für Öl\", id: TK-1, offset: 0in}\n", "tanks:\n  - {comments: \"für Öl\", id: TK-1, offset: 1.25in}   # TK-1: seen\n"},
		{"in braces over two lines", "tanks:\n  - {id: TK-1,\r\n     height: 20ft}\n", "tanks:\n  - {id: TK-1, offset: 1.25in,   # TK-1: seen\r\n     height: 20ft}\n"},
		{"a text goes on over the line's end", "tanks:\n  - {id: TK-1, comments: \"a\n     b\"}\n", "tanks:\n  - {id: TK-1, offset: 1.25in, comments: \"a\n     b\"}\n"},
		{"by alias", "x: &o 1in\ntanks:\n  - id: TK-1\n    offset: *o\n", ""},
		{"the whole tank by alias", "x: &t {id: TK-1}\ntanks:\n  - *t\n", ""},
		{"no such tank", "tanks:\n  - id: TK-9\n", ""},
		{"no tanks", "site: x\n", ""},
		{"over two lines", "tanks:\n  - id: TK-1\n    offset:\n      1in\n", ""},
		{"not YAML", "tanks: [", ""},
	} {
		got, err := SetTank([]byte(tt.before), "TK-1", "offset", "1.25in", "seen")
		if string(got) != tt.after || (err == nil) != (tt.after != "") {
			t.Errorf("%s:\n%s\n%v", tt.name, got, err)
		}
	}
}

func TestANoteTakesThePlaceOfTheOneOfAnEarlierCommissioning(t *testing.T) {
	const first, again = "2026-03-02, ann: gauged 15-04-1, read 15-03-0", "2026-04-01, bob: gauged 15-04-2, read 15-03-0"
	for _, tt := range []struct{ before, after string }{
		{"tanks:\n  - id: TK-1\n    height: 20ft\n", "tanks:\n  - id: TK-1\n    offset: 2in   # " + again + "\n    height: 20ft\n"},
		{"tanks:\n  - id: TK-1\n    offset: 0in   # added\n", "tanks:\n  - id: TK-1\n    offset: 2in   # added   # " + again + "\n"},
		{"tanks: [{id: TK-1}, {id: TK-2}]   # two\n", "tanks: [{id: TK-1, offset: 2in}, {id: TK-2, offset: 2in}]   # two   # TK-1: " + again + "   # TK-2: " + again + "\n"},
	} {
		text := []byte(tt.before)
		for _, note := range []string{first, again} {
			for _, id := range []string{"TK-1", "TK-2"} {
				if changed, err := SetTank(text, id, "offset", "2in", note); err == nil {
					text = changed
				}
			}
		}
		if string(text) != tt.after {
			t.Errorf("%s\nwant\n%s", text, tt.after)
		}
	}
}

func TestEachTankOfTheExampleCanBeGivenAnOffset(t *testing.T) {
	cfg, err := Parse("example.yaml", Example, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := Example
	for i, tank := range cfg.Tanks {
		if text, err = SetTank(text, tank.ID, "offset", "-0.75in", "by hand"); err != nil {
			t.Fatal(err)
		}
		again, err := Parse("example.yaml", text, t.TempDir())
		if err != nil || again.Tanks[i].Offset != -0.75 {
			t.Errorf("%s: offset %v, %v", tank.ID, again.Tanks[i].Offset, err)
		}
	}
	if lines := strings.Count(string(text), "\n") - strings.Count(string(Example), "\n"); lines != 1 {
		t.Errorf("%d lines more, want one: the first tank has the key", lines)
	}
}

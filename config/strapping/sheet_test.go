package strapping

import (
	"strings"
	"testing"
)

func FuzzStrapping(f *testing.F) {
	for _, s := range []string{"0,0\n240,402.87\n", "inches,barrels\n0,0\n20'0\",402\n", "# x\n\"0\",\"0\"\n", "0,0,0", "\"", "14-03-1,1", "Feet,Inches,Barrels\n0,6,10\n", "ft-in,gal\n1,2,\n", "%,\n1,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := Parse(text)
		rows, lines, err := s.rows, s.lines, s.err
		if err != nil && rows != nil || len(rows) != len(lines) {
			t.Errorf("%d rows, %d lines, %v", len(rows), len(lines), err)
		}
		if _, _, err := s.For(240); err == nil && s.err != nil && s.plain == nil {
			t.Errorf("%q cannot be read, and nothing is told", text)
		}
		last := strings.Count(text, "\n") + 1
		for _, n := range lines {
			if n < 1 || n > last {
				t.Errorf("line %d of %d", n, last)
			}
		}
	})
}

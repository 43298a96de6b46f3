package main

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gauger/agent/tank"
)

// charted is a load of 40 minutes from 200 to 80 in, with a trend each two minutes, without those between two times.
func charted(from, to int32) tank.Load {
	zone := time.FixedZone("CST", -6*3600)
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, zone)
	l := tank.Load{Tank: "TK-1", Start: start, End: start.Add(40 * time.Minute), Open: 200, Close: 80, Trend: &tank.Trend{}}
	for s := int32(-1200); s <= 2400+2700; s += 120 {
		if s >= from && s < to {
			continue
		}
		l.Trend.Seconds = append(l.Trend.Seconds, s)
		l.Trend.Level = append(l.Trend.Level, 20000-5*min(max(s, 0), 2400))
	}
	return l
}

func drawn(t *testing.T, l tank.Load, plain bool) []string {
	t.Helper()
	c, ok := chartOf(&l, l.Start.Location(), plain)
	if !ok {
		t.Fatal("there is no chart")
	}
	return c.render()
}

func TestAChartShowsTheFallInItsSize(t *testing.T) {
	for _, plain := range []bool{true, false} {
		lines := drawn(t, charted(0, 0), plain)
		if len(lines) != chartHigh+3 {
			t.Fatalf("%d lines, want %d", len(lines), chartHigh+3)
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > 80 && !strings.Contains(l, "start") {
				t.Errorf("a line of %d characters: %s", n, l)
			}
			if plain && strings.ContainsFunc(l, func(r rune) bool { return r > 126 }) {
				t.Errorf("not plain ASCII: %s", l)
			}
		}
		top, bottom := lines[0], lines[chartHigh-1]
		if !strings.HasPrefix(top, "  16-") || !strings.HasPrefix(bottom, "  06-") && !strings.HasPrefix(bottom, "  07-") {
			t.Errorf("edges %q and %q, want feet-inches-quarters of about 200 and 80 in", top, bottom)
		}
		if axis := lines[chartHigh]; strings.Index(axis, "S") >= strings.Index(axis, "E") || !strings.Contains(lines[chartHigh+1], "09:00") {
			t.Errorf("axis %q with %q", axis, lines[chartHigh+1])
		}
		if want := "S start 09:00, E end 09:40, 2026-03-02 CST"; !strings.Contains(lines[chartHigh+2], want) {
			t.Errorf("caption %q, want %q", lines[chartHigh+2], want)
		}
	}
	lines := drawn(t, charted(0, 0), true)
	before, after := lines[0][11:20], lines[chartHigh-1][11+45:11+chartWide-1]
	if strings.Contains(before, " ") || strings.Contains(after, " ") || strings.Trim(lines[0][11+30:], " |") != "" {
		t.Errorf("the level is not at the top before and at the bottom after:\n%s", strings.Join(lines, "\n"))
	}
}

// Where no reading came nothing is drawn: a line there would be an invention.
func TestAChartLeavesAGapBlank(t *testing.T) {
	lines := drawn(t, charted(300, 2100), true)
	for _, l := range lines[:chartHigh] {
		if len(l) > 11+27 && strings.Trim(l[11+18:11+27], " |") != "" {
			t.Errorf("something is drawn in the gap: %s", l)
		}
	}
}

func TestAChartOfOddTrends(t *testing.T) {
	zone := time.UTC
	for _, l := range []tank.Load{
		{}, {Trend: &tank.Trend{}}, {Trend: &tank.Trend{Seconds: []int32{1}, Level: []int32{1}}},
		{Trend: &tank.Trend{Seconds: []int32{0, 0}, Level: []int32{1, 2}}}, {Trend: &tank.Trend{Seconds: []int32{1, 2}, Level: []int32{1}}},
	} {
		if _, ok := chartOf(&l, zone, true); ok {
			t.Errorf("a chart of %+v", l.Trend)
		}
	}
	flat := tank.Load{Open: 5, Close: 5, Trend: &tank.Trend{Seconds: []int32{0, 1}, Level: []int32{500, 500}}}
	long := tank.Load{Open: 9, Close: -3, Trend: &tank.Trend{Seconds: []int32{0, 864000}, Level: []int32{900, -300}}}
	for _, l := range []tank.Load{flat, long} {
		if got := drawn(t, l, false); len(got) != chartHigh+3 {
			t.Errorf("%d lines", len(got))
		}
	}
}

func TestOnlyAUTF8TerminalGetsMoreThanASCII(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		asked bool
		want  bool
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, false, false}, {map[string]string{"LANG": "de_DE.utf8"}, false, false},
		{map[string]string{"LANG": "en_US.UTF-8", "LC_ALL": "C"}, false, true}, {map[string]string{}, false, true},
		{map[string]string{"LANG": "en_US.UTF-8"}, true, true},
	} {
		m := &call{getenv: func(name string) string { return c.env[name] }}
		if got := plainASCII(m, c.asked); got != c.want {
			t.Errorf("%v, asked %v: plain %v, want %v", c.env, c.asked, got, c.want)
		}
	}
}

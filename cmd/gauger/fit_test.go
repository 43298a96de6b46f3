package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// What is printed on a terminal is no wider than it, and loses no word; what goes into a pipe stays as it was.
func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	const text = "  ! the level of the tank is outside the tank, and this sentence is longer than anybody's telephone is wide\n" +
		"\nRECORD\tSTATE\tWHY\nmemos/12\twaiting\tthe service takes nothing for device X since the day before yesterday, at noon\n" +
		"\nNUMBER\tTANK\tSTART\tOPEN\tCLOSE\tTRUCK\tDIFF\tREMARK\nCOOPER12-7-TK-1001-20260302-01\tTK-1001\t2026-03-02 14:05\t14-03-1\t03-01-2\t88123\t0\tneeds review\n" +
		"\nNOT GOOD\tplc/level\tbad\thttp://10.20.0.5:502/averyveryverylongaddresswithoutanyblankinitwhichmustbecutsomewhereelseitiswider\n" +
		"\nTANK\tGAUGE\nTK-é\t14\n"
	for _, width := range []int{1, 20, 40, 80, 200} {
		var out strings.Builder
		w := table{out: &out, width: width}
		w.printf(text)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width >= 80 && n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
		for _, word := range []string{"telephone", "yesterday,", "noon", "88123", "review", "14-03-1"} {
			if width >= 80 && !strings.Contains(out.String(), word) {
				t.Errorf("%q is not in\n%s", word, out.String())
			}
		}
	}
	var narrow strings.Builder
	w := table{out: &narrow, width: 80}
	w.printf(text)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nmemos/12  waiting  the service takes nothing for device X since the day before\n                   yesterday, at noon\n",
		"\n    truck 88123; remark needs review\n",
		"wide\n\nRECORD    STATE    WHY\n",
		"\nTK-é  14\n",
	} {
		if !strings.Contains(narrow.String(), want) {
			t.Errorf("%q is not in\n%s", want, narrow.String())
		}
	}
	if seen := terminalWidth(&unsteered{to: openTerminal(t, 80)}); seen != 80 {
		t.Errorf("the terminal has %d columns, want 80", seen)
	}
	var pipe strings.Builder
	p := newTable(&pipe)
	p.printf("A\tB\nlonger\tx\n")
	if err := p.Flush(); err != nil || pipe.String() != "A       B\nlonger  x\n" {
		t.Errorf("%q, %v", pipe.String(), err)
	}
}

// A name or a text from elsewhere makes no cell and no row that nobody wrote.
func TestACellIsOneLine(t *testing.T) {
	for _, width := range []int{0, 80} {
		var out strings.Builder
		w := table{out: &out, width: width}
		w.printf("ID\tNAME\tERROR\n%s\t%s\t%v\n", "1", "tank\n2\tgood\tfull", errors.New("it\nsays"))
		w.printf("%s\t%d\n", columns{"a\tb", "c\n"}, 3)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		const want = "ID    NAME                 ERROR\n1     tank\\n2\\tgood\\tfull  it\\nsays\na\\tb  c\\n                  3\n"
		if out.String() != want {
			t.Errorf("in %d columns:\n%s\nwant\n%s", width, out.String(), want)
		}
	}
}

// openTerminal is the master of a terminal with so many columns.
func openTerminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return f
}

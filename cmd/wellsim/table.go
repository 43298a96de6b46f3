package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	leftWidth  = 47
	rightWidth = 46
)

// teller speaks to the person at the terminal.
type teller struct {
	out    io.Writer
	colour bool
	begin  time.Time
}

// newTeller uses colours only on a terminal whose user has not asked for none.
func newTeller(out *os.File) *teller {
	info, err := out.Stat()
	colour := err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &teller{out: out, colour: colour, begin: time.Now()}
}

// Colours of the four kinds of lines.
const (
	plain  = ""
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	bold   = "\x1b[1m"
	reset  = "\x1b[0m"
)

func (t *teller) paint(colour, s string) string {
	if !t.colour || colour == plain {
		return s
	}
	return colour + s + reset
}

// say prints one line: seconds since the start, the site's time of day, what happened.
func (t *teller) say(clock, colour, format string, args ...any) {
	since := time.Since(t.begin).Round(time.Second).Seconds()
	fmt.Fprintf(t.out, "%4.0f s  %-5s  %s\n", since, clock, t.paint(colour, fmt.Sprintf(format, args...)))
}

// table prints what the site did beside what the service has, in at most 100 columns, and what is to be said under it.
func (t *teller) table(lines []resultLine, under string) {
	fmt.Fprintf(t.out, "\n%s\n", t.paint(bold, fit("WHAT THE SITE DID", leftWidth)+" | WHAT THE SERVICE HAS"))
	fmt.Fprintln(t.out, strings.Repeat("-", leftWidth)+"-+-"+strings.Repeat("-", 100-leftWidth-3))
	for _, l := range lines {
		verdict := t.paint(green, "ok")
		if !l.ok {
			verdict = t.paint(red, "NO")
		}
		fmt.Fprintf(t.out, "%s | %s %s\n", fit(l.left, leftWidth), fit(l.right, rightWidth), verdict)
	}
	verdict := t.paint(green, "Everything agrees.")
	if !agreed(lines) {
		verdict = t.paint(red, "They do NOT agree.")
	}
	fmt.Fprintf(t.out, "\n%s\n%s\n\n", under, verdict)
}

// fit makes a text exactly so wide.
func fit(s string, width int) string {
	n := utf8.RuneCountInString(s)
	if n <= width {
		return s + strings.Repeat(" ", width-n)
	}
	return string([]rune(s)[:width-1]) + "~"
}

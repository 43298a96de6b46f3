package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"gauger/agent/dialogue"
	"gauger/agent/ledger"
	"gauger/agent/tank"
)

// unsteered is where everything goes that a command says. A character that would steer the terminal, or show a text in another order
// than it has, comes from a device, a service, a socket or a file of somebody else's: it is shown as Go and JSON write it, so that
// what a program reads keeps its meaning. Our own steering (scan) goes to the file itself.
type unsteered struct {
	mu    sync.Mutex
	to    io.Writer
	folds bool   // on a terminal a line that is wider goes on below itself
	torn  []byte // the beginning of a character whose rest comes with the next Write
}

// verbatim is a stream whose lines nobody breaks: a program reads them, or a person copies them.
func verbatim(w io.Writer) io.Writer {
	if u, ok := w.(*unsteered); ok {
		return &unsteered{to: u.to}
	}
	return w
}

func (l *unsteered) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := slices.Concat(l.torn, b)
	l.torn = nil
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			l.torn = text
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, "\\x%02x", text[0])
		case steers(r):
			out = fmt.Appendf(out, "\\u%04x", r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	if l.folds {
		if width := terminalWidth(l.to); width > 0 {
			out = []byte(dialogue.FoldTo(string(out), width))
		}
	}
	if _, err := l.to.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// steers says whether a character does something else than to stand in its place: control characters, those that turn the
// direction of writing, separators of lines and paragraphs, and the mark of a byte order.
func steers(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff')
}

func printf(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format, args...)
	return err
}

// either is the first of two texts where something holds, else the second.
func either(holds bool, yes, no string) string {
	if holds {
		return yes
	}
	return no
}

// when is a text where something holds, else nothing.
func when(holds bool, text string) string { return either(holds, text, "") }

// behind is a text behind what leads to it, and nothing where there is none.
func behind(lead, text string) string { return when(text != "", lead+text) }

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// writeFile writes a result into a file; mode is that of a new one. An older file stays as it is until the result is whole: that
// is written beside it and then takes its place. What is no plain file, such as a pipe, is written itself, and so is one
// beside which nothing can be made.
func writeFile(path, what string, mode os.FileMode, write func(io.Writer) error) error {
	old, err := os.Stat(path)
	beside := err != nil || old.Mode().IsRegular()
	var f *os.File
	if beside {
		path, f, err = besideFile(path, mode)
		beside = old == nil || err == nil
	}
	if !beside {
		f, err = os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, mode)
	}
	if err != nil {
		return fmt.Errorf("%s: open %s: %w", what, path, errors.Unwrap(err))
	}
	if err = write(f); beside {
		err = takePlace(f, path, old, err)
	} else {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("%s to %s: %w", what, path, err)
	}
	return nil
}

// replaceFile puts text in the place of a file, all or nothing, with the rights that it has.
func replaceFile(path string, text []byte) error {
	real, f, err := besideFile(path, 0o644)
	if err != nil {
		return err
	}
	old, err := os.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	_, wrote := f.Write(text)
	return takePlace(f, real, old, errors.Join(err, wrote))
}

// besideFile opens a new file for what takes the place of path, or of the file to which that leads.
func besideFile(path string, mode os.FileMode) (real string, f *os.File, err error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	f, err = os.OpenFile(fmt.Sprintf("%s.%d.part", path, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return path, f, err
}

// takePlace closes a written file and gives it its name, and mode and owner of the old one where there is one; wrote is what went
// wrong until then, with which it is removed.
func takePlace(f *os.File, path string, old os.FileInfo, wrote error) error {
	err := wrote
	if old != nil {
		err = errors.Join(err, f.Chmod(old.Mode().Perm()))
		if was, ok := old.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
			err = errors.Join(err, f.Chown(int(was.Uid), int(was.Gid)))
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// countText is "1 tank" or "2 tanks".
func countText(n int, noun string) string { return ledger.Plural(n, noun) }

// figureText prints a figure with so many places, or nothing.
func figureText(v *float64, places int) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', places, 64)
}

// levelText is a level in inches; one that the service has in another unit keeps what the barrels are reckoned of.
func levelText(in *float64) string {
	return either(in != nil && math.Abs(*in-hundredths(*in)) > 1e-6, figureText(in, 4), figureText(in, 2))
}

// hundredths is a volume as it is printed with two places.
func hundredths(v float64) float64 { return math.Round(v*100) / 100 }

func orDash(text string) string { return cmp.Or(text, "-") }

// zonedText is a time in a layout, empty where there is none.
func zonedText(t time.Time, zone *time.Location, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.In(zone).Format(layout)
}

// statusText is the status of an answer; empty where none came.
func statusText(status int) string { return when(status != 0, strconv.Itoa(status)) }

// spreadsheetText keeps a spreadsheet from taking a text for a formula: what begins as one gets an apostrophe before it.
func spreadsheetText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

func durationText(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%.1f ms", milliseconds(d))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond)) / float64(time.Millisecond)
}

// spokenDuration is a duration as people say it.
func spokenDuration(d time.Duration) string {
	switch m := d.Minutes(); {
	case m < 1.5:
		return countText(int(d.Seconds()+0.5), "second")
	case m < 120:
		return countText(int(m+0.5), "minute")
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}

// gaugeText is a level (inches) as a gauger writes it.
func gaugeText(inches float64) string { return tank.Length(inches).Gauge() }

// timeText is the site's date and time of day.
func timeText(t time.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	return clockText(t.In(zone), "2006-01-02 15:04")
}

// clockText is a time as the site's clocks show it, with the zone's name where they show it twice: they are set back in that night.
func clockText(t time.Time, layout string) string {
	for _, beside := range []time.Time{t.Add(-time.Hour), t.Add(time.Hour)} {
		if beside.Format(time.DateTime) == t.Format(time.DateTime) {
			layout += " MST"
		}
	}
	return t.Format(layout)
}

// oneLine is a text from outside without anything that could end a comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// signedText is a difference with its sign; one that rounds to nothing is +0, never -0.
func signedText(v float64, places int) string {
	scale := math.Pow10(places)
	return fmt.Sprintf("%+.*f", places, math.Round(v*scale)/scale+0)
}

// joinOr is "text or json", or "text, json or csv".
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

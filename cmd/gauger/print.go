package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gauger/agent/tank"
)

// printJSON prints v for a program.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// writeFile writes a result into a file.
func writeFile(path, what string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("%s to %s: %w", what, path, err)
	}
	return nil
}

// firstLine is the first line of a longer text.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// countText is "1 tank" or "2 tanks".
func countText(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// figureText prints a figure with so many places, or nothing.
func figureText(v *float64, places int) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', places, 64)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// spreadsheetText keeps a spreadsheet from taking a text for a formula: what begins as one gets an apostrophe before it.
func spreadsheetText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r\n", rune(s[0])) {
		return "'" + s
	}
	return s
}

// durationText is a duration for the eye.
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
	return t.In(zone).Format("2006-01-02 15:04")
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

// sortedNames are the names of a set, in order.
func sortedNames[V any](set map[string]V) []string {
	var names []string
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// joinOr is "text or json", or "text, json or csv".
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

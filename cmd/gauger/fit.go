package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// terminalOf is the terminal behind a stream; nil: there is none, and at its other end may be a program.
func terminalOf(stream any) *os.File {
	if u, ok := stream.(*unsteered); ok {
		stream = u.to
	}
	if file, ok := stream.(*os.File); ok {
		if _, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ); err == nil {
			return file
		}
	}
	return nil
}

// terminalWidth is how many columns the terminal behind w has; 0: there is none, or it does not say.
func terminalWidth(w io.Writer) int {
	if file := terminalOf(w); file != nil {
		if size, err := unix.IoctlGetWinsize(int(file.Fd()), unix.TIOCGWINSZ); err == nil {
			return int(size.Col)
		}
	}
	return 0
}

// table aligns cells with tabs between them. On a terminal nothing is wider than it: a last column that is too long goes on
// below itself, other columns that have no room stand below their row, each behind its name. Anywhere else the lines
// stay as long as they are.
type table struct {
	text  bytes.Buffer
	out   io.Writer
	width int  // 0: any
	right bool // cells stand at the right of their columns
	// The last column is copied into a configuration: where it has no room it stands below its row, whole and without its name.
	copied bool
}

// columns are several cells of a row.
type columns []string

// printf adds text. Tabs and ends of lines stand in the format: those in what is put into it come from a device, the service or
// a file, and would make cells and rows that nobody wrote, so they are shown as Go and JSON write them.
func (t *table) printf(format string, args ...any) {
	cells := make([]any, len(args))
	for i, a := range args {
		cells[i] = cell{a}
	}
	fmt.Fprintf(&t.text, format, cells...)
}

// cell is what a format puts into a table.
type cell struct{ v any }

var flat = strings.NewReplacer("\t", `\t`, "\n", `\n`)

func (c cell) Format(s fmt.State, verb rune) {
	all, several := c.v.(columns)
	if !several {
		_, _ = flat.WriteString(s, fmt.Sprintf(fmt.FormatString(s, verb), c.v)) // into memory
	}
	for i, v := range all {
		_, _ = flat.WriteString(s, v)
		if i < len(all)-1 {
			_, _ = io.WriteString(s, "\t")
		}
	}
}

func newTable(w io.Writer) *table { return &table{out: w, width: terminalWidth(w)} }

// Flush writes what has come since the last time.
func (t *table) Flush() error {
	text := t.text.String()
	t.text.Reset()
	if t.width > 0 {
		_, err := io.WriteString(t.out, t.fit(text))
		return err
	}
	var flags uint
	if t.right {
		flags = tabwriter.AlignRight
	}
	w := tabwriter.NewWriter(t.out, 0, 0, cellGap, ' ', flags)
	if _, err := io.WriteString(w, text); err != nil {
		return err
	}
	return w.Flush()
}

const (
	cellGap  = 2  // columns between two cells
	leastRun = 30 // columns that are enough for a text to go on below itself
	inset    = 4  // of what stands below its row
)

// fit lays out tables and sentences within the width. Lines in a row that have tabs are one table.
func (t *table) fit(text string) string {
	var b strings.Builder
	var rows [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.Contains(line, "\t") {
			rows = append(rows, strings.Split(line, "\t"))
			continue
		}
		t.fitRows(&b, rows)
		rows = nil
		start := len(line) - len(strings.TrimLeft(line, " !"))
		fold(&b, line[:start], line[start:], min(start, inset), t.width)
	}
	t.fitRows(&b, rows)
	return b.String()
}

// fitRows lays out one table.
func (t *table) fitRows(b *strings.Builder, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	width, whole, used := t.width, 0, 0 // leading columns that have room, and how much of it they take
	for whole < len(widths) && used+widths[whole] <= width {
		used += widths[whole] + cellGap
		whole++
	}
	runs := whole == len(widths)-1 && width-used >= leastRun && !t.copied // the last column goes on below itself
	head := rows[0]
	named := strings.Join(head, "") == strings.ToUpper(strings.Join(head, ""))
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row[:min(whole, len(row))] {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if t.right {
				cell, pad = pad+cell, ""
			}
			line.WriteString(cell + pad + strings.Repeat(" ", cellGap))
		}
		rest := row[min(whole, len(row)):]
		switch {
		case runs && len(rest) > 0:
			fold(b, line.String(), rest[0], used, width)
			continue
		case t.copied && n > 0:
			fold(b, line.String(), "", 0, width)
			for _, text := range rest {
				fold(b, strings.Repeat(" ", inset), text, inset+2, width)
			}
		case n > 0 || !named:
			fold(b, line.String(), "", 0, width)
			fold(b, strings.Repeat(" ", inset), belowRow(rest, head, whole, named), inset, width)
		default:
			fold(b, line.String(), "", 0, width)
		}
	}
}

// belowRow is what has no room in a row, each cell behind the name of its column; nothing and zero are left out.
func belowRow(rest, head []string, whole int, named bool) string {
	var all []string
	for i, cell := range rest {
		switch {
		case cell == "" || cell == "-" || cell == "0":
		case named && whole+i < len(head):
			all = append(all, strings.ToLower(head[whole+i])+" "+cell)
		default:
			all = append(all, cell)
		}
	}
	return strings.Join(all, "; ")
}

// fold writes before and then text, word by word; what has no room goes on in the next line behind indent columns. A word
// that is wider than a line is cut.
func fold(b *strings.Builder, before, text string, indent, width int) {
	if strings.TrimSpace(before) == "" && text == "" {
		if before == "" {
			b.WriteByte('\n')
		}
		return
	}
	line, empty := before, true
	end := func() {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		line, empty = strings.Repeat(" ", indent), true
	}
	for _, word := range strings.Fields(text) {
		for {
			gap := " "
			if empty {
				gap = ""
			}
			room := width - utf8.RuneCountInString(line) - len(gap)
			switch {
			case utf8.RuneCountInString(word) <= room:
				line, empty = line+gap+word, false
			case !empty:
				end()
				continue
			default:
				cut := []rune(word)
				room = max(room, 1)
				line, word = line+string(cut[:min(room, len(cut))]), string(cut[min(room, len(cut)):])
				end()
				if word != "" {
					continue
				}
			}
			break
		}
	}
	if !empty || strings.TrimSpace(line) != "" {
		end()
	}
}

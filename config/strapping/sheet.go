// Package strapping reads the strapping sheet of a tank and doubts what no tank is: sheet.go the rows and what the version before
// made of them, title.go the heading and its units, table.go the table.
//
// Decisions:
//   - A heading is obeyed. Where it cannot be right and the version before, which did not read headings, worked with the rows, they
//     stay what they were, and only a check refuses them: an upgrade must not change what a tank holds.
package strapping

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"gauger/agent/tank"
)

// Sheet is a strapping file: rows of inches and barrels by the units that its heading names, with the line of each.
type Sheet struct {
	rows  [][2]float64
	lines []int
	err   error
	named []column // the heading; nil when no line names a unit

	// plain is what the version before made of the file, which took each height without a unit for inches and each volume
	// for barrels; nil when it refused the file.
	plain [][2]float64
}

// Parse reads a strapping file. The lines before the first row may name the columns and their units; lines that
// begin with # say nothing. A height with a unit of its own is in that, whatever the heading says.
func Parse(text string) (s Sheet) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comment, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = '#', -1, true, true
	refused := false // by the version before
	var first error  // what is wrong with its first line, when no row comes behind it
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Sheet{err: fmt.Errorf(" %w", err)}
		}
		line, _ := r.FieldPos(0)
		before, beforeErr := plainRow(record)
		if beforeErr != nil && len(s.lines) == 0 && heading(record) {
			s.named = better(s.named, columnsOf(record))
			refused = refused || strings.ContainsAny(strings.Join(record, ""), "0123456789")
			if _, err := s.row(record); refused && first == nil {
				first = fmt.Errorf("%d: %w", line, err)
			}
			continue
		}
		refused = refused || beforeErr != nil
		if s.plain = append(s.plain, before); refused {
			s.plain = nil
		}
		row, err := s.row(record)
		if err != nil && s.err == nil {
			s.err = fmt.Errorf("%d: %w", line, err)
		}
		s.rows, s.lines = append(s.rows, row), append(s.lines, line)
	}
	if s.rows == nil && first != nil {
		s.err = first
	}
	if s.err != nil {
		s.rows, s.lines = nil, nil
	}
	return s
}

// For is the rows for a tank of this height. What the version before took stays as it was taken where the heading
// cannot be right; then doubt says why.
func (s Sheet) For(tall tank.Length) (rows [][2]float64, doubt string, err error) {
	height := float64(tall)
	_, bad := BadRow(s.plain)
	taken := bad == "" && s.plain[len(s.plain)-1][0] >= height
	if s.named == nil || !taken || slices.Equal(s.rows, s.plain) {
		return s.rows, "", s.err
	}
	if s.err != nil {
		return s.plain, "line " + s.err.Error(), nil
	}
	if _, bad := BadRow(s.rows); bad != "" {
		return s.plain, fmt.Sprintf("by its heading %s the rows are wrong: %s", s.titles(), bad), nil
	}
	last, before := s.rows[len(s.rows)-1], s.plain[len(s.plain)-1]
	if last[0] < height || last[0] >= absurdHeight*height {
		return s.plain, fmt.Sprintf("by its heading %s it goes up to %.5g in, and the tank is %g in high; correct the heading or the rows", s.titles(), last[0], height), nil
	}
	if wide := width(last[1], last[0]); !ofATank(wide) && ofATank(width(before[1], before[0])) {
		return s.plain, fmt.Sprintf("by its heading %s the tank holds %.3g bbl, as one %.2g ft wide; correct the heading or the rows", s.titles(), last[1], wide), nil
	}
	return s.rows, "", nil
}

func ofATank(wide float64) bool { return wide >= leastTank && wide <= widestTank }

// Line is the line on which a row stands; 0 when it is none.
func (s Sheet) Line(row int) int {
	if row < 0 || row >= len(s.lines) {
		return 0
	}
	return s.lines[row]
}

// titles is the heading in quotes.
func (s Sheet) titles() string {
	var all []string
	for _, c := range s.named {
		all = append(all, c.title)
	}
	return quote(strings.Join(all, ","))
}

// row reads a record by its heading.
func (s Sheet) row(record []string) (row [2]float64, err error) {
	columns := s.named
	if columns == nil {
		columns = unnamedColumns
		if n := filled(record); n != len(columns) {
			return row, fmt.Errorf("%d columns; write height and barrels with a comma between, or name the columns in a first line such as Feet,Inches,Barrels", n)
		}
	}
	heights, volume, err := columnPlaces(columns)
	if err != nil {
		return row, err
	}
	if n := filled(record); n <= max(slices.Max(heights), volume) {
		return row, fmt.Errorf("%d columns under the heading %s", n, s.titles())
	}
	if row[0], err = addHeights(columns, heights, record); err != nil {
		return row, err
	}
	if row[1], err = number(strings.TrimSpace(record[volume])); err != nil {
		return row, err
	}
	row[1] *= columns[volume].per
	if columns[volume].per != 1 {
		row[1] = tidy(row[1])
	}
	return row, nil
}

// addHeights is the height of a row in inches: feet and inches have a column each, or one has it all.
func addHeights(columns []column, heights []int, record []string) (sum float64, err error) {
	feet := slices.ContainsFunc(heights, func(i int) bool { return columns[i].per == 12 })
	for _, i := range heights {
		text, c := strings.TrimSpace(record[i]), columns[i]
		v, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil && len(heights) == 1:
			l, err := tank.ParseLength(text)
			return float64(l), err
		case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
			return 0, fmt.Errorf("%s under %s is no number", quote(text), quote(c.title))
		case c.per == 0:
			return 0, fmt.Errorf("%s under %s may be feet or inches; write it with its unit, such as 14ft 3in or 14-03-1", quote(text), quote(c.title))
		case c.per == 1 && v >= 12 && feet:
			return 0, fmt.Errorf("%g under %s, beside a column of feet: a foot has 12 inches; correct the row, or leave the feet out where the inches count from the bottom", v, quote(c.title))
		case c.per == 1:
			sum += v
		default:
			sum += tidy(v * c.per)
		}
	}
	return sum, nil
}

// tidy takes away what the conversion of a unit leaves beyond the sixth place: 609.6 cm are 240 in.
func tidy(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// columnPlaces are the columns of the height and that of the volume. Of two volumes the one in barrels is taken.
func columnPlaces(columns []column) (heights []int, volume int, err error) {
	volume = -1
	for i, c := range columns {
		switch {
		case c.kind == heightColumn:
			if k := slices.IndexFunc(heights, func(k int) bool { return columns[k].per == c.per }); k >= 0 {
				return nil, 0, fmt.Errorf("%s and %s are both heights in one unit; leave one of them out", quote(columns[heights[k]].title), quote(c.title))
			}
			heights = append(heights, i)
		case c.kind == volumeColumn && volume >= 0 && columns[volume].per == c.per:
			return nil, 0, fmt.Errorf("%s and %s are both volumes; leave one of them out", quote(columns[volume].title), quote(c.title))
		case c.kind == volumeColumn && (volume < 0 || c.per == 1):
			volume = i
		}
	}
	if k := slices.IndexFunc(columns, func(c column) bool { return c.kind == foreignColumn }); k >= 0 && (heights == nil || volume < 0) {
		return nil, 0, fmt.Errorf("%s is in no unit that gauger can turn into inches or barrels; write heights in ft, in, m, cm or mm, and volumes in bbl, gal, m3, l or ft3", quote(columns[k].title))
	}
	if heights == nil || volume < 0 {
		return nil, 0, fmt.Errorf("%d columns, and the heading names no height or no volume; write one such as Feet,Inches,Barrels", len(columns))
	}
	return heights, volume, nil
}

// plainRow is a row of inches and barrels without a heading, as the version before read it.
func plainRow(record []string) (row [2]float64, err error) {
	if len(record) != 2 {
		return row, fmt.Errorf("%d columns", len(record))
	}
	height, err := tank.ParseLength(record[0])
	if err != nil {
		return row, err
	}
	row[0] = float64(height)
	row[1], err = number(strings.TrimSpace(record[1]))
	return row, err
}

// filled is the number of fields up to the last that is not empty.
func filled(record []string) int {
	n := len(record)
	for n > 0 && strings.TrimSpace(record[n-1]) == "" {
		n--
	}
	return n
}

// heading says that a record names columns: it has no number, and does not begin with a digit.
func heading(record []string) bool {
	for i, field := range record {
		field = strings.TrimSpace(field)
		_, err := strconv.ParseFloat(field, 64)
		if digits := strings.TrimLeft(field, "0123456789") != field; err == nil && digits || i == 0 && digits {
			return false
		}
	}
	return true
}

// better is the one of two headings that names more units; the later of equals.
func better(a, b []column) []column {
	units := func(cs []column) (n int) {
		for _, c := range cs {
			if c.kind != otherColumn {
				n++
			}
		}
		return n
	}
	if n := units(b); n == 0 || n < units(a) {
		return a
	}
	return b
}

// number reads a volume.
func number(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is not a number; write one such as 201.43%s", quote(text), tank.DecimalPoint(text))
	}
	return v, nil
}

func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "..."
	}
	return strconv.Quote(s)
}

package config

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"gauger/agent/tank"
	"gauger/collectors"
)

// maxStrapping bounds a strapping file. A table by quarter inches of a forty-foot tank is a twentieth of it.
const maxStrapping = 1 << 20

// checkStrapping reads a tank's table and checks that it covers the tank.
func (c *checker) checkStrapping(at string, t *Tank) {
	where := at + ".strapping"
	if c.brokenBlocks[where] || c.toldPaths[where] {
		return
	}
	rows, says, err := c.strappingRows(where, t)
	if err != nil {
		c.problemf(where, "%v", err)
		return
	}
	if i, message := firstBadRow(rows); message != "" {
		if t.Strapping.File == "" && i >= 0 {
			where = fmt.Sprintf("%s[%d]", where, i)
		}
		c.problemf(where, "%s%s", says(i), message)
		return
	}
	table, err := tank.NewTable(rows)
	if err != nil {
		c.problemf(where, "%v", err)
		return
	}
	t.Table = table
	switch {
	case table.Top() < float64(t.Height):
		c.problemf(where, "ends at %g in, below the tank's height of %g in; add rows up to the height, or correct the height", table.Top(), float64(t.Height))
	case table.Bottom() > 0:
		c.warnf(where, "begins at %g in; a level below that has no volume: begin with 0 in", table.Bottom())
	}
}

// strappingRows is the table's rows, and what says where a row stands.
func (c *checker) strappingRows(where string, t *Tank) ([][2]float64, func(row int) string, error) {
	if t.Strapping.File == "" {
		return t.Strapping.Rows, func(int) string { return "" }, nil
	}
	name := t.Strapping.File
	b, err := collectors.ReadFile(resolve(c.dir, name), maxStrapping)
	if err != nil {
		return nil, nil, fmt.Errorf("the table cannot be read: %w; put it there, or correct the name", err)
	}
	c.checkReadable(where, resolve(c.dir, name))
	rows, lines, err := parseStrapping(string(b))
	if err != nil {
		return nil, nil, fmt.Errorf("%s:%w", name, err)
	}
	return rows, func(i int) string {
		if i < 0 || i >= len(lines) {
			return name + ": "
		}
		return fmt.Sprintf("%s:%d: ", name, lines[i])
	}, nil
}

// parseStrapping reads rows of height and barrels, with the line of each. The first line may name the columns; lines
// that begin with # say nothing. A height is inches or any other form of a length.
func parseStrapping(text string) (rows [][2]float64, lines []int, err error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	r.Comment, r.FieldsPerRecord, r.LazyQuotes, r.TrimLeadingSpace = '#', -1, true, true
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, lines, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf(" %w", err)
		}
		line, _ := r.FieldPos(0)
		row, err := parseRow(record)
		if err != nil && len(rows) == 0 && heading(record) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%d: %w", line, err)
		}
		rows, lines = append(rows, row), append(lines, line)
	}
}

// heading says that no field of a record has a digit: it names the columns.
func heading(record []string) bool {
	return !strings.ContainsAny(strings.Join(record, ""), "0123456789")
}

func parseRow(record []string) (row [2]float64, err error) {
	if len(record) != 2 {
		return row, fmt.Errorf("%d columns; write height and barrels with a comma between", len(record))
	}
	height, err := tank.ParseLength(record[0])
	if err != nil {
		return row, err
	}
	barrels, err := number(strings.TrimSpace(record[1]))
	if err != nil {
		return row, err
	}
	return [2]float64{float64(height), barrels}, nil
}

// firstBadRow is the first row that makes the table unusable, and why; -1 when it is the table as a whole.
func firstBadRow(rows [][2]float64) (row int, message string) {
	if len(rows) < 2 {
		return -1, fmt.Sprintf("%d rows; a table needs two at least, from 0 to the height", len(rows))
	}
	for i, r := range rows {
		switch {
		case r[0] < 0 || r[1] < 0:
			return i, fmt.Sprintf("%g in, %g bbl: neither can be below zero; correct the row", r[0], r[1])
		case i > 0 && r[0] <= rows[i-1][0]:
			return i, fmt.Sprintf("%g in after %g in; heights must grow from row to row", r[0], rows[i-1][0])
		case i > 0 && r[1] <= rows[i-1][1]:
			return i, fmt.Sprintf("%g bbl at %g in after %g bbl; barrels must grow from row to row", r[1], r[0], rows[i-1][1])
		}
	}
	return 0, ""
}

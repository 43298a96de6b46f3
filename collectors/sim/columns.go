package sim

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// maxColumns bounds the columns of a recording, ours and others.
const maxColumns = 32

// Fields of a row, by their place in columnNames.
const (
	fieldTs = iota
	fieldMono
	fieldBoot
	fieldPoint
	fieldValue
	fieldQuality
	fieldCount
)

var columnNames = [fieldCount]string{"ts", "mono_s", "boot", "point", "value", "quality"}

// columns say which field stands in which column of a recording; -1 is a column that is not ours.
type columns struct {
	field [maxColumns]int8
	n     int
	has   [fieldCount]bool
}

// usualColumns is the order of a recording without a header.
func usualColumns() (c columns) {
	for i := range columnNames {
		c.field[i], c.has[i] = int8(i), true
	}
	c.n = fieldCount
	return c
}

// parseHeader reads a header line: the columns' names in any order, in upper or lower case, among others. ok is false when
// the line is no header. ts, point and value must be among them; without mono_s and boot the time alone puts the rows in
// order, and without quality every number counts as good.
func parseHeader(line []byte) (c columns, ok bool, err error) {
	names := strings.Split(string(line), ",")
	for i, name := range names {
		name = strings.ToLower(string(unquote([]byte(name))))
		for f, known := range columnNames {
			if name != known {
				continue
			}
			if c.has[f] {
				return c, true, fmt.Errorf("the column %s stands there twice", known)
			}
			if i < maxColumns {
				c.has[f] = true
				c.field[i] = int8(f) + 1 // made a field below
			}
		}
	}
	for i := range c.field {
		c.field[i]--
	}
	c.n = len(names)
	switch {
	case c.has == [fieldCount]bool{}:
		return c, false, nil
	case c.n > maxColumns:
		return c, true, fmt.Errorf("%d columns; at most %d can be read", c.n, maxColumns)
	}
	for _, f := range []int{fieldTs, fieldPoint, fieldValue} {
		if !c.has[f] {
			return c, true, fmt.Errorf("there is no column %s", columnNames[f])
		}
	}
	if c.has[fieldMono] != c.has[fieldBoot] {
		return c, true, errors.New("mono_s and boot only make sense together")
	}
	return c, true, nil
}

func (c *columns) split(line []byte, f *[fieldCount][]byte) error {
	rest := line
	for i := range c.n {
		cell := rest
		cut := bytes.IndexByte(rest, ',')
		switch {
		case cut >= 0 && i < c.n-1:
			cell, rest = rest[:cut], rest[cut+1:]
		case cut >= 0:
			return fmt.Errorf("more than %d columns; expected %s", c.n, header)
		case i < c.n-1:
			return fmt.Errorf("%d columns, not %d; expected %s", i+1, c.n, header)
		}
		if at := c.field[i]; at >= 0 {
			f[at] = unquote(cell)
		}
	}
	return nil
}

// unquote takes blanks and quotes off a cell.
func unquote(cell []byte) []byte {
	n := len(cell)
	if n == 0 || cell[0] > '"' && cell[n-1] > '"' {
		return cell
	}
	cell = bytes.TrimSpace(cell)
	if n = len(cell); n >= 2 && cell[0] == '"' && cell[n-1] == '"' {
		cell = bytes.TrimSpace(cell[1 : n-1])
	}
	return cell
}

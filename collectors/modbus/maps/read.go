// Package maps makes points of a register map that another program has written: a tag list as CSV from Kepware (kepware.go) or
// Ignition (ignition.go), or an MBMap file (mbmap.go). read.go tells them apart, table.go reads CSV by its headings, point.go
// has what they share.
//
// # Decisions
//
// What cannot be taken over is said, tag by tag, and so is what had to be assumed: neither list of tags holds the order of
// words, which is a setting of the device there. Nothing is guessed from names.
//
// MBMap is read by its meaning and not by a schema: keys count without case, blanks, - and _, and a key of a register that
// is not known here is named among what was left. A map that does not say whether it counts from 0 or 1 is refused until
// a person has said it.
package maps

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gauger/collectors/modbus"
)

// Map is what could be made of a file.
type Map struct {
	Kind    string // whose file it is
	Points  []modbus.Point
	About   map[string]string // what the file says of a point, by its name
	Order   string            // of the words of every point; empty: each has its own, or none needs one
	Unit    int               // unit id that the file names; 0: none
	Left    []string          // what was not taken over, and why
	Assumed []string          // what the file does not say
}

// Counting says from which number the addresses of a file count.
type Counting int

// The first address of a file that does not say it is Unsaid: each kind then has its own.
const (
	Unsaid Counting = iota
	FromZero
	FromOne
)

// Read makes points of a file.
func Read(text []byte, from Counting) (Map, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if start := bytes.TrimSpace(text); len(start) > 0 && start[0] == '{' {
		return readMBMap(start, from)
	}
	t, err := readTable(string(text))
	if err != nil {
		return Map{}, err
	}
	var m Map
	switch {
	case t.has("tagname", "address", "datatype"):
		m = readKepware(t, from)
	case t.has("name", "opcitempath"):
		m = readIgnition(t, from)
	default:
		return m, errors.New("neither a tag list of Kepware (columns Tag Name, Address, Data Type) nor of Ignition (Name, OPCItemPath), nor an MBMap file (JSON)")
	}
	if len(m.Points) == 0 {
		return m, fmt.Errorf("a tag list of %s in which nothing can be read over Modbus: %s", m.Kind, strings.Join(m.Left[:min(3, len(m.Left))], "; "))
	}
	return m, nil
}

// table is a CSV file whose first line names the columns.
type table struct {
	columns map[string]int
	rows    []row
}

type row struct {
	line   int
	fields []string
	of     *table
}

// squeeze is a heading or a key without what people write differently.
func squeeze(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "", ".", "").Replace(strings.ToLower(name))
}

func readTable(text string) (*table, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comment, r.FieldsPerRecord, r.LazyQuotes = '#', -1, true
	if first, _, _ := strings.Cut(text, "\n"); strings.Count(first, ";") > strings.Count(first, ",") {
		r.Comma = ';'
	}
	t := &table{}
	for {
		fields, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("not a table: %w", err)
		}
		if t.columns == nil {
			t.columns = map[string]int{}
			for i, f := range fields {
				t.columns[squeeze(f)] = i
			}
			continue
		}
		line, _ := r.FieldPos(0)
		t.rows = append(t.rows, row{line, fields, t})
	}
	if t.columns == nil {
		return nil, errors.New("the file is empty")
	}
	return t, nil
}

func (t *table) has(columns ...string) bool {
	return !slices.ContainsFunc(columns, func(c string) bool { _, ok := t.columns[c]; return !ok })
}

// get is the field under a heading; empty where the row has none.
func (r row) get(column string) string {
	i, ok := r.of.columns[column]
	if !ok || i >= len(r.fields) {
		return ""
	}
	return strings.TrimSpace(r.fields[i])
}

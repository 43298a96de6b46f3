package maps

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
)

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
	for _, c := range columns {
		if _, ok := t.columns[c]; !ok {
			return false
		}
	}
	return true
}

// get is the field under a heading; empty where the row has none.
func (r row) get(column string) string {
	i, ok := r.of.columns[column]
	if !ok || i >= len(r.fields) {
		return ""
	}
	return strings.TrimSpace(r.fields[i])
}

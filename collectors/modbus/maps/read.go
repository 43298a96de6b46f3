package maps

import (
	"bytes"
	"errors"
	"fmt"
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

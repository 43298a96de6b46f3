package tank

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"gauger/agent/tank/stats"
)

// bblPerCubicFoot: a barrel is 42 US gallons of 231 cubic inches.
const bblPerCubicFoot = 1728.0 / (42 * 231)

// ErrOutsideTable is the cause when a level lies below the first or above the last
// row of a table; a volume there would be an invention.
var ErrOutsideTable = errors.New("level outside the table")

// Table gives the barrels in a tank for a level: a strapping table, or the geometry
// of an upright cylinder. The zero Table knows no level. A Table is not changed
// after it was made and may be shared.
type Table struct {
	name string
	in   []float64
	bbl  []float64
}

// NewTable makes a strapping table of rows of inches above the reference and barrels.
// It needs two rows or more, and both columns must grow from row to row. Between rows
// it is linear.
func NewTable(rows [][2]float64) (Table, error) {
	if len(rows) < 2 {
		return Table{}, fmt.Errorf("strapping table has %d rows; it needs at least 2", len(rows))
	}
	t := Table{name: "strap", in: make([]float64, len(rows)), bbl: make([]float64, len(rows))}
	for i, r := range rows {
		if !stats.Finite(r[0]) || !stats.Finite(r[1]) {
			return Table{}, fmt.Errorf("strapping table row %d: %g in, %g bbl is not a number", i+1, r[0], r[1])
		}
		if i > 0 && r[0] <= rows[i-1][0] {
			return Table{}, fmt.Errorf("strapping table row %d: %g in is not above the %g in before it", i+1, r[0], rows[i-1][0])
		}
		if i > 0 && r[1] <= rows[i-1][1] {
			return Table{}, fmt.Errorf("strapping table row %d: %g bbl is not more than the %g bbl before it", i+1, r[1], rows[i-1][1])
		}
		t.in[i], t.bbl[i] = r[0], r[1]
	}
	return t, nil
}

// Cylinder is the table of an upright cylinder of the given inside diameter, from 0 to
// height: pi D^2/4 cubic feet a foot, of 5.614583 cubic feet a barrel.
func Cylinder(diameter, height Length) Table {
	d, h := float64(diameter)/12, float64(height)
	if !stats.Finite(d) || !stats.Finite(h) || d <= 0 || h <= 0 {
		return Table{name: "geometry"}
	}
	perInch := math.Pi * d * d / 4 * bblPerCubicFoot / 12
	return Table{name: "geometry", in: []float64{0, h}, bbl: []float64{0, perInch * h}}
}

// Barrels is the volume at a level in inches. Outside the table, or for a level that is
// no number, it is an error that is ErrOutsideTable.
func (t Table) Barrels(in float64) (float64, error) {
	n := len(t.in)
	if n < 2 || !(in >= t.in[0] && in <= t.in[n-1]) {
		return 0, fmt.Errorf("volume at %g in: %w (%g to %g in)", in, ErrOutsideTable, t.Bottom(), t.Top())
	}
	i := t.segment(in)
	return t.bbl[i] + (in-t.in[i])*t.slope(i), nil
}

// Name says what the volumes rest on: "strap" or "geometry".
func (t Table) Name() string { return t.name }

// Top is the highest level of the table in inches.
func (t Table) Top() float64 {
	if len(t.in) == 0 {
		return 0
	}
	return t.in[len(t.in)-1]
}

// Bottom is the lowest level of the table in inches.
func (t Table) Bottom() float64 {
	if len(t.in) == 0 {
		return 0
	}
	return t.in[0]
}

// PerInch is the barrels per inch at a level; outside the table, that of the nearest row.
func (t Table) PerInch(at float64) float64 {
	if len(t.in) < 2 {
		return 0
	}
	return t.slope(t.segment(at))
}

// Extrapolated is the volume at a level, carried on at the nearest row's barrels per inch where
// the level lies outside; out says that it did.
func (t Table) Extrapolated(at float64) (bbl float64, out bool) {
	if v, err := t.Barrels(at); err == nil {
		return v, false
	}
	if len(t.in) < 2 {
		return 0, true
	}
	i := t.segment(at)
	return t.bbl[i] + (at-t.in[i])*t.slope(i), true
}

func (t Table) segment(at float64) int {
	return max(0, min(sort.SearchFloat64s(t.in, at)-1, len(t.in)-2))
}

func (t Table) slope(i int) float64 {
	return (t.bbl[i+1] - t.bbl[i]) / (t.in[i+1] - t.in[i])
}

// storedTable is a Table as it is stored.
type storedTable struct {
	Name string       `json:"name"`
	Rows [][2]float64 `json:"rows"`
}

// MarshalJSON writes the name and the rows of inches and barrels.
func (t Table) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedTable{Name: t.name, Rows: t.Rows()})
}

// Rows are inches and barrels, as NewTable takes them.
func (t Table) Rows() (rows [][2]float64) {
	for i := range t.in {
		rows = append(rows, [2]float64{t.in[i], t.bbl[i]})
	}
	return rows
}

// UnmarshalJSON takes a stored table back; rows that make no table are an error.
func (t *Table) UnmarshalJSON(b []byte) error {
	var in storedTable
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("read a table of volumes: %w", err)
	}
	n, err := NewTable(in.Rows)
	if err != nil {
		return err
	}
	n.name = in.Name
	*t = n
	return nil
}

// Same says that two tables give the same volumes for the same reason.
func (t Table) Same(o Table) bool {
	return t.name == o.name && slices.Equal(t.in, o.in) && slices.Equal(t.bbl, o.bbl)
}

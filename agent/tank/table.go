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
	bbl, out := t.Extrapolated(in)
	if out {
		return 0, fmt.Errorf("volume at %g in: %w (%g to %g in)", in, ErrOutsideTable, t.Bottom(), t.Top())
	}
	return bbl, nil
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
	n := len(t.in)
	if n < 2 {
		return 0, true
	}
	i := t.segment(at)
	return t.bbl[i] + (at-t.in[i])*t.slope(i), !(at >= t.in[0] && at <= t.in[n-1])
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

// Correction of crude oil volumes for temperature, API MPMS chapter 11.1 (2004), commodity A
// (crude oil), 60 degF base, with the constants K0 = 341.0957, K1 = K2 = 0.
const (
	waterDensity = 999.016  // kg/m3 at 60 degF
	crudeK0      = 341.0957 // commodity A
	baseShift    = 0.01374979547
	baseITS68    = 60.0068749 // 60 degF of ITS-90 on the scale IPTS-68
)

// its holds the coefficients a1..a8 of the conversion from ITS-90 to IPTS-68 (11.1.6.1).
var its = [8]float64{-0.148759, -0.267408, 1.080760, 1.269056, -4.089591, -1.871251, 7.438081, -3.536296}

// APIDensity is the density in kg/m3 of an API gravity.
func APIDensity(api float64) float64 { return 141.5 / (api + 131.5) * waterDensity }

// DensityAPI is the API gravity of a density in kg/m3.
func DensityAPI(rho float64) float64 { return 141.5*waterDensity/rho - 131.5 }

// SpecificGravity is the specific gravity 60/60 of an API gravity at 60 degF.
func SpecificGravity(api60 float64) float64 { return 141.5 / (131.5 + api60) }

// SpecificAPI is the API gravity of a specific gravity 60/60.
func SpecificAPI(sg float64) float64 { return 141.5/sg - 131.5 }

// CTL is the factor that turns a volume of crude at a temperature (degF, ITS-90) into the
// volume at 60 degF, rounded to 5 places, for an API gravity at 60 degF.
func CTL(api60, degF float64) float64 { return stats.Round(ctl(APIDensity(api60), degF), 5) }

func ctl(rho60, degF float64) float64 {
	a := crudeK0 / stats.Square(shifted(rho60))
	d := ipts68(degF) - baseITS68
	return math.Exp(-a * d * (1 + 0.8*a*(d+baseShift)))
}

// shifted is rho*, the density at 60 degF on the temperature scale of the base equation.
func shifted(rho60 float64) float64 {
	const b = 2 // (2K0 + K1 rho)/(K0 + K1 rho + K2 rho^2) of crude
	a := baseShift / 2 * crudeK0 / stats.Square(rho60)
	return rho60 * (1 + (math.Exp(a*(1+0.8*a))-1)/(1+a*(1+1.6*a)*b))
}

func ipts68(degF float64) float64 {
	c := (degF - 32) / 1.8
	x := c / 630
	dt := 0.0
	for i := len(its) - 1; i >= 0; i-- {
		dt = x * (its[i] + dt)
	}
	return 1.8*(c-dt) + 32
}

// GravityAt60 turns an API gravity that was observed at a temperature (degF) into the API
// gravity at 60 degF. It is the reading of a density meter: a glass hydrometer's own expansion is not corrected.
func GravityAt60(observedAPI, degF float64) float64 {
	rho := APIDensity(observedAPI)
	at60 := rho
	for range 50 {
		next := rho / ctl(at60, degF)
		if math.Abs(next-at60) < 1e-9 {
			break
		}
		at60 = next
	}
	return DensityAPI(at60)
}

// Observed are the measurements at the opening or at the closing of a run.
type Observed struct {
	Barrels   float64 // table volume at the gauge
	FreeWater float64 // barrels of free water under the oil
	DegF      float64 // temperature of the oil
}

// Gross is the gross standard volume (GSV) of a run in barrels at 60 degF, to 0.01: each
// side's oil times its own CTL, the tank's shell taken as 1.
func Gross(open, closing Observed, api60 float64) float64 {
	o := (open.Barrels - open.FreeWater) * CTL(api60, open.DegF)
	c := (closing.Barrels - closing.FreeWater) * CTL(api60, closing.DegF)
	return stats.Round(o-c, 2)
}

// Net is the net standard volume (NSV) in barrels, to 0.01: the gross as it is printed without its sediment and water in percent, so
// that whoever has the ticket comes to the same.
func Net(gross, percentBSW float64) float64 { return stats.Round(gross*(1-percentBSW/100), 2) }

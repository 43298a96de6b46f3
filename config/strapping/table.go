package strapping

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gauger/agent/tank"
)

// TooLow says that a table ends below the height, and where its rows are most probably in another unit, which.
func TooLow(top float64, height tank.Length, file bool) string {
	unit := heightIn(top, height, "ft", "m")
	switch {
	case unit == "":
		return fmt.Sprintf("ends at %g in, below the tank's height of %g in; add rows up to the height, or correct the height", top, float64(height))
	case !file:
		return fmt.Sprintf("ends at %g in, and the tank is %g %s high: its rows are in %[3]s; write them in inches", top, round3(inUnit(height, unit)), unit)
	}
	return fmt.Sprintf("ends at %g in, and the tank is %g %s high: its rows are in %[3]s; write a first line such as %[3]s,bbl over them", top, round3(inUnit(height, unit)), unit)
}

// heightIn is the one of the units in which the tank's height is what is taken for inches; empty when it is in none.
func heightIn(top float64, height tank.Length, units ...string) string {
	for _, unit := range units {
		if math.Abs(top/inUnit(height, unit)-1) < 0.02 {
			return unit
		}
	}
	return ""
}

func inUnit(l tank.Length, unit string) float64 {
	per, err := tank.LevelInches(1, unit, l)
	if err != nil {
		return math.NaN()
	}
	return float64(l) / per
}

func round3(v float64) float64 { return math.Round(v*1e3) / 1e3 }

// What no table of a stock tank does. A lying cylinder's lowest rows grow threefold from one to the next.
const (
	absurdJump     = 6.0  // barrels an inch, from row to row
	oddLeast       = 1.0  // barrels off the line between two rows; whole barrels are off as much
	oddMore        = 4.0  // times what the other rows are off
	oddSample      = 9    // rows off the line tell by their middle one how far rows are off here
	widestTank     = 60.0 // feet, of an upright tank that holds as much
	leastTank      = 4.0
	besideDiameter = 0.25 // of the volume that the diameter gives
	absurdHeight   = 4.0  // times the tank's
)

// What the tanks of the field hold an inch, in barrels: API 12F has them from 8 ft wide (0.75) to 21.5 ft (5.4).
const (
	leastPerInch = 0.4
	mostPerInch  = 6.0
)

// Tanks of the field are 8 to 30 ft high; what is beyond these, in inches, is in another unit most probably.
const (
	lowestTank  = 4 * 12
	highestTank = 48 * 12
)

// DoubtHeight is what makes a height most probably none of a tank; empty: it may be one.
func DoubtHeight(height tank.Length) string {
	if height >= lowestTank && height <= highestTank {
		return ""
	}
	return fmt.Sprintf("%.4g ft is hardly the height of a tank, which is 8 to 30 ft in the field; look at its unit (20ft is 240in)", float64(height)/12)
}

// DoubtVolume is what makes a tank's barrels an inch most probably wrong; empty: a tank of the field may have them.
func DoubtVolume(table tank.Table, height tank.Length) string {
	full, perInch := perInch(table, height)
	if perInch >= leastPerInch && perInch <= mostPerInch {
		return ""
	}
	return fmt.Sprintf("%.5g bbl at %g in, which is %.3g an inch, as an upright tank %.3g ft wide; tanks of the field have %g to %g an inch",
		full, float64(height), perInch, width(full, float64(height)), leastPerInch, mostPerInch)
}

// perInch is what a tank holds full, and that an inch.
func perInch(table tank.Table, height tank.Length) (full, inch float64) {
	full, _ = table.Extrapolated(float64(height))
	return full, full / float64(height)
}

// Doubt is what makes a table that can be read most probably not what it is taken for; strict is what only a check refuses.
// diameter is 0 when it is not known.
func Doubt(table tank.Table, height, diameter tank.Length) (strict, doubt string) {
	if unit := heightIn(table.Top(), height, "cm", "mm"); unit != "" {
		return fmt.Sprintf("ends at %g, which is the tank's height in %s; write a first line such as %[2]s,bbl over the rows, or the rows in inches. "+
			"Until then gauger takes them for inches", table.Top(), unit), ""
	}
	if i, low, high := worstJump(table.Rows()); i > 0 {
		return "", fmt.Sprintf("jumps at %g in from %.3g bbl an inch below to %.3g above; no tank changes its width so much: look whether the rows there are right, and in inches",
			table.Rows()[i][0], low, high)
	}
	if i, off := oddRow(table.Rows()); i > 0 {
		return "", fmt.Sprintf("has %g bbl at %g in, which is %.3g off what the rows beside it say; look whether that row was copied right", table.Rows()[i][1], table.Rows()[i][0], off)
	}
	full, inch := perInch(table, height)
	if doubt = DoubtVolume(table, height); diameter == 0 && doubt != "" {
		if doubt = "has " + doubt; inch/42 >= leastPerInch {
			return "", doubt + ": are they gallons? Then write a first line such as in,gal over the rows; else look whether a decimal point has slipped"
		}
		return "", doubt + ": look whether a decimal point has slipped"
	}
	if diameter == 0 {
		return "", ""
	}
	if round, err := tank.Cylinder(diameter, height).Barrels(float64(height)); err == nil && math.Abs(full/round-1) > besideDiameter {
		return "", fmt.Sprintf("has %.4g bbl at the height, and the diameter gives %.4g; look which of them is right", full, round)
	}
	return "", ""
}

// worstJump is the row at which the barrels of an inch change most, when that is absurd, with those below and above it; 0 for none.
func worstJump(rows [][2]float64) (at int, low, high float64) {
	worst := absurdJump
	slope := func(i int) float64 { return (rows[i][1] - rows[i-1][1]) / (rows[i][0] - rows[i-1][0]) }
	for i := 1; i+1 < len(rows); i++ {
		below, above := slope(i), slope(i+1)
		if ratio := max(below/above, above/below); ratio > worst {
			at, low, high, worst = i, below, above, ratio
		}
	}
	return at, low, high
}

// oddRow is the row whose barrels are furthest off the line between its neighbours while the rows beside it lie straight without it, and
// how far; 0 for none. A tank that widens or narrows has no such row, nor have barrels that were rounded.
func oddRow(rows [][2]float64) (at int, off float64) {
	last := len(rows) - 1
	bend := func(i, j, k int) float64 { // of row j off the line between the two others
		a, b, c := rows[max(i, 0)], rows[j], rows[min(k, last)]
		if i < 0 || k > last {
			return 0
		}
		return math.Abs(b[1] - a[1] - (c[1]-a[1])*(b[0]-a[0])/(c[0]-a[0]))
	}
	var all []float64
	for i := 1; i < last; i++ {
		all = append(all, bend(i-1, i, i+1))
	}
	worst := oddLeast
	if slices.Sort(all); len(all) >= oddSample {
		worst = max(worst, oddMore*all[len(all)/2])
	}
	for i := 1; i < last && last > 2; i++ {
		if d := bend(i-1, i, i+1); d > worst && d > oddMore*max(bend(i-2, i-1, i+1), bend(i-1, i+1, i+2)) {
			at, worst = i, d
		}
	}
	return at, worst
}

// width is that of an upright tank which holds so many barrels at a level in inches, in feet.
func width(barrels, inches float64) float64 {
	const foot = 12
	return math.Sqrt(barrels / inches / tank.Cylinder(foot, foot).PerInch(0))
}

// Check says what is wrong with a strapping file of a tank of this height; nil: it can be worked with.
func Check(text string, height tank.Length) error {
	rows, doubt, err := Parse(text).For(height)
	if err != nil {
		return fmt.Errorf("line %w", err)
	}
	if doubt != "" {
		return errors.New(doubt)
	}
	if _, message := BadRow(rows); message != "" {
		return errors.New(message)
	}
	if top := rows[len(rows)-1][0]; top < float64(height) {
		return errors.New(TooLow(top, height, true))
	}
	return nil
}

// BadRow is the first row that makes the table unusable, and why; -1 when it is the table as a whole.
func BadRow(rows [][2]float64) (row int, message string) {
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
			return i, fmt.Sprintf("%g bbl at %g in after %g bbl; barrels must grow from row to row: of rows that print the same keep the first", r[1], r[0], rows[i-1][1])
		}
	}
	return 0, ""
}

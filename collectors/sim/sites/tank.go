package sites

import "math"

// vessel is an upright cylinder, perhaps with deadwood (a fire tube, coils, a cone) below a knee of its strapping table.
type vessel struct {
	diameter float64 // ft
	height   float64 // in
	knee     float64 // in; 0: none
	deadwood float64 // share of each inch below the knee that holds no oil
	heel     float64 // in, below which the truck sucks air
}

const cubicFeetPerBarrel = 5.614583

func (v vessel) perInch() float64 {
	return math.Pi * v.diameter * v.diameter / 4 / cubicFeetPerBarrel / 12
}

// volume of the oil up to a height, bbl.
func (v vessel) volume(inches float64) float64 {
	return v.perInch() * (inches - v.deadwood*min(inches, v.knee))
}

// level of so many barrels, in.
func (v vessel) level(bbl float64) float64 {
	if at := v.volume(v.knee); bbl > at {
		return v.knee + (bbl-at)/v.perInch()
	}
	return bbl / v.perInch() / (1 - v.deadwood)
}

// strapping is the table as a gauger has it: every foot, and the knee.
func (v vessel) strapping() [][2]float64 {
	var rows [][2]float64
	add := func(inches float64) {
		bbl := math.Round(v.volume(inches)*1000) / 1000
		if n := len(rows); n > 0 && rows[n-1][1] >= bbl {
			return // a knee on a foot's mark is one row
		}
		rows = append(rows, [2]float64{inches, bbl})
	}
	for inches := 0.0; inches <= v.height; inches += 12 {
		add(inches)
		if v.deadwood > 0 && v.knee > inches+0.1 && v.knee < min(inches+12, v.height) {
			add(v.knee)
		}
	}
	return rows
}

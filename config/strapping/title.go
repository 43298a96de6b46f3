package strapping

import (
	"regexp"
	"slices"
	"strings"

	"gauger/collectors"
)

// column is one column of a strapping sheet.
type column struct {
	title string
	kind  columnKind
	per   float64 // inches or barrels of one; 0 when its numbers must have a unit of their own
}

type columnKind int

const (
	otherColumn columnKind = iota
	heightColumn
	volumeColumn
	foreignColumn // of a unit that is neither a length nor a volume
	partColumn    // in the table of words: of an inch
)

// unnamedColumns are those of a sheet without a heading.
var unnamedColumns = []column{{"height", heightColumn, 1}, {"barrels", volumeColumn, 1}}

// titleUnits are the words of a title that name a unit.
var titleUnits = func() map[string]column {
	words := map[string]column{}
	add := func(kind columnKind, per float64, names string) {
		for name := range strings.FieldsSeq(names) {
			words[name] = column{kind: kind, per: per}
		}
	}
	add(heightColumn, 1, "in ins inch inches")
	add(heightColumn, 12, "ft foot feet")
	add(heightColumn, 1/0.0254, "m meter meters metre metres")
	add(heightColumn, 1/2.54, "cm centimeter centimeters centimetre centimetres")
	add(heightColumn, 1/25.4, "mm millimeter millimeters millimetre millimetres")
	add(partColumn, 1./4, "1/4 quarter quarters 4ths")
	add(partColumn, 1./8, "1/8 eighth eighths 8ths")
	add(partColumn, 1./16, "1/16 sixteenth sixteenths 16ths")
	for unit, names := range map[collectors.Unit]string{
		"bbl": "bbl bbls barrel barrels", "gal": "gal gals gallon gallons", "m3": "m3 m³ cbm", "l": "l liter liters litre litres",
		"ft3": "ft3 ft³ cf cuft", "mbbl": "mbbl mbbls",
	} {
		per, _ := unit.Barrels(1)
		add(volumeColumn, per, names)
	}
	add(foreignColumn, 0, "% percent pct ton tons tonne tonnes t kg lb lbs pound pounds yd yard yards mcf kl hl imp imperial")
	return words
}()

var (
	titleWord = regexp.MustCompile(`[\p{L}\d³/]+|%`)
	cubicFoot = regexp.MustCompile(`\b(cubic|cu\.?)\s*(feet|foot|ft)\b`)
	cubicM    = regexp.MustCompile(`\b(cubic|cu\.?)\s*(m|meters?|metres?)\b`)
	rate      = regexp.MustCompile(`\bper\b|\w/ ?(in|ft|inch|foot|cm|mm|m)\b|\bincrement`)
)

// columnsOf are the columns that a heading names. Of two columns, the one that names no unit is what the other is not.
func columnsOf(record []string) []column {
	var out []column
	for _, title := range record[:filled(record)] {
		out = append(out, columnOf(title))
	}
	if len(out) != 2 {
		return out
	}
	for i, c := range out {
		switch other := out[1-i].kind; {
		case c.kind != otherColumn:
		case other == heightColumn:
			out[i].kind, out[i].per = volumeColumn, 1
		case other == volumeColumn:
			out[i].kind, out[i].per = heightColumn, 1
		}
	}
	return out
}

// columnOf is what a title says of its column. One with a number in it that is no unit is a remark, and a rate is another column.
func columnOf(title string) column {
	text := cubicM.ReplaceAllString(cubicFoot.ReplaceAllString(strings.ToLower(title), "ft3"), "m3")
	out := column{title: strings.TrimSpace(title)}
	var heights []float64
	part := 0.0
	words := titleWord.FindAllString(text, -1)
	for i, word := range words {
		unit, known := titleUnits[word]
		switch {
		case word == "in" && i+1 < len(words) && titleUnits[words[i+1]].kind != partColumn: // "Level in feet", "barrels in the tank"
		case !known && strings.ContainsAny(word, "0123456789"):
			return column{title: out.title}
		case unit.kind == heightColumn:
			heights = append(heights, unit.per)
		case unit.kind == partColumn:
			part = unit.per
		case known && out.kind != foreignColumn:
			out.kind, out.per = unit.kind, unit.per
		}
	}
	slices.Sort(heights)
	heights = slices.Compact(heights)
	switch {
	case out.kind == volumeColumn && rate.MatchString(text):
		return column{title: out.title}
	case out.kind != otherColumn || len(heights) == 0 && part == 0:
		return out
	case len(heights) > 1 || part > 0 && len(heights) == 1 && heights[0] != 1: // feet and inches in one
		return column{out.title, heightColumn, 0}
	case part > 0:
		return column{out.title, heightColumn, part}
	}
	return column{out.title, heightColumn, heights[0]}
}

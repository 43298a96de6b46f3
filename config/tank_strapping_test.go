package config

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// strapped is the good configuration with another strapping file for its first tank, of 20 ft: what check says of the table, and
// the barrels at 171 in.
func strapped(t *testing.T, sheet string) (said string, barrels float64) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tk.csv"), []byte(sheet), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Parse("gauger.yaml", []byte(strings.Replace(good(t), "tk-1001.csv", "tk.csv", 1)), dir)
	if err != nil {
		return "refused: " + err.Error(), 0
	}
	for _, p := range cfg.Strict {
		said += "strict: " + p.Message + "\n"
	}
	said += told(cfg.Warnings, "tanks[0].strapping")
	barrels, _ = cfg.Tanks[0].Table.Barrels(171)
	return said, barrels
}

// sheetOf is a sheet of the same tank, 1.6786 bbl an inch, with its rows every six inches written by row.
func sheetOf(heading string, row func(inches, barrels float64) string) string {
	var b strings.Builder
	b.WriteString(heading)
	for in := 0.0; in <= 240; in += 6 {
		b.WriteString(row(in, in*1.6786) + "\n")
	}
	return b.String()
}

// A heading that names its units is obeyed, in whatever form: each of these sheets is the same tank.
func TestASheetIsReadByItsHeading(t *testing.T) {
	two := func(perHeight, perVolume float64) func(in, bbl float64) string {
		return func(in, bbl float64) string { return fmt.Sprintf("%.6g,%.7g", in/perHeight, bbl*perVolume) }
	}
	ftin := func(in, bbl float64) string {
		return fmt.Sprintf("%d,%g,%.4f", int(in)/12, math.Mod(in, 12), bbl)
	}
	for name, sheet := range map[string]string{
		"inches":           sheetOf("inches,barrels\n", two(1, 1)),
		"no heading":       sheetOf("", two(1, 1)),
		"other words":      sheetOf("Gauge,Volume\n", two(1, 1)),
		"feet":             sheetOf("feet,bbl\n", two(12, 1)),
		"feet in words":    sheetOf("Level in feet,Barrels in tank\n", two(12, 1)),
		"feet and no more": sheetOf("Level (ft),Volume\n", two(12, 1)),
		"feet below title": sheetOf("TK-501 strapped at 24 in\nLevel,Volume\n(ft),(bbl)\n", two(12, 1)),
		"metres":           sheetOf("m,m3\n", two(1/0.0254, 1/6.28981077)),
		"centimetres":      sheetOf("Height cm,Volume Litres\n", two(1/2.54, 1/0.00628981077)),
		"millimetres":      sheetOf("mm,bbl\n", two(1/25.4, 1)),
		"gallons":          sheetOf("Inches,Gallons\n", two(1, 42)),
		"cubic feet":       sheetOf("Ft,Cubic Feet\n", two(12, 9702./1728)),
		"the other way":    sheetOf("Barrels,Feet\n", func(in, bbl float64) string { return fmt.Sprintf("%g,%g", bbl, in/12) }),
		"feet and inches":  sheetOf("Feet,Inches,Barrels\n", ftin),
		"short words":      sheetOf("FT,IN,BBLS\n", ftin),
		"with a rate": sheetOf("Ft,In,Bbl,Bbl per inch,\n", func(in, bbl float64) string {
			return ftin(in, bbl) + ",1.68,"
		}),
		"with gallons beside": sheetOf("Ft,In,Gallons,Barrels\n", func(in, bbl float64) string {
			return fmt.Sprintf("%d,%g,%g,%g", int(in)/12, math.Mod(in, 12), 42*bbl, bbl)
		}),
		"with eighths": sheetOf("Ft,In,1/8,Barrels\n", func(in, bbl float64) string {
			in = max(0, in-1)
			return fmt.Sprintf("%d,%g,%d,%.4f", int(in)/12, math.Mod(in, 12), 4, (in+0.5)*1.6786)
		}) + "20,0,0,402.864\n",
		"units of its own": "feet,bbl\n0,0\n5ft,100.716\n120in,201.432\n20'0\",402.864\n",
		"gauger's":         "Feet-Inches,Bbl\n0-00-0,0\n20-00-0,402.864\n",
	} {
		if said, bbl := strapped(t, sheet); said != "" && !strings.HasPrefix(said, "begins at") || math.Abs(bbl-171*1.6786) > 0.01 {
			t.Errorf("%s: %.3f bbl at 171 in, %q", name, bbl, said)
		}
	}
}

// What a heading names and nobody can obey is refused by its name, and feet are called feet without a heading too.
func TestAWrongHeadingIsRefusedByName(t *testing.T) {
	feet := "0,0\n5,83.93\n10,167.86\n15,251.79\n20,335.72\n"
	for sheet, want := range map[string]string{
		"feet,percent\n" + feet:                `tk.csv:2: "percent" is in no unit`,
		feet:                                   "the tank is 20 ft high: its rows are in ft; write a first line such as ft,bbl",
		"m,x,bbl,bbl\n0,0,0,0\n":               `"bbl" and "bbl" are both volumes`,
		"0,0,0\n0,6,10\n":                      "3 columns; write height and barrels with a comma between, or name the columns",
		"feet,inches,bbl\n0,0,0\n1,18,20\n":    `18 under "inches", beside a column of feet`,
		"feet,inches,bbl\n0,0,0\n1,20\n":       "2 columns under the heading",
		"feet,inches,bbl\n0,0,0\n1,x,20\n":     `"x" under "inches" is no number`,
		"feet,temperature,price\n0,0,0\n1,1,1": "names no height or no volume",
		"Feet-Inches,bbl\n0,0\n5,80\n":         "may be feet or inches",
		"feet,bbl\n0,0\n10,167.86\n19,318\n":   "ends at 228 in, below the tank's height of 240 in",
	} {
		if said, _ := strapped(t, sheet); !strings.HasPrefix(said, "refused: ") || !strings.Contains(said, want) {
			t.Errorf("%q: %q, want %q", sheet, said, want)
		}
	}
}

// A table that the version before worked with, and that its heading cannot be right about, works as it did; check refuses it.
func TestATableOfBeforeWorksAsItDid(t *testing.T) {
	inches := "0,0\n120,201.43\n240,402.86\n"
	for sheet, want := range map[string]string{
		"feet,bbl\n0,0\n5,83.93\n20,335.72\n240,402.87\n": "goes up to 2880 in, and the tank is 240 in high",
		"feet,bbl\n" + inches:                             `by its heading "feet,bbl" it goes up to 2880 in`,
		"cm,bbl\n" + inches:                               "goes up to 94.488 in",
		"in,gal\n" + inches:                               "the tank holds 9.59 bbl, as one 1.9 ft wide",
		"in,percent\n" + inches:                           `line 2: "percent" is in no unit`,
		"in,Feet-Inches,\n" + inches:                      "names no height or no volume",
	} {
		said, bbl := strapped(t, sheet)
		_, rows, _ := strings.Cut(sheet, "\n")
		_, want171 := strapped(t, rows) // without its heading
		if !strings.HasPrefix(said, "strict: ") || !strings.Contains(said, want) || bbl != want171 {
			t.Errorf("%q: %g bbl at 171 in, was %g; %q, want %q", sheet, bbl, want171, said, want)
		}
	}
}

// A table that can be read, and that no tank has, is doubted; a lying cylinder and a cone are tanks.
func TestATableThatNoTankHasIsDoubted(t *testing.T) {
	lying := func(in, _ float64) string {
		h, r := in/12, 10.0
		area := r*r*math.Acos((r-h)/r) - (r-h)*math.Sqrt(max(0, 2*r*h-h*h))
		return fmt.Sprintf("%g,%g", in, area)
	}
	wrong := func(format string, at, by float64) string {
		return sheetOf("", func(in, bbl float64) string {
			if in == at {
				bbl += by
			}
			return fmt.Sprintf(format, in, bbl)
		})
	}
	dead := func(in, bbl float64) string { return fmt.Sprintf("%g,%.2f", in, bbl-min(max(in-24, 0), 36)*0.2) }
	for name, x := range map[string]struct{ sheet, want string }{
		"a row copied wrong": {wrong("%g,%.2f", 120, 5), "has 206.43 bbl at 120 in, which is 5 off what the rows beside it say"},
		"a row too low":      {wrong("%g,%.2f", 12, -3), "bbl at 12 in, which is 3 off"},
		"whole barrels":      {wrong("%g,%.0f", -1, 0), ""},
		"deadwood":           {sheetOf("", dead), ""},
		"feet below inches":  {"0,0\n5,83.93\n10,167.86\n15,251.79\n20,335.72\n240,402.87\n", "jumps at 20 in from 16.8 bbl an inch below to 0.305 above"},
		"centimetres":        {"0,0\n300,200\n609.6,402.87\n", "strict: ends at 609.6, which is the tank's height in cm"},
		"gallons":            {"0,0\n240,16920\n", "has 16920 bbl at 240 in, which is 70.5 an inch, as an upright tank 77.8 ft wide; tanks of the field have 0.4 to 6 an inch: are they gallons?"},
		"tenfold":            {"0,0\n120,2014.3\n240,4028.7\n", "16.8 an inch, as an upright tank 37.9 ft wide; tanks of the field have 0.4 to 6 an inch: look whether a decimal point has slipped"},
		"a tenth":            {"0,0\n120,20.143\n240,40.287\n", "has 40.287 bbl at 240 in, which is 0.168 an inch"},
		"a wide tank":        {"0,0\n240,1294\n", ""}, // 21.5 ft, the widest of API 12F
		"a narrow tank":      {"0,0\n240,179\n", ""},  // 8 ft
		"digits changed":     {"0,0\n60,100.7\n120,210.43\n180,302.1\n240,402.87\n", "has 210.43 bbl at 120 in, which is 9.03 off what the rows beside it say"},
		"the last but one":   {"0,0\n80,134.3\n160,286.5\n240,402.87\n", "has 286.5 bbl at 160 in, which is 17.9 off"},
		"a first row wrong":  {"0,0\n60,107.7\n120,201.43\n180,302.1\n240,402.87\n", "has 107.7 bbl at 60 in, which is 6.98 off"},
		"two shell courses":  {"0,0\n60,100\n120,200\n180,303\n240,406\n", ""},
		"lying":              {sheetOf("", lying), ""},
		"cone below":         {"0,0\n12,3.4\n24,23.5\n240,386\n", ""},
	} {
		if said, _ := strapped(t, x.sheet); (said == "") != (x.want == "") || !strings.Contains(said, x.want) {
			t.Errorf("%s: %q, want %q", name, said, x.want)
		}
	}
	cfg := edited(t, "    strapping: tk-1001.csv\n", "    strapping: [[0, 0], [240, 600]]\n    diameter: 12ft\n")
	if said := told(cfg.Warnings, "tanks[0].strapping"); !strings.Contains(said, "has 600 bbl at the height, and the diameter gives 402.9") {
		t.Errorf("beside a diameter: %q", said)
	}
	for shape, want := range map[string][2]string{
		"height: 240ft\n    diameter: 12ft":  {"height", "240 ft is hardly the height of a tank"},
		"height: 20in\n    diameter: 12ft":   {"height", "1.667 ft is hardly"},
		"height: 20ft\n    diameter: 120ft":  {"diameter", "makes 40287 bbl at 240 in, which is 168 an inch"},
		"height: 20ft\n    diameter: 12m":    {"diameter", "an upright tank 39.4 ft wide"},
		"height: 30ft\n    diameter: 15.5ft": {},
	} {
		cfg := edited(t, "    height: 20ft\n    strapping: tk-1001.csv\n", "    "+shape+"\n")
		for _, key := range []string{"height", "diameter"} {
			if said := told(cfg.Warnings, "tanks[0]."+key); (said != "") != (key == want[0]) || !strings.Contains(said, want[1]) && key == want[0] {
				t.Errorf("%s: %s: %q", shape, key, said)
			}
		}
	}
}

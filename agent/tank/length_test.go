package tank

import (
	"math"
	"testing"

	"gauger/agent/tank/stats"
)

func TestLengthsAreReadInEveryForm(t *testing.T) {
	for text, want := range map[string]float64{
		"20ft": 240, "240in": 240, "0.5ft": 6, "6 in": 6, "1.2m": 47.2440945, "30cm": 11.8110236, "305mm": 12.0078740,
		`14'3 1/4"`: 171.25, "14-03-1": 171.25, `4'1 1/2"`: 49.5, "04-01-2": 49.5, "14'": 168, `14'-3"`: 171,
		`3.5"`: 3.5, `1/4"`: 0.25, `3 1/4"`: 3.25, "171.25": 171.25, "-0.5": -0.5, "0": 0, " 12 FT ": 144,
		"20ft6in": 246, "12 ft 6 in": 150, "14ft 3 1/4in": 171.25, "14 feet 3 inches": 171, "1foot1inch": 13, "20FT6IN": 246,
		"14'3": 171, `14'3 1/4`: 171.25, "14ft3": 171, "14ft3 3/8": 171.375, "8ft1/2": 96.5, "20ft6": 246,
	} {
		got, err := ParseLength(text)
		if err != nil || math.Abs(float64(got)-want) > 1e-6 {
			t.Errorf("ParseLength(%q) = %v, %v; want %v", text, float64(got), err, want)
		}
	}
}

func TestLengthsThatMeanNothingAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "ft", "twelve", "14-12-0", "14-03-4", "14-03", "1-2-3-4", `14'3 5/4`, `14'15`, `14'3 5/4"`, `14'3 1/0"`, `-1'2"`,
		"NaN", "Inf", "12 furlongs", `3 4"`, "1e400in",
		"6in20ft", "20ft6ft", "20ft 6m", "20ft12", "-20ft6in",
	} {
		if got, err := ParseLength(text); err == nil {
			t.Errorf("ParseLength(%q) = %v, want an error", text, float64(got))
		}
	}
}

func TestLevelsBecomeInches(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  string
		want  float64
	}{{171.25, "in", 171.25}, {10.5, "ft", 126}, {2.54, "cm", 1}, {1, "m", 39.37007874015748}, {50, "percent", 120}, {25.4, "mm", 1}, {7, "", 7}, {1, "Feet", 12}} {
		got, err := LevelInches(c.value, c.unit, 240)
		if err != nil || got < c.want-1e-9 || got > c.want+1e-9 {
			t.Errorf("%g %s is %g in (%v), want %g", c.value, c.unit, got, err, c.want)
		}
	}
	for _, unit := range []string{"psi", " ft", "'", `"`, "'3in"} {
		if _, err := LevelInches(1, unit, 240); err == nil {
			t.Errorf("%q passed for the unit of a level", unit)
		}
	}
}

func TestGaugeIsToTheNearestQuarter(t *testing.T) {
	for in, want := range map[Length]string{
		171.25: "14-03-1", 49.5: "04-01-2", 0: "00-00-0", 0.12: "00-00-0", 0.13: "00-00-1", 11.9: "01-00-0", 240: "20-00-0", -0.5: "-00-00-2", -0.1: "00-00-0",
	} {
		if got := in.Gauge(); got != want {
			t.Errorf("Length(%v).Gauge() = %q, want %q", float64(in), got, want)
		}
	}
	for q := -48; q < 4*12*130; q++ {
		in := Length(q) / 4
		back, err := ParseLength(in.Gauge())
		if err != nil || back != in {
			t.Fatalf("%v written as %q is read as %v, %v", float64(in), in.Gauge(), float64(back), err)
		}
	}
}

func TestLengthTextGoesBothWays(t *testing.T) {
	b, err := Length(171.25).MarshalText()
	if err != nil || string(b) != "171.25in" {
		t.Fatalf("MarshalText = %q, %v", b, err)
	}
	var l Length
	if err := l.UnmarshalText(b); err != nil || l != 171.25 {
		t.Fatalf("read back %v, %v", float64(l), err)
	}
	if err := l.UnmarshalText([]byte("x")); err == nil || l != 171.25 {
		t.Fatalf("a bad text gave %v, %v; want an error and no change", float64(l), err)
	}
}

func FuzzLength(f *testing.F) {
	for _, s := range []string{"20ft", "14-03-1", `14'3 1/4"`, "1e9m", "--", `'"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if l, err := ParseLength(s); err == nil && !stats.Finite(float64(l)) {
			t.Fatalf("ParseLength(%q) = %v without an error", s, float64(l))
		}
	})
}

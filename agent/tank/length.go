package tank

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Length is a length in inches.
type Length float64

// Inches per unit of the suffixes that a length may carry; longer suffixes first.
var lengthUnits = []struct {
	suffix string
	inches float64
}{
	{"inches", 1}, {"inch", 1}, {"in", 1},
	{"feet", 12}, {"foot", 12}, {"ft", 12},
	{"mm", 1 / 25.4}, {"cm", 1 / 2.54}, {"m", 1 / 0.0254},
}

// LevelInches turns a level in the unit of its point into inches; percent is of the tank's height. A level without a unit is in
// inches.
func LevelInches[U ~string](v float64, unit U, height Length) (float64, error) {
	u := strings.ToLower(string(unit))
	switch u {
	case "":
		return v, nil
	case "percent", "pct", "%":
		return v / 100 * float64(height), nil
	}
	for _, known := range lengthUnits {
		if u == known.suffix {
			return v * known.inches, nil
		}
	}
	return 0, fmt.Errorf("a level in %q cannot be turned into inches; use in, ft, m, cm, mm or percent", unit)
}

// UnmarshalText reads a length: 20ft, 240in, 20ft 6in, 0.5ft, 1.2m, 30cm, 305mm, a gauger's
// 14'3 1/4" or 14-03-1 (feet, inches, quarters of an inch), or a plain number of inches.
func (l *Length) UnmarshalText(text []byte) error {
	v, err := ParseLength(string(text))
	if err != nil {
		return err
	}
	*l = v
	return nil
}

// MarshalText writes the length in inches, as 171.25in.
func (l Length) MarshalText() ([]byte, error) {
	return []byte(strconv.FormatFloat(float64(l), 'f', -1, 64) + "in"), nil
}

// ParseLength reads a length in any of the forms of UnmarshalText.
func ParseLength(s string) (Length, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	var v float64
	var ok bool
	switch {
	case strings.ContainsAny(t, `'"`):
		v, ok = parseMarks(t)
	case strings.Count(t, "-") == 2 && !strings.HasPrefix(t, "-"):
		v, ok = parseGauge(t)
	case strings.Count(t, "-") == 3 && strings.HasPrefix(t, "-"):
		v, ok = parseGauge(t[1:])
		v = -v
	default:
		if v, ok = parseUnit(t); !ok {
			v, ok = parseMarks(unitMarks.Replace(t))
		}
	}
	if !ok || math.IsNaN(v) || math.IsInf(v, 0) {
		if parts := strings.Split(t, "-"); len(parts) == 3 {
			_, err := strconv.ParseUint(parts[0]+parts[1]+parts[2], 10, 64)
			if err == nil {
				return 0, fmt.Errorf("length %q is not understood: behind the feet are inches from 0 to 11 and quarters from 0 to 3", s)
			}
		}
		return 0, fmt.Errorf(`length %q is not understood: write 20ft, 240in, 20ft 6in, 6.1m, 14'3 1/4" or 14-03-1 (feet-inches-quarters)%s`, s, DecimalPoint(strings.TrimRight(t, " abcdefghijklmnopqrstuvwxyz'\"")))
	}
	return Length(v), nil
}

// unitMarks turns 20ft 6in into marks; longer words first.
var unitMarks = strings.NewReplacer("feet", "'", "foot", "'", "ft", "'", "inches", `"`, "inch", `"`, "in", `"`)

// DecimalPoint is advice for a number with a decimal comma; empty for any other text.
func DecimalPoint(text string) string {
	point := strings.Replace(text, ",", ".", 1)
	if _, err := strconv.ParseFloat(point, 64); err != nil || point == text {
		return ""
	}
	return ". Decimals come after a point: write " + point
}

// Gauge is the length as a gauger writes it, feet-inches-quarters, to the nearest
// quarter inch: 171.25 is 14-03-1.
func (l Length) Gauge() string {
	q := int64(math.Round(math.Abs(float64(l)) * 4))
	sign := ""
	if l < 0 && q != 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%02d-%02d-%d", sign, q/48, q%48/4, q%4)
}

func parseUnit(t string) (float64, bool) {
	per := 1.0
	for _, u := range lengthUnits {
		if n, ok := strings.CutSuffix(t, u.suffix); ok {
			t, per = strings.TrimSpace(n), u.inches
			break
		}
	}
	v, err := strconv.ParseFloat(t, 64)
	return v * per, err == nil
}

// parseGauge reads feet-inches-quarters; inches are 0-11 and quarters 0-3.
func parseGauge(t string) (float64, bool) {
	p := strings.Split(t, "-")
	ft, ok1 := whole(p[0], math.MaxInt32)
	in, ok2 := whole(p[1], 11)
	q, ok3 := whole(p[2], 3)
	return ft*12 + in + q/4, ok1 && ok2 && ok3
}

// parseMarks reads 14'3 1/4", 14', 3.5" and 3 1/4". Behind feet the mark of the inches may be wanting, as people write it.
func parseMarks(t string) (float64, bool) {
	sum := 0.0
	feet, rest, found := strings.Cut(t, "'")
	if found {
		v, err := strconv.ParseFloat(strings.TrimSpace(feet), 64)
		if err != nil || v < 0 {
			return 0, false
		}
		sum = v * 12
	} else {
		rest = t
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return sum, found
	}
	rest, marked := strings.CutSuffix(rest, `"`)
	in, ok := parseMixed(strings.TrimLeft(strings.TrimSpace(rest), "-"))
	return sum + in, ok && (marked || found && in < 12)
}

// parseMixed reads 3, 3.25, 1/4 and 3 1/4.
func parseMixed(t string) (float64, bool) {
	f := strings.Fields(t)
	if len(f) == 0 || len(f) > 2 {
		return 0, false
	}
	last, sum := f[len(f)-1], 0.0
	if len(f) == 2 {
		v, ok := whole(f[0], math.MaxInt32)
		if !ok || !strings.Contains(last, "/") {
			return 0, false
		}
		sum = v
	}
	top, under, frac := strings.Cut(last, "/")
	if !frac {
		v, err := strconv.ParseFloat(last, 64)
		return v, err == nil && v >= 0
	}
	a, ok1 := whole(top, math.MaxInt32)
	b, ok2 := whole(under, math.MaxInt32)
	return sum + a/b, ok1 && ok2 && b > 0 && a < b
}

func whole(s string, most uint64) (float64, bool) {
	v, err := strconv.ParseUint(s, 10, 32)
	return float64(v), err == nil && v <= most
}

// spanText writes seconds for a person.
func spanText(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", s)
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

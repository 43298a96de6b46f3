package tank

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gauger/agent/tank/stats"
)

func TestStrappingTableIsLinearBetweenRows(t *testing.T) {
	tab, err := NewTable([][2]float64{{0, 0}, {12, 18}, {120, 201.43}, {240, 402.87}})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[float64]float64{0: 0, 6: 9, 12: 18, 66: 18 + 54*183.43/108, 120: 201.43, 180: 302.15, 240: 402.87} {
		if got, err := tab.Barrels(in); err != nil || math.Abs(got-want) > 1e-9 {
			t.Errorf("Barrels(%v) = %v, %v; want %v", in, got, err, want)
		}
	}
	if got := tab.PerInch(6); math.Abs(got-1.5) > 1e-12 {
		t.Errorf("PerInch(6) = %v, want 1.5", got)
	}
	if tab.Name() != "strap" || tab.Top() != 240 || tab.Bottom() != 0 {
		t.Errorf("name %q, top %v, bottom %v", tab.Name(), tab.Top(), tab.Bottom())
	}
}

// 1.67 bbl/in from 14'3 1/4" to 4'1 1/2" is 121.75 in and 203.32 bbl.
func TestGaugesOfALoadGiveItsBarrels(t *testing.T) {
	tab, err := NewTable([][2]float64{{0, 0}, {240, 240 * 1.67}})
	if err != nil {
		t.Fatal(err)
	}
	open, _ := ParseLength(`14'3 1/4"`)
	closing, _ := ParseLength(`4'1 1/2"`)
	a, err1 := tab.Barrels(float64(open))
	b, err2 := tab.Barrels(float64(closing))
	if err1 != nil || err2 != nil || stats.Round(a-b, 2) != 203.32 {
		t.Errorf("%v bbl, %v, %v; want 203.32", a-b, err1, err2)
	}
}

func TestOutsideTheTableIsAnErrorAndNoGuess(t *testing.T) {
	tab, err := NewTable([][2]float64{{4, 5}, {200, 330}})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range []float64{3.99, 200.01, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if v, err := tab.Barrels(in); !errors.Is(err, ErrOutsideTable) {
			t.Errorf("Barrels(%v) = %v, %v; want ErrOutsideTable", in, v, err)
		}
	}
	if _, err := (Table{}).Barrels(0); !errors.Is(err, ErrOutsideTable) {
		t.Errorf("the zero table gave %v", err)
	}
}

func TestTablesThatDoNotGrowAreRefused(t *testing.T) {
	for want, rows := range map[string][][2]float64{
		"at least 2":           {{0, 0}},
		"row 2: 0 in is not":   {{0, 0}, {0, 5}},
		"row 3: 9 bbl is not":  {{0, 0}, {1, 9}, {2, 9}},
		"row 2: NaN in, 5 bbl": {{0, 0}, {math.NaN(), 5}},
	} {
		if _, err := NewTable(rows); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("NewTable(%v): %v; want %q", rows, err, want)
		}
	}
}

// Barrels per inch and per quarter inch of upright cylinders by inside diameter.
func TestCylinder(t *testing.T) {
	for ft, want := range map[float64][2]float64{10: {1.1657, 0.2914}, 12: {1.6786, 0.4197}, 15.5: {2.8006, 0.7002}, 21.5: {5.3885, 0}} {
		tab := Cylinder(Length(ft*12), 240)
		per := tab.PerInch(100)
		if stats.Round(per, 4) != want[0] || want[1] != 0 && stats.Round(per/4, 4) != want[1] {
			t.Errorf("%v ft: %.5f bbl/in, %.5f a quarter; want %v", ft, per, per/4, want)
		}
		if v, err := tab.Barrels(240); err != nil || math.Abs(v-240*per) > 1e-9 || tab.Name() != "geometry" {
			t.Errorf("%v ft: %v bbl at the top, %v, name %q", ft, v, err, tab.Name())
		}
	}
	if _, err := Cylinder(0, 240).Barrels(1); err == nil {
		t.Error("a cylinder without a diameter gave a volume")
	}
}
